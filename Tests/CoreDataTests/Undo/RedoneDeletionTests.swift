import CoreData
import Foundation
import Testing

/// Deletions that are undone and redone.
@Suite struct RedoneDeletionTests {
  /// The rule of a redone deletion holds as that of the first one.
  @Test func aRedoneDeletionIsDenied() throws {
    guard let model = UndoStack.model.copy() as? NSManagedObjectModel else { throw CocoaError(.coreData) }
    model.entities[0].relationshipsByName["owned"]?.deleteRule = .denyDeleteRule
    let stack = try UndoStack(model: model)
    try stack.redoDeletion(ofDestination: "owner")
    stack.context.performAndWait {
      let error = #expect(throws: CocoaError.self) { try stack.context.save() }
      #expect(error?.code == .validationRelationshipDeniedDelete)
    }
  }

  @Test func aRedoneDeletionFollowsItsRulesAtTheSave() throws {
    let stack = try UndoStack()
    stack.context.performAndWait { stack.context.propagatesDeletesAtEndOfEvent = false }
    try stack.redoDeletion(ofDestination: "parent")
    try stack.saveAll()
    #expect(try stack.elsewhere { try UndoStack.items($0).count } == 0)
  }

  /// Another context links a member to an owner that this context deletes: before the deletion, or between it, a
  /// refresh, an undo and a redo. The save applies the owner's rule, or reports a conflict.
  @Test(
    arguments: [NSDeleteRule.denyDeleteRule, .cascadeDeleteRule, .nullifyDeleteRule],
    ["friends", "picks", "owned", "queue"])
  func aRedoneDeletionReachesNewMembers(_ rule: NSDeleteRule, key: String) throws {
    guard let model = UndoStack.model.copy() as? NSManagedObjectModel else { throw CocoaError(.coreData) }
    model.entities[0].relationshipsByName[key]?.deleteRule = rule
    for moment in 0...4 {
      let stack = try UndoStack(.inMemory, model: model)
      let owner = stack.event { context in
        _ = UndoStack.insert("member", context)
        return UndoStack.insert("owner", context)
      }
      try stack.saveAll()
      let steps: [(NSManagedObjectContext) -> Void] = [
        { _ in }, { $0.delete(owner) }, { $0.refreshAllObjects() }, { $0.undo() }, { $0.redo() },
      ]
      for (index, step) in steps.enumerated() {
        stack.event(step)
        if index == moment { try Self.link("member", to: "owner", key, stack) }
      }
      var code: CocoaError.Code?
      stack.context.performAndWait {
        do { try stack.context.save() } catch { code = (error as? CocoaError)?.code }
      }
      let names = try stack.elsewhere { try UndoStack.items($0).compactMap { $0["name"] as? String }.sorted() }
      switch (rule, code) {
      case (.denyDeleteRule, .validationRelationshipDeniedDelete?), (_, .managedObjectMerge?):
        #expect(names == ["member", "owner"])
      case (.cascadeDeleteRule, nil): #expect(names.isEmpty, "\(moment)")
      case (.nullifyDeleteRule, nil): #expect(names == ["member"], "\(moment)")
      default: Issue.record("\(String(describing: code)) \(names), \(moment)")
      }
      // What was refreshed after the link was made has no conflict.
      if moment < 2 { #expect(code != .managedObjectMerge) }
    }
  }

  /// Links two items from the side of the first one.
  private static func link(_ name: String, to ownerName: String, _ key: String, _ stack: UndoStack) throws {
    try stack.elsewhere { context in
      let items = try UndoStack.items(context)
      let member = try #require(items.first { $0["name"] as? String == name })
      let owner = try #require(items.first { $0["name"] as? String == ownerName })
      let inverse = try #require(owner.entity.relationshipsByName[key]?.inverseRelationship)
      switch (inverse.isToMany, inverse.isOrdered) {
      case (false, _): member[inverse.name] = owner
      case (true, false): member[inverse.name] = NSSet(object: owner)
      case (true, true): member[inverse.name] = NSOrderedSet(object: owner)
      }
      try context.save()
    }
  }

  // MARK: Rules without action

  /// A model in which the deletion of an owner leaves the links of its members.
  private static func modelWithoutAction() -> NSManagedObjectModel {
    let (one, many) = (NSEntityDescription(), NSEntityDescription())
    (one.name, many.name) = ("One", "Many")
    let (owner, members) = (NSRelationshipDescription(), NSRelationshipDescription())
    (owner.name, owner.destinationEntity, owner.maxCount, owner.deleteRule) = ("owner", one, 1, .nullifyDeleteRule)
    (members.name, members.destinationEntity, members.maxCount) = ("members", many, 0)
    members.deleteRule = .noActionDeleteRule
    (owner.inverseRelationship, members.inverseRelationship) = (members, owner)
    (one.properties, many.properties) = ([members], [owner])
    let model = NSManagedObjectModel()
    model.entities = [one, many]
    return model
  }

  /// A redone deletion leaves links of a relationship without action as the deletion had.
  @Test func aRedoneDeletionFollowsARuleWithoutAction() throws {
    let stack = try UndoStack(model: Self.modelWithoutAction())
    let (a, b) = stack.event { context in
      let (a, b) = (
        NSEntityDescription.insertNewObject(forEntityName: "One", into: context),
        NSEntityDescription.insertNewObject(forEntityName: "Many", into: context)
      )
      b["owner"] = a
      return (a, b)
    }
    try stack.saveAll()
    stack.event { $0.delete(a) }
    stack.context.performAndWait { #expect(b["owner"] as? NSManagedObject === a && !b.hasChanges) }
    stack.event { $0.undo() }
    stack.event { $0.redo() }
    stack.context.performAndWait {
      #expect(a.isDeleted && b["owner"] as? NSManagedObject === a && !b.hasChanges)
    }
  }

  /// The undo of an insertion leaves alone what the client has deleted itself, unrecorded.
  @Test func anUndoneInsertionLeavesADeletedObjectAlone() throws {
    let stack = try UndoStack(model: Self.modelWithoutAction())
    let b = stack.event { NSEntityDescription.insertNewObject(forEntityName: "Many", into: $0) }
    let a = stack.event { NSEntityDescription.insertNewObject(forEntityName: "One", into: $0) }
    stack.manager.disableUndoRegistration()
    stack.event { _ in b["owner"] = a }
    try stack.saveAll()
    stack.event { $0.delete(a) }
    stack.manager.enableUndoRegistration()
    stack.event { $0.undo() }
    stack.context.performAndWait { #expect(a.isDeleted && b["owner"] as? NSManagedObject === a && !b.hasChanges) }
  }
}
