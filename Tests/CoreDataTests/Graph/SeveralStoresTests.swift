import Foundation
import Testing

@testable import CoreData

/// A coordinator with several stores: which store takes an object, and which links are rejected.
@Suite struct SeveralStoresTests {
  /// People and departments in the first store; by configuration, departments in the second too.
  private func stack() throws -> (NSManagedObjectContext, NSPersistentStore, NSPersistentStore, URL) {
    let model = Company.model()
    let entities = model.entitiesByName
    model.setEntities(["Department", "Person"].compactMap { entities[$0] }, forConfigurationName: "Staff")
    model.setEntities(["Tag"].compactMap { entities[$0] }, forConfigurationName: "Labels")
    let folder = FileManager.default.temporaryDirectory.appending(path: "several-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let staff = try coordinator.addPersistentStore(
      type: .sqlite, configuration: "Staff", at: folder.appending(path: "staff.sqlite"))
    let rest = try coordinator.addPersistentStore(type: .sqlite, at: folder.appending(path: "rest.sqlite"))
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    return (context, staff, rest, folder)
  }

  @Test func newObjectsGoToTheFirstStoreThatTakesThem() throws {
    let (context, staff, rest, folder) = try stack()
    defer { try? FileManager.default.removeItem(at: folder) }
    try context.performAndWait {
      let (person, tag, other) = (Person(context: context), Tag(context: context), Person(context: context))
      person.name = "B"
      other.name = "A"
      tag.label = "t"
      context.assign(other, to: rest)
      try context.save()
      #expect(person.objectID.persistentStore === staff)
      #expect(tag.objectID.persistentStore === rest && other.objectID.persistentStore === rest)
      // A fetch combines the results of all stores, and sorts and limits them as a whole.
      let request = NSFetchRequest<Person>(entityName: "Person")
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      #expect(try context.fetch(request).map(\.name) == ["A", "B"])
      request.fetchOffset = 1
      #expect(try context.fetch(request).map(\.name) == ["B"])
      request.affectedStores = [rest]
      request.fetchOffset = 0
      #expect(try context.fetch(request).map(\.name) == ["A"])
      #expect(try context.count(for: NSFetchRequest<Person>(entityName: "Person")) == 2)
    }
  }

  /// A permanent ID names the object's store, so the object cannot be assigned any more:
  /// https://developer.apple.com/documentation/coredata/nsmanagedobjectid/persistentstore
  @Test func anObjectWithAPermanentIDStaysInItsStore() throws {
    let (context, staff, rest, folder) = try stack()
    defer { try? FileManager.default.removeItem(at: folder) }
    try context.performAndWait {
      let person = Person(context: context)
      try context.obtainPermanentIDs(for: [person])
      let objectID = person.objectID
      context.assign(person, to: rest)
      #expect(person.objectID == objectID && person.objectID.persistentStore === staff)
      try context.save()
      #expect(person.objectID == objectID)
      context.reset()
      #expect(try context.existingObject(with: objectID).objectID.persistentStore === staff)
    }
  }

  /// Two new objects that no code has assigned: the save finds their stores, which differ.
  @Test(arguments: ["department", "tags"]) func newObjectsOfTwoStoresAreNotLinked(relationship: String) throws {
    let (context, _, rest, folder) = try stack()
    defer { try? FileManager.default.removeItem(at: folder) }
    context.performAndWait {
      let (person, tag) = (Person(context: context), Tag(context: context))
      tag.label = "t"
      let other = Person(context: context)
      if relationship == "tags" { person.tags = [tag] } else { other.department = Department(context: context) }
      if relationship != "tags" { context.assign(other, to: rest) }
      let error = #expect(throws: CocoaError.self) { try context.save() }
      #expect(error?.code == .managedObjectExternalRelationship && context.insertedObjects.count >= 3)
    }
  }

  /// Both have the key 1 in their stores.
  @Test func objectsInPredicatesAreThoseOfTheirStore() throws {
    let (context, _, rest, folder) = try stack()
    defer { try? FileManager.default.removeItem(at: folder) }
    try context.performAndWait {
      let (here, there) = (Person(context: context), Person(context: context))
      (here.name, there.name) = ("here", "there")
      context.assign(there, to: rest)
      try context.save()
      func names(_ predicate: NSPredicate) throws -> [String] {
        let request = NSFetchRequest<Person>(entityName: "Person")
        request.predicate = predicate
        let found = try context.fetch(request)
        #expect(try context.count(for: request) == found.count)
        #expect([here, there].filter(predicate.evaluate).count == found.count)
        return found.compactMap(\.name).sorted()
      }
      func tables(_ predicate: NSPredicate) throws -> [Int] {
        let table = NSFetchRequest<NSDictionary>(entityName: "Person")
        (table.predicate, table.resultType, table.propertiesToFetch) = (predicate, .dictionaryResultType, ["name"])
        let all = try context.fetch(table).count
        table.affectedStores = [rest]
        return [all, try context.fetch(table).count]
      }
      #expect(try tables(NSPredicate(format: "SELF == %@", there)) == [1, 1])
      #expect(try tables(NSPredicate(format: "SELF == %@", here)) == [1, 0])
      for object in [there, there.objectID] as [NSObject] {
        #expect(try names(NSPredicate(format: "SELF == %@", object)) == ["there"])
        #expect(try names(NSPredicate(format: "SELF != %@", object)) == ["here"])
        #expect(try names(NSPredicate(format: "SELF IN %@", [object])) == ["there"])
      }
      // Unsaved changes are evaluated with the same predicate.
      (here.age, there.age) = (1, 1)
      #expect(try names(NSPredicate(format: "SELF == %@ AND age == 1", there)) == ["there"])
    }
  }

