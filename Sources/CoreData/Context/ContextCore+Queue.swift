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

/// Confinement: one thread at a time, the right one.
extension ContextCore {
  /// Runs `body` on the context's queue and waits for its end. Nests.
  ///
  /// A context of the main queue needs that queue: this waits for it, and says so once where it comes late. Every other
  /// context needs no other thread; `body` runs here and now.
  func run<T>(_ body: () throws -> T) rethrows -> T {
    if confinement != .mainQueue || isOnQueue { return try runHere(body) }
    return try MainQueue.run({ try runHere(body) }, isLate: reportWaiting)
  }

  /// Runs `body` under the context's lock.
  func runHere<T>(_ body: () throws -> T) rethrows -> T {
    lock.lock()
    performDepth += 1
    let previous = performThread.load(ordering: .relaxed)
    performThread.store(PlatformThread.current, ordering: .relaxed)
    let outer = Self.current
    Self.current = self
    defer {
      Self.current = outer
      performDepth -= 1
      performThread.store(previous, ordering: .relaxed)
      // Views are shared within a burst only: kept longer, they would hold old versions alive.
      if performDepth == 0 {
        snapshots.removeAll()
        hasReadInBurst = false
        tellStoresOfObjects()
      }
      lock.unlock()
    }
    if performDepth == 1 { takeUpMarks() }
    return try body()
  }

  private func reportWaiting() {
    if hasReportedWaiting.exchange(true, ordering: .relaxed) { return }
    report(
      "performAndWait of the main-queue context \(title) has waited 5 seconds for the main queue, and goes on waiting. Something on the main queue takes long, or nothing runs it: call RunLoop.main.run() or dispatchMain() on the main thread, or make main asynchronous. Other threads may use a context of their own (newBackgroundContext()) instead."
    )
  }

  /// The context's name in messages.
  private var title: String { context?.name.map { "named \"\($0)\"" } ?? "without a name" }

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

  /// Notices where the context is used off its queue; see ``QueueCheck``.
  @inline(__always)
  func checkQueue() { if checksQueue && !isOnQueue { noteWrongQueue() } }

  /// Whether this thread may use the context: it holds it, or runs the main queue of a main-queue context.
  var isOnQueue: Bool {
    if performThread.load(ordering: .relaxed) == PlatformThread.current { return true }
    return switch confinement {
    case .client: true
    case .lock: false
    case .mainQueue: MainQueue.isCurrent
    }
  }

  private func noteWrongQueue() {
    QueueCheck.note(
      "A \(confinement == .mainQueue ? "main-queue" : "private-queue") context \(title) or one of its objects was used on the wrong queue. Use it inside perform(_:) or performAndWait(_:)\(confinement == .mainQueue ? ", or on the main queue" : "")."
    )
  }
}

/// Whether contexts notice that they are used on the wrong queue: as on Apple's platforms only with
/// `-com.apple.CoreData.ConcurrencyDebug 1` in the program's arguments, which stops the program there. Without the
/// argument debug builds say so once a process.
enum QueueCheck {
  case off, warns, stops

  static let mode: QueueCheck = {
    #if DEBUG
      return mode(CommandLine.arguments, otherwise: .warns)
    #else
      return mode(CommandLine.arguments, otherwise: .off)
    #endif
  }()

  /// What `-com.apple.CoreData.ConcurrencyDebug` says: 0 is off, anything else stops.
  static func mode(_ arguments: [String], otherwise: QueueCheck) -> QueueCheck {
    guard let index = arguments.firstIndex(of: "-com.apple.CoreData.ConcurrencyDebug"), index + 1 < arguments.count
    else { return otherwise }
    return arguments[index + 1] == "0" ? .off : .stops
  }

  private static let hasWarned = Atomic<Bool>(false)

  fileprivate static func note(_ message: String) {
    if mode == .stops { misuse(message) }
    if hasWarned.exchange(true, ordering: .relaxed) { return }
    report(
      "\(message) This is said once a process; -com.apple.CoreData.ConcurrencyDebug 1 in the program's arguments stops it there."
    )
  }
}
