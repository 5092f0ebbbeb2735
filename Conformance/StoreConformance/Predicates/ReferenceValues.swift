import Foundation
import StoreSchema

/// The meaning of operators and functions over values, written independently from the rules. Shares no code with the
/// engines.
enum ReferenceValues {
  // MARK: Numbers

  enum Number {
    case int(Int64)
    case double(Double)
    case decimal(Decimal)

    init?(_ value: Value) {
      switch value {
      case .bool(let x): self = .int(x ? 1 : 0)
      case .int(let x): self = .int(x)
      case .double(let x), .date(let x): self = .double(x)
      case .decimal(let x): self = .decimal(x)
      default: return nil
      }
    }

    var double: Double {
      switch self {
      case .int(let x): Double(x)
      case .double(let x): x
      case .decimal(let x): Double("\(x)") ?? 0
      }
    }

    /// The decimal of a double: the exact value of a whole number, otherwise its shortest text. Nil beyond the range of
    /// decimals.
    var decimal: Decimal? {
      switch self {
      case .int(let x): return Decimal(string: "\(x)")
      case .decimal(let x): return x
      case .double(let x):
        if !x.isFinite || abs(x) >= 1e120 || (x != 0 && abs(x) < 1e-90) { return nil }
        if x == x.rounded() && abs(x) < 1e38 { return Decimal(string: String(format: "%.0f", x)) }
        return Decimal(string: "\(x)")
      }
    }
  }

  static func order<T: Comparable>(_ a: T, _ b: T) -> Int { a < b ? -1 : a == b ? 0 : 1 }

  static func compare(_ a: Number, _ b: Number) -> Int {
    switch (a, b) {
    case (.int(let x), .int(let y)): return order(x, y)
    case (.double(let x), .double(let y)): return order(x, y)
    default:
      guard let x = a.decimal, let y = b.decimal else { return order(a.double, b.double) }
      return order(x, y)
    }
  }

  // MARK: Comparing

  /// -1, 0 or 1; nil where the values have no order.
  static func compare(_ a: Value, _ b: Value, _ options: String = "") -> Int? {
    if let x = Number(a), let y = Number(b) { return compare(x, y) }
    if let x = text(a), let y = text(b) {
      if options.contains("l") && !options.contains("n") {
        return x.compare(y, options: folding(options), range: nil, locale: .current).rawValue
      }
      return bytes(folded(x, options).utf8, folded(y, options).utf8)
    }
    switch (a, b) {
    case (.uuid(let x), .uuid(let y)): return bytes(hex(x), hex(y))
    case (.data(let x), .data(let y)): return bytes(x, y)
    default: return nil
    }
  }

  private static func hex(_ uuid: UUID) -> [UInt8] { Array(uuid.uuidString.utf8) }

  private static func bytes(_ a: some Sequence<UInt8>, _ b: some Sequence<UInt8>) -> Int {
    let (x, y) = (Array(a), Array(b))
    for (p, q) in zip(x, y) where p != q { return p < q ? -1 : 1 }
    return order(x.count, y.count)
  }

  /// The order of sorts: nil comes first.
  static func order(_ a: Value, _ b: Value, _ selector: String?) -> Int {
    if a.isNull || b.isNull { return (a.isNull ? 0 : 1) - (b.isNull ? 0 : 1) }
    guard let x = text(a), let y = text(b) else { return compare(a, b) ?? 0 }
    switch selector {
    case "caseInsensitiveCompare:": return compare(a, b, "c") ?? 0
    case "localizedCompare:": return collate(x, y, [])
    case "localizedCaseInsensitiveCompare:": return collate(x, y, .caseInsensitive)
    case "localizedStandardCompare:":
      let byNumber = collate(x, y, [.numeric, .caseInsensitive, .widthInsensitive])
      let byCase = byNumber == 0 ? collate(x, y, .numeric) : byNumber
      let (a, b) = (Array(x.utf8), Array(y.utf8))
      if byCase != 0 || a == b { return byCase }
      return a.count < b.count || (a.count == b.count && a.lexicographicallyPrecedes(b)) ? -1 : 1
    default: return compare(a, b) ?? 0
    }
  }

