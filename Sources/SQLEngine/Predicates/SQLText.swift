import StoreSchema

/// A piece of SQL and what its parameters stand for, in their order. Values are never written into the text.
struct SQLText: ExpressibleByStringInterpolation {
  enum Parameter {
    case value(Value)
    /// A list too long for parameters: a table of one connection, with its values in the column `v`.
    case list([Value])
  }

  /// What stands before, between and after the parameters.
  private var parts: [String] = [""]
  private(set) var parameters: [Parameter] = []

  init(stringLiteral text: String) { parts = [text] }

  init(stringInterpolation: Interpolation) { self = stringInterpolation.result }

  init(joining texts: [SQLText], by separator: String) {
    for (index, text) in texts.enumerated() {
      if index > 0 { append(text: separator) }
      append(text)
    }
  }

  fileprivate mutating func append(text: String) { parts[parts.count - 1] += text }

  mutating func append(_ other: SQLText) {
    append(text: other.parts[0])
    parts += other.parts.dropFirst()
    parameters += other.parameters
  }

  fileprivate mutating func append(_ parameter: Parameter) {
    parameters.append(parameter)
    parts.append("")
  }

  struct Interpolation: StringInterpolationProtocol {
    fileprivate var result: SQLText = ""

    init(literalCapacity: Int, interpolationCount: Int) {}

    mutating func appendLiteral(_ text: String) { result.append(text: text) }
    mutating func appendInterpolation(_ text: String) { result.append(text: text) }
    mutating func appendInterpolation(_ text: SQLText) { result.append(text) }
    mutating func appendInterpolation(_ number: Int) { result.append(text: "\(number)") }
    mutating func appendInterpolation(value: Value) { result.append(.value(value)) }
    mutating func appendInterpolation(list: [Value]) { result.append(.list(list)) }
  }

  /// The text with a mark for each value, the values, and the lists, whose tables are called by ``listName(_:)``.
  var statement: (text: String, values: [Value], lists: [[Value]]) {
    var (text, values, lists) = (parts[0], [Value](), [[Value]]())
    for (parameter, part) in zip(parameters, parts.dropFirst()) {
      switch parameter {
      case .value(let value):
        text += "?"
        values.append(value)
      case .list(let list):
        text += "(SELECT v FROM \(Self.listName(lists.count)))"
        lists.append(list)
      }
      text += part
    }
    return (text, values, lists)
  }

  /// The temporary table of a list.
  static func listName(_ index: Int) -> String { "temp.OCDList\(index)" }

  /// The text with its values written out, nil where one of them cannot be.
  var literal: String? {
    var text = parts[0]
    for (parameter, part) in zip(parameters, parts.dropFirst()) {
      guard case .value(let value) = parameter, let literal = SQLLiteral.text(value) else { return nil }
      text += literal + part
    }
    return text
  }
}
