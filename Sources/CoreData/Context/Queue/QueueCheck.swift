import Foundation
import Synchronization

/// What happens when a context is used on the wrong queue. With `-com.apple.CoreData.ConcurrencyDebug 1` in its
/// arguments the program stops, as on Apple's platforms. Without the argument, debug builds warn once in a process.
enum QueueCheck {
  case off, warns, stops

  static let mode: QueueCheck = {
    #if DEBUG
      return mode(CommandLine.arguments, otherwise: .warns)
    #else
      return mode(CommandLine.arguments, otherwise: .off)
    #endif
  }()

  /// The mode in the arguments: with `-com.apple.CoreData.ConcurrencyDebug 0` off, with any other value `stops`.
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
      "\(message) This is reported once in a process; with -com.apple.CoreData.ConcurrencyDebug 1 in its arguments the program stops here."
    )
  }
}
