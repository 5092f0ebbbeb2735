import Dispatch
import Foundation

/// The main queue. On other platforms than Apple's, other threads may run it: after `dispatchMain()`, and once an
/// asynchronous `main` has suspended. The main thread runs nothing any more then.
enum MainQueue {
  private static let key: DispatchSpecificKey<Bool> = {
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    return key
  }()

  /// Whether this thread runs the blocks of the main queue. Never true for two threads at once.
  static var isCurrent: Bool { Thread.isMainThread || DispatchQueue.getSpecific(key: key) == true }

  /// Runs `body` on the main queue and waits for its end. `isLate` is called where it has not begun within `patience`
  /// seconds; the wait goes on. `meanwhile` is called again and again during the wait.
  ///
  /// It submits an asynchronous block, because `sync` on the main queue stops a program that is on that queue already.
  static func run<T>(
    _ body: () throws -> T, patience: Double = 5, isLate: () -> Void, meanwhile: (() -> Void)? = nil
  ) rethrows -> T {
    let work: Work<T> = withoutActuallyEscaping(body) { body in
      let work = Work(body)
      DispatchQueue.main.async { work.run() }
      if !wait(for: work.begun, until: .now() + patience, meanwhile) { isLate() }
      _ = wait(for: work.ended, until: .distantFuture, meanwhile)
      return work
    }
    switch work.outcome {
    case .success(let value)?: return value
    case .failure(let error)?: return try { throw error }()
    case nil: misuse("A block of the main queue has ended without a result.")
    }
  }

  /// Returns false if the time is over.
  private static func wait(
    for semaphore: DispatchSemaphore, until end: DispatchTime, _ meanwhile: (() -> Void)?
  ) -> Bool {
    guard let meanwhile else { return semaphore.wait(timeout: end) == .success }
    while semaphore.wait(timeout: min(end, .now() + ChildRequests.patience)) == .timedOut {
      if .now() >= end { return false }
      meanwhile()
    }
    return true
  }

  /// Sendable, unchecked: the waiting thread reads it only after `ended` is signalled.
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

    /// Releases the body when it has run: the caller's closure must not outlive the call.
    private func runBody() {
      guard let body else { return }
      self.body = nil
      outcome = Result { try body() }
    }
  }
}
