import TestSupport

/// A change of one context. Items are numbers, counted among the names that the context has, so that a program stays
/// meaningful when operations are left out of it.
enum GraphEdit: CustomStringConvertible {
  case insert
  case number(item: Int, Int?)
  case text(item: Int, Int)
  case owner(item: Int, Int?)
  case parent(item: Int, Int?)
  case friends(item: Int, [Int])
  case queue(item: Int, [Int])
  case lastFirst(item: Int)
  case delete(item: Int)

  var description: String {
    switch self {
    case .insert: "insert"
    case .number(let item, let value): "number(\(item), \(value.map(String.init) ?? "nil"))"
    case .text(let item, let value): "text(\(item), \(value))"
    case .owner(let item, let other): "owner(\(item), \(other.map(String.init) ?? "nil"))"
    case .parent(let item, let other): "parent(\(item), \(other.map(String.init) ?? "nil"))"
    case .friends(let item, let others): "friends(\(item), \(others))"
    case .queue(let item, let others): "queue(\(item), \(others))"
    case .lastFirst(let item): "lastFirst(\(item))"
    case .delete(let item): "delete(\(item))"
    }
  }

  static func random(_ dice: inout Dice) -> GraphEdit {
    let (item, other) = (dice.next(64), dice.next(4) == 0 ? nil : dice.next(64))
    let others = (0..<dice.next(4)).map { _ in dice.next(64) }
    switch dice.next(16) {
    case 0..<3: return .insert
    case 3, 4: return .number(item: item, dice.next(4) == 0 ? nil : dice.next(5))
    case 5: return .text(item: item, dice.next(5))
    case 6, 7: return .owner(item: item, other)
    case 8: return .parent(item: item, other)
    case 9, 10: return .friends(item: item, others)
    case 11, 12: return .queue(item: item, others)
    case 13: return .lastFirst(item: item)
    default: return .delete(item: item)
    }
  }
}

/// A step of a program over a chain of contexts. Level 0 is the root.
enum GraphOperation: CustomStringConvertible {
  case event(level: Int, [GraphEdit])
  case undo, redo
  case save(level: Int)
  case saveAll
  case refresh(level: Int)
  case rollback(level: Int)
  case reset(level: Int)
  /// Changes of another coordinator, which are saved and merged.
  case elsewhere(GraphEdit)
  /// A change that another coordinator has made, too.
  case conflict(item: Int)
  case reopen

  var description: String {
    switch self {
    case .event(let level, let edits): "event(\(level), \(edits))"
    case .undo: "undo"
    case .redo: "redo"
    case .save(let level): "save(\(level))"
    case .saveAll: "saveAll"
    case .refresh(let level): "refresh(\(level))"
    case .rollback(let level): "rollback(\(level))"
    case .reset(let level): "reset(\(level))"
    case .elsewhere(let edit): "elsewhere(\(edit))"
    case .conflict(let item): "conflict(\(item))"
    case .reopen: "reopen"
    }
  }

  static func random(_ dice: inout Dice, levels: Int) -> GraphOperation {
    // Mostly the last level, which records undo.
    let level = dice.next(3) == 0 ? dice.next(levels) : levels - 1
    switch dice.next(40) {
    case 0..<18: return .event(level: level, (0...dice.next(3)).map { _ in GraphEdit.random(&dice) })
    case 18..<22: return .undo
    case 22..<25: return .redo
    case 25..<28: return .save(level: level)
    case 28, 29: return .saveAll
    case 30, 31: return .refresh(level: level)
    case 32: return .rollback(level: level)
    case 33: return .reset(level: level)
    case 34..<37: return .elsewhere(GraphEdit.random(&dice))
    case 37, 38: return .conflict(item: dice.next(64))
    default: return .reopen
    }
  }
}
