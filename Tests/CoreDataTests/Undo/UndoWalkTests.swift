import CoreData
import Foundation
import Testing

/// Random events, which are undone and redone. The context must show again exactly what it showed before and after each
/// event, and both sides of every link must agree. A failure reports its seed.
@Suite struct UndoWalkTests {
  private static let stores: [NSPersistentStore.StoreType] = [.inMemory, .sqlite]

  @Test(arguments: 0..<80)
  func theContextShowsTheSameStatesAgain(seed: Int) throws {
    let stack = try UndoStack(Self.stores[seed % 2], levels: 1 + seed / 2 % 3)
    do { try Walk(stack, seed: seed).run(steps: 60) } catch let error as Divergence { Issue.record("\(error.text)") }
  }

  struct Divergence: Error { let text: String }

  final class Walk {
    let stack: UndoStack
    let seed: Int
    private var dice: Dice
    private var lastName = 0
    /// What the context showed before each group that can be undone, and after each that can be redone.
    private var past: [[String: String]] = []
    private var future: [[String: String]] = []
    private var log: [String] = []
    /// What the context showed last. It is not read before a step, so that a step may begin with unread relationships.
    private var current: [String: String] = [:]

    init(_ stack: UndoStack, seed: Int) {
      (self.stack, self.seed) = (stack, seed)
      dice = Dice(state: UInt64(seed) &* 6151 &+ 5)
    }

    func run(steps: Int) throws {
      for _ in 0..<steps {
        switch dice.next(20) {
        case 0..<9: try event()
        case 9..<13: try undo()
        case 13..<16: try redo()
        case 16: try undisturbed("save") { try $0.save() }
        case 17: try saveAll()
        case 18: try refreshAll()
        default: try refreshOne()
        }
      }
      // Back to the beginning, and to the end.
      while stack.manager.canUndo { try undo() }
      while stack.manager.canRedo { try redo() }
      try saveAll()
      let other = stack.other()
      let (shown, stored) = (
        try stack.context.performAndWait { try UndoStack.state(stack.context, without: ["memo"]) },
        try other.performAndWait { try UndoStack.state(other, without: ["memo"]) }
      )
      try compare(stored, shown, "the store")
    }

    private func compare(_ found: [String: String], _ expected: [String: String], _ what: String) throws {
      if found == expected && found["torn"] == nil { return }
      let names = Set(found.keys).union(expected.keys).filter { found[$0] != expected[$0] || $0 == "torn" }.sorted()
      let differences = names.map { "\($0): \(found[$0] ?? "none")\n    not \(expected[$0] ?? "none")" }
      throw Divergence(
        text: "seed \(seed), \(what): \(differences.joined(separator: "\n  "))\nafter \(log.joined(separator: "; "))")
    }

    // MARK: Steps

    private func event() throws {
      let (before, count) = (current, stack.manager.undoCount)
      forgetUnchanged()
      var texts: [String] = []
      try stack.event { context in
        // Fetched once: a fetch ends the event of the context.
        var items = try UndoStack.items(context)
        for _ in 0...dice.next(5) { texts.append(try change(context, &items)) }
      }
      log.append("event(\(texts.joined(separator: ", ")))")
      if stack.manager.undoCount > count {
        past.append(before)
        future = []
      }
      current = try stack.state()
      if current["torn"] != nil { try compare(current, current, "the event") }
      if before != current && stack.manager.undoCount == count {
        try compare(current, before, "an event that was not recorded")
      }
    }

    /// Makes faults of all objects, sometimes, unless a transient value would be lost.
    private func forgetUnchanged() {
      if dice.next(3) > 0 || current.values.contains(where: { $0.contains("memo=m") }) { return }
      stack.context.performAndWait { stack.context.refreshAllObjects() }
      log.append("refreshed")
    }

    private func undo() throws {
      guard let expected = past.popLast() else { return }
      future.append(current)
      forgetUnchanged()
      stack.event { $0.undo() }
      log.append("undo")
      current = try stack.state()
      try compare(current, expected, "the undo")
      if stack.manager.redoCount != future.count {
        throw Divergence(text: "seed \(seed): an undo cannot be redone after \(log)")
      }
    }

    private func redo() throws {
      guard let expected = future.popLast() else { return }
      past.append(current)
      forgetUnchanged()
      stack.event { $0.redo() }
      log.append("redo")
      current = try stack.state()
      try compare(current, expected, "the redo")
    }

    /// What must change nothing that is shown, and nothing that can be undone.
    private func undisturbed(_ name: String, _ body: (NSManagedObjectContext) throws -> Void) throws {
      let (before, count) = (current, stack.manager.undoCount)
      try stack.context.performAndWait { try body(stack.context) }
      log.append(name)
      current = try stack.state()
      try compare(current, before, name)
      if stack.manager.undoCount != count {
        throw Divergence(text: "seed \(seed): \(name) registered an action after \(log)")
      }
    }

    private func saveAll() throws {
      try undisturbed("save all") { context in
        for context in stack.contexts.reversed() { try context.performAndWait { try context.save() } }
      }
    }

