import StoreSchema

/// A piece of SQL and the values of its parameters, in their order. Values are never written into the text.
struct SQLText: ExpressibleByStringInterpolation {
  enum Parameter {
    case value(Value)
    /// A list too long for parameters: a table of one connection, with its values in the column `v`.
    case list([Value])
  }

  /// The text before, between and after the parameters.
  private var parts: [String] = [""]
  private(set) var parameters: [Parameter] = []
  /// The limits of SQLite that the text uses up.
  private(set) var size = SQLTextSize()

  init(stringLiteral text: String) {
    parts = [text]
    size.length = text.utf8.count
  }

  init(stringInterpolation: Interpolation) { self = stringInterpolation.result }

  /// Joins texts to a list, with a comma as the separator, or to a chain of one operator.
  init(joining texts: [SQLText], by separator: String) {
    for (index, text) in texts.enumerated() {
      if index > 0 { append(text: separator) }
      append(text, behind: 2)
    }
    if separator != ", " { size.height += texts.count }
  }

  /// A text in which `?1`, `?2` and so on are replaced by operands.
  init(template: String, _ operands: [SQLText]) {
    size.height = SQLTextSize.symbols(template)
    for (index, part) in template.split(separator: "?", omittingEmptySubsequences: false).enumerated() {
      let digits = index == 0 ? "" : part.prefix(while: \.isNumber)
      if let position = Int(digits), operands.indices.contains(position - 1) {
        append(operands[position - 1], behind: SQLTextSize.symbols(template))
        size.height += 1
      }
      append(text: String(part.dropFirst(digits.count)))
    }
  }

  fileprivate mutating func append(text: String) {
    parts[parts.count - 1] += text
    size.length += text.utf8.count
  }

  mutating func append(_ other: SQLText) { append(other, behind: 0) }

  fileprivate mutating func append(_ other: SQLText, behind symbols: Int) {
    parts[parts.count - 1] += other.parts[0]
    parts += other.parts.dropFirst()
    parameters += other.parameters
    size.contain(other.size, behind: symbols)
  }

  fileprivate mutating func append(_ parameter: Parameter) {
    parameters.append(parameter)
    parts.append("")
  }

  /// Records that the text is a subselect.
  mutating func isSelect() { size.isSelect() }

  struct Interpolation: StringInterpolationProtocol {
    private var text: SQLText = ""
    private var symbols = 0

    /// An interpolated text lies below all symbols around it.
    fileprivate var result: SQLText {
      var result = text
      result.size.height += symbols
      return result
    }

    init(literalCapacity: Int, interpolationCount: Int) {}

    mutating func appendLiteral(_ literal: String) {
      text.append(text: literal)
      symbols += SQLTextSize.symbols(literal)
    }

    /// The second symbol is the empty one in SQLite's grammar within the parentheses of a function call.
    mutating func appendInterpolation(_ other: String) {
      text.append(text: other)
      symbols += 2
    }

    mutating func appendInterpolation(_ other: SQLText) {
      text.append(other, behind: symbols)
      symbols += 1
    }

    mutating func appendInterpolation(_ number: Int) { appendInterpolation("\(number)") }
    mutating func appendInterpolation(value: Value) { append(.value(value)) }
    mutating func appendInterpolation(list: [Value]) { append(.list(list)) }

    private mutating func append(_ parameter: Parameter) {
      text.append(parameter)
      symbols += 1
    }
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

  /// The text with its values written out, nil where a value has no text.
  var literal: String? {
    var text = parts[0]
    for (parameter, part) in zip(parameters, parts.dropFirst()) {
      guard case .value(let value) = parameter, let literal = SQLLiteral.text(value) else { return nil }
      text += literal + part
    }
    return text
  }
}
