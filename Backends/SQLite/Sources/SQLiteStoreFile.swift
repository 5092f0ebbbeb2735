import Foundation
import StoreProtocol
import StoreSupport
import Synchronization

/// The file of an open store. By it the store finds out that another one has replaced it: the file was removed, another
/// file has its name, or another store was written into it.
///
/// A removal or replacement in this process is reported to its open stores (``SQLiteOpenFiles/replacing(_:_:)``). One
/// in another process is found by the device and inode of the name, read once for each snapshot and each write
/// transaction.
final class SQLiteStoreFile: Sendable {
  private enum State: Int {
    case own, beingReplaced, replaced
  }

  let path: String
  /// Nil where the file was gone before the store was open.
  let identity: SQLiteOpenFiles.Identity?
  /// The UUID of the store.
  let identifier: String
  private let state = Atomic<Int>(State.own.rawValue)
  /// Held while the store is being replaced.
  private let gate = NSLock()

  init(_ path: String, _ identity: SQLiteOpenFiles.Identity?, identifier: String) {
    (self.path, self.identity, self.identifier) = (path, identity, identifier)
  }

  deinit {
    if let identity { SQLiteOpenFiles.forgetStores(of: identity) }
  }

  /// Whether this process has let another store replace this one.
  var isReplaced: Bool { state.load(ordering: .acquiring) == State.replaced.rawValue }

  /// Whether this process is just letting another store replace this one.
  var isBeingReplaced: Bool { state.load(ordering: .acquiring) == State.beingReplaced.rawValue }

  /// Waits for a replacement that has begun in this process. Do not call it with a view of the store: the replacement
  /// may wait for that view.
  func waitForReplacement() { if isBeingReplaced { gate.withLock {} } }

  /// Throws `replaced` where the file at the path is no longer the store's.
  func require() throws(StoreError) {
    if isReplaced || !hasItsName { throw replaced }
  }

  private var hasItsName: Bool {
    if let found = SQLiteOpenFiles.Identity(path) { return found == identity }
    // A file whose status cannot be read may exist.
    return errno != ENOENT && errno != ENOTDIR
  }

  /// The same, and that the UUID `found` in the file is this store's. `found` is nil where there is none.
  func require(identifier found: String?) throws(StoreError) {
    try require()
    if found != identifier { throw replaced }
  }

  /// Throws `replaced` where a connection is to another file than the store's.
  func require(_ connection: SQLiteConnection) throws(StoreError) {
    if let opened = connection.identity, opened != identity { throw replaced }
    try require()
  }

  /// `error`, or `replaced` where the file is no longer the store's.
  func explained(_ error: StoreError) -> StoreError {
    do throws(StoreError) { try require() } catch { return error }
    return error
  }

  var replaced: StoreError { .replaced(path) }

  // MARK: Replacement

  func beginReplacing() {
    gate.lock()
    if !isReplaced { state.store(State.beingReplaced.rawValue, ordering: .releasing) }
  }

  func endReplacing(isDone: Bool) {
    if isDone || isReplaced {
      state.store(State.replaced.rawValue, ordering: .releasing)
    } else {
      state.store(State.own.rawValue, ordering: .releasing)
    }
    gate.unlock()
  }
}