  /// The order of the locale's collation over whole texts. Characters without weight in front keep Foundation from
  /// taking another way.
  private static func collate(_ a: String, _ b: String, _ options: String.CompareOptions) -> Int {
    ("\u{1}" + a).compare("\u{2}" + b, options: options, range: nil, locale: .current).rawValue
  }

  static func areEqual(_ a: Value, _ b: Value, _ options: String = "") -> Bool {
    if a.isNull || b.isNull { return a.isNull && b.isNull }
    if case .reference(let x) = a, case .reference(let y) = b { return x == y }
    return compare(a, b, options) == 0
  }

  static func compare(_ a: Value, _ op: String, _ b: Value, _ options: String) -> Bool {
    switch op {
    case "==": return areEqual(a, b, options)
    case "!=": return !areEqual(a, b, options)
    case "<": return compare(a, b, options) == -1
    case "<=": return (compare(a, b, options) ?? 1) <= 0
    case ">": return compare(a, b, options) == 1
    case ">=": return (compare(a, b, options) ?? -1) >= 0
    case "IN": return compare(b, "CONTAINS", a, options)
    default:
      guard let x = text(a), let y = text(b) else { return false }
      return search(x, op, y, options)
    }
  }

  // MARK: Texts

  static func text(_ value: Value) -> String? {
    switch value {
    case .string(let text), .uri(let text): text
    default: nil
    }
  }

  private static func folding(_ options: String) -> String.CompareOptions {
    var folding: String.CompareOptions = []
    if options.contains("n") { return folding }
    if options.contains("c") { folding.insert(.caseInsensitive) }
    if options.contains("d") { folding.insert(.diacriticInsensitive) }
    return folding
  }

  static func folded(_ text: String, _ options: String) -> String {
    let folding = folding(options)
    return folding.isEmpty ? text : text.folding(options: folding, locale: nil)
  }

  private static func search(_ text: String, _ op: String, _ pattern: String, _ options: String) -> Bool {
    if op == "MATCHES" { return matches(text, pattern, options) }
    let (x, y) = (folded(text, options), folded(pattern, options))
    switch op {
    case "BEGINSWITH": return !y.isEmpty && x.utf8.starts(with: y.utf8)
    case "ENDSWITH": return !y.isEmpty && x.utf8.reversed().starts(with: y.utf8.reversed())
    case "CONTAINS": return !y.isEmpty && !Array(x.utf8).split(by: Array(y.utf8)).isEmpty
    case "LIKE": return isLike(Array(x.unicodeScalars)[...], Array(y.unicodeScalars)[...])
    default: return false
    }
  }

  private static func isLike(_ text: ArraySlice<Unicode.Scalar>, _ pattern: ArraySlice<Unicode.Scalar>) -> Bool {
    guard let first = pattern.first else { return text.isEmpty }
    let rest = pattern.dropFirst()
    switch first {
    case "*": return (text.startIndex...text.endIndex).contains { isLike(text[$0...], rest) }
    case "?": return !text.isEmpty && isLike(text.dropFirst(), rest)
    case "\\":
      guard let literal = rest.first else { return text.elementsEqual(["\\"]) }
      return text.first == literal && isLike(text.dropFirst(), rest.dropFirst())
    default: return text.first == first && isLike(text.dropFirst(), rest)
    }
  }

  private static func matches(_ text: String, _ pattern: String, _ options: String) -> Bool {
    let marks = options.contains("d") && !options.contains("n") ? "d" : ""
    let text = folded(text, marks)
    guard
      let expression = try? NSRegularExpression(
        pattern: "^(?:\(folded(pattern, marks)))\\z",
        options: folding(options).contains(.caseInsensitive) ? .caseInsensitive : [])
    else { return false }
    return expression.firstMatch(in: text, range: NSRange(location: 0, length: text.utf16.count)) != nil
  }
}

extension Array where Element == UInt8 {
  /// The indexes at which a part begins.
  fileprivate func split(by part: [UInt8]) -> [Int] {
    if part.count > count { return [] }
    return (0...count - part.count).filter { Array(self[$0..<$0 + part.count]) == part }
  }
}
