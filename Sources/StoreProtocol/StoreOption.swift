import Foundation

/// An option that one type of stores has of its own, beyond the members of ``StoreOptions``.
///
/// A backend keeps it as a constant, lists it in ``StoreBackend/ownOptions``, and reads it with
/// ``StoreOptions/subscript(_:)``. Its name begins with the type of the stores and a full stop: `Ledger.currency` is an
/// option of stores of type `Ledger`. Applications give it by this name in Core Data's dictionaries of options.
public struct StoreOption<Value: StoreOptionType>: Sendable {
  /// The name of the option.
  public let name: String
  /// The value where none is given.
  public let defaultValue: Value

  /// An option with a name, a default and the default's type.
  public init(_ name: String, default defaultValue: Value) { (self.name, self.defaultValue) = (name, defaultValue) }

  /// What a backend lists in ``StoreBackend/ownOptions``.
  public var declaration: StoreOptionDeclaration { StoreOptionDeclaration(self) }
}

/// An option of one type of stores, without the type of its values.
public struct StoreOptionDeclaration: Sendable {
  /// The name of the option.
  public let name: String
  /// The type of its values, as a part of a sentence.
  public let typeName: String
  private let accepts: @Sendable (StoreOptionValue) -> Bool

  fileprivate init<Value>(_ option: StoreOption<Value>) {
    (name, typeName) = (option.name, Value.optionTypeName)
    accepts = { Value($0) != nil }
  }

  /// Throws `invalidArgument` where the value is not of the option's type.
  func check(_ value: StoreOptionValue) throws(StoreError) {
    if accepts(value) { return }
    throw StoreError(
      .invalidArgument,
      "The option \(name) takes \(typeName); it was given \(value). Give another value, or leave it out.",
      context: ["option": name])
  }
}

/// A value of a store's own option, as it was given.
public enum StoreOptionValue: Sendable, Hashable {
  /// True or false.
  case bool(Bool)
  /// A whole number.
  case integer(Int64)
  /// Another number.
  case number(Double)
  /// A text.
  case text(String)
  /// Bytes.
  case data(Data)
  /// A value that no option can have, by the name of its type.
  case other(String)
}

extension StoreOptionValue: CustomStringConvertible {
  public var description: String {
    switch self {
    case .bool(let value): "\(value)"
    case .integer(let value): "\(value)"
    case .number(let value): "\(value)"
    case .text(let value): "the text '\(value)'"
    case .data(let value): "\(value.count) bytes"
    case .other(let type): "a value of type \(type)"
    }
  }
}

/// A type that values of stores' own options may have: `Bool`, `Int64`, `Int`, `Double`, `String`, `Data`, or a type of
/// yours.
public protocol StoreOptionType: Sendable {
  /// The type as a part of a sentence, for example `a text`.
  static var optionTypeName: String { get }
  /// The value that was given; nil where it is none of this type.
  init?(_ value: StoreOptionValue)
  /// The value as it is given.
  var optionValue: StoreOptionValue { get }
}

extension Bool: StoreOptionType {
  public static var optionTypeName: String { "true or false" }
  public var optionValue: StoreOptionValue { .bool(self) }
  /// True or false; 1 and 0 are taken for them.
  public init?(_ value: StoreOptionValue) {
    switch value {
    case .bool(let value): self = value
    case .integer(0): self = false
    case .integer(1): self = true
    default: return nil
    }
  }
}

extension Int64: StoreOptionType {
  public static var optionTypeName: String { "a whole number" }
  public var optionValue: StoreOptionValue { .integer(self) }
  /// The whole number of an option's value, also of one that was given as a double; otherwise nil.
  public init?(_ value: StoreOptionValue) {
    switch value {
    case .integer(let value): self = value
    case .number(let value):
      guard let value = Int64(exactly: value) else { return nil }
      self = value
    default: return nil
    }
  }
}

extension Int: StoreOptionType {
  public static var optionTypeName: String { Int64.optionTypeName }
  public var optionValue: StoreOptionValue { .integer(Int64(self)) }
  /// The whole number of an option's value, also of one that was given as a double; nil if `Int` cannot hold it.
  public init?(_ value: StoreOptionValue) {
    guard let value = Int64(value) else { return nil }
    self.init(exactly: value)
  }
}

extension Double: StoreOptionType {
  public static var optionTypeName: String { "a number" }
  public var optionValue: StoreOptionValue { .number(self) }
  /// The number of an option's value, whole or not; nil for a value of another type.
  public init?(_ value: StoreOptionValue) {
    switch value {
    case .number(let value): self = value
    case .integer(let value): self = Double(value)
    default: return nil
    }
  }
}

extension String: StoreOptionType {
  public static var optionTypeName: String { "a text" }
  public var optionValue: StoreOptionValue { .text(self) }
  /// The text of an option's value; nil for a value of another type.
  public init?(_ value: StoreOptionValue) {
    guard case .text(let value) = value else { return nil }
    self = value
  }
}

extension Data: StoreOptionType {
  public static var optionTypeName: String { "bytes" }
  public var optionValue: StoreOptionValue { .data(self) }
  /// The bytes of an option's value; nil for a value of another type.
  public init?(_ value: StoreOptionValue) {
    guard case .data(let value) = value else { return nil }
    self = value
  }
}

extension StoreOptions {
  /// The value of a store's own option: the default where none was given.
  ///
  /// Values of another type are refused before a store gets its options (``checkOwn(of:)``).
  public subscript<Value>(_ option: StoreOption<Value>) -> Value {
    get { own[option.name].flatMap { Value($0) } ?? option.defaultValue }
    set { own[option.name] = newValue.optionValue }
  }

  /// Throws `invalidArgument` for a name that begins with the type of the stores and that `backend` does not declare,
  /// and for a value that is not of the declared type. Options of other types of stores are let through; so are names
  /// with a further full stop, because the name of another type may begin with this one.
  public func checkOwn(of backend: any StoreBackend) throws(StoreError) {
    if own.isEmpty { return }
    let declared = backend.ownOptions
    for (name, value) in own.sorted(by: { $0.key < $1.key }) {
      if let option = declared.first(where: { $0.name == name }) {
        try option.check(value)
      } else if name.hasPrefix(backend.storeType + "."), !name.dropFirst(backend.storeType.count + 1).contains(".") {
        let names = declared.map(\.name).sorted().joined(separator: ", ")
        throw StoreError(
          .invalidArgument,
          "Stores of type \(backend.storeType) have no option \(name); they have \(names.isEmpty ? "none" : names).",
          context: ["option": name])
      }
    }
  }
}
