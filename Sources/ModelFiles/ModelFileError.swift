import Foundation
import PropertyLists

/// Why a model could not be read or written.
public struct ModelFileError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of failure. More kinds may be added, so a `switch` over them needs a default.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    private enum Kind: String {
      case cannotRead, notAModel, malformed, unsupported, xcode3Format, noVersions, noCurrentVersion
    }
    private let kind: Kind

    /// The file is missing or the system refused to read it.
    public static let cannotRead = Code(kind: .cannotRead)
    /// The file is of another kind.
    public static let notAModel = Code(kind: .notAModel)
    /// The file breaks a rule of its format.
    public static let malformed = Code(kind: .malformed)
    /// The model uses something that this library cannot represent.
    public static let unsupported = Code(kind: .unsupported)
    /// The model is in Xcode 3's format (`elements` and `layout`); Xcode 4 or later converts it when it is saved there.
    public static let xcode3Format = Code(kind: .xcode3Format)
    /// The bundle has no model version.
    public static let noVersions = Code(kind: .noVersions)
    /// The bundle has several versions and does not say which is current, or names one that is missing.
    public static let noCurrentVersion = Code(kind: .noCurrentVersion)

    public var description: String { kind.rawValue }
  }

  /// The kind of failure, to decide upon.
  public var code: Code
  /// The reason in words, for people.
  public var message: String
  /// The file or folder, where known.
  public var url: URL?
  /// The element of the model, where known: `Student`, `Student.school`, or the name of a fetch request or a
  /// configuration. The message contains it.
  public var element: String?

  /// An error of the given kind.
  public init(_ code: Code, _ message: String, url: URL? = nil, element: String? = nil) {
    self.code = code
    self.message = message
    self.url = url
    self.element = element
  }

  init(_ error: PropertyListError) {
    self.init(error.code == .notAPropertyList ? .notAModel : .malformed, error.description)
  }

  public var description: String {
    "\(code): \(message)\(url.map { " (\($0.path(percentEncoded: false)))" } ?? "")"
  }

  func located(at url: URL) -> ModelFileError {
    ModelFileError(code, message, url: self.url ?? url, element: element)
  }

  /// The error with the element that it is about, if it names none yet. The message begins with the element then.
  func at(_ element: String) -> ModelFileError {
    guard self.element == nil, !element.isEmpty else { return self }
    return ModelFileError(code, "\(element): \(message)", url: url, element: element)
  }
}
