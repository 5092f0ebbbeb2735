import Foundation
import StoreProtocol

/// One command: its name, operands, options and help, and its function.
///
/// The parser, the help, the man page and the completions of shells use it.
struct Command: Sendable {
  /// `["store", "info"]`.
  var words: [String]
  /// Names of the operands, in their order. All are required.
  var operands: [String] = []
  var options: [Option] = []
  /// One line of the help.
  var summary: String
  /// Further paragraphs of the help.
  var discussion = ""
  /// Returns false where the data has faults; then the exit status is 1. Throws the error that stopped it.
  var run: @Sendable (Invocation, Output) throws -> Bool

  var name: String { words.joined(separator: " ") }
}

/// An option of a command.
struct Option: Sendable {
  /// `--model`.
  var name: String
  /// The placeholder for its value in the help; nil for an option without a value.
  var value: String?
  var isRepeatable = false
  var help: String

  /// Where a command writes its result.
  static func output(_ help: String) -> Option { Option(name: "-o", value: "PATH", help: help) }

  static let json = Option(name: "--json", help: "write JSON")
  static let model = Option(
    name: "--model", value: "MODEL",
    help:
      "the model: a .xcdatamodeld, .xcdatamodel, .momd, .mom, or a store that contains it; otherwise the model in the store, or one inferred from its tables"
  )
}

/// The operands and options of a call.
struct Invocation: Sendable {
  var operands: [String] = []
  var values: [String: [String]] = [:]

  func has(_ option: String) -> Bool { values[option] != nil }
  func value(_ option: String) -> String? { values[option]?.last }
  func all(_ option: String) -> [String] { values[option] ?? [] }
}

/// An error in the call: exit status 2.
struct UsageError: Error {
  var message: String
  /// The command whose help explains the call; nil for the tool itself.
  var command: Command?
}

/// The error that stopped a command, as one sentence: exit status 1.
struct ToolError: Error {
  var message: String

  /// The code of the store error that a Cocoa error contains.
  static func storeCode(of error: any Error) -> StoreError.Code? {
    ((error as? CocoaError)?.userInfo[NSUnderlyingErrorKey] as? StoreError)?.code
  }
}
