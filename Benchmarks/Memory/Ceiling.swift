/// The largest peak of memory that is allowed for a step.
///
/// The source is goal G8 of the project's reliability goals.
struct Ceiling {
  let name: String
  /// The measured step.
  let step: Step
  /// Makes the store in another process; nil where the step makes it.
  let preparation: Step?
  let limit: Limit

  enum Limit {
    /// Millions of bytes, for any number of rows.
    case megabytes(Double)
    /// A multiple of ``Reading/size``. ``Reading/start`` is subtracted from the peak first.
    case times(Double)
    /// Bytes of each of ``Reading/size`` idle contexts, and the threads that all of them take together: Dispatch makes
    /// at most 255 for work that blocks.
    case contexts(bytes: Double, threads: Int)
  }

  static let all: [Ceiling] =
    ["SQLite", "LMDB"].flatMap { type in
      [
        Ceiling(name: "insert-\(type)", step: .init(.insert, type), preparation: nil, limit: .megabytes(250)),
        Ceiling(
          name: "walk-\(type)", step: .init(.walk, type), preparation: .init(.insert, type), limit: .megabytes(150)),
        Ceiling(
          name: "cascade-\(type)", step: .init(.cascade, type), preparation: .init(.insert, type),
          limit: .megabytes(1200)),
        Ceiling(name: "blob-\(type)", step: .init(.saveBlob, type), preparation: nil, limit: .times(3)),
        Ceiling(
          name: "read-blob-\(type)", step: .init(.readBlob, type), preparation: .init(.saveBlob, type),
          limit: .times(3)),
      ]
    }
    + ["Binary", "XML"].map { type in
      Ceiling(name: "file-\(type)", step: .init(.changeFile, type), preparation: .init(.insert, type), limit: .times(6))
    }
    + [
      Ceiling(
        name: "contexts-SQLite", step: .init(.contexts, "SQLite"), preparation: nil,
        limit: .contexts(bytes: 3000, threads: 260))
    ]
}

/// The work of one process on one store.
struct Step: Codable {
  enum Work: String, Codable {
    /// Inserts all rows in saves of 10 000. All belong to one owner.
    case insert
    /// Fetches all in batches of 100, and reads every value.
    case walk
    /// Deletes the owner, and with it all rows, in one save.
    case cascade
    case saveBlob
    case readBlob
    /// Opens a store that is a whole file, reads all rows, changes one, and saves.
    case changeFile
    /// Makes contexts of three levels: one for each 100 rows, and at least 10 000. All work at the same time, and are
    /// idle then.
    case contexts
  }

  let work: Work
  let store: String

  init(_ work: Work, _ store: String) { (self.work, self.store) = (work, store) }
}

/// The memory that a step took.
struct Reading: Codable {
  /// The peak, in bytes.
  let peak: Int
  /// The bytes in use before the step.
  let start: Int
  /// The bytes of the large value, or of the store's file; the number of contexts.
  let size: Int
  /// The most threads that ran at a time, for contexts.
  var threads = 0
}
