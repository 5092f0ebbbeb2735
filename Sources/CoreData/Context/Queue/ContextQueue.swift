import Foundation
import Synchronization

/// How the use of a context is limited to one thread at a time.
enum Confinement {
  /// The client alone takes care of it: the context has no queue.
  case client
  /// A lock of the context. The thread that holds it is on the context's queue.
  case lock
  /// The main queue.
  case mainQueue
}

/// Knows which thread may use a context. Any thread may use it.
final class ContextQueue: @unchecked Sendable {
  let confinement: Confinement
  /// Held while a block of the context runs. Recursive.
  let lock = NSRecursiveLock()
  /// Where blocks run later; nil for a context without a queue.
  let dispatch: DispatchQueue?
  /// What children require while another thread holds the context.
  let requests = ChildRequests()
  /// The number of nested blocks that the holder of `lock` is running.
  private(set) var depth = 0
  /// The thread that holds `lock`, 0 for none. Any thread may compare it with itself.
  private let thread = Atomic<UInt>(0)
  /// See ``lend(to:)``.
  private let borrower = Atomic<UInt>(0)
  /// A copy, because a global constant costs a call at each access.
  let isChecked = QueueCheck.mode != .off
  private let hasReportedWaiting = Atomic<Bool>(false)

  init(_ confinement: Confinement) {
    self.confinement = confinement
    dispatch =
      switch confinement {
      case .client: nil
      case .lock: DispatchQueue(label: "NSManagedObjectContext")
      case .mainQueue: .main
      }
  }

  /// What ``leave(_:finish:)`` restores.
  struct Entry {
    fileprivate let thread: UInt
    fileprivate let hasLock: Bool
  }

  /// Begins a block once no other thread is in one. Returns the argument for ``leave(_:finish:)``.
  func enter() -> Entry {
    let hasLock = acquire()
    depth += 1
    let entry = Entry(thread: thread.load(ordering: .relaxed), hasLock: hasLock)
    thread.store(PlatformThread.current, ordering: .relaxed)
    return entry
  }

  /// Ends a block. `finish` runs at the end of the outermost one, before another thread may begin.
  func leave(_ entry: Entry, finish: () -> Void) {
    depth -= 1
    thread.store(entry.thread, ordering: .relaxed)
    if depth == 0 { finish() }
    if entry.hasLock { lock.unlock() }
  }

  /// Lets another thread use the context while the thread that holds it waits for that one. Zero ends that. Returns the
  /// thread that it was lent to before.
  func lend(to thread: UInt) -> UInt { borrower.exchange(thread, ordering: .relaxed) }

  var isLentToThisThread: Bool { borrower.load(ordering: .relaxed) == PlatformThread.current }

  /// Whether this thread may use the context: it holds it, or runs the main queue of a main-queue context.
  var isCurrent: Bool {
    if thread.load(ordering: .relaxed) == PlatformThread.current { return true }
    return switch confinement {
    case .client: true
    case .lock: false
    case .mainQueue: MainQueue.isCurrent
    }
  }

  /// Notices a use of the context off its queue; see ``QueueCheck``.
  @inline(__always)
  func check(_ name: () -> String?) { if isChecked && !isCurrent && !isLentToThisThread { noteWrongQueue(name()) } }

  private func noteWrongQueue(_ name: String?) {
    QueueCheck.note(
      "A \(confinement == .mainQueue ? "main-queue" : "private-queue") context \(Self.title(name)) or one of its objects was used on the wrong queue. Use it inside perform(_:) or performAndWait(_:)\(confinement == .mainQueue ? ", or on the main queue" : "")."
    )
  }

  func reportWaiting(_ name: String?) {
    if hasReportedWaiting.exchange(true, ordering: .relaxed) { return }
    report(
      "performAndWait of, or a read or save of a child of, the main-queue context \(Self.title(name)) has waited 5 seconds for the main queue, and goes on waiting. Something on the main queue takes long, or nothing runs it: call RunLoop.main.run() or dispatchMain() on the main thread, or make main asynchronous. Other threads may use a context of their own (newBackgroundContext()) instead."
    )
  }

