import Dispatch

/// What one save was to do, when it ran, and what came of it.
struct RaceRecord: Codable, Sendable {
  enum Outcome: String, Codable, Sendable {
    case saved, notSaved, unknown
  }

  /// A value of an attribute or a to-one relationship. Objects and destinations are IDs.
  struct Write: Codable, Sendable {
    let object: String
    let key: String
    var value: String?
    /// False for values that a policy may have written although the worker did not change them.
    var isDefinite = true
    /// The destination that the worker set, where the context has given it up during the save because it is gone.
    var dropped: String?
  }

  /// A member that an owner of a many-to-many relationship got or lost.
  struct Pair: Codable, Sendable, Hashable {
    let owner: String
    let member: String
    var isLinked: Bool
    /// Whether the context has given the link up during the save, because one of its ends is gone.
    var isDropped = false
  }

  /// A new object: its name and the ID that it got.
  struct Insertion: Codable, Sendable {
    let name: String
    var id: String
  }

  /// The order of an owner's members that the worker set.
  struct Order: Codable, Sendable {
    let owner: String
    let members: [String]
  }

  /// -1 for the setup.
  var worker: Int
  var policy: RaceProgram.Policy
  /// Nanoseconds of the monotonic clock, which all processes share: when the first change was made, and the call of
  /// `save`.
  var begin: UInt64 = 0
  var start: UInt64 = 0
  var end: UInt64 = 0
  var outcome = Outcome.saved
  var code = 0
  var error: String?

  var insertions: [Insertion] = []
  /// Other objects that the worker knows, with their IDs at the time.
  var known: [Insertion] = []
  var writes: [Write] = []
  var pairs: [Pair] = []
  var orders: [Order] = []
  /// Names that the worker deleted, and IDs that the context says it has deleted.
  var deletions: [String] = []
  var deleted: [String] = []
  /// Links that the worker made: names of owner and member.
  var links: [Pair] = []

  var isEmpty: Bool {
    insertions.isEmpty && writes.isEmpty && pairs.isEmpty && orders.isEmpty && deletions.isEmpty && deleted.isEmpty
  }

  func overlaps(_ other: RaceRecord) -> Bool { start <= other.end && other.start <= end }

  static func now() -> UInt64 { DispatchTime.now().uptimeNanoseconds }
}

/// A read of a large value.
struct RaceRead: Codable, Sendable {
  let object: String
  /// The token, -1 for bytes that nobody wrote, nil for no value.
  let token: Int64?
  /// When the context read the object's row, or before.
  let loaded: UInt64
}

/// What a worker tells: a save, or a fault that it saw by itself.
enum RaceEvent: Codable, Sendable {
  case save(RaceRecord)
  case problem(String)
  case read(RaceRead)
  case action(RaceAction)
}
