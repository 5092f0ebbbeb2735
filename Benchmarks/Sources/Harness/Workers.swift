import Foundation
import Synchronization

/// Threads that work beside the one that started them.
final class Workers: Sendable {
  private let group = DispatchGroup()
  private let failure = Mutex<(any Error)?>(nil)

  /// Starts `count` threads that run `body` with their number.
  init(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) {
    for number in 0..<count {
      group.enter()
      let thread = Thread { [self] in
        do { try body(number) } catch { failure.withLock { $0 = $0 ?? error } }
        group.leave()
      }
      thread.stackSize = 8 << 20
      thread.start()
    }
  }

  /// Waits for all of them. Throws what the first one threw that failed.
  func wait() throws {
    group.wait()
    if let error = failure.withLock({ $0 }) { throw error }
  }
}