  /// A context's name in messages.
  private static func title(_ name: String?) -> String { name.map { "named \"\($0)\"" } ?? "without a name" }
}

extension ContextCore {
  /// Runs `body` on the context's queue and waits for its end. Calls may be nested.
  ///
  /// A main-queue context waits for the main queue, and reports once if the queue is late. Other contexts run `body` on
  /// this thread, or as ``runBlock(_:)`` says.
  func run<T>(_ body: () throws -> T) rethrows -> T {
    if queue.confinement != .mainQueue { return try runBlock(body) }
    if queue.isCurrent { return try runHere(body) }
    let held = ThreadContexts.held
    if ThreadContexts.ofWaitingMainThread != nil {
      return try request({ try runHere(body) }, meanwhile: { ContextQueue.runRequests(to: held, self.queue) })
    }
    return try MainQueue.run(
      { try runHere(body) }, isLate: { queue.reportWaiting(context?.name) },
      meanwhile: held.isEmpty ? nil : { ContextQueue.runRequests(to: held, self.queue) })
  }

  /// Runs `body` under the context's lock. Without `takesUpMarks` it does not merge what is waiting to be merged.
  func runHere<T>(takesUpMarks: Bool = true, _ body: () throws -> T) rethrows -> T {
    let previous = queue.enter()
    let nesting = ThreadContexts.nesting
    nesting.held.append(self)
    defer {
      nesting.held.removeLast()
      queue.leave(previous) {
        // Reads share a view only within a block. A view that is kept longer would keep old versions in the store.
        origins.dropViews()
        rowKeeping.end()
        releaseRecentObjects()
        tellStoresOfObjects()
      }
    }
    // A fetch outside of blocks may have called this. Its objects must not change.
    if takesUpMarks && queue.depth == 1 && rowKeeping.fetches == 0 { takeUpMarks() }
    return try body()
  }

  @inline(__always)
  func checkQueue() { queue.check { context?.name } }

  /// Whether reads of properties are noted: for `withObservationTracking`, or to check the queue.
  @inline(__always)
  var tracksReads: Bool { observed.tracksReads || queue.isChecked }
}

/// The contexts that this thread is using. It belongs to no class: the functions of a context that need it run before
/// the thread has the context, and a static member of its class would be looked up in the object.
enum ThreadContexts {
  /// The context whose block this thread is running; the innermost of nested blocks.
  static var current: ContextCore? { held.last }

  /// The contexts whose blocks this thread is running, the outermost first.
  static var held: [ContextCore] { nesting.held }

  /// Whether this thread is running a request of another thread.
  static var isInRequest: Bool { nesting.requests > 0 }

  /// The requests to the main thread, if that waits for a request that this thread is running.
  static var ofWaitingMainThread: ChildRequests? { nesting.ofMainThread }

  /// Runs `body` while another thread waits for its end. Meanwhile this thread holds the other's contexts.
  static func borrowing(_ cores: [ContextCore], _ ofMainThread: ChildRequests?, _ body: () -> Void) {
    let (nesting, thread) = (nesting, PlatformThread.current)
    let former = (count: nesting.held.count, ofMainThread: nesting.ofMainThread)
    let borrowers = cores.map { $0.queue.lend(to: thread) }
    nesting.held += cores
    nesting.requests += 1
    if let ofMainThread { nesting.ofMainThread = ofMainThread }
    body()
    nesting.requests -= 1
    nesting.ofMainThread = former.ofMainThread
    nesting.held.removeSubrange(former.count...)
    // The last first: a context may be in the list twice.
    for (core, borrower) in zip(cores, borrowers).reversed() { _ = core.queue.lend(to: borrower) }
  }

  fileprivate static var nesting: Nesting {
    let storage = Thread.current.threadDictionary
    if let known = storage[Nesting.key] as? Nesting { return known }
    let made = Nesting()
    storage[Nesting.key] = made
    return made
  }

  fileprivate final class Nesting {
    static let key = "CoreData.ThreadContexts.nesting"
    var held: [ContextCore] = []
    /// The number of nested requests of other threads.
    var requests = 0
    var ofMainThread: ChildRequests?
  }
}
