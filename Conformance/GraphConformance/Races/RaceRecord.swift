import Dispatch

/// The changes, times and outcome of one save.
struct RaceRecord: Codable, Sendable {
  enum Outcome: String, Codable, Sendable {
    case saved, notSaved, unknown
  }

  /// A value of an attribute or a to-one relationship. Objects and destinations are IDs.
  struct Write: Codable, Sendable {
    let object: String
    let key: String
    var value: String?
    /// False for values that the worker did not change but that a policy may have written.
    var isDefinite = true
    /// The destination that the worker set, if the context dropped it during the save because it no longer exists.
    var dropped: String?
  }

  /// A member that an owner of a many-to-many relationship gained or lost.
  struct Pair: Codable, Sendable, Hashable {
    let owner: String
    let member: String
    var isLinked: Bool
    /// Whether the context dropped the link during the save, because one of its ends no longer exists.
    var isDropped = false
  }

  /// A new object: its name and its ID.
  struct Insertion: Codable, Sendable {
    let name: String
    var id: String
  }

  /// An order of an owner's members that the worker set.
  struct Order: Codable, Sendable {
    let owner: String
    let members: [String]
  }

  /// The number of the worker; -1 for the setup.
  var worker: Int
  var policy: RaceProgram.Policy
  /// Times in nanoseconds of the monotonic clock, which all processes share. `begin` is the time of the first change,
  /// `start` and `end` are those of the call of `save`.
  var begin: UInt64 = 0
  var start: UInt64 = 0
  var end: UInt64 = 0
  var outcome = Outcome.saved
  var code = 0
  var error: String?

  var insertions: [Insertion] = []
  /// Other objects that the worker knows, with their IDs at that time.
  var known: [Insertion] = []
  var writes: [Write] = []
  var pairs: [Pair] = []
  var orders: [Order] = []
  /// The names of objects that the worker deleted, and the IDs of objects that the context reported as deleted.
  var deletions: [String] = []
  var deleted: [String] = []
  /// Links that the worker made, by the names of owner and member.
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
  /// The token that was read: -1 for bytes that no worker wrote, nil for no value.
  let token: Int64?
  /// A time just before the context read the object's row.
  let loaded: UInt64
}

/// A report of a worker: a save, a read, or a problem.
enum RaceEvent: Codable, Sendable {
  case save(RaceRecord)
  case problem(String)
  case read(RaceRead)
  case action(RaceAction)
}
