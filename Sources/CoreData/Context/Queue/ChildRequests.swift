import Dispatch
import Foundation
import Synchronization

/// The blocks that child contexts must run with a context while another thread is using it.
///
/// A child's thread holds the child and waits for the parent. The thread that uses the parent may wait for that very
/// child, because the client's block has called `performAndWait` of the child. So a thread that waits for a context
/// runs the requests to the contexts that it holds. Then neither waits for the other forever. A thread that waits in a
/// client's `performAndWait` runs all of them. A thread that waits for a parent, in the middle of an operation, runs
/// only those to contexts above that parent.
final class ChildRequests: Sendable {
  /// A block to run with the context, once. Sendable, unchecked: it is run by the thread that has claimed it, and its
  /// maker waits until it has ended.
  final class Request: @unchecked Sendable {
    private let isClaimed = Atomic<Bool>(false)
    private let hasEnded = Atomic<Bool>(false)
    private let end = DispatchSemaphore(value: 0)
    let core: ContextCore
    private var body: (() -> Void)?

    init(_ core: ContextCore, _ body: @escaping () -> Void) { (self.core, self.body) = (core, body) }

    /// Whether the context can be used now, by a thread that holds it.
    var canRun: Bool { !core.activity.isWriting }

    var isOver: Bool { hasEnded.load(ordering: .acquiring) }

    /// Runs the block unless another thread has begun it.
    func run() {
      if isClaimed.exchange(true, ordering: .acquiringAndReleasing) { return }
      body?()
      // The caller's closure must not outlive the call.
      body = nil
      hasEnded.store(true, ordering: .releasing)
      end.signal()
    }

    /// Waits for the end of the block, at most for a moment.
    func wait() { _ = end.wait(timeout: .now() + ChildRequests.patience) }
  }

  private let waiting = Mutex<[Request]>([])

  /// Requests to all main-queue contexts.
  static let ofMainQueue = ChildRequests()

  func add(_ request: Request) { waiting.withLock { $0.append(request) } }

  func remove(_ request: Request) { waiting.withLock { $0.removeAll { $0 === request } } }

  /// Runs the requests that no thread has begun yet, on a thread that holds their contexts.
  func runAll(where isSuitable: (ContextCore) -> Bool = { _ in true }) {
    for request in waiting.withLock({ $0 }) where request.canRun && isSuitable(request.core) { request.run() }
  }

  /// How long a thread waits for a lock before it looks for requests again, in seconds.
  static let patience = 0.002
}

extension ContextQueue {
  /// Waits until this thread may begin a block. Meanwhile it runs the requests to contexts that it holds.
  func acquire() {
    if lock.try() { return }
    let held = ContextCore.held
    if held.isEmpty && !MainQueue.isCurrent { return lock.lock() }
    while !lock.lock(before: Date(timeIntervalSinceNow: ChildRequests.patience)) { Self.runRequests(to: held) }
  }

  /// Runs the requests to contexts that this thread holds.
  static func runRequests(to held: [ContextCore]) {
    if MainQueue.isCurrent { ChildRequests.ofMainQueue.runAll() }
    for core in held { core.queue.requests.runAll() }
  }
}

extension ContextCore {
  /// Runs `body` on this context's queue for a child, whose queue this thread is on.
  func runForChild<T>(takesUpMarks: Bool = true, _ body: () throws -> T) rethrows -> T {
    if queue.isCurrent { return try runHere(takesUpMarks: takesUpMarks, body) }
    if queue.confinement == .lock && queue.lock.try() {
      defer { queue.lock.unlock() }
      return try runHere(takesUpMarks: takesUpMarks, body)
    }
    let result = withoutActuallyEscaping(body) { body -> Result<T, any Error> in
      var result: Result<T, any Error>?
      let request = ChildRequests.Request(self) {
        result = Result { try self.runHere(takesUpMarks: takesUpMarks, body) }
      }
      wait(for: request)
      guard let result else { misuse("A request of a child context has ended without a result.") }
      return result
    }
    switch result {
    case .success(let value): return value
    case .failure(let error): return try { throw error }()
    }
  }

  /// Waits until a request has been run: by this thread when it gets the context, by the main queue, or by a thread
  /// that holds this context and waits for another one.
  private func wait(for request: ChildRequests.Request) {
    if queue.confinement == .mainQueue {
      ChildRequests.ofMainQueue.add(request)
      DispatchQueue.main.async { request.run() }
      let deadline = Date(timeIntervalSinceNow: 5)
      while !request.isOver {
        request.wait()
        runRequestsAbove()
        if Date() > deadline { queue.reportWaiting(context?.name) }
      }
      return ChildRequests.ofMainQueue.remove(request)
    }
    queue.requests.add(request)
    while !request.isOver {
      if queue.lock.lock(before: Date(timeIntervalSinceNow: ChildRequests.patience)) {
        request.run()
        queue.lock.unlock()
      } else {
        runRequestsAbove()
      }
    }
    queue.requests.remove(request)
  }

  /// Runs the requests to contexts above this one that this thread holds. They are held by a client's block, not by an
  /// operation: an operation of the library only goes from a child to its parent.
  private func runRequestsAbove() {
    if MainQueue.isCurrent { ChildRequests.ofMainQueue.runAll(where: isBelow) }
    for core in Self.held where isBelow(core) { core.queue.requests.runAll() }
  }

  /// Whether another context is above this one.
  private func isBelow(_ other: ContextCore) -> Bool {
    var next = parent
    while let core = next {
      if core === other { return true }
      next = core.parent
    }
    return false
  }
}
