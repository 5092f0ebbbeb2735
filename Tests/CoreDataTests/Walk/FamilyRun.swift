import CoreData
import Foundation
import TestSupport

/// A step of a program over a family of contexts. Items are numbers, counted among those that the context shows.
enum FamilyStep: CustomStringConvertible {
  case number(Int, item: Int, Int)
  case owner(Int, item: Int, Int?)
  case insert(Int)
  case delete(Int, item: Int)
  case readMembers(Int, item: Int)
  case save(Int)
  case rollback(Int)
  case refresh(Int, item: Int)
  case undo, redo

  var description: String {
    switch self {
    case .number(let context, let item, let value): "number(\(context), item: \(item), \(value))"
    case .owner(let context, let item, let other):
      "owner(\(context), item: \(item), \(other.map(String.init) ?? "nil"))"
    case .insert(let context): "insert(\(context))"
    case .delete(let context, let item): "delete(\(context), item: \(item))"
    case .readMembers(let context, let item): "readMembers(\(context), item: \(item))"
    case .save(let context): "save(\(context))"
    case .rollback(let context): "rollback(\(context))"
    case .refresh(let context, let item): "refresh(\(context), item: \(item))"
    case .undo: "undo"
    case .redo: "redo"
    }
  }

  static func random(_ dice: inout Dice) -> FamilyStep {
    let (context, item) = (dice.next(FamilyRun.parents.count), dice.next(64))
    switch dice.next(24) {
    case 0..<5: return .number(context, item: item, dice.next(6))
    case 5..<10: return .owner(context, item: item, dice.next(3) == 0 ? nil : dice.next(64))
    case 10: return .insert(context)
    case 11, 12: return .delete(context, item: item)
    case 13..<15: return .readMembers(context, item: item)
    case 15..<19: return .save(context)
    case 19: return .rollback(context)
    case 20, 21: return .refresh(context, item: item)
    case 22: return .undo
    default: return .redo
    }
  }
}

/// Runs a program on a root, its two children, and a child of one of these, none of which reads again what others have
/// changed.
///
/// What a context shows of an item that it has read is not judged: it may be old. Judged is what a save of a child does
/// to the parent: it sets what the child calls changed, and nothing else. Besides, no member is listed twice, and a
/// fetch gives no object that is deleted.
final class FamilyRun {
  struct Wrong: Error { let text: String }

  /// The parent of each context, by its number; nil for the root.
  static let parents: [Int?] = [nil, 0, 0, 1]

  private struct Values: Equatable {
    var number: Int?
    var owner: String?
  }

  private let folder: StoreFolder
  private let coordinator: NSPersistentStoreCoordinator
  private var contexts: [NSManagedObjectContext] = []
  private var announced: [AnnouncedObjects] = []
  private let manager = UndoManager()
  private var inserted = 0

  static func fault(_ program: [FamilyStep]) throws -> WalkProgram.Fault? {
    let run = try FamilyRun()
    defer { run.folder.remove() }
    for (number, step) in program.enumerated() {
      do {
        try run.perform(step)
        for (context, announced) in zip(run.contexts, run.announced) {
          try context.performAndWait {
            try run.check(context)
            if let error = announced.error(context) { throw Wrong(text: error) }
          }
        }
        if number + 1 == program.count { try run.finish() }
      } catch let wrong as Wrong { return (number, wrong.text) } catch { return (number, "\(error)") }
    }
    return nil
  }

