/// The work that is measured, by the names of the performance specification.
enum Workload: String, CaseIterable, Codable {
  /// Insert everything, one save.
  case w1 = "W1"
  /// The same in saves of 1 % each.
  case w1b = "W1b"
  /// W1 up to the release of the context and all objects.
  case w1t = "W1t"
  /// W1b up to the release of the context and all objects.
  case w1bt = "W1bt"
  /// Fetch all employees, read every property.
  case w2 = "W2"
  /// A sorted, limited query, 200 times.
  case w3 = "W3"
  /// Every object by its ID in random order, nothing cached.
  case w4 = "W4"
  /// The same with every row in the row cache (raw: in SQLite's page cache).
  case w4h = "W4h"
  /// One of a hundred objects by its ID in random order, nothing cached.
  case w4s = "W4s"
  /// Change one property of every object, save.
  case w5 = "W5"
  /// The same with an undo manager; raw: the same as W5.
  case w5u = "W5u"
  /// Walk the to-many relationship of every department, one fault at a time.
  case w6 = "W6"
  /// The same, prefetched.
  case w6p = "W6p"
  /// Delete every second object, save.
  case w7 = "W7"
  /// Delete departments with the rule nullify that nobody refers to, a tenth of the number of employees; three more
  /// entities could.
  case w7r = "W7r"
  /// Number and mean salary of the employees of every department, 20 times.
  case w8 = "W8"
  /// Name, age and salary of every employee, as a dictionary each.
  case w8d = "W8d"
  /// Open a store in a running process, to the first object.
  case w10 = "W10"
  /// Bytes of a live, fully read object.
  case w11 = "W11"
  /// Eight walk the to-many relationship of every department as in ``w6``, while one changes all objects in saves of 1
  /// % each.
  case w12 = "W12"
  /// 1 000 saves of one changed property each, durable at every one (SQLite: synchronous = FULL).
  case w13 = "W13"
  /// Change one object of a store that is a whole file, save: all of it is written.
  case w14 = "W14"
  /// Memory that this takes at most, against what the store takes.
  case w14m = "W14m"
  /// Open a store that is a whole file: all of it is read.
  case w15 = "W15"
  /// Memory that this takes at most and gives back, against what the store takes.
  case w15m = "W15m"

  /// Ask all employees, as rows in memory, whether they meet a predicate, 20 times; raw: a closure over the same rows.
  case w16 = "W16"

  /// Those of stores that are whole files only.
  static let wholeFile: [Workload] = [.w14, .w14m, .w15, .w15m]
  /// Those of every store that can begin with another one's work: no keys that count from 1, no opening in no time.
  static let general: [Workload] = [.w1, .w1b, .w2, .w3, .w5, .w6, .w6p, .w7, .w8, .w11]
  /// Those of the SQLite store.
  static var rows: [Workload] { allCases.filter { !wholeFile.contains($0) } }

  /// What is held against the goal.
  enum Figure: String, Codable {
    /// CPU time of the library over that of raw SQLite.
    case ratio
    /// Wall time of the library over that of the raw side.
    case wallRatio
    /// Wall time of the library, in milliseconds.
    case milliseconds
    /// Heap bytes of one object of the library.
    case bytes
    /// Memory that the library needs meanwhile over that of what it keeps.
    case share
  }

  var figure: Figure {
    switch self {
    case .w10: .milliseconds
    case .w11: .bytes
    case .w12, .w13: .wallRatio
    case .w14m, .w15m: .share
    default: .ratio
    }
  }

  /// The greatest figure that is good enough for a store of a type.
  func goal(_ store: String) -> Double {
    if store == "InMemory" { return figure == .ratio ? 1 : goal }
    if store == "XML" && self == .w14 { return 0.6 }
    if store == "XML" && self == .w15 { return 1.5 }
    if store == "LMDB" {
      switch self {
      case .w1, .w1b, .w1t, .w1bt: return 2
      case .w2, .w4: return 1.6
      case .w3, .w5, .w6, .w7, .w12: return 3
      default: break
      }
    }
    return goal
  }

  private var goal: Double {
    switch self {
    case .w1, .w1t, .w1bt: 1.5
    case .w1b: 1.4
    case .w2: 1.3
    case .w3: 1.1
    case .w4, .w4s: 1.5
    case .w4h: 0.5
    case .w5: 1.8
    case .w5u: 1.3 * 1.8
    case .w6: 1.8
    case .w6p: 0.9
    case .w7: 1.35
    case .w7r: 15
    case .w8: 1.05
    case .w8d: 1.3
    case .w10: 2
    case .w11: 480
    case .w12: 1.5
    case .w13: 1.15
    case .w14, .w15: 6
    case .w14m, .w15m: 1.5
    case .w16: 3
    }
  }

  /// Whether it begins with an empty store.
  var startsEmpty: Bool { [.w1, .w1b, .w1t, .w1bt, .w7r].contains(self) }

  /// Whether it writes, so that the contents of the store are compared afterwards.
  var writes: Bool { startsEmpty || [.w5, .w5u, .w7, .w12, .w13, .w14].contains(self) }

  /// The value of PRAGMA synchronous, where it is not for the user to say.
  var synchronous: String? { self == .w13 ? "FULL" : nil }

  /// Takes a name in any case.
  init?(name: some StringProtocol) {
    guard let found = Self.allCases.first(where: { $0.rawValue.lowercased() == name.lowercased() }) else { return nil }
    self = found
  }
}

/// Who does the work.
enum Side: String, CaseIterable, Codable {
  /// The C API of SQLite, or what stands in its place for another store.
  case raw
  /// OpenCoreData.
  case library
}
