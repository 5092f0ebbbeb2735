import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Parts of the features of contexts and objects, by their numbers, that no other suite asserts.
@Suite struct FeatureRowTests {
  /// 15.3: `performAndWait` does not end the event; 15.2: `perform` does.
  @Test func onlyPerformEndsTheEvent() async throws {
    let company = try CompanyStore()
    let context = company.context()
    let person = context.performAndWait { Person(context: context) }
    context.performAndWait { #expect(person.flags.contains(.pending)) }
    await withCheckedContinuation { continuation in
      context.perform { person.name = "Ada" }
      context.perform { continuation.resume() }
    }
    context.performAndWait { #expect(!person.flags.contains(.pending)) }
    withExtendedLifetime(company) {}
  }

  /// 16.2: an object that is made without a context keeps its values when it is inserted, also into a child.
  @Test func valuesSurviveAnInsertion() throws {
    let chain = try ContextChain()
    try chain.child.performAndWait {
      let entity = try #require(chain.company.coordinator.managedObjectModel.entitiesByName["Person"])
      let person = Person(entity: entity, insertInto: nil)
      person.name = "Ada"
      for _ in 0..<2 { chain.child.insert(person) }
      #expect(person.name == "Ada" && chain.child.insertedObjects == [person])
      try chain.child.save()
    }
    try chain.root.performAndWait { try chain.root.save() }
    #expect(try chain.stored() == ["Ada"])
  }

  /// 16.14: after its deletion was saved, an object is in no context and counts as not deleted; its values stay.
  @Test func aDeletedObjectKeepsItsValues() throws {
    try CompanyStore().run { context in
      let person = Person(context: context)
      person.name = "Ada"
      try context.save()
      context.delete(person)
      #expect(person.isDeleted)
      try context.save()
      #expect(!person.isDeleted && person.managedObjectContext == nil && person.name == "Ada")
    }
  }

  /// 20.1: what can be read without firing a fault; 23.3: `faultingState`; 23.5: `changedValues()` fires none.
  @Test func aFaultStaysOne() throws {
    let company = try CompanyStore()
    try company.run { context in
      Person(context: context).name = "Ada"
      try context.save()
    }
    try company.run { context in
      let person = try #require(try context.all(Person.self).first)
      _ = (person.entity, person.objectID, person.hash, person.description, person.isEqual(person))
      #expect(person.changedValues().isEmpty && person.isFault && person.faultingState == 1)
      person.willAccessValue(forKey: nil)
      #expect(!person.isFault && person.faultingState == 0)
    }
  }

  /// 23.4: only stored values that differ count; 23.7: all committed values, without unread relationships.
  @Test func changedAndCommittedValues() throws {
    let stack = try UndoStack()
    let item = try stack.savedItem()
    try stack.context.performAndWait {
      #expect(!item.hasPersistentChangedValues)
      item["memo"] = "transient"
      #expect(!item.hasPersistentChangedValues)
      item["number"] = 5
      #expect(item.hasPersistentChangedValues)
      item["number"] = 1
      #expect(!item.hasPersistentChangedValues)
      stack.context.refresh(item, mergeChanges: false)
      let committed = item.committedValues(forKeys: nil)
      #expect(committed["number"] as? Int == 1 && committed["name"] as? String == "a" && committed["owner"] is NSNull)
      #expect(committed["friends"] == nil && committed["memo"] == nil)
      #expect((item.committedValues(forKeys: ["friends"])["friends"] as? NSSet)?.count == 0)
      _ = try UndoStack.items(stack.context)
    }
  }

  /// 23.8: `awakeFromInsert` is called once, in the context where the object was inserted first.
  @Test func aParentDoesNotAwakeTheObjectsOfItsChild() throws {
    let chain = try ContextChain()
    let id = try chain.child.performAndWait {
      let department = Department(context: chain.child)
      #expect(department.insertCount == 1)
      try chain.child.save()
      return department.objectID
    }
    let department = try chain.root.performAndWait { try chain.root.existingObject(with: id) as? Department }
    #expect(department?.insertCount == 0)
  }

  /// 23.12 and 25.3: an error of an override fails the save; with an error of `super` both are reported.
  @Test func errorsOfOverridesAreReported() throws {
    let name = Describing.attribute("name")
    name.isOptional = false
    let entity = Describing.entity("Refuser", [name])
    entity.managedObjectClassName = "CoreDataTests.Refuser"
    let context = try Describing.context(Describing.model([entity]))
    try context.performAndWait {
      let judge = try #require(
        NSEntityDescription.insertNewObject(forEntityName: "Refuser", into: context) as? Refuser)
      var error = #expect(throws: CocoaError.self) { try context.save() }
      #expect(error?.code.rawValue == NSValidationMultipleErrorsError)
      #expect((error?.userInfo[NSDetailedErrorsKey] as? [any Error])?.count == 2)
      judge.setValue("Ada", forKey: "name")
      error = #expect(throws: CocoaError.self) { try context.save() }
      #expect(error?.code.rawValue == 4711)
      judge.isContent = true
      try context.save()
    }
  }

  /// 24.10: an object without a context is inserted into the context of its new owner.
  @Test func anObjectWithoutAContextIsAdopted() throws {
    let company = try CompanyStore()
    try company.run { context in
      let entity = try #require(company.coordinator.managedObjectModel.entitiesByName["Department"])
      let (person, department) = (Person(context: context), Department(entity: entity, insertInto: nil))
      person.department = department
      #expect(department.isInserted && department.managedObjectContext === context)
    }
  }
}

final class Refuser: NSManagedObject {
  var isContent = false

  override func validateForInsert() throws {
    var errors: [any Error] = isContent ? [] : [CocoaError(CocoaError.Code(rawValue: 4711))]
    do { try super.validateForInsert() } catch { errors.insert(error, at: 0) }
    if errors.count > 1 {
      throw CocoaError(
        CocoaError.Code(rawValue: NSValidationMultipleErrorsError), userInfo: [NSDetailedErrorsKey: errors])
    }
    if let error = errors.first { throw error }
  }
}
