import CoreData
import Foundation

extension GraphCase {
  private static func number(_ value: Int) -> NSNumber { NSNumber(value: value) }

  static let changes = [
    GraphCase("changes/event", "changedValuesForCurrentEvent after age went from 1 to 2 to 3: old values or new ones") {
      let world = try World()
      let a = try world.saved("Person", "a", ["age": number(1)])
      a.setValue(number(2), forKey: "age")
      a.setValue(number(3), forKey: "age")
      return Text.of(a.changedValuesForCurrentEvent())
    },
    GraphCase("changes/event-processed", "the same after changes were processed, and after one more change to 4") {
      let world = try World()
      let a = try world.saved("Person", "a", ["age": number(1)])
      a.setValue(number(2), forKey: "age")
      world.context.processPendingChanges()
      let processed = Text.of(a.changedValuesForCurrentEvent())
      a.setValue(number(4), forKey: "age")
      return "processed \(processed), then \(Text.of(a.changedValuesForCurrentEvent()))"
    },
    GraphCase("changes/event-to-many", "changedValuesForCurrentEvent of a to-many relationship") {
      let world = try World()
      let (team, a) = (world.insert("Team", "t"), world.insert("Person", "a"))
      try world.context.save()
      a.setValue(team, forKey: "team")
      return "\(Text.of(team.changedValuesForCurrentEvent())), \(Text.of(a.changedValuesForCurrentEvent()))"
    },
    GraphCase("changes/of-inserted", "changedValues of an unsaved object") {
      let world = try World()
      let a = world.insert("Person", "a", ["age": number(1)])
      return Text.of(a.changedValues())
    },
    GraphCase("changes/committed-of-inserted", "committedValues of an unsaved object") {
      let world = try World()
      let a = world.insert("Person", "a", ["age": number(1)])
      return "all \(Text.of(a.committedValues(forKeys: nil))), of age \(Text.of(a.committedValues(forKeys: ["age"])))"
    },
    GraphCase("changes/committed", "committedValues of a changed object, with a nil and a to-one") {
      let world = try World()
      let a = try world.saved("Person", "a", ["age": number(1)])
      a.setValue(number(2), forKey: "age")
      return Text.of(a.committedValues(forKeys: ["age", "height", "team"]))
    },
    GraphCase("changes/equal", "a value that is set to what it is") {
      let world = try World()
      let a = try world.saved("Person", "a", ["age": number(1)])
      a.setValue(number(1), forKey: "age")
      return
        "changed \(a.hasChanges), persistent \(a.hasPersistentChangedValues), context \(world.context.hasChanges), "
        + "values \(Text.of(a.changedValues()))"
    },
    GraphCase("changes/and-back", "a value that is changed and set back") {
      let world = try World()
      let a = try world.saved("Person", "a", ["age": number(1)])
      a.setValue(number(2), forKey: "age")
      a.setValue(number(1), forKey: "age")
      return "changed \(a.hasChanges), persistent \(a.hasPersistentChangedValues), values \(Text.of(a.changedValues()))"
    },
    GraphCase("changes/primitive", "a saved object after setPrimitiveValue") {
      let world = try World()
      let a = try world.saved("Person", "a", ["age": number(1)])
      a.setPrimitiveValue(number(2), forKey: "age")
      return "age \(Text.of(a.value(forKey: "age"))), changed \(a.hasChanges), values \(Text.of(a.changedValues()))"
    },
    GraphCase("changes/will-save", "whether a change in willSave is saved, and how often willSave is called") {
      let world = try World()
      Journal.onSave = { object in
        if object.value(forKey: "age") == nil { object.setValue(number(9), forKey: "age") }
      }
      let a = try world.saved("Person", "a")
      let calls = Journal.take()
      return "age \(Text.of(try world.secondContext().own(a).value(forKey: "age"))); \(calls)"
    },
    GraphCase(
      "changes/notification", "keys of NSManagedObjectContextObjectsDidChange of an insert, an update and a delete"
    ) {
      let world = try World()
      let (a, b) = (world.insert("Person", "a"), world.insert("Person", "b"))
      try world.context.save()
      let name = Notification.Name.NSManagedObjectContextObjectsDidChange
      let token = NotificationCenter.default.addObserver(forName: name, object: world.context, queue: nil) { note in
        Journal.heard = (note.userInfo ?? [:]).keys.map { "\($0)" }.sorted().joined(separator: ", ")
      }
      defer { NotificationCenter.default.removeObserver(token) }
      world.insert("Person", "c")
      a.setValue(number(1), forKey: "age")
      world.context.delete(b)
      world.context.processPendingChanges()
      return Journal.heard
    },
    GraphCase("changes/invalidated-all", "what NSInvalidatedAllObjectsKey holds after reset") {
      let world = try World()
      let a = try world.saved("Person", "a")
      let name = Notification.Name.NSManagedObjectContextObjectsDidChange
      let token = NotificationCenter.default.addObserver(forName: name, object: world.context, queue: nil) { note in
        let value = note.userInfo?[NSInvalidatedAllObjectsKey]
        let members = (value as? [Any]) ?? (value as? NSSet)?.allObjects ?? []
        let ids = members.filter { $0 is NSManagedObjectID }.count
        Journal.heard = "\(members.count) members, \(ids) of them IDs, \(value is [Any] ? "an array" : "no array")"
      }
      defer { NotificationCenter.default.removeObserver(token) }
      withExtendedLifetime(a) { world.context.reset() }
      return Journal.heard
    },
  ]

