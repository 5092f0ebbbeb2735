import CoreData
import Foundation

extension GraphCase {
  /// A value as another context reads it from an SQLite store.
  private static func readAgain(_ entity: String, _ key: String, _ value: Any) throws -> Any? {
    let world = try World()
    _ = try world.saved(entity, "a", [key: value])
    return try world.secondWorld().objects(of: entity).first?.value(forKey: key)
  }

  /// Two objects with names in a unique attribute.
  private static func pair(_ first: String?, _ second: String?) throws -> String {
    let world = try World()
    for name in [first, second] { world.insert("Unique", "").setValue(name, forKey: "name") }
    return Text.of(trying: { try world.context.save() })
  }

  static let values = [
    GraphCase("value/nul", "a text with U+0000, read again: the number of its characters") {
      let text = try readAgain("Tag", "name", "a\0b") as? String
      return text.map { "\($0.unicodeScalars.count)" } ?? "nil"
    },
    GraphCase("value/negative-zero", "-0.0, read again") {
      let number = try readAgain("Person", "height", NSNumber(value: -0.0)) as? NSNumber
      return number.map { $0.doubleValue.sign == .minus ? "minus" : "plus" } ?? "nil"
    },
    GraphCase("value/infinity", "infinity, read again") {
      Text.of(trying: { try readAgain("Person", "height", NSNumber(value: Double.infinity)) })
    },
    GraphCase("value/casts", "the casts of 1 and 2 in an attribute of 16 bits that succeed") {
      let world = try World()
      return [1, 2].map { number in
        let value = world.insert("Person", "a", ["age": NSNumber(value: number)]).value(forKey: "age")
        let casts = [
          ("Int", value is Int), ("Int16", value is Int16), ("Double", value is Double), ("Bool", value is Bool),
        ]
        return "\(number): \(casts.filter(\.1).map(\.0).joined(separator: " "))"
      }.joined(separator: ", ")
    },
    GraphCase("value/unique-nil", "two objects with nil in a unique attribute") { try pair(nil, nil) },
    GraphCase("value/unique-case", "a and A in a unique attribute") { try pair("a", "A") },
    GraphCase("value/unique-composed", "a composed and a decomposed é in a unique attribute") {
      try pair("\u{E9}", "e\u{301}")
    },
  ]

  /// Which changes of a model change the version hash of its entity.
  private static func hashParts() -> String {
    typealias Change = (NSEntityDescription) -> Void
    let changes: [(String, Change)] = [
      ("optional", { $0.attributesByName["name"]?.isOptional = false }),
      ("default value", { $0.attributesByName["name"]?.defaultValue = "a" }),
      (
        "validation",
        {
          $0.attributesByName["name"]?.setValidationPredicates(
            [NSPredicate(format: "SELF != ''")], withValidationWarnings: ["empty"])
        }
      ),
      ("transient", { $0.attributesByName["name"]?.isTransient = true }),
      ("type", { $0.attributesByName["name"]?.attributeType = .URIAttributeType }),
      ("Spotlight", { $0.attributesByName["name"]?.isIndexedBySpotlight = true }),
      ("user info", { $0.attributesByName["name"]?.userInfo = ["a": "b"] }),
      ("renaming identifier", { $0.attributesByName["name"]?.renamingIdentifier = "old" }),
      ("hash modifier", { $0.attributesByName["name"]?.versionHashModifier = "2" }),
      ("external data", { $0.attributesByName["data"]?.allowsExternalBinaryDataStorage = true }),
      ("history value", { $0.attributesByName["data"]?.preservesValueInHistoryOnDeletion = true }),
      ("encryption", { $0.attributesByName["data"]?.allowsCloudEncryption = true }),
      ("class", { $0.managedObjectClassName = "Other" }),
      ("abstract", { $0.isAbstract = true }),
      ("unique", { $0.uniquenessConstraints = [["name"]] }),
      (
        "index",
        { entity in
          guard let name = entity.attributesByName["name"] else { return }
          let element = NSFetchIndexElementDescription(property: name, collationType: .binary)
          entity.indexes = [NSFetchIndexDescription(name: "byName", elements: [element])]
        }
      ),
      ("delete rule", { $0.relationshipsByName["others"]?.deleteRule = .cascadeDeleteRule }),
      ("ordered", { $0.relationshipsByName["others"]?.isOrdered = true }),
      ("minimum", { $0.relationshipsByName["others"]?.minCount = 1 }),
      ("maximum", { $0.relationshipsByName["others"]?.maxCount = 5 }),
    ]
    func hash(_ change: Change) -> Data {
      let entity = Describe.entity("Entity", [Describe.attribute("data", .binaryDataAttributeType)])
      Describe.link(entity, "others", many: true, entity, "one")
      change(entity)
      return withExtendedLifetime(Describe.model([entity])) { entity.versionHash }
    }
    let plain = hash { _ in }
    return changes.filter { hash($0.1) != plain }.map(\.0).joined(separator: ", ")
  }

