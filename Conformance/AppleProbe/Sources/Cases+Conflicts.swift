import CoreData
import Foundation

extension GraphCase {
  /// The snapshots and versions of a save's conflicts.
  private static func describeConflicts(_ save: () throws -> Void) -> String {
    do { try save() } catch {
      let list = (error as NSError).userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [Any] ?? []
      let texts = list.compactMap { $0 as? NSMergeConflict }.map { conflict in
        func age(_ snapshot: [String: Any]?) -> String { snapshot.map { Text.of($0["age"]) } ?? "no snapshot" }
        return "object \(age(conflict.objectSnapshot)), cached \(age(conflict.cachedSnapshot)), "
          + "persisted \(age(conflict.persistedSnapshot)), "
          + "versions \(conflict.oldVersionNumber) \(conflict.newVersionNumber)"
      }
      return Text.of(error) + ": " + texts.joined(separator: "; ")
    }
    return "no error"
  }

  private static let (first, here, there) = (NSNumber(value: 1), NSNumber(value: 2), NSNumber(value: 3))

  /// A person whose age was 1, is 2 here, and was saved elsewhere as 3.
  private static func changedTwice(
    byStore: Bool, _ policy: NSMergePolicy = NSMergePolicy.error
  ) throws -> (World, NSManagedObject) {
    let world = try World()
    let a = try world.saved("Person", "a", ["age": first, "height": first])
    let context = byStore ? try world.secondWorld().context : world.secondContext()
    let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
    let other = try context.fetch(request)[0]
    other.setValue(there, forKey: "age")
    other.setValue(there, forKey: "height")
    a.setValue(here, forKey: "age")
    try context.save()
    world.context.mergePolicy = policy
    return (world, a)
  }

  private static func merged(_ policy: NSMergePolicy) throws -> String {
    let (world, a) = try changedTwice(byStore: false, policy)
    let saved = Text.of(trying: { try world.context.save() })
    let object = "age \(Text.of(a.value(forKey: "age"))), height \(Text.of(a.value(forKey: "height")))"
    let stored = try world.secondContext().own(a)
    return
      "\(saved), object \(object), stored \(Text.of(stored.value(forKey: "age"))), "
      + Text.of(stored.value(forKey: "height"))
  }

  /// An object changed here that was deleted elsewhere.
  private static func deletedThere(_ policy: NSMergePolicy) throws -> String {
    let world = try World()
    let a = try world.saved("Person", "a", ["age": first])
    let other = world.secondContext()
    other.delete(try other.own(a))
    a.setValue(here, forKey: "age")
    try other.save()
    world.context.mergePolicy = policy
    let saved = Text.of(trying: { try world.context.save() })
    return "\(saved), then \(try world.secondWorld().names("Person"))"
  }

  private static func unique(_ policy: NSMergePolicy) throws -> String {
    let world = try World()
    _ = try world.saved("Unique", "a", ["note": "old"])
    let new = world.insert("Unique", "a", ["note": "new"])
    world.context.mergePolicy = policy
    let saved = Text.of(trying: { try world.context.save() })
    let notes = try world.secondWorld().objects(of: "Unique").map { Text.of($0.value(forKey: "note")) }
    return
      "\(saved), stored \(notes.sorted()), new object's context \(new.managedObjectContext == nil ? "nil" : "there")"
  }

