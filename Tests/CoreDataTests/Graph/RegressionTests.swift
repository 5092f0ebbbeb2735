import Foundation
import StoreSchema
import Testing

@testable import CoreData

/// One test for each defect that was found by reading or in use.
@Suite struct RegressionTests {
  /// Boxes hold items in a one-way relationship; zoos list animals in an ordered one, animals know their zoos in an
  /// unordered one.
  private func context() throws -> NSManagedObjectContext {
    let entities = ["Box", "Item", "Zoo", "Animal", "Node"].map { name in
      let entity = NSEntityDescription()
      entity.name = name
      return entity
    }
    let (box, item, zoo, animal, node) = (entities[0], entities[1], entities[2], entities[3], entities[4])
    func attribute(_ name: String, _ type: NSAttributeDescription.AttributeType) -> NSAttributeDescription {
      let attribute = NSAttributeDescription()
      attribute.name = name
      attribute.type = type
      return attribute
    }
    func relationship(
      _ name: String, _ destination: NSEntityDescription, toMany: Bool, ordered: Bool = false
    ) -> NSRelationshipDescription {
      let relationship = NSRelationshipDescription()
      relationship.name = name
      relationship.destinationEntity = destination
      relationship.maxCount = toMany ? 0 : 1
      relationship.isOrdered = ordered
      return relationship
    }
    let (animals, zoos) = (
      relationship("animals", animal, toMany: true, ordered: true), relationship("zoos", zoo, toMany: true)
    )
    (animals.inverseRelationship, zoos.inverseRelationship) = (zoos, animals)
    let (children, parent) = (relationship("children", node, toMany: true), relationship("parent", node, toMany: false))
    (children.inverseRelationship, parent.inverseRelationship) = (parent, children)
    box.properties = [relationship("items", item, toMany: true), relationship("lid", item, toMany: false)]
    item.properties = [attribute("amount", .decimal)]
    zoo.properties = [animals]
    animal.properties = [attribute("number", .integer32), zoos]
    node.properties = [children, parent]
    let model = NSManagedObjectModel()
    model.entities = entities
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(type: .sqlite, at: URL(filePath: "/dev/null"))
    return another(coordinator)
  }