    /// Does nothing where there are transient values, which a refresh forgets.
    private func refreshAll() throws {
      try undisturbed("refresh") { context in
        if try UndoStack.items(context).allSatisfy({ $0["memo"] == nil }) { context.refreshAllObjects() }
      }
    }

    private func refreshOne() throws {
      try undisturbed("refresh one") { context in
        let unchanged = try UndoStack.items(context).filter { !$0.hasChanges && $0["memo"] == nil }
        if let item = pick(unchanged) { context.refresh(item, mergeChanges: false) }
      }
    }

    private func pick(_ items: [NSManagedObject]) -> NSManagedObject? {
      let sorted = items.sorted { ($0["name"] as? String ?? "") < ($1["name"] as? String ?? "") }
      return sorted.isEmpty ? nil : sorted[dice.next(sorted.count)]
    }

    private func some(_ items: [NSManagedObject]) -> [NSManagedObject] {
      (0..<dice.next(4)).compactMap { _ in pick(items) }
    }

    /// Changes something. Returns what, for the report.
    func change(_ context: NSManagedObjectContext, _ items: inout [NSManagedObject]) throws -> String {
      guard items.count > 3, let item = pick(items), let other = pick(items) else { return insert(context, &items) }
      let (name, otherName) = (item["name"] as? String ?? "?", other["name"] as? String ?? "?")
      switch dice.next(17) {
      case 0, 1: return insert(context, &items)
      case 2 where items.count > 6:
        // Links without an inverse lead nowhere once a deletion is saved.
        let seen = Set(items.flatMap { UndoStack.linked($0, "seen") + UndoStack.linked($0, "keeps") })
        let cascade = cascade(of: item)
        if !seen.isDisjoint(with: cascade) { return "nothing" }
        context.delete(item)
        // The delete rules are applied at the end of the event.
        items.removeAll { cascade.contains($0) }
        return "delete \(name)"
      case 3:
        item["number"] = dice.next(3) == 0 ? nil : dice.next(4)
        return "\(name).number"
      case 4:
        item["memo"] = dice.next(2) == 0 ? nil : "m\(dice.next(3))"
        return "\(name).memo"
      case 5:
        item["list"] = dice.next(3) == 0 ? nil : [dice.next(3)] as NSArray
        return "\(name).list"
      case 6:
        item["address"] = dice.next(3) == 0 ? nil : ["city": "c\(dice.next(3))", "floor": dice.next(2)]
        return "\(name).address"
      case 7:
        let size = dice.next(2) == 0 ? 10 : 200_000
        item["photo"] = dice.next(4) == 0 ? nil : Data(repeating: UInt8(dice.next(4)), count: size)
        return "\(name).photo"
      case 8...10:
        let key = ["owner", "line", "partner", "partnerOf", "seen"][dice.next(5)]
        item[key] = dice.next(4) == 0 ? nil : other
        return "\(name).\(key)=\(item[key] == nil ? "nil" : otherName)"
      case 11:
        // A cascade must not end in a circle that deletes all.
        if let parent = other["parent"] as? NSManagedObject, parent["parent"] != nil { return "nothing" }
        if item === other || UndoStack.linked(item, "children").contains(other) { return "nothing" }
        item["parent"] = other
        return "\(name).parent=\(otherName)"
      case 12, 13:
        let key = ["owned", "friends", "friendsOf", "keeps"][dice.next(4)]
        var members = Set(some(items))
        // Without an inverse, the store has one owner of each object.
        if key == "keeps" { for owner in items where owner !== item { members.subtract(UndoStack.linked(owner, key)) } }
        item[key] = members
        return "\(name).\(key)=\(members.compactMap { $0["name"] as? String }.sorted())"
      case 14:
        let key = ["queue", "picks", "picksOf"][dice.next(3)]
        let members = NSOrderedSet(array: some(items))
        item[key] = members
        return "\(name).\(key)=\(members.compactMap { ($0 as? NSManagedObject)?["name"] as? String })"
      case 15:
        // A refresh forgets transient values.
        if items.contains(where: { $0["memo"] != nil }) { return "nothing" }
        if dice.next(2) == 0 { context.refreshAllObjects() } else { context.refresh(item, mergeChanges: true) }
        return "refresh in the event"
      default:
        let key = ["queue", "picks", "picksOf"][dice.next(3)]
        let members = item.mutableOrderedSetValue(forKey: key)
        if members.count < 2 { return "nothing" }
        members.moveObjects(at: IndexSet(integer: members.count - 1), to: 0)
        return "\(name).\(key) last first"
      }
    }

    private func cascade(of item: NSManagedObject) -> [NSManagedObject] {
      var found = [item]
      var index = 0
      while index < found.count {
        found += UndoStack.linked(found[index], "children").filter { !found.contains($0) }
        index += 1
      }
      return found
    }

    private func insert(_ context: NSManagedObjectContext, _ items: inout [NSManagedObject]) -> String {
      lastName += 1
      let item = UndoStack.insert("n\(lastName)", context)
      if let owner = pick(items) { item["owner"] = owner }
      items.append(item)
      return "insert n\(lastName)"
    }
  }
}