  private init() throws {
    folder = try StoreFolder("family")
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: UndoStack.model)
    try coordinator.addPersistentStore(type: .sqlite, at: folder.url)
    for parent in Self.parents {
      let context = NSManagedObjectContext(.privateQueue)
      if let parent { context.parent = contexts[parent] } else { context.persistentStoreCoordinator = coordinator }
      contexts.append(context)
    }
    announced = contexts.map(AnnouncedObjects.init)
    try contexts[0].performAndWait {
      for _ in 0..<5 { insert(contexts[0]) }
      try contexts[0].save()
    }
    contexts[3].performAndWait { contexts[3].undoManager = manager }
  }

  private func insert(_ context: NSManagedObjectContext) {
    inserted += 1
    _ = UndoStack.insert("i\(inserted)", context)
  }

  // MARK: Steps

  private func perform(_ step: FamilyStep) throws {
    switch step {
    case .number(let context, let item, let value): try edit(context, item) { item, _ in item["number"] = value }
    case .owner(let context, let item, let other):
      try edit(context, item) { item, items in item["owner"] = other.map { items[$0 % items.count] } }
    case .insert(let context): contexts[context].performAndWait { insert(contexts[context]) }
    case .delete(let context, let item):
      try edit(context, item) { item, items in if items.count > 2 { item.managedObjectContext?.delete(item) } }
    case .readMembers(let context, let item): try edit(context, item) { item, _ in _ = UndoStack.linked(item, "owned") }
    case .save(let context): try save(context)
    case .rollback(let context): contexts[context].performAndWait { contexts[context].rollback() }
    case .refresh(let context, let item):
      try edit(context, item) { item, _ in item.managedObjectContext?.refresh(item, mergeChanges: true) }
    case .undo: contexts[3].performAndWait { contexts[3].undo() }
    case .redo: contexts[3].performAndWait { contexts[3].redo() }
    }
  }

  private func edit(_ context: Int, _ item: Int, _ body: (NSManagedObject, [NSManagedObject]) -> Void) throws {
    try contexts[context].performAndWait {
      let items = try Self.items(contexts[context])
      if !items.isEmpty { body(items[item % items.count], items) }
      contexts[context].processPendingChanges()
    }
  }

  /// Saves a context. Where its parent has lost what it has changed, it gives up its changes.
  private func save(_ number: Int) throws {
    let context = contexts[number]
    let above = Self.parents[number].map { contexts[$0] }
    let before = try above.map { above in
      try above.performAndWait { (values: try Self.values(above), doubled: try Self.doubled(above)) }
    }
    try context.performAndWait {
      context.processPendingChanges()
      let content = try Self.content(context)
      do { try context.save() } catch let error as CocoaError where error.code.rawValue == NSManagedObjectMergeError {
        return context.rollback()
      }
      guard let above, let before else { return }
      do {
        try above.performAndWait { try Self.compare(above, before.values, content, before.doubled) }
      } catch let wrong as Wrong {
        throw Wrong(text: "save(\(number)) of \(content.values), deleted \(content.deleted): \(wrong.text)")
      }
    }
  }

  /// What a context says it has changed: values by the keys of properties, and the deleted items.
  private struct SaveContent {
    var values: [String: [String: String?]] = [:]
    var deleted: Set<String> = []
    var inserted: Set<String> = []
  }

  private static func content(_ context: NSManagedObjectContext) throws -> SaveContent {
    var content = SaveContent()
    for item in context.deletedObjects {
      // The name of an item whose row is gone is unknown.
      if let name = item.committedValues(forKeys: ["name"])["name"] as? String { content.deleted.insert(name) }
    }
    for item in context.insertedObjects.union(context.updatedObjects) {
      guard let name = item["name"] as? String else { continue }
      if item.isInserted { content.inserted.insert(name) }
      let values = item.changedValues().filter { ["number", "owner"].contains($0.key) }
      if !values.isEmpty || item.isInserted { content.values[name] = values.mapValues(text) }
    }
    return content
  }

  private static func text(_ value: Any) -> String? {
    switch value {
    // A link to what the child knows as gone ends.
    case let object as NSManagedObject: object.isDeleted ? nil : object["name"] as? String
    case is NSNull: nil
    default: "\(value)"
    }
  }

  /// Compares what the parent shows after the save of a child with what it must show.
  private static func compare(
    _ parent: NSManagedObjectContext, _ before: [String: Values], _ content: SaveContent, _ doubled: Set<String>
  ) throws {
    var expected = before
    // The child's changes are later than a deletion in the parent, and so are its new members.
    let owners = content.values.values.compactMap { $0["owner"] ?? nil }
    let revived = Set(content.values.keys).union(owners).subtracting(before.keys).subtracting(content.inserted)
    // One that was deleted and inserted again is another one, with the same name.
    let doubled = try doubled.union(Self.doubled(parent))
      .union(content.inserted.intersection(content.deleted.union(before.keys)))
    for name in content.inserted { expected[name] = Values() }
    for (name, values) in content.values {
      for (key, value) in values {
        if key == "number" { expected[name]?.number = value.flatMap(Int.init) }
        if key == "owner" { expected[name]?.owner = value }
      }
    }
    for name in content.deleted { expected[name] = nil }
    for (name, values) in expected where values.owner.map(content.deleted.contains) ?? false {
      expected[name]?.owner = nil
    }
    let after = try Self.values(parent)
    // A context above may have deleted an item whose changes the parent has already.
    if parent.parent == nil, let lost = revived.first(where: { after[$0] == nil }) {
      throw Wrong(text: "\(lost) is not back")
    }
    for name in Set(after.keys).union(expected.keys) where !revived.contains(name) && !doubled.contains(name) {
      // An owner that has lost a member is shown as changed, also where a context above has deleted it.
      if before[name] == nil && expected[name] == nil && parent.parent != nil { continue }
      var (found, due) = (after[name], expected[name])
      // An owner that the parent has deleted is none, unless it is back.
      if [found?.owner, due?.owner].contains(where: { owner in
        owner.map { after[$0] == nil || revived.contains($0) || doubled.contains($0) } ?? false
      }) {
        found?.owner = nil
        due?.owner = nil
      }
      func shown(_ values: Values?) -> String { values.map { "\($0)" } ?? "gone" }
      if found != due { throw Wrong(text: "\(name) is \(shown(found)), not \(shown(due))") }
    }
  }

  // MARK: What must always be

  private func check(_ context: NSManagedObjectContext) throws {
    for item in try Self.items(context) {
      let name = item["name"] as? String ?? "?"
      if item.isDeleted || item.managedObjectContext == nil {
        throw Wrong(text: "a fetch gives \(name), which is deleted")
      }
      if item.hasFault(forRelationshipNamed: "owned") { continue }
      let owned = item.mutableSetValue(forKey: "owned")
      if owned.count != Set(owned.compactMap { $0 as? NSManagedObject }).count {
        throw Wrong(text: "\(name) has a member twice")
      }
      // What the root shows is never old.
      for member in UndoStack.linked(item, "owned")
      where context === contexts[0] && member["owner"] as? NSManagedObject !== item {
        throw Wrong(text: "\(name) has a member \(member["name"] ?? "?") that has another owner")
      }
    }
  }

  /// Saves everything, from the leaves up. The store then has what the root shows.
  private func finish() throws {
    for number in [3, 1, 2, 0] { try save(number) }
    let root = try contexts[0].performAndWait { try Self.values(contexts[0]) }
    let reader = NSManagedObjectContext(.privateQueue)
    reader.persistentStoreCoordinator = coordinator
    try reader.performAndWait {
      if try Self.values(reader) != root { throw Wrong(text: "the store has other values than the root") }
      for item in try Self.items(reader) {
        for member in UndoStack.linked(item, "owned") where member["owner"] as? NSManagedObject !== item {
          throw Wrong(text: "a stored link has one side")
        }
      }
    }
    for context in contexts where context.performAndWait({ context.hasChanges }) {
      throw Wrong(text: "changes are left")
    }
  }

  private static func items(_ context: NSManagedObjectContext) throws -> [NSManagedObject] {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
    request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
    return try context.fetch(request)
  }

  /// The names that several items have, one of which may be deleted.
  private static func doubled(_ context: NSManagedObjectContext) throws -> Set<String> {
    let deleted = context.deletedObjects.compactMap { $0.committedValues(forKeys: ["name"])["name"] as? String }
    let names = try items(context).compactMap { $0["name"] as? String } + deleted
    return Set(Dictionary(grouping: names, by: \.self).filter { $1.count > 1 }.keys)
  }

  private static func values(_ context: NSManagedObjectContext) throws -> [String: Values] {
    var values: [String: Values] = [:]
    for item in try items(context) {
      let owner = item["owner"] as? NSManagedObject
      values[item["name"] as? String ?? "?"] = Values(
        number: item["number"] as? Int, owner: owner.flatMap { $0.isDeleted ? nil : $0["name"] as? String })
    }
    return values
  }
}
