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
///
/// Code of the client that a request calls, such as an observer of the parent, may in turn need the very child. So the
/// thread that runs a request may use the contexts of the waiting thread meanwhile; see ``ContextQueue/lend(to:)``. A
/// main-queue context is used on the main queue only: the main thread runs such code itself, while it waits.
final class ChildRequests: Sendable {
  /// A block to run with the context, once. Sendable, unchecked: it is run by the thread that has begun it, and its
  /// maker waits until it has ended.
  final class Request: @unchecked Sendable {
    private enum State {
      static let waiting = 0
      /// Its maker is running requests of other threads. Nobody may begin it: its contexts are in use.
      static let busy = 1
      static let begun = 2
      static let over = 3
    }
    private let state = Atomic<Int>(State.waiting)
    private let end = DispatchSemaphore(value: 0)
    /// The context that the block uses; nil if it uses none.
    private let core: ContextCore?
    private var body: (() -> Void)?
    /// Whether the block is one of the client. The client does not expect it to run within another block. So that
    /// happens only where the two threads would otherwise wait for each other forever, and never while the context
    /// writes.
    private let isOfClient: Bool
    /// The contexts that the waiting thread holds, without main-queue contexts: no other thread may use these.
    private let held = ThreadContexts.held.filter { $0.queue.confinement != .mainQueue }
    private let thread = PlatformThread.current
    /// The requests that the main thread runs until this one is over. Nil unless the main thread waits for it: it has
    /// made this request, or the thread that has made it is running a request of the main thread.
    let ofMainThread = MainQueue.isCurrent ? ChildRequests() : ThreadContexts.ofWaitingMainThread

    init(_ core: ContextCore?, isOfClient: Bool = false, _ body: @escaping () -> Void) {
      (self.core, self.isOfClient, self.body) = (core, isOfClient, body)
    }

    /// Whether the request can run now, on a thread that holds its context and waits for the context `awaited`. It
    /// cannot while its context writes changes: what changes then would be lost. But if its maker has `awaited`, the
    /// two threads would wait for each other forever. Then it runs, and a save fails.
    func canRun(_ awaited: ContextQueue, where isSuitable: (ContextCore) -> Bool) -> Bool {
      guard let core else { return true }
      if isOfClient { return !core.activity.isWriting && hasMaker(awaited) }
      return isSuitable(core) && (!core.activity.isWriting || hasMaker(awaited))
    }

    private func hasMaker(_ awaited: ContextQueue) -> Bool {
      awaited.confinement == .mainQueue ? ofMainThread != nil : held.contains { $0.queue === awaited }
    }

    var isOver: Bool { state.load(ordering: .acquiring) == State.over }

    /// Runs the block unless another thread has begun it, or its maker is busy at the moment.
    func run() {
      guard move(from: State.waiting, to: State.begun) else { return }
      runBody()
      state.store(State.over, ordering: .releasing)
      end.signal()
    }

    private func runBody() {
      if thread == PlatformThread.current {
        body?()
      } else {
        ThreadContexts.borrowing(held, ofMainThread) { body?() }
      }
      // The caller's closure must not outlive the call.
      body = nil
    }

    /// Runs the block on the main queue, later.
    func runOnMainQueue(after delay: Double = 0) {
      DispatchQueue.main.asyncAfter(deadline: .now() + delay) {
        self.run()
        if self.state.load(ordering: .relaxed) < State.begun { self.runOnMainQueue(after: ChildRequests.patience) }
      }
    }

    /// Runs `body` on the waiting thread, unless another thread has begun the request. None begins it meanwhile. Where
    /// `body` returns true, the request is over without having run.
    func beforeItBegins(_ body: () -> Bool) {
      guard move(from: State.waiting, to: State.busy) else { return }
      state.store(body() ? State.over : State.waiting, ordering: .releasing)
    }

    private func move(from old: Int, to new: Int) -> Bool {
      state.compareExchange(expected: old, desired: new, ordering: .acquiringAndReleasing).exchanged
    }

    /// Waits for the end of the block, at most for a moment.
    func wait() { _ = end.wait(timeout: .now() + ChildRequests.patience) }
  }

  private let waiting = Mutex<[Request]>([])

  /// Requests to all main-queue contexts.
  static let ofMainQueue = ChildRequests()

  func add(_ request: Request) { waiting.withLock { $0.append(request) } }

  func remove(_ request: Request) { waiting.withLock { $0.removeAll { $0 === request } } }

  /// Runs the requests that no thread has begun yet, on a thread that holds their contexts. `awaited` is the context
  /// that the thread waits for.
  func runAll(_ awaited: ContextQueue, where isSuitable: (ContextCore) -> Bool = { _ in true }) {
    for request in waiting.withLock({ $0 }) where request.canRun(awaited, where: isSuitable) { request.run() }
  }

  /// Runs on the main thread, while it waits for another thread, what that one requires of it. The other thread waits
  /// meanwhile, so this is allowed in the middle of operations.
  func runNested() { for request in waiting.withLock({ $0 }) { request.run() } }

