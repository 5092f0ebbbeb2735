import ClientStores
import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import SQLiteBackend

/// Stores that are added with a configuration hold its part of the model, and nothing else.
///
/// [addPersistentStore](https://developer.apple.com/documentation/coredata/nspersistentstorecoordinator/addpersistentstore(oftype:configurationname:at:options:)):
/// the configuration's name is the one "that will be used by the new store".
/// [NSManagedObjectModel](https://developer.apple.com/documentation/coredata/nsmanagedobjectmodel): a configuration is
/// a named set of the model's entities. Decision 066 defines the resulting parts of a file.
@Suite struct ConfigurationStoreTests {
  typealias StoreType = NSPersistentStore.StoreType
  private static let persistent = StoreMigrationTests.persistentTypes
  private static let types = StoreMigrationTests.types
  private static let staff = ["Department", "Employee", "Person"]

  /// Two employees in a department; one of them has a skill there.
  private func fill(_ context: NSManagedObjectContext) throws {
    let department = context.insert(configured: "Department", ["title": "Physics"])
    for (name, salary) in [("Ada", 2), ("Emmy", 1)] {
      let employee = context.insert(
        configured: "Employee", ["name": name, "salary": salary, "department": department])
      if name == "Ada" { employee.setValue(NSSet(object: department), forKey: "skills") }
    }
    try context.save()
  }

  private func names(_ objects: [NSManagedObject]) -> [String] {
    objects.map { $0.value(forKey: "name") as? String ?? "" }
  }

  // MARK: Metadata of a store

  /// [isConfiguration](https://developer.apple.com/documentation/coredata/nsmanagedobjectmodel/isconfiguration(withname:compatiblewithstoremetadata:))
  /// compares "the version information in the store metadata with the entity versions of a given configuration".
  @Test(arguments: types) func metadataHaveTheHashesOfTheConfiguration(_ type: StoreType) throws {
    let location = try ConfiguredStore()
    let model = ConfiguredStore.model()
    try location.use(type, "Staff", model: model) { (context, store) throws in
      try fill(context)
      let metadata = try #require(store.metadata)
      let hashes = try #require(metadata[NSStoreModelVersionHashesKey] as? [String: Data])
      #expect(hashes == model.entityVersionHashesByName.filter { Self.staff.contains($0.key) })
      let fitting = ([nil] + model.configurations).filter {
        model.isConfiguration(withName: $0, compatibleWithStoreMetadata: metadata)
      }
      #expect(fitting == ["Staff"])
      #expect(store.configurationName == "Staff")
    }
  }

  @Test(arguments: persistent) func aFileOpensWithItsConfigurationOnly(_ type: StoreType) throws {
    let location = try ConfiguredStore()
    try location.use(type, "Staff") { (context, _) throws in try fill(context) }
    #expect(try location.hashes(type) == Self.staff)
    let bytes = try Data(contentsOf: location.url)
    for other in [nil, "Labels", "Notes", "Empty"] {
      #expect(try location.refusal(type, other) == 134100, "\(other ?? "nil")")
    }
    #expect(try Data(contentsOf: location.url) == bytes)
    try location.use(type, "Staff") { (context, _) throws in
      #expect(names(try context.found("Employee", "department.title == 'Physics'", sort: "salary")) == ["Emmy", "Ada"])
      #expect(try context.found("Department", "ANY skilled.name == 'Ada'").count == 1)
      #expect(try context.found("Department").first?.value(forKeyPath: "people.@count") as? Int == 2)
    }
  }