  /// Two contexts with the same person, saved by the second with age 2.
  private static func savedElsewhere(
    _ prepare: (NSManagedObject) -> Void
  ) throws -> (World, NSManagedObject, NSManagedObject, Notification?) {
    let world = try World()
    let a = try world.saved("Person", "a", ["age": NSNumber(value: 1)])
    let second = world.secondContext()
    let other = try second.own(a)
    other.setValue(NSNumber(value: 2), forKey: "age")
    prepare(a)
    let name = Notification.Name.NSManagedObjectContextDidSave
    let token = NotificationCenter.default.addObserver(forName: name, object: second, queue: nil) { note in
      Journal.note = note
    }
    defer { NotificationCenter.default.removeObserver(token) }
    try second.save()
    return (world, a, other, Journal.note)
  }

  static let parts = [
    GraphCase("model/hash-parts", "what of a model is part of the version hash") { hashParts() },
    GraphCase("model/entity-in-no-store", "fetch and save of an entity that is in no store's configuration") {
      let (inside, outside) = (Describe.entity("Inside"), Describe.entity("Outside"))
      let model = Describe.model([inside, outside])
      model.setEntities([inside], forConfigurationName: "Part")
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
      _ = try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: "Part", at: World.newURL(), options: nil)
      let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
      context.persistentStoreCoordinator = coordinator
      let fetched = Text.of(trying: {
        try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Outside")).count
      })
      NSEntityDescription.insertNewObject(forEntityName: "Outside", into: context).setValue("a", forKey: "name")
      return "fetch: \(fetched), save: \(Text.of(trying: { try context.save() }))"
    },
    GraphCase("merge/unchanged", "an object after mergeChanges(fromContextDidSave:): fault, value, changes") {
      let (world, a, _, note) = try savedElsewhere { _ in }
      if let note { world.context.mergeChanges(fromContextDidSave: note) }
      return "fault \(a.isFault), age \(Text.of(a.value(forKey: "age"))), changed \(a.hasChanges)"
    },
    GraphCase("merge/changed-here", "the same of an object that was changed here: another value, and the same") {
      let (world, a, _, note) = try savedElsewhere { object in
        object.setValue(NSNumber(value: 9), forKey: "age")
        object.setValue(NSNumber(value: 9), forKey: "height")
      }
      if let note { world.context.mergeChanges(fromContextDidSave: note) }
      return "age \(Text.of(a.value(forKey: "age"))), height \(Text.of(a.value(forKey: "height"))), "
        + "committed \(Text.of(a.committedValues(forKeys: ["age"]))), "
        + "save: \(Text.of(trying: { try world.context.save() }))"
    },
    GraphCase("fetch/fault", "whether a fetch gives faults, and whether of an object that is known already") {
      let world = try World()
      let a = try world.saved("Person", "a")
      let known = try world.objects(of: "Person")[0].isFault
      let new = try world.secondWorld().objects(of: "Person")[0].isFault
      return withExtendedLifetime(a) { "known \(known), new \(new)" }
    },
    GraphCase("fetch/refetch", "a value that was saved elsewhere, after a fetch, with and without refreshing") {
      let (world, a, _, _) = try savedElsewhere { _ in }
      let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
      _ = try world.context.fetch(request)
      let plain = Text.of(a.value(forKey: "age"))
      request.shouldRefreshRefetchedObjects = true
      _ = try world.context.fetch(request)
      return "without \(plain), with \(Text.of(a.value(forKey: "age")))"
    },
    GraphCase("fetch/changed-unsaved", "predicates over an unsaved change: the old value, the new one, and counts") {
      let world = try World()
      try world.saved("Person", "a", ["age": NSNumber(value: 1)]).setValue(NSNumber(value: 2), forKey: "age")
      let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
      request.predicate = NSPredicate(format: "age == 1")
      return "old \(try world.names("Person", "age == 1")), new \(try world.names("Person", "age == 2")), "
        + "count of old \(try world.context.count(for: request))"
    },
    GraphCase("identity/temporary-uri", "the ID of a URI of an object that is not saved") {
      let world = try World()
      let uri = world.insert("Tag", "a").objectID.uriRepresentation()
      return world.coordinator.managedObjectID(forURIRepresentation: uri) == nil ? "nil" : "an ID"
    },
    GraphCase("store/two", "which of two stores has a new object") {
      let world = try World()
      _ = try world.coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: World.newURL(), options: nil)
      let object = try world.saved("Tag", "a")
      return object.objectID.persistentStore === world.coordinator.persistentStores[0] ? "the first" : "the second"
    },
    GraphCase("changes/will-save-endless", "a willSave that changes its object every time") {
      let world = try World()
      Journal.onSave = { object in
        let age = (object.value(forKey: "age") as? NSNumber)?.intValue ?? 0
        object.setValue(NSNumber(value: age % 100 + 1), forKey: "age")
      }
      world.insert("Person", "a")
      return Text.of(trying: { try world.context.save() })
    },
  ]
}
