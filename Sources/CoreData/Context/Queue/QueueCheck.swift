import Foundation
import Synchronization

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

  static func note(_ message: String) {
    if mode == .stops { misuse(message) }
    if hasWarned.exchange(true, ordering: .relaxed) { return }
    report(
      "\(message) This is said once a process; -com.apple.CoreData.ConcurrencyDebug 1 in the program's arguments stops it there."
    )
  }
}
