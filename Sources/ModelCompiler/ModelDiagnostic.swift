import Foundation

/// A finding about a source model, in the form that Apple's compiler prints and Xcode shows at the element:
/// `/models/App.xcdatamodeld/App.xcdatamodel:Student.school: warning: Student.school should have an inverse`.
public struct ModelDiagnostic: Hashable, Sendable, CustomStringConvertible {
  /// The effect of a finding.
  public enum Severity: String, Hashable, Sendable {
    /// The model is not compiled.
    case error
    /// The model is compiled, and will probably not do what its author expects.
    case warning
    /// Information about a compilation.
    case note
  }

  /// The effect of the finding.
  public var severity: Severity
  /// The rule that the model breaks; nil for a file that cannot be read, and for notes.
  public var rule: LintRule?
  /// The `.xcdatamodel` folder, or the `.xcdatamodeld` folder where the finding is about the bundle.
  public var path: String
  /// The element of the model: `Student`, `Student.school`, or the name of a fetch request or configuration. Empty
  /// where the finding is about the whole file.
  public var element: String
  /// The sentence for people. It contains the element's name.
  public var message: String

  /// A finding.
  public init(_ severity: Severity, _ message: String, rule: LintRule? = nil, path: String, element: String = "") {
    self.severity = severity
    self.rule = rule
    self.path = path
    self.element = element
    self.message = message
  }

  public var description: String { "\(path):\(element): \(severity.rawValue): \(message)" }
}

/// The reason why a model was not compiled: at least one error, with the warnings that were found before it.
public struct CompilationFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// All findings; at least one is an error.
  public let diagnostics: [ModelDiagnostic]

  /// A failure with its findings.
  public init(_ diagnostics: [ModelDiagnostic]) { self.diagnostics = diagnostics }

  public var description: String { diagnostics.map(\.description).joined(separator: "\n") }
}