  /// Another entity of the model changes the numbers of all entities; a store of a configuration is not affected.
  /// LMDB's rows are laid out by the whole model (decision 066).
  @Test(arguments: persistent) func otherEntitiesOfTheModelAreNoMatter(_ type: StoreType) throws {
    let location = try ConfiguredStore()
    try location.use(type, "Staff") { (context, _) throws in try fill(context) }
    let larger = ConfiguredStore.model(also: [Describing.entity("Another", [Describing.attribute("x")])])
    if type.rawValue == "LMDB" {
      #expect(try location.refusal(type, "Staff", model: larger) == 134100)
      return
    }
    try location.use(type, "Staff", model: larger) { (context, _) throws in
      #expect(names(try context.found("Person", sort: "name")) == ["Ada", "Emmy"])
      try context.found("Employee", "name == 'Ada'").first?.setValue(5, forKey: "salary")
      try context.save()
    }
    try location.use(type, "Staff") { (context, _) throws in
      #expect(
        try context.found("Employee", "salary == 5").first?.value(forKeyPath: "department.title") as? String
          == "Physics")
    }
  }

  /// A configuration may have no entities; then its stores are empty.
  @Test(arguments: types) func anEmptyConfigurationMakesAnEmptyStore(_ type: StoreType) throws {
    let location = try ConfiguredStore()
    for _ in 0..<2 {
      try location.use(type, "Empty") { (context, store) throws in
        #expect((store.metadata[NSStoreModelVersionHashesKey] as? [String: Data])?.isEmpty == true)
        #expect(try context.found("Audit").isEmpty)
        context.insert(configured: "Audit")
        #expect(throws: CocoaError.self) { try context.save() }
      }
    }
  }

  // MARK: Files of an earlier version

  /// Earlier versions of this library made files of the whole model, whatever the configuration: they open, and keep
  /// the whole model.
  @Test(arguments: persistent) func aFileOfTheWholeModelOpensWithAConfigurationToo(_ type: StoreType) throws {
    let location = try ConfiguredStore()
    try location.use(type, nil) { (context, _) throws in
      try fill(context)
      context.insert(configured: "Audit", ["text": "kept"])
      try context.save()
    }
    let hashes = try location.hashes(type)
    #expect(hashes.count == 6)
    for options in [nil, [NSIgnorePersistentStoreVersioningOption: true]] {
      try location.use(type, "Staff", options: options) { (context, store) throws in
        #expect(store.configurationName == "Staff")
        #expect(names(try context.found("Employee", sort: "name")) == ["Ada", "Emmy"])
        // The store is not read for entities outside of its configuration.
        #expect(try context.found("Audit").isEmpty)
        let ada = try #require(try context.found("Employee", "name == 'Ada'").first)
        ada.setValue((ada.value(forKey: "salary") as? Int ?? 0) + 1, forKey: "salary")
        try context.save()
      }
    }
    #expect(try location.hashes(type) == hashes)
    try location.use(type, nil) { (context, _) throws in
      #expect(try context.found("Employee", "salary == 4").count == 1)
      #expect(try context.found("Audit", "text == 'kept'").count == 1)
    }
  }

  @Test(arguments: persistent) func aFileOfTheWholeModelStaysOneWhenItMoves(_ type: StoreType) throws {
    let location = try ConfiguredStore()
    try location.use(type, nil) { (context, _) throws in
      try fill(context)
      context.insert(configured: "Audit", ["text": "kept"])
      try context.save()
    }
    let moved = location.folder.appending(path: "moved")
    try location.use(type, "Staff") { (context, store) throws in
      let coordinator = try #require(context.persistentStoreCoordinator)
      let new = try coordinator.migratePersistentStore(store, to: moved, type: .sqlite)
      #expect(new.configurationName == "Staff")
    }
    #expect(try location.hashes(at: moved).count == 6)
    try location.use(.sqlite, nil, at: moved) { (context, _) throws in
      #expect(try context.found("Audit", "text == 'kept'").count == 1)
    }
  }

  // MARK: Stores side by side

  /// As [Apple's sample](https://developer.apple.com/documentation/coredata/linking-data-between-two-core-data-stores):
  /// "one Configuration for each store", linked by a fetched property.
  @Test(arguments: types) func eachStoreIsRequestedItsEntities(_ type: StoreType) throws {
    let location = try ConfiguredStore()
    try location.use(type, "Staff") { (context, staff) throws in
      let coordinator = try #require(context.persistentStoreCoordinator)
      let notes = try coordinator.addPersistentStore(
        type: type, configuration: "Notes", at: location.folder.appending(path: "notes"))
      try fill(context)
      let note = context.insert(configured: "Audit", ["text": "Physics", "count": 3])
      try context.save()
      #expect(note.objectID.persistentStore === notes)
      context.reset()
      #expect(try context.found("Audit", "count == 3").count == 1)
      let department = try #require(try context.found("Department").first)
      #expect(department.objectID.persistentStore === staff)
      #expect((department.value(forKey: "notes") as? [NSManagedObject])?.count == 1)
      // A superentity of entities in the configuration: its store is read for their objects.
      #expect(names(try context.found("Person", sort: "name")) == ["Ada", "Emmy"])
      #expect(try context.found("Guest").isEmpty)
      // No store takes a guest; the staff's store takes no note.
      let guest = context.insert(configured: "Guest")
      #expect(throws: CocoaError.self) { try context.save() }
      context.delete(guest)
      let wrong = context.insert(configured: "Audit")
      context.assign(wrong, to: staff)
      #expect(throws: CocoaError.self) { try context.save() }
      context.rollback()
      #expect(!context.hasChanges)
    }
  }

  /// An ID of an entity that the store does not hold identifies no object.
  @Test(arguments: types) func noObjectIsFoundOfAnotherEntity(_ type: StoreType) throws {
    let location = try ConfiguredStore()
    try location.use(type, "Staff") { (context, store) throws in
      let coordinator = try #require(context.persistentStoreCoordinator)
      for entity in ["Audit", "Guest", "Badge"] {
        let url = try #require(URL(string: "x-coredata://\(store.identifier ?? "")/\(entity)/p1"))
        let id = try #require(coordinator.managedObjectID(forURIRepresentation: url))
        #expect(throws: CocoaError.self) { try context.existingObject(with: id) }
      }
    }
  }

  // MARK: Relationships that lead out of a configuration

  @Test(arguments: types) func whatLeadsOutIsEmpty(_ type: StoreType) throws {
    let location = try ConfiguredStore()
    try location.use(type, "Staff") { (context, _) throws in
      try context.persistentStoreCoordinator?.addPersistentStore(
        type: type, configuration: "Labels", at: location.folder.appending(path: "labels"))
      try fill(context)
      context.insert(configured: "Badge", ["text": "x"])
      try context.save()
      context.reset()
      let ada = try #require(try context.found("Employee", "name == 'Ada'").first)
      #expect((ada.value(forKey: "labels") as? Set<NSManagedObject>)?.isEmpty == true)
      #expect(ada.value(forKey: "badge") == nil && ada.value(forKey: "worn") == nil)
      let label = try #require(try context.found("Badge").first)
      #expect((label.value(forKey: "wearers") as? NSOrderedSet)?.count == 0 && label.value(forKey: "owner") == nil)
      for predicate in [
        "badge == nil", "badge.text == nil", "labels.@count == 0", "NOT ANY labels.text == 'x'",
        "SUBQUERY(labels, $l, $l.text == 'x').@count == 0", "worn == nil AND name != nil", "badge.owner.name == nil",
      ] {
        #expect(try context.found("Employee", predicate, sort: "badge.text").count == 2, "\(predicate)")
        #expect(try context.found("Employee", "NOT (\(predicate))").isEmpty, "\(predicate)")
      }
      #expect(try context.found("Badge", "owner.name == nil AND wearers.@count == 0 AND people.@count == 0").count == 1)
      let request = NSFetchRequest<NSManagedObject>(entityName: "Employee")
      request.relationshipKeyPathsForPrefetching = ["labels", "badge", "department"]
      #expect(try context.fetch(request).count == 2)
      let table = NSFetchRequest<NSDictionary>(entityName: "Employee")
      (table.resultType, table.propertiesToFetch) = (.dictionaryResultType, ["name", "badge.text", "badge"])
      #expect(try context.fetch(table).allSatisfy { $0["badge.text"] == nil && $0["name"] != nil })
    }
  }

  /// [Cross-store
  /// relationships](https://developer.apple.com/documentation/coredata/linking-data-between-two-core-data-stores) are
  /// not saved, as between stores of the whole model. An attempt that was undone leaves no trace.
  @Test(arguments: types) func aLinkOutOfTheConfigurationIsRefused(_ type: StoreType) throws {
    let location = try ConfiguredStore()
    try location.use(type, "Staff") { (context, _) throws in
      try context.persistentStoreCoordinator?.addPersistentStore(
        type: type, configuration: "Labels", at: location.folder.appending(path: "labels"))
      try fill(context)
      let label = context.insert(configured: "Badge", ["text": "x"])
      try context.save()
      let ada = try #require(try context.found("Employee", "name == 'Ada'").first)
      for (key, value, none) in [
        ("badge", label, nil), ("labels", NSSet(object: label), NSSet()), ("worn", label, nil),
      ] as [(String, Any, Any?)] {
        ada.setValue(value, forKey: key)
        ada.setValue(7, forKey: "salary")
        let error = #expect(throws: CocoaError.self) { try context.save() }
        #expect(error?.code == .managedObjectExternalRelationship, "\(key)")
        ada.setValue(none, forKey: key)
        try context.save()
        #expect(!context.hasChanges)
      }
      context.reset()
      #expect(try context.found("Employee", "salary == 7 AND badge == nil").count == 1)
      for object in try context.found("Employee") + context.found("Department") + context.found("Badge") {
        context.delete(object)
      }
      try context.save()
      #expect(try context.found("Person").isEmpty && context.found("Badge").isEmpty)
    }
  }

  // MARK: Stores of clients

  /// Stores of [a client's class](https://developer.apple.com/documentation/coredata/nspersistentstore) have the
  /// configuration's hashes too, and keep them when they move to another type.
  @Test(arguments: [DictionaryStore.type])
  func aStoreOfAClientHasTheHashesOfTheConfiguration(_ type: String) throws {
    NSPersistentStoreCoordinator.registerStoreClass(DictionaryStore.self, forStoreType: DictionaryStore.type)
    let location = try ConfiguredStore()
    for round in 0..<2 {
      try location.use(StoreType(rawValue: type), "Staff") { (context, store) throws in
        let hashes = store.metadata[NSStoreModelVersionHashesKey] as? [String: Data]
        #expect(hashes?.keys.sorted() == Self.staff)
        try fill(context)
        #expect(try context.found("Employee", "department.title == 'Physics'").count >= 2)
        #expect(try context.found("Employee", "badge == nil AND labels.@count == 0").count >= 2)
        let moved = location.folder.appending(path: "moved\(round)")
        _ = try context.persistentStoreCoordinator?.migratePersistentStore(store, to: moved, type: .sqlite)
        #expect(try location.hashes(at: moved) == Self.staff)
      }
    }
  }

  // MARK: Moving

  /// [migratePersistentStore](https://developer.apple.com/documentation/coredata/nspersistentstorecoordinator/migratepersistentstore(_:to:options:withtype:))
  @Test(arguments: types) func aMovedStoreKeepsItsConfiguration(_ type: StoreType) throws {
    let location = try ConfiguredStore()
    for (number, target) in Self.persistent.enumerated() {
      let (source, moved) = (
        location.folder.appending(path: "s\(number)"), location.folder.appending(path: "m\(number)")
      )
      try location.use(type, "Staff", at: source) { (context, store) throws in
        try fill(context)
        let coordinator = try #require(context.persistentStoreCoordinator)
        let new = try coordinator.migratePersistentStore(store, to: moved, type: target)
        #expect(new.configurationName == "Staff")
        #expect(try context.found("Employee").count == 2)
        context.insert(configured: "Employee", ["name": "Lise"])
        try context.save()
      }
      #expect(try location.hashes(target, at: moved) == Self.staff)
      try location.use(target, "Staff", at: moved) { (context, store) throws in
        #expect(names(try context.found("Employee", sort: "name")) == ["Ada", "Emmy", "Lise"])
        // [setURL](https://developer.apple.com/documentation/coredata/nspersistentstorecoordinator/seturl(_:for:)), and
        // a copy.
        let coordinator = try #require(context.persistentStoreCoordinator)
        let copied = location.folder.appending(path: "c\(number)")
        try coordinator.replacePersistentStore(at: copied, withPersistentStoreFrom: moved, type: target)
        #expect(coordinator.setURL(copied, for: store) && store.configurationName == "Staff")
        store.metadata["kept"] = "yes"
        context.insert(configured: "Department", ["title": "Maths"])
        try context.save()
        #expect(try location.hashes(target, at: copied) == Self.staff)
        #expect(try location.metadata(target, at: copied)["kept"] as? String == "yes")
      }
    }
  }
}
