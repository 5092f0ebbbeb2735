import Foundation
import SQLEngine
import StoreProtocol
import Synchronization

/// A connection for snapshots with its compiled statements.
final class SQLiteReader {
  let connection: SQLiteConnection
  let statements: SQLStatements<SQLiteConnection>
  /// The view that the connection reads through, where the store leaves its folder as it is.
  private let view: SQLiteFileView?
  /// The store's file.
  let file: SQLiteStoreFile

  init(
    _ connection: SQLiteConnection, _ binding: SQLBinding, _ view: SQLiteFileView?, _ file: SQLiteStoreFile
  ) throws(StoreError) {
    // A view may be a copy, and so another file.
    if view == nil { try file.require(connection) } else { try file.require() }
    self.connection = connection
    self.view = view
    self.file = file
    statements = SQLStatements(connection, binding)
  }

  /// Whether the next snapshot may use it.
  var isCurrent: Bool { view?.isCurrent ?? true }

  /// Throws `busy` where a file that was read without locks was written meanwhile: the data read may be torn. Throws
  /// `replaced` where this process has let another store replace this one.
  @inline(__always) func confirm() throws(StoreError) {
    if file.isReplaced { throw file.replaced }
    if let view, view.isUnlocked, !view.isCurrent { throw view.changed }
  }
}

/// The reading connections of one store: made when needed, kept when idle, at most `limit` at once.
///
/// Sendable, unchecked: the condition guards all state, and a reader belongs to one snapshot at a time.
final class SQLitePool: @unchecked Sendable {
  private let condition = NSCondition()
  private var idle: [SQLiteReader] = []
  private var inUse = 0
  private var isClosed = false
  private let limit: Int
  private let timeout: Double
  private let make: () throws(StoreError) -> SQLiteReader

  init(limit: Int, timeout: Double, make: @escaping () throws(StoreError) -> SQLiteReader) {
    self.limit = max(1, limit)
    self.timeout = timeout
    self.make = make
  }

  /// An idle connection. Throws `busy` where none became free within `seconds`, by default the pool's timeout.
  func take(within seconds: Double? = nil) throws(StoreError) -> SQLiteReader {
    condition.lock()
    let deadline = Date(timeIntervalSinceNow: seconds ?? timeout)
    while !isClosed, idle.isEmpty, inUse >= limit {
      if !condition.wait(until: deadline), !isClosed, idle.isEmpty, inUse >= limit {
        condition.unlock()
        throw StoreError(.busy, "No reading connection became free within the timeout. Release snapshots sooner.")
      }
    }
    if isClosed {
      condition.unlock()
      throw StoreError(.closed, "The store was closed; open it again.")
    }
    inUse += 1
    let reader = idle.popLast()
    condition.unlock()
    if let reader, reader.isCurrent { return reader }
    do { return try make() } catch {
      give(nil)
      throw error
    }
  }

  /// Takes a reader back; nil for one that could not be made or is unfit for further use.
  func give(_ reader: SQLiteReader?) {
    condition.lock()
    inUse -= 1
    if let reader, !isClosed { idle.append(reader) }
    // Wakes all of them: a waiter whose time ends at this moment would use up a single wake-up.
    condition.broadcast()
    condition.unlock()
  }

  /// Closes the readers that nobody uses; new ones are made when needed.
  func dropIdle() { condition.withLock { idle = [] } }

  func close() {
    condition.lock()
    isClosed = true
    idle = []
    condition.broadcast()
    condition.unlock()
  }
}
