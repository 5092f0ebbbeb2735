import Foundation
import TestSupport
import Testing

@testable import CoreData

/// What never-saved objects return, and what a context reports for the objects that it forgets.
@Suite struct ForgottenObjectTests {
  private func context() throws -> NSManagedObjectContext {
    let owner = Describing.entity("Owner", [Describing.attribute("name")])
    let child = Describing.entity("Child", [Describing.attribute("name")])
    Describing.relate(owner, "children", toMany: true, child, "owner", toManyBack: false)
    return try Describing.context(Describing.model([owner, child]))
  }

  /// "a dictionary containing the last fetched or saved values of the managed object for the properties specified":
  /// https://developer.apple.com/documentation/coredata/nsmanagedobject/committedvalues(forkeys:) There are none.
  @Test func objectsThatWereNeverSavedHaveNoCommittedValues() throws {
    let context = try context()
    try context.performAndWait {
      let model = try #require(context.persistentStoreCoordinator?.managedObjectModel)
      let entity = try #require(model.entitiesByName["Owner"])
      let apart = NSManagedObject(entity: entity, insertInto: nil)
      apart.setValue("a", forKey: "name")
      let inserted = NSManagedObject(entity: entity, insertInto: context)
      inserted.setValue("b", forKey: "name")
      for object in [apart, inserted] {
        #expect(object.committedValues(forKeys: nil).isEmpty && object.committedValues(forKeys: ["name"]).isEmpty)
      }
      context.rollback()
      #expect(inserted.committedValues(forKeys: ["name"]).isEmpty)
    }
  }

  /// "An array of all the managed object IDs that were invalidated":
  /// https://developer.apple.com/documentation/coredata/nsinvalidatedallobjectskey
  @Test func aResetNamesEachObjectOnce() throws {
    let context = try context()
    nonisolated(unsafe) var named: [NSManagedObjectID] = []
    let observer = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
    ) { named += $0.userInfo?[NSInvalidatedAllObjectsKey] as? [NSManagedObjectID] ?? [] }
    defer { NotificationCenter.default.removeObserver(observer) }
    try context.performAndWait {
      let objects = (0..<3).map { _ in NSEntityDescription.insertNewObject(forEntityName: "Owner", into: context) }
      try context.obtainPermanentIDs(for: [objects[0]])
      #expect(context.registeredObjects.count == 3)
      let ids = Set(objects.map(\.objectID))
      context.reset()
      #expect(named.count == 3 && Set(named) == ids)
    }
  }

  /// A new object that is refreshed without its changes has no links either, from both sides.
  @Test func aRefreshedNewObjectIsLinkedToNothing() throws {
    let context = try context()
    try context.performAndWait {
      let owner = NSEntityDescription.insertNewObject(forEntityName: "Owner", into: context)
      try context.save()
      let child = NSEntityDescription.insertNewObject(forEntityName: "Child", into: context)
      child.setValue(owner, forKey: "owner")
      context.refresh(child, mergeChanges: false)
      #expect(child.value(forKey: "owner") == nil && (owner.value(forKey: "children") as? NSSet)?.count == 0)
      child.setValue(owner, forKey: "owner")
      context.refresh(owner, mergeChanges: true)
      let other = NSEntityDescription.insertNewObject(forEntityName: "Owner", into: context)
      other.setValue([child] as Set<NSManagedObject>, forKey: "children")
      context.refresh(other, mergeChanges: false)
      #expect(child.value(forKey: "owner") == nil && (other.value(forKey: "children") as? NSSet)?.count == 0)
      try context.save()
      context.refreshAllObjects()
      for object in [owner, other] { #expect((object.value(forKey: "children") as? NSSet)?.count == 0) }
    }
  }

  /// All properties of a changed object are validated, whichever side was changed and whether they were read:
  /// https://developer.apple.com/library/archive/documentation/Cocoa/Conceptual/CoreData/ObjectValidation.html
  @Test(arguments: [true, false]) func anOwnerThatLosesItsLastMemberUnreadIsJudged(_ isFromToMany: Bool) throws {
    let (owner, child) = (Describing.entity("Owner"), Describing.entity("Child"))
    Describing.relate(owner, "children", toMany: true, child, "owner", toManyBack: false)
    let children = try #require(owner.relationshipsByName["children"])
    (children.isOptional, children.minCount) = (false, 1)
    let strict = try Describing.context(Describing.model([owner, child]))
    try strict.performAndWait {
      let owners = (0..<2).map { _ in NSEntityDescription.insertNewObject(forEntityName: "Owner", into: strict) }
      let members = owners.map { owner in
        let child = NSEntityDescription.insertNewObject(forEntityName: "Child", into: strict)
        child.setValue(owner, forKey: "owner")
        return child
      }
      try strict.save()
      strict.refreshAllObjects()
      if isFromToMany {
        owners[1].mutableSetValue(forKey: "children").add(members[0])
      } else {
        members[0].setValue(owners[1], forKey: "owner")
      }
      let error = #expect(throws: CocoaError.self) { try strict.save() }
      #expect(error?.code == .validationMissingMandatoryProperty)
    }
  }
}