  @Test func noRelationshipCrossesStores() throws {
    let (context, _, rest, folder) = try stack()
    defer { try? FileManager.default.removeItem(at: folder) }
    try context.performAndWait {
      let (here, there) = (Department(context: context), Department(context: context))
      (here.title, there.title) = ("here", "there")
      context.assign(there, to: rest)
      try context.save()
      // Both have the key 1 in their stores.
      let person = Person(context: context)
      person.name = "Ada"
      person.department = there
      #expect(person.department === there)
      let error = #expect(throws: CocoaError.self) { try context.save() }
      #expect(error?.code == .managedObjectExternalRelationship)
      #expect(context.hasChanges && person.department === there && person.objectID.isTemporaryID)
      person.department = here
      #expect(person.department === here)
      try context.save()
      #expect(person.department === here && there.people.isEmpty)
      // An unsaved object belongs to a store too.
      let unsaved = Department(context: context)
      context.assign(unsaved, to: rest)
      person.department = unsaved
      let other = #expect(throws: CocoaError.self) { try context.save() }
      #expect(other?.code == .managedObjectExternalRelationship && other?.validationKey == "department")
      context.rollback()
      #expect(person.department === here && !context.hasChanges)
      // The same for link pairs.
      let tag = Tag(context: context)
      tag.label = "t"
      person.tags = [tag]
      #expect(#expect(throws: CocoaError.self) { try context.save() }?.code == .managedObjectExternalRelationship)
      context.assign(person, to: rest)
      #expect(throws: CocoaError.self) { try context.save() }
      person.tags = []
      try context.save()
    }
  }

  /// A deletion is reported that did not happen. When the object is read again, its link to another store is discarded
  /// on both sides, and the save succeeds.
  @Test(arguments: [true, false], [true, false])
  func aLinkToAnotherStoreIsGivenUpWithTheObject(_ takesOwner: Bool, _ linksBefore: Bool) throws {
    let (context, _, rest, folder) = try stack()
    defer { try? FileManager.default.removeItem(at: folder) }
    try context.performAndWait {
      let (person, there) = (Person(context: context), Department(context: context))
      context.assign(there, to: rest)
      try context.save()
      let gone: NSManagedObject = takesOwner ? person : there
      if linksBefore { person.department = there }
      NSManagedObjectContext.mergeChanges(
        fromRemoteContextSave: [NSDeletedObjectsKey: [gone.objectID]], into: [context])
      if !linksBefore { person.department = there }
      #expect(try context.existingObject(with: gone.objectID) === gone && !gone.isDeleted)
      if takesOwner {
        #expect(person.department == nil && there.people.isEmpty)
        try context.save()
      } else {
        // The change belongs to the person: it is kept, and rejected.
        #expect(person.department === there && there.people == [person])
        #expect(#expect(throws: CocoaError.self) { try context.save() }?.code == .managedObjectExternalRelationship)
        context.rollback()
      }
      #expect(!context.hasChanges && person.department == nil && there.people.isEmpty)
      person.name = "Ada"
      try context.save()
    }
  }

  @Test func aStoreIsAddedOnce() throws {
    let (context, staff, _, folder) = try stack()
    defer { try? FileManager.default.removeItem(at: folder) }
    let coordinator = try #require(context.persistentStoreCoordinator)
    #expect(throws: CocoaError.self) {
      try coordinator.addPersistentStore(type: .sqlite, at: folder.appending(path: "x/../staff.sqlite"))
    }
    #expect(throws: CocoaError.self) {
      try coordinator.addPersistentStore(
        type: .sqlite, configuration: "Nobody", at: folder.appending(path: "new.sqlite"))
    }
    #expect(!FileManager.default.fileExists(atPath: folder.appending(path: "new.sqlite").path))
    try coordinator.remove(staff)
    #expect(coordinator.persistentStores.count == 1)
    try context.performAndWait {
      Person(context: context).name = "Ada"
      try context.save()
      #expect(try context.all(Person.self).first?.objectID.persistentStore === coordinator.persistentStores[0])
    }
  }
}
