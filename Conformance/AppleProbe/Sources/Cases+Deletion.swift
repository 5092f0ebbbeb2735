import CoreData
import Foundation

extension GraphCase {
  /// An owner with two items behind a delete rule, saved.
  private static func ownerOfItems(_ rule: String) throws -> (World, owner: NSManagedObject, item: NSManagedObject) {
    let world = try World()
    let (owner, first) = (world.insert("Owner", "owner"), world.insert("Item", "first"))
    owner.setValue(Set([first, world.insert("Item", "second")]), forKey: rule)
    try world.context.save()
    Journal.lines = []
    return (world, owner, first)
  }

  static let deletion = [
    GraphCase("delete/nullify", "owner of an item before and after changes are processed") {
      let (world, owner, item) = try ownerOfItems("nullify")
      world.context.delete(owner)
      let before = Text.of(item.value(forKey: "nullifyOwner"))
      world.context.processPendingChanges()
      return "before \(before), after \(Text.of(item.value(forKey: "nullifyOwner")))"
    },
    GraphCase("delete/cascade", "number of deleted objects before and after changes are processed") {
      let (world, owner, item) = try ownerOfItems("cascade")
      world.context.delete(owner)
      let before = "\(world.context.deletedObjects.count), item is deleted: \(item.isDeleted)"
      world.context.processPendingChanges()
      return "before \(before); after \(world.context.deletedObjects.count), \(item.isDeleted)"
    },
    GraphCase("delete/deny", "save of a deletion that a rule denies") {
      let (world, owner, _) = try ownerOfItems("deny")
      world.context.delete(owner)
      return Text.of(trying: { try world.context.save() }) + ", still deleted: \(owner.isDeleted)"
    },
    GraphCase("delete/deny-emptied", "save of the deletion after the members were taken out") {
      let (world, owner, _) = try ownerOfItems("deny")
      owner.setValue(Set<NSManagedObject>(), forKey: "deny")
      world.context.delete(owner)
      return Text.of(trying: { try world.context.save() })
    },
    GraphCase("delete/no-action", "what an item has where its owner was, after the save and after a fetch") {
      let (world, owner, item) = try ownerOfItems("ignore")
      world.context.delete(owner)
      let saved = Text.of(trying: { try world.context.save() })
      let before = item.value(forKey: "ignoreOwner") == nil ? "nil" : "an object"
      world.context.reset()
      let other = try world.context.own(item).value(forKey: "ignoreOwner")
      return "\(saved), before \(before), after \(other == nil ? "nil" : "an object")"
    },
    GraphCase("delete/late", "deleted objects with propagatesDeletesAtEndOfEvent = false, step by step") {
      let (world, owner, item) = try ownerOfItems("cascade")
      world.context.propagatesDeletesAtEndOfEvent = false
      world.context.delete(owner)
      let deleted = world.context.deletedObjects.count
      world.context.processPendingChanges()
      let processed = world.context.deletedObjects.count
      let saved = Text.of(trying: { try world.context.save() })
      return "deleted \(deleted), processed \(processed), \(saved), then \(try world.names("Item")), \(item.isDeleted)"
    },
    GraphCase("delete/prepare-again", "calls of prepareForDeletion where an object is deleted twice") {
      let (world, owner, _) = try ownerOfItems("nullify")
      world.context.delete(owner)
      world.context.delete(owner)
      return Journal.take()
    },
    GraphCase("delete/prepare-again-after-processing", "the same with changes processed between the two") {
      let (world, owner, _) = try ownerOfItems("nullify")
      world.context.delete(owner)
      world.context.processPendingChanges()
      world.context.delete(owner)
      return Journal.take()
    },
    GraphCase("delete/prepare-cascade", "when prepareForDeletion of a cascade's first and last object is called") {
      let (world, owner, _) = try ownerOfItems("cascade")
      world.context.delete(owner)
      let before = Journal.take()
      world.context.processPendingChanges()
      return "at delete: \(before); at processing: \(Journal.lines.sorted().joined(separator: ", "))"
    },
    GraphCase("delete/unsaved", "an object that was inserted and deleted without a save") {
      let world = try World()
      let object = world.insert("Person", "a")
      world.context.delete(object)
      let before = "deleted \(object.isDeleted), inserted \(object.isInserted)"
      world.context.processPendingChanges()
      return "\(before); after deleted \(object.isDeleted), inserted \(object.isInserted), "
        + "context \(object.managedObjectContext == nil ? "nil" : "there"), changes \(world.context.hasChanges)"
    },
    GraphCase("delete/after-save", "a deleted object after the save") {
      let world = try World()
      let object = try world.saved("Person", "a")
      world.context.delete(object)
      try world.context.save()
      return "deleted \(object.isDeleted), fault \(object.isFault), "
        + "context \(object.managedObjectContext == nil ? "nil" : "there")"
    },
    GraphCase("delete/value-after-save", "a value of a deleted object after the save") {
      let world = try World()
      let object = try world.saved("Person", "a")
      world.context.delete(object)
      try world.context.save()
      return Text.of(object.value(forKey: "name"))
    },
    GraphCase("delete/change-after", "a change of a deleted object before the save") {
      let world = try World()
      let object = try world.saved("Person", "a")
      world.context.delete(object)
      object.setValue("b", forKey: "name")
      return "value \(Text.of(object.value(forKey: "name"))), save: \(Text.of(trying: { try world.context.save() }))"
    },
  ]

