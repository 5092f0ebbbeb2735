/// What may be in memory at the highest while a process does some work on a store.
///
/// The source is goal G8 of the project's reliability goals.
struct Ceiling {
  let name: String
  /// What is measured.
  let step: Step
  /// What makes the store before, in a process of its own; nil where the step begins with none.
  let preparation: Step?
  let limit: Limit

  enum Limit {
    /// So many millions of bytes. Fewer rows have the same ceiling: less memory is no wrong, and more would be.
    case megabytes(Double)
    /// So many times the bytes that the step names, beside what a process of no work takes.
    case times(Double)
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
}

/// What a process does with a store, and nothing else.
struct Step: Codable {
  enum Work: String, Codable {
    /// Inserts all rows in saves of 10 000, each of which belongs to the one owner.
    case insert
    /// Fetches all in batches of 100, and reads every value.
    case walk
    /// Deletes the owner, and with it all rows, in one save.
    case cascade
    case saveBlob
    case readBlob
    /// Opens a store that is a whole file, reads all, changes one object, and saves.
    case changeFile
  }

  let work: Work
  let store: String

  init(_ work: Work, _ store: String) { (self.work, self.store) = (work, store) }
}

/// What a step took.
struct Reading: Codable {
  /// Bytes of memory at the highest.
  let peak: Int
  /// Bytes that were in memory when the step began.
  let start: Int
  /// What ``Ceiling/Limit/times(_:)`` multiplies.
  let size: Int
}
