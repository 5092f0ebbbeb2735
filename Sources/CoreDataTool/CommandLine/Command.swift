import Foundation
import StoreProtocol

/// One command: what it is called, what it takes, what it says of itself, and what it does.
///
/// The parser, the help, the man page and the shells' completions all read this.
struct Command: Sendable {
  /// `["store", "info"]`.
  var words: [String]
  /// Names of the operands, in their order; all are needed.
  var operands: [String] = []
  var options: [Option] = []
  /// One line.
  var summary: String
  /// What the reader of the help must know beyond it.
  var discussion = ""
  /// Gives false where the data was found wanting; then the exit status is 1. Throws what stopped it.
  var run: @Sendable (Invocation, Output) throws -> Bool

  var name: String { words.joined(separator: " ") }
}

/// An option of a command.
struct Option: Sendable {
  /// `--model`.
  var name: String
  /// What stands for its value in the help; nil for one that has none.
  var value: String?
  var isRepeatable = false
  var help: String

  static let json = Option(name: "--json", help: "write JSON")
  static let model = Option(
    name: "--model", value: "MODEL",
    help:
      "the model: a .xcdatamodeld, .xcdatamodel, .momd, .mom, or a store that carries it; otherwise the one that the store carries, or one inferred from its tables"
  )
}

/// What a command was called with.
struct Invocation: Sendable {
  var operands: [String] = []
  var values: [String: [String]] = [:]

  func has(_ option: String) -> Bool { values[option] != nil }
  func value(_ option: String) -> String? { values[option]?.last }
  func all(_ option: String) -> [String] { values[option] ?? [] }
}

/// A call that cannot be understood: exit status 2.
struct UsageError: Error {
  var message: String
  /// The command whose help says more, nil for the tool itself.
  var command: Command?
}

/// What stopped a command, as one sentence: exit status 1.
struct ToolError: Error {
  var message: String

  /// What a store's engine said, behind an error of the framework.
  static func storeCode(of error: any Error) -> StoreError.Code? {
    ((error as? CocoaError)?.userInfo[NSUnderlyingErrorKey] as? StoreError)?.code
  }
}