  static let conflicts = [
    GraphCase("conflict/cache", "snapshots of a conflict with a save of the same coordinator") {
      let (world, _) = try changedTwice(byStore: false)
      return describeConflicts { try world.context.save() }
    },
    GraphCase("conflict/store", "snapshots of a conflict with a save of another coordinator") {
      let (world, _) = try changedTwice(byStore: true)
      return describeConflicts { try world.context.save() }
    },
    GraphCase("conflict/store-trump", "a merge by store trump; height was changed there only") {
      try merged(NSMergePolicy.mergeByPropertyStoreTrump)
    },
    GraphCase("conflict/object-trump", "a merge by object trump") {
      try merged(NSMergePolicy.mergeByPropertyObjectTrump)
    },
    GraphCase("conflict/overwrite", "a merge by overwriting") { try merged(NSMergePolicy.overwrite) },
    GraphCase("conflict/rollback", "a merge by rolling back") { try merged(NSMergePolicy.rollback) },
    GraphCase("conflict/deleted-error", "a change of what was deleted elsewhere, with the error policy") {
      try deletedThere(NSMergePolicy.error)
    },
    GraphCase("conflict/deleted-store-trump", "the same by store trump") {
      try deletedThere(NSMergePolicy.mergeByPropertyStoreTrump)
    },
    GraphCase("conflict/deleted-object-trump", "the same by object trump") {
      try deletedThere(NSMergePolicy.mergeByPropertyObjectTrump)
    },
    GraphCase("conflict/deleted-overwrite", "the same by overwriting") { try deletedThere(NSMergePolicy.overwrite) },
    GraphCase("conflict/deleted-rollback", "the same by rolling back") { try deletedThere(NSMergePolicy.rollback) },
    GraphCase("conflict/unique-error", "two objects of a unique name, with the error policy") {
      try unique(NSMergePolicy.error)
    },
    GraphCase("conflict/unique-store-trump", "the same by store trump") {
      try unique(NSMergePolicy.mergeByPropertyStoreTrump)
    },
    GraphCase("conflict/unique-object-trump", "the same by object trump") {
      try unique(NSMergePolicy.mergeByPropertyObjectTrump)
    },
    GraphCase("conflict/unique-in-memory", "the same in an in-memory store, with the error policy") {
      let world = try World(type: NSInMemoryStoreType)
      world.insert("Unique", "a")
      world.insert("Unique", "a")
      return "\(Text.of(trying: { try world.context.save() })), \(try world.objects(of: "Unique").count) objects"
    },
  ]

  static let validation = [
    GraphCase("validation/unchanged", "a save that changes another value of an object whose number is invalid") {
      let unchecked = try World(model: CaseModel.make(isChecked: false))
      _ = try unchecked.saved("Checked", "a", ["number": NSNumber(value: -1)])
      let world = try World(folder: unchecked.folder)
      try world.objects(of: "Checked")[0].setValue("changed", forKey: "note")
      return Text.of(trying: { try world.context.save() })
    },
    GraphCase("validation/predicate", "a number that its predicate rejects") {
      let world = try World()
      world.insert("Checked", "a", ["number": NSNumber(value: -1)])
      return Text.of(trying: { try world.context.save() })
    },
    GraphCase("validation/two", "two values of one object that are rejected") {
      let world = try World()
      world.insert("Checked", "a", ["number": NSNumber(value: -1)]).setValue(nil, forKey: "required")
      return Text.of(trying: { try world.context.save() })
    },
    GraphCase("validation/two-objects", "two objects that are rejected") {
      let world = try World()
      for name in ["a", "b"] { world.insert("Checked", name, ["number": NSNumber(value: -1)]) }
      return Text.of(trying: { try world.context.save() })
    },
    GraphCase("validation/overflow", "70000 in an attribute of 16 bits: the value, the save, the value read again") {
      let world = try World()
      let a = world.insert("Person", "a", ["age": NSNumber(value: 70000)])
      let value = Text.of(a.value(forKey: "age"))
      let saved = Text.of(trying: { try world.context.save() })
      world.context.refresh(a, mergeChanges: false)
      return "\(value), \(saved), \(Text.of(a.value(forKey: "age")))"
    },
    GraphCase("validation/wrong-class", "a text in an attribute for numbers") {
      let world = try World()
      world.insert("Person", "a", ["age": "text"])
      return Text.of(trying: { try world.context.save() })
    },
    GraphCase("validation/not-a-number", "save of NaN, and the value read again") {
      let world = try World()
      let a = world.insert("Person", "a", ["height": NSNumber(value: Double.nan)])
      let saved = Text.of(trying: { try world.context.save() })
      world.context.refresh(a, mergeChanges: false)
      return "\(saved), \(Text.of(a.value(forKey: "height")))"
    },
    GraphCase("validation/empty-to-many", "save of an empty to-many relationship that is not optional") {
      let (owner, item) = (Describe.entity("Owner"), Describe.entity("Item"))
      Describe.link(owner, "items", many: true, item, "owner")
      owner.relationshipsByName["items"]?.isOptional = false
      let world = try World(model: Describe.model([owner, item]))
      world.insert("Owner", "a")
      return Text.of(trying: { try world.context.save() })
    },
    GraphCase("validation/empty-to-many-minimum", "the same with a minimum count of 1") {
      let (owner, item) = (Describe.entity("Owner"), Describe.entity("Item"))
      Describe.link(owner, "items", many: true, item, "owner")
      owner.relationshipsByName["items"]?.isOptional = false
      owner.relationshipsByName["items"]?.minCount = 1
      let world = try World(model: Describe.model([owner, item]))
      world.insert("Owner", "a")
      return Text.of(trying: { try world.context.save() })
    },
  ]
}
