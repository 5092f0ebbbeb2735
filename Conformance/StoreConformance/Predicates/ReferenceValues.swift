import Foundation
import StoreSchema

/// What operators and functions mean over values, written once more from the rules: nothing here is shared with the engines.
enum ReferenceValues {
  // MARK: Numbers

  private enum Number {
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

    /// Nil for what no decimal is exactly: beyond their range.
    var decimal: Decimal? {
      switch self {
      case .int(let x): return Decimal(string: "\(x)")
      case .decimal(let x): return x
      case .double(let x):
        if !x.isFinite || abs(x) > 1e100 || (x != 0 && abs(x) < 1e-80) { return nil }
        if x == x.rounded() && abs(x) < 1e30 { return Decimal(string: String(format: "%.0f", x)) }
        return Decimal(string: "\(x)")
      }
    }
  }

  private static func order<T: Comparable>(_ a: T, _ b: T) -> Int { a < b ? -1 : a == b ? 0 : 1 }

  private static func compare(_ a: Number, _ b: Number) -> Int {
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
    if let x = text(a), let y = text(b) { return bytes(folded(x, options).utf8, folded(y, options).utf8) }
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
    default:
      guard let x = text(a), let y = text(b) else { return false }
      return search(x, op, y, options)
    }
  }

  // MARK: Texts

  private static func text(_ value: Value) -> String? {
    switch value {
    case .string(let text), .uri(let text): text
    default: nil
    }
  }

  private static func folded(_ text: String, _ options: String) -> String {
    var folding: String.CompareOptions = []
    if options.contains("c") { folding.insert(.caseInsensitive) }
    if options.contains("d") { folding.insert(.diacriticInsensitive) }
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
    let marks = options.contains("d") ? "d" : ""
    let text = folded(text, marks)
    guard
      let expression = try? NSRegularExpression(
        pattern: "^(?:\(folded(pattern, marks)))\\z", options: options.contains("c") ? .caseInsensitive : [])
    else { return false }
    return expression.firstMatch(in: text, range: NSRange(location: 0, length: text.utf16.count)) != nil
  }

  // MARK: Arithmetic and functions

  static func arithmetic(_ a: Value, _ sign: String, _ b: Value) -> Value {
    guard let x = Number(a), let y = Number(b) else { return .null }
    if case .int(let x) = x, case .int(let y) = y, let result = integers(x, sign, y) { return result }
    let result: Double
    switch sign {
    case "+": result = x.double + y.double
    case "-": result = x.double - y.double
    case "*": result = x.double * y.double
    case "/": result = x.double / y.double
    case "modulus": result = fmod(x.double, y.double)
    default: return .null
    }
    if !result.isFinite { return .null }
    let (isDate, isOtherDate) = (isDate(a), isDate(b))
    return sign == "+" && isDate != isOtherDate || sign == "-" && isDate && !isOtherDate
      ? .date(result) : .double(result)
  }

  private static func isDate(_ value: Value) -> Bool { if case .date = value { true } else { false } }

  /// Nil where 64 bits do not suffice.
  private static func integers(_ x: Int64, _ sign: String, _ y: Int64) -> Value? {
    let (a, b) = (Int128(x), Int128(y))
    let result: Int128
    switch sign {
    case "+": result = a + b
    case "-": result = a - b
    case "*": result = a * b
    case "/": if y == 0 { return .null } else { result = a / b }
    case "modulus": if y == 0 { return .null } else { result = a % b }
    case "&": return .int(x & y)
    case "|": return .int(x | y)
    case "^": return .int(x ^ y)
    default: return .null
    }
    return Int64(exactly: result).map(Value.int)
  }

  static func function(_ name: String, _ value: Value) -> Value {
    if case .string(let text) = value {
      switch name {
      case "uppercase": return .string(text.uppercased())
      case "lowercase": return .string(text.lowercased())
      case "canonical": return .string(folded(text, "cd"))
      case "length": return .int(Int64(Array(text.utf16).count))
      default: return .null
      }
    }
    guard let number = Number(value) else { return .null }
    switch (name, number) {
    case ("abs", .int(let x)): return x == .min ? .double(0x1p63) : .int(x < 0 ? -x : x)
    case ("floor", .int(let x)), ("ceiling", .int(let x)), ("trunc", .int(let x)): return .int(x)
    case ("abs", _): return finite(abs(number.double))
    case ("floor", _): return finite(floor(number.double))
    case ("ceiling", _): return finite(ceil(number.double))
    case ("trunc", _): return finite(trunc(number.double))
    case ("sqrt", _): return finite(number.double.squareRoot())
    default: return .null
    }
  }

  private static func finite(_ value: Double) -> Value { value.isFinite ? .double(value) : .null }

  // MARK: Collections

  /// `@sum`, `@avg`, `@min` and `@max`; null does not count.
  static func aggregate(_ name: String, _ values: [Value]) -> Value {
    let there = values.filter { !$0.isNull }
    switch name {
    case "@min": return there.min { (compare($0, $1) ?? 0) < 0 } ?? .null
    case "@max": return there.max { (compare($0, $1) ?? 0) < 0 } ?? .null
    case "@sum": return sum(there)
    default:
      if there.isEmpty { return .null }
      switch sum(there) {
      case .int(let x): return .double(Double(x) / Double(there.count))
      case let total: return arithmetic(total, "/", .double(Double(there.count)))
      }
    }
  }

  private static func sum(_ values: [Value]) -> Value {
    var whole: Int128 = 0
    var reals: [Double] = []
    var decimals: Value = .int(0)
    for value in values {
      switch Number(value) {
      case .int(let x): whole += Int128(x)
      case .double(let x): reals.append(x)
      default: decimals = arithmetic(decimals, "+", value)
      }
    }
    var numbers = Int64(exactly: whole).map(Value.int) ?? .double(Double(whole))
    if !reals.isEmpty {
      // Halves of the integers that doubles hold.
      let low = whole & 0xFFFF_FFFF
      numbers = finite(total(reals + [Double(whole - low), Double(low)]))
    }
    if case .int(0) = decimals { return numbers }
    return arithmetic(decimals, "+", numbers)
  }

  /// The exact sum, rounded once: partial sums that do not overlap (J. R. Shewchuk, Adaptive Precision Floating-Point Arithmetic, 1997).
  /// What is above the greatest double at some point is not looked at: generated numbers are far from it.
  private static func total(_ numbers: [Double]) -> Double {
    var partials: [Double] = []
    for number in numbers {
      var (rest, kept) = (number, [Double]())
      for partial in partials {
        let (a, b) = abs(rest) >= abs(partial) ? (rest, partial) : (partial, rest)
        let sum = a + b
        let lost = b - (sum - a)
        if lost != 0 { kept.append(lost) }
        rest = sum
      }
      partials = kept + [rest]
    }
    guard var sum = partials.popLast() else { return 0 }
    while let next = partials.popLast() {
      let before = sum
      sum = before + next
      let lost = next - (sum - before)
      if lost == 0 { continue }
      // Halfway between two doubles: what follows says to which side.
      if let last = partials.last, (lost < 0) == (last < 0) {
        let doubled = lost * 2
        if doubled == (sum + doubled) - sum { sum += doubled }
      }
      break
    }
    return sum
  }
}

extension Array where Element == UInt8 {
  /// The places where a part begins.
  fileprivate func split(by part: [UInt8]) -> [Int] {
    if part.count > count { return [] }
    return (0...count - part.count).filter { Array(self[$0..<$0 + part.count]) == part }
  }
}