  static let life = [
    GraphCase("life/reset", "an object after reset") {
      let world = try World()
      let a = try world.saved("Person", "a")
      world.context.reset()
      return "fault \(a.isFault), context \(a.managedObjectContext == nil ? "nil" : "there")"
    },
    GraphCase("life/reset-value", "a value of an object after reset") {
      let world = try World()
      let a = try world.saved("Person", "a")
      world.context.reset()
      return Text.of(a.value(forKey: "name"))
    },
    GraphCase("life/refresh-inserted", "an unsaved object after refresh without merging") {
      let world = try World()
      let a = world.insert("Person", "a")
      world.context.refresh(a, mergeChanges: false)
      return "fault \(a.isFault), inserted \(a.isInserted)"
    },
    GraphCase("life/refresh-inserted-value", "a value of such an object, and its save") {
      let world = try World()
      let a = world.insert("Person", "a")
      world.context.refresh(a, mergeChanges: false)
      return "name \(Text.of(a.value(forKey: "name"))), save: \(Text.of(trying: { try world.context.save() }))"
    },
    GraphCase("life/refresh-changed", "a changed object after refresh without and with merging") {
      let world = try World()
      let (a, b) = (world.insert("Person", "a"), world.insert("Person", "b"))
      try world.context.save()
      for object in [a, b] { object.setValue(number(5), forKey: "age") }
      world.context.refresh(a, mergeChanges: false)
      world.context.refresh(b, mergeChanges: true)
      let without = "\(a.isFault), \(Text.of(a.value(forKey: "age"))), \(a.hasChanges)"
      return "without: \(without); with: \(b.isFault), \(Text.of(b.value(forKey: "age"))), \(b.hasChanges)"
    },
    GraphCase("life/rollback-inserted", "an unsaved object after rollback") {
      let world = try World()
      let a = world.insert("Person", "a")
      world.context.rollback()
      return "context \(a.managedObjectContext == nil ? "nil" : "there"), fault \(a.isFault), inserted \(a.isInserted)"
    },
    GraphCase("life/rollback-changed", "a changed object after rollback") {
      let world = try World()
      let a = try world.saved("Person", "a", ["age": number(1)])
      a.setValue(number(2), forKey: "age")
      world.context.rollback()
      return "fault \(a.isFault), age \(Text.of(a.value(forKey: "age"))), changed \(a.hasChanges)"
    },
    GraphCase("life/ids-of-relationship", "whether objectIDs(forRelationshipNamed:) fires the relationship's fault") {
      let world = try World()
      let team = try world.saved("Team", "t", ["members": Set([world.insert("Person", "a")])])
      world.context.reset()
      let fresh = try world.context.own(team)
      let ids = fresh.objectIDs(forRelationshipNamed: "members").count
      return "\(ids) IDs, still a fault: \(fresh.hasFault(forRelationshipNamed: "members")), "
        + "\(world.context.registeredObjects.count) registered"
    },
    GraphCase("life/unreadable-fault", "a value of an object whose row is gone, and shouldDeleteInaccessibleFaults") {
      let world = try World()
      let a = try world.saved("Person", "a")
      world.context.refresh(a, mergeChanges: false)
      let other = try world.secondWorld()
      other.context.delete(try other.objects(of: "Person")[0])
      try other.context.save()
      return "name \(Text.of(a.value(forKey: "name"))), deleted \(a.isDeleted), "
        + "save: \(Text.of(trying: { try world.context.save() }))"
    },
    GraphCase("life/derived", "a derived value before the save, after it, and after a refresh") {
      let world = try World()
      let a = world.insert("Derived", "Été")
      let before = Text.of(a.value(forKey: "folded"))
      try world.context.save()
      let saved = Text.of(a.value(forKey: "folded"))
      world.context.refresh(a, mergeChanges: false)
      return "before \(before), saved \(saved), refreshed \(Text.of(a.value(forKey: "folded")))"
    },
  ]
}

extension World {
  /// Every object of an entity.
  func objects(of entity: String) throws -> [NSManagedObject] {
    try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity))
  }
}