  /// Lets the main thread run requests to main-queue contexts, while it waits for this thread. `awaited` is the context
  /// that this thread waits for: the thread that uses it may have made such a request.
  ///
  /// The main thread borrows the contexts of this thread meanwhile. The offer ends if the main thread has not begun
  /// within a moment.
  func giveTurn(_ awaited: ContextQueue) {
    let turn = Request(nil) { Self.ofMainQueue.runAll(awaited) }
    add(turn)
    repeat {
      turn.wait()
      turn.beforeItBegins { true }
    } while !turn.isOver
    remove(turn)
  }

  /// How long a thread waits for a lock before it looks for requests again, in seconds.
  static let patience = 0.002
}

extension ContextQueue {
  /// Waits until this thread may begin a block. Meanwhile it runs the requests to contexts that it holds. Returns false
  /// where the context is lent to this thread, which does not get the lock then.
  func acquire() -> Bool {
    if lock.try() { return true }
    if isLentToThisThread { return false }
    let held = ThreadContexts.held
    if held.isEmpty && !MainQueue.isCurrent {
      lock.lock()
    } else {
      while !lock.lock(before: Date(timeIntervalSinceNow: ChildRequests.patience)) { Self.runRequests(to: held, self) }
    }
    return true
  }

  /// Runs the requests to contexts that this thread holds, while it waits for `awaited`.
  static func runRequests(to held: [ContextCore], _ awaited: ContextQueue) {
    if MainQueue.isCurrent { ChildRequests.ofMainQueue.runAll(awaited) }
    for core in held { core.queue.requests.runAll(awaited) }
  }
}

extension ContextCore {
  /// Runs `body` on this context's queue for a child, whose queue this thread is on.
  func runForChild<T>(takesUpMarks: Bool = true, _ body: () throws -> T) rethrows -> T {
    if queue.isCurrent || queue.isLentToThisThread { return try runHere(takesUpMarks: takesUpMarks, body) }
    if queue.confinement == .lock && queue.lock.try() {
      defer { queue.lock.unlock() }
      return try runHere(takesUpMarks: takesUpMarks, body)
    }
    return try request({ try runHere(takesUpMarks: takesUpMarks, body) }, meanwhile: runRequestsAbove)
  }

  /// Runs a client's `body` under this context's lock, on this thread.
  ///
  /// This thread may be running a request of another thread, and the thread that uses this context may be waiting for
  /// a context of that other thread. Then neither would go on. So the thread that uses this context runs `body` while
  /// it waits.
  func runBlock<T>(_ body: () throws -> T) rethrows -> T {
    if queue.lock.try() {
      defer { queue.lock.unlock() }
      return try runHere(body)
    }
    if !ThreadContexts.isInRequest || queue.isLentToThisThread { return try runHere(body) }
    let (held, ofMainThread) = (ThreadContexts.held, ThreadContexts.ofWaitingMainThread)
    return try request({ try runHere(body) }, isOfClient: true) {
      ContextQueue.runRequests(to: held, queue)
      ofMainThread?.giveTurn(queue)
    }
  }

  /// Has `body` run by the thread that uses this context, or by this thread when it gets the context, and waits for its
  /// end. `meanwhile` is called again and again before it begins.
  func request<T>(_ body: () throws -> T, isOfClient: Bool = false, meanwhile: () -> Void) rethrows -> T {
    let result = withoutActuallyEscaping(body) { body -> Result<T, any Error> in
      var result: Result<T, any Error>?
      wait(for: ChildRequests.Request(self, isOfClient: isOfClient) { result = Result { try body() } }, meanwhile)
      guard let result else { misuse("A request to a context has ended without a result.") }
      return result
    }
    switch result {
    case .success(let value): return value
    case .failure(let error): return try { throw error }()
    }
  }

  private func wait(for request: ChildRequests.Request, _ meanwhile: () -> Void) {
    if queue.confinement == .mainQueue { return waitForMainQueue(request, meanwhile) }
    queue.requests.add(request)
    while !request.isOver {
      if queue.lock.lock(before: Date(timeIntervalSinceNow: ChildRequests.patience)) {
        request.run()
        queue.lock.unlock()
      } else {
        request.beforeItBegins {
          meanwhile(); return false
        }
        if MainQueue.isCurrent { request.ofMainThread?.runNested() }
      }
    }
    queue.requests.remove(request)
  }

  private func waitForMainQueue(_ request: ChildRequests.Request, _ meanwhile: () -> Void) {
    // The main thread may be in the middle of its wait, in code of the client that waits for another context.
    let nested = ThreadContexts.ofWaitingMainThread
    nested?.add(request)
    ChildRequests.ofMainQueue.add(request)
    if nested == nil { request.runOnMainQueue() }
    let deadline = Date(timeIntervalSinceNow: 5)
    while !request.isOver {
      request.wait()
      request.beforeItBegins {
        meanwhile(); return false
      }
      if Date() > deadline { queue.reportWaiting(context?.name) }
    }
    ChildRequests.ofMainQueue.remove(request)
    nested?.remove(request)
  }

  /// Runs the requests to contexts above this one that this thread holds. They are held by a client's block, not by an
  /// operation: an operation of the library only goes from a child to its parent.
  private func runRequestsAbove() {
    if MainQueue.isCurrent { ChildRequests.ofMainQueue.runAll(queue, where: isBelow) }
    for core in ThreadContexts.held where isBelow(core) { core.queue.requests.runAll(queue) }
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
