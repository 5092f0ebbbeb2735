import Foundation

/// Reads the value that the parent test has put into the environment: an exit test's body cannot capture values.
enum ExitTestChoice {
  private static let name = "OPENCOREDATA_EXIT_TEST_CHOICE"
  static func set(_ choice: Int) { setenv(name, String(choice), 1) }
  static var current: Int { ProcessInfo.processInfo.environment[name].flatMap(Int.init) ?? -1 }
}