  private func another(_ coordinator: NSPersistentStoreCoordinator?) -> NSManagedObjectContext {
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  private func insert(_ name: String, _ context: NSManagedObjectContext) -> NSManagedObject {
    NSEntityDescription.insertNewObject(forEntityName: name, into: context)
  }

  private func fetch(_ name: String, _ context: NSManagedObjectContext) throws -> [NSManagedObject] {
    try context.fetch(NSFetchRequest<NSManagedObject>(entityName: name))
  }

  @Test func aMemberOfAOneWayRelationshipMoves() throws {
    let context = try context()
    try context.performAndWait {
      let (old, item) = (insert("Box", context), insert("Item", context))
      old.mutableSetValue(forKey: "items").add(item)
      try context.save()
      let new = insert("Box", context)
      old.mutableSetValue(forKey: "items").remove(item)
      new.mutableSetValue(forKey: "items").add(item)
      try context.save()
      let fresh = another(context.persistentStoreCoordinator)
      try fresh.performAndWait {
        let counts = try fetch("Box", fresh).map { ($0.value(forKey: "items") as? NSSet)?.count }
        #expect(counts == [0, 1])
      }
    }
  }

  @Test func theOrderOfPairsIsWrittenAfterThePairs() throws {
    let context = try context()
    try context.performAndWait {
      let animals = (0..<3).map { number in
        let animal = insert("Animal", context)
        animal.setValue(number, forKey: "number")
        return animal
      }
      try context.save()
      let zoo = insert("Zoo", context)
      zoo.setValue(NSOrderedSet(array: [animals[2], animals[0], animals[1]]), forKey: "animals")
      try context.save()
      let fresh = another(context.persistentStoreCoordinator)
      try fresh.performAndWait {
        let found = try #require(try fetch("Zoo", fresh).first?.value(forKey: "animals") as? NSOrderedSet)
        #expect(found.array.compactMap { ($0 as? NSManagedObject)?.value(forKey: "number") as? Int32 } == [2, 0, 1])
      }
    }
  }

  @Test func aDeletedObjectLeavesNoPair() throws {
    let context = try context()
    try context.performAndWait {
      let animal = insert("Animal", context)
      try context.save()
      context.refresh(animal, mergeChanges: false)
      let zoo = insert("Zoo", context)
      zoo.mutableOrderedSetValue(forKey: "animals").add(animal)
      context.delete(animal)
      try context.save()
      let fresh = another(context.persistentStoreCoordinator)
      try fresh.performAndWait {
        let zoo = try fetch("Zoo", fresh).first
        #expect((zoo?.value(forKey: "animals") as? NSOrderedSet)?.count == 0)
      }
    }
  }

  @Test func aTargetDeletedAfterAFailedSaveIsNotReferredTo() throws {
    let context = try context()
    let failure = try context.performAndWait { try saveWithoutTheTarget(context) }
    #expect(failure?.code == .managedObjectValidation)
    let fresh = another(context.persistentStoreCoordinator)
    let lid = try fresh.performAndWait { try fetch("Box", fresh).first?.value(forKey: "lid") is NSManagedObject }
    #expect(lid == false)
  }

  /// A first save fails, because the lid's amount is not a number; the second save goes without the lid. Returns the
  /// first error.
  private func saveWithoutTheTarget(_ context: NSManagedObjectContext) throws -> CocoaError? {
    let box = insert("Box", context)
    let item = insert("Item", context)
    box.setValue(item, forKey: "lid")
    item.setValue(NSDecimalNumber.notANumber, forKey: "amount")
    var failure: CocoaError?
    do { try context.save() } catch { failure = error as? CocoaError }
    context.delete(item)
    try context.save()
    return failure
  }

  @Test func extremeDecimalsAreStored() throws {
    let context = try context()
    try context.performAndWait {
      for text in ["-9223372036854775808", "9007199254740993", "0.1"] {
        insert("Item", context).setValue(NSDecimalNumber(string: text), forKey: "amount")
      }
      try context.save()
      let fresh = another(context.persistentStoreCoordinator)
      try fresh.performAndWait {
        let found = try fetch("Item", fresh).map { ($0.value(forKey: "amount") as? NSDecimalNumber)?.stringValue }
        #expect(found == ["-9223372036854775808", "9007199254740993", "0.1"])
      }
    }
  }

  @Test func aPlainObjectOfATypedEntityIsNoCrash() throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      let entity = try #require(NSEntityDescription.entity(forEntityName: "Person", in: context))
      let plain = NSManagedObject(entity: entity, insertInto: context)
      #expect(throws: CocoaError.self) { try context.fetch(NSFetchRequest<Person>(entityName: "Person")) }
      #expect(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")) == [plain])
    }
  }

  @Test func permanentIDsMayBeRequestedTwice() throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      let person = Person(context: context)
      try context.obtainPermanentIDs(for: [person, person])
      try context.obtainPermanentIDs(for: [person])
      #expect(context.registeredObjects.count == 1)
      try context.save()
      #expect(context.registeredObjects == [person])
    }
  }

  @Test func aDeepGraphIsFreedWithoutRecursion() throws {
    let context = try context()
    try context.performAndWait {
      var last = insert("Node", context)
      for _ in 0..<50_000 {
        let node = insert("Node", context)
        last.mutableSetValue(forKey: "children").add(node)
        last = node
      }
      try context.save()
    }
  }

  @Test func anUnusedFaultTakesTheNewestRow() throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      Person(context: context).name = "v1"
      try context.save()
    }
    let reader = company.context()
    func save(_ name: String) throws {
      try company.run { (context) throws in
        try context.all(Person.self)[0].name = name
        try context.save()
      }
    }
    // Inside one block the results of a fetch stay as the fetch found them.
    try reader.performAndWait {
      let person = try #require(try reader.all(Person.self).first)
      try save("v1b")
      #expect(person.isFault && person.name == "v1")
      reader.refreshAllObjects()
    }
    let found = try reader.performAndWait { try #require(try reader.all(Person.self).first) }
    try save("v2")
    try reader.performAndWait {
      #expect(found.isFault && found.name == "v2")
      try company.reopened().run { (context) throws in
        try context.all(Person.self)[0].name = "v3"
        try context.save()
      }
      reader.refreshAllObjects()
      #expect(try reader.all(Person.self).first?.name == "v3")
    }
  }

  @Test func temporaryIDsMeanNothingElsewhere() throws {
    let company = try CompanyStore()
    let (first, second) = (company.context(), company.context())
    let id = first.performAndWait { Person(context: first).objectID }
    second.performAndWait {
      _ = Tag(context: second)
      #expect(second.registeredObject(for: id) == nil)
      #expect(throws: CocoaError.self) { try second.existingObject(with: id) }
    }
  }

  @Test func aDeletedAndSavedObjectIsLeftAlone() throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      let person = Person(context: context)
      try context.save()
      context.delete(person)
      try context.save()
      context.delete(person)
      person.name = "ghost"
      #expect(!context.hasChanges)
      try context.save()
    }
  }

  @Test func anIDOfARemovedStoreIsNoObject() throws {
    let company = try CompanyStore()
    let id = try company.run { (context) throws in
      let person = Person(context: context)
      try context.save()
      return person.objectID
    }
    try company.coordinator.remove(company.store)
    try company.run { (context) throws in
      #expect(throws: CocoaError.self) { try context.existingObject(with: id) }
    }
  }
}
