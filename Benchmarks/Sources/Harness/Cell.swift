import Foundation

/// One workload on one side, in a process of its own.
struct Cell {
  let workload: Workload
  let side: Side
  /// A store that nobody else uses; it is changed.
  let path: String
  let scale: Scale
  /// The value of PRAGMA synchronous.
  let synchronous: String
  /// The type of the store.
  let store: String

  /// Runs it.
  func run() throws -> CellResult {
    switch side {
    case .raw: try RawStore.run(self)
    case .library: try LibrarySide.run(self)
    }
  }

  /// The same over a store of type SQLite.
  var overSQLite: Cell {
    Cell(workload: workload, side: .library, path: path, scale: scale, synchronous: synchronous, store: "SQLite")
  }

  /// What is in the store now that it has run; empty for a workload that only reads.
  func digest() throws -> String {
    // A store in memory is gone.
    if !workload.writes || store == "InMemory" { return "" }
    return " " + (try store == "SQLite" ? StoreDigest.digest(path) : ValueDigest.digest(self))
  }
}
