import Foundation
import Synchronization

/// How a context is kept to one thread at a time.
enum Confinement {
  /// By the client alone: the context has no queue.
  case client
  /// By a lock of the context's own. Whoever holds it is on the context's queue.
  case lock
  /// By the main queue.
  case mainQueue
}

/// Knows which thread may use a context. It may be asked on any thread.
final class ContextQueue: @unchecked Sendable {
  let confinement: Confinement
  /// Held by whoever runs a block of the context. Recursive.
  let lock = NSRecursiveLock()
  /// Where blocks run later; nil for a context without a queue.
  let dispatch: DispatchQueue?
  /// How deep the holder of `lock` is in blocks.
  @exclusivity(unchecked) private(set) var depth = 0
  /// The holder of `lock`, 0 for none. Any thread may ask whether it is itself.
  private let thread = Atomic<UInt>(0)
  /// A copy, because a global constant costs a call at each access.
  private let isChecked = QueueCheck.mode != .off
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

  /// Begins a block, when nobody else is in one. Gives what ``leave(_:)`` wants.
  func enter() -> UInt {
    lock.lock()
    depth += 1
    let previous = thread.load(ordering: .relaxed)
    thread.store(PlatformThread.current, ordering: .relaxed)
    return previous
  }

  /// Ends a block. `finish` runs at the end of the outermost one, before another thread may begin.
  func leave(_ previous: UInt, finish: () -> Void) {
    depth -= 1
    thread.store(previous, ordering: .relaxed)
    if depth == 0 { finish() }
    lock.unlock()
  }

  /// Whether this thread may use the context: it holds it, or runs the main queue of a main-queue context.
  var isCurrent: Bool {
    if thread.load(ordering: .relaxed) == PlatformThread.current { return true }
    return switch confinement {
    case .client: true
    case .lock: false
    case .mainQueue: MainQueue.isCurrent
    }
  }

  /// Notices where the context is used off its queue; see ``QueueCheck``.
  @inline(__always)
  func check(_ name: () -> String?) { if isChecked && !isCurrent { noteWrongQueue(name()) } }

  private func noteWrongQueue(_ name: String?) {
    QueueCheck.note(
      "A \(confinement == .mainQueue ? "main-queue" : "private-queue") context \(Self.title(name)) or one of its objects was used on the wrong queue. Use it inside perform(_:) or performAndWait(_:)\(confinement == .mainQueue ? ", or on the main queue" : "")."
    )
  }

  func reportWaiting(_ name: String?) {
    if hasReportedWaiting.exchange(true, ordering: .relaxed) { return }
    report(
      "performAndWait of the main-queue context \(Self.title(name)) has waited 5 seconds for the main queue, and goes on waiting. Something on the main queue takes long, or nothing runs it: call RunLoop.main.run() or dispatchMain() on the main thread, or make main asynchronous. Other threads may use a context of their own (newBackgroundContext()) instead."
    )
  }

  /// A context's name in messages.
  private static func title(_ name: String?) -> String { name.map { "named \"\($0)\"" } ?? "without a name" }
}

extension ContextCore {
  /// Runs `body` on the context's queue and waits for its end. Nests.
  ///
  /// A context of the main queue needs that queue: this waits for it, and says so once where it comes late. Every other
  /// context needs no other thread; `body` runs here and now.
  func run<T>(_ body: () throws -> T) rethrows -> T {
    if queue.confinement != .mainQueue || queue.isCurrent { return try runHere(body) }
    return try MainQueue.run({ try runHere(body) }, isLate: { queue.reportWaiting(context?.name) })
  }

  /// Runs `body` under the context's lock.
  func runHere<T>(_ body: () throws -> T) rethrows -> T {
    let previous = queue.enter()
    let outer = Self.current
    Self.current = self
    defer {
      Self.current = outer
      queue.leave(previous) {
        // Reads are of one moment within a block only: kept longer, they would hold old versions alive.
        origins.dropViews()
        sharedReads.end()
        tellStoresOfObjects()
      }
    }
    if queue.depth == 1 { takeUpMarks() }
    return try body()
  }

  @inline(__always)
  func checkQueue() { queue.check { context?.name } }

  /// The context whose block this thread is running, innermost.
  static var current: ContextCore? {
    get { (Thread.current.threadDictionary[currentKey] as? Current)?.core }
    set {
      let storage = Thread.current.threadDictionary
      if let known = storage[currentKey] as? Current {
        known.core = newValue
      } else {
        let made = Current()
        made.core = newValue
        storage[currentKey] = made
      }
    }
  }

  private static let currentKey = "CoreData.ContextCore.current"

  private final class Current { var core: ContextCore? }
}
