import Foundation
import SQLEngine
import StoreProtocol
import StoreSchema
import StoreSupport
import Synchronization
import Testing

@testable import SQLiteBackend

/// Threads that wait for a reader connection.
@Suite struct SQLitePoolTests {
  /// Two threads wait for a reader, one with a short timeout and one with a long one. The reader is returned when the
  /// short timeout expires. The thread that does not get it must not block the other one.
  @Test func aWaiterThatTimesOutKeepsNobodyWaiting() throws {
    let binding = SQLBinding(SQLLayout(schema: try Schema([]), entityNumbers: []))
    let path = FileManager.default.temporaryDirectory.appending(path: "pool-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    try SQLiteConnection(path, .readWriteCreate, timeout: 1).execute("PRAGMA user_version = 1")
    let file = SQLiteStoreFile(path, SQLiteOpenFiles.Identity(path), identifier: "")
    let pool = SQLitePool(limit: 1, timeout: 1) { () throws(StoreError) in
      try SQLiteReader(try SQLiteConnection(path, .readOnly, timeout: 1), binding, nil, file)
    }
    let slowest = Mutex(0.0)
    for round in 0..<300 {
      let reader = try pool.take()
      let (ready, done) = (DispatchSemaphore(value: 0), DispatchGroup())
      let delay = 0.002 + Double(round % 7) * 0.00005
      for seconds in [delay, 3] {
        done.enter()
        Thread.detachNewThread {
          ready.signal()
          let start = Date()
          if let taken = try? pool.take(within: seconds) { pool.give(taken) }
          let waited = Date().timeIntervalSince(start)
          slowest.withLock { $0 = max($0, waited) }
          done.leave()
        }
        ready.wait()
      }
      Thread.sleep(forTimeInterval: delay)
      pool.give(reader)
      done.wait()
      if slowest.withLock({ $0 }) > 2 { break }
    }
    pool.close()
    #expect(slowest.withLock { $0 } < 2)
  }
}
