import Dispatch
import Foundation

/// A thread with a stack of 512 KiB.
final class SmallThread: @unchecked Sendable {
  private let body: () throws -> Void
  private var result: Result<Void, any Error> = .success(())

  init(_ body: @escaping () throws -> Void) { self.body = body }

  /// Runs the body on the thread and waits for it.
  func run() throws {
    let done = DispatchSemaphore(value: 0)
    let thread = Thread {
      self.result = Result { try self.body() }
      done.signal()
    }
    thread.stackSize = 512 * 1024
    thread.start()
    done.wait()
    try result.get()
  }
}

/// Calls `body` with 0 to `count` - 1 at the same time, each on a separate thread, and waits for all.
/// `concurrentPerform` uses at most as many threads as there are processors, so some calls would wait.
func atOnce(_ count: Int, _ body: @escaping (Int) -> Void) {
  nonisolated(unsafe) let body = body
  let running = DispatchGroup()
  for number in 0..<count {
    running.enter()
    Thread.detachNewThread {
      body(number)
      running.leave()
    }
  }
  running.wait()
}