  static let inverses = [
    GraphCase("inverse/one-to-one", "the first of two that point at one partner, then") {
      let world = try World()
      let (a, b, c) = (world.insert("Person", "a"), world.insert("Person", "b"), world.insert("Person", "c"))
      a.setValue(b, forKey: "partner")
      c.setValue(b, forKey: "partner")
      return "a has \(Text.of(a.value(forKey: "partner"))), b is of \(Text.of(b.value(forKey: "partnerOf")))"
    },
    GraphCase("inverse/moved", "members of two teams after a member has moved") {
      let world = try World()
      let (old, new, a) = (world.insert("Team", "old"), world.insert("Team", "new"), world.insert("Person", "a"))
      a.setValue(old, forKey: "team")
      new.setValue(Set([a]), forKey: "members")
      return "old \(Text.of(old.value(forKey: "members"))), new \(Text.of(new.value(forKey: "members")))"
    },
    GraphCase("inverse/ordered", "where an object stands in an ordered relationship that its to-one puts it into") {
      let world = try World()
      let (team, a, b) = (world.insert("Team", "t"), world.insert("Person", "a"), world.insert("Person", "b"))
      team.setValue(NSOrderedSet(array: [b]), forKey: "queue")
      a.setValue(team, forKey: "queued")
      return Text.of(team.value(forKey: "queue"))
    },
    GraphCase("inverse/primitive", "inverse and changes after setPrimitiveValue of a to-one") {
      let world = try World()
      let (team, a) = (world.insert("Team", "t"), world.insert("Person", "a"))
      try world.context.save()
      a.setPrimitiveValue(team, forKey: "team")
      return "team \(Text.of(a.value(forKey: "team"))), members \(Text.of(team.value(forKey: "members"))), "
        + "changed \(a.hasChanges)"
    },
    GraphCase("inverse/primitive-saved", "whether a save keeps such a primitive value") {
      let world = try World()
      let (team, a) = (world.insert("Team", "t"), world.insert("Person", "a"))
      try world.context.save()
      a.setPrimitiveValue(team, forKey: "team")
      a.setValue(NSNumber(value: 3), forKey: "age")
      try world.context.save()
      return Text.of(try world.secondContext().own(a).value(forKey: "team"))
    },
    GraphCase("inverse/none", "a to-one without inverse after its object was deleted") {
      let world = try World()
      let (a, idol) = (world.insert("Person", "a"), world.insert("Person", "idol"))
      a.setValue(idol, forKey: "idol")
      try world.context.save()
      world.context.delete(idol)
      let saved = Text.of(trying: { try world.context.save() })
      return "\(saved), \(a.value(forKey: "idol") == nil ? "nil" : "an object")"
    },
    GraphCase("inverse/self", "a person who is her own boss") {
      let world = try World()
      let a = world.insert("Person", "a")
      a.setValue(a, forKey: "boss")
      world.context.delete(a)
      return Text.of(trying: { try world.context.save() })
    },
  ]
}
