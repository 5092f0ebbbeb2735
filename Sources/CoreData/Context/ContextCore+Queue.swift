import Dispatch
import Foundation

/// Confinement: one thread at a time, the right one.
extension ContextCore {
  /// Runs `body` on the context's queue: here and now, under its lock. Nests.
  ///
  /// No thread switch is needed, not even for a main-queue context, so a process whose main thread never drains its queue
  /// does not hang.
  func run<T>(_ body: () throws -> T) rethrows -> T {
    confinement.lock()
    performDepth += 1
    let previous = performThread
    performThread = PlatformThread.current
    let outer = Self.current
    Self.current = self
    defer {
      Self.current = outer
      performDepth -= 1
      performThread = previous
      // Views are shared within a burst only: kept longer, they would hold old versions alive.
      if performDepth == 0 {
        snapshots.removeAll()
        hasReadInBurst = false
        tellStoresOfObjects()
      }
      confinement.unlock()
    }
    return try body()
  }

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

  /// Stops the program where the context is used off its queue: in debug builds, and with
  /// `-com.apple.CoreData.ConcurrencyDebug 1`.
  ///
  /// The main thread may use a main-queue context without a block. It waits here for a block that another thread runs on the
  /// context; a block that begins later does not wait for it. Who shares a main-queue context between threads uses blocks on
  /// the main thread too.
  @inline(__always)
  func checkQueue() {
    if isMainQueue {
      confinement.lock()
      confinement.unlock()
    }
    if checksQueue && !isOnQueue { refuseQueue() }
  }

  var isOnQueue: Bool {
    if performDepth > 0 && performThread == PlatformThread.current { return true }
    return isMainQueue && Thread.isMainThread
  }

  private func refuseQueue() -> Never {
    misuse(
      "A \(isMainQueue ? "main-queue" : "private-queue") context\(context?.name.map { " named \"\($0)\"" } ?? "") or one of its objects was used on the wrong queue. Use it inside perform(_:) or performAndWait(_:)\(isMainQueue ? ", or on the main thread" : "")."
    )
  }
}

enum QueueCheck {
  static let isOn: Bool = {
    #if DEBUG
      return isOn(CommandLine.arguments, otherwise: true)
    #else
      return isOn(CommandLine.arguments, otherwise: false)
    #endif
  }()

  /// What `-com.apple.CoreData.ConcurrencyDebug` asks for: 0 for no, anything else for yes.
  static func isOn(_ arguments: [String], otherwise: Bool) -> Bool {
    guard let place = arguments.firstIndex(of: "-com.apple.CoreData.ConcurrencyDebug"), place + 1 < arguments.count
    else { return otherwise }
    return arguments[place + 1] != "0"
  }
}
