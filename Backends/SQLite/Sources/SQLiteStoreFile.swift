import Foundation
import StoreProtocol
import Synchronization

/// The file of an open store, by which the store finds out that another one has taken its place: the file was removed,
/// or another one has its name, or has been written into it.
///
/// Who removes or replaces a store tells the open stores of this process (``SQLiteOpenFiles/replacing(_:_:)``). What
/// another process does is found by looking at the name's device and inode, once a snapshot and once a write
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
  /// Held by who is replacing the store.
  private let gate = NSLock()

  init(_ path: String, _ identity: SQLiteOpenFiles.Identity?, identifier: String) {
    (self.path, self.identity, self.identifier) = (path, identity, identifier)
  }

  deinit {
    if let identity { SQLiteOpenFiles.forgetStores(of: identity) }
  }

  /// Whether this process has let another store take this one's place.
  var isReplaced: Bool { state.load(ordering: .acquiring) == State.replaced.rawValue }

  /// Whether somebody in this process is letting another store take this one's place.
  var isBeingReplaced: Bool { state.load(ordering: .acquiring) == State.beingReplaced.rawValue }

  /// Waits for a replacement that has begun in this process. Not to be called with a view of the store, for which it
  /// may wait.
  func waitForReplacement() { if isBeingReplaced { gate.withLock {} } }

  /// Throws `replaced` where the file at the path is not the store's any more.
  func require() throws(StoreError) {
    if isReplaced || !hasItsName { throw replaced }
  }

  private var hasItsName: Bool {
    if let found = SQLiteOpenFiles.Identity(path) { return found == identity }
    // What cannot be looked at may be there.
    return errno != ENOENT && errno != ENOTDIR
  }

  /// The same, and that the store in the file has this one's UUID: `found`, nil where there is none.
  func require(identifier found: String?) throws(StoreError) {
    try require()
    if found != identifier { throw replaced }
  }

  /// Throws `replaced` where a connection is to another file than the store's.
  func require(_ connection: SQLiteConnection) throws(StoreError) {
    if let opened = connection.identity, opened != identity { throw replaced }
    try require()
  }

  /// `error`, or `replaced` where the file is not the store's any more.
  func explained(_ error: StoreError) -> StoreError {
    do throws(StoreError) { try require() } catch { return error }
    return error
  }

  var replaced: StoreError { .replaced(path) }

  // MARK: For those who replace

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
