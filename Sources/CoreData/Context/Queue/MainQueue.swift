import Dispatch
import Foundation

/// The main queue. Off Apple's platforms the main thread does not always run it: after `dispatchMain()`, and once an
/// asynchronous `main` has suspended, it runs on other threads, and the main thread runs nothing any more.
enum MainQueue {
  private static let key: DispatchSpecificKey<Bool> = {
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    return key
  }()

  /// Whether this thread runs what belongs on the main queue. Never true of two threads at once.
  static var isCurrent: Bool { Thread.isMainThread || DispatchQueue.getSpecific(key: key) == true }

  /// Runs `body` on the main queue and waits for its end. `isLate` is called where it has not begun within `patience`
  /// seconds; the wait goes on.
  ///
  /// The queue gets an asynchronous block: `sync` of the main queue is a trap on the queue itself.
  static func run<T>(_ body: () throws -> T, patience: Double = 5, isLate: () -> Void) rethrows -> T {
    let work: Work<T> = withoutActuallyEscaping(body) { body in
      let work = Work(body)
      DispatchQueue.main.async { work.run() }
      if work.begun.wait(timeout: .now() + patience) == .timedOut { isLate() }
      work.ended.wait()
      return work
    }
    switch work.outcome {
    case .success(let value)?: return value
    case .failure(let error)?: return try { throw error }()
    case nil: misuse("A block of the main queue has ended without an outcome.")
    }
  }

  /// Sendable, unchecked: the thread that waits looks at it only after it has ended.
  private final class Work<T>: @unchecked Sendable {
    let begun = DispatchSemaphore(value: 0)
    let ended = DispatchSemaphore(value: 0)
    private(set) var outcome: Result<T, any Error>?
    private var body: (() throws -> T)?

    init(_ body: @escaping () throws -> T) { self.body = body }

    func run() {
      begun.signal()
      runBody()
      ended.signal()
    }

    /// Holds the body no longer than it runs: the caller's closure must not outlive the call.
    private func runBody() {
      guard let body else { return }
      self.body = nil
      outcome = Result { try body() }
    }
  }
}
