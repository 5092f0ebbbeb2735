import Foundation
import StoreQuery
import StoreSchema

/// Arithmetic and functions.
extension ReferenceValues {
  static func arithmetic(_ a: Value, _ sign: String, _ b: Value) -> Value {
    guard let x = Number(a), let y = Number(b) else { return .null }
    if "&|^<<>>".contains(sign) {
      guard case .int(let p) = x, case .int(let q) = y else { return .null }
      return .int(bits(p, sign, q))
    }
    let (isDate, isOtherDate) = (isDate(a), isDate(b))
    if case .int(let x) = x, case .int(let y) = y, let result = integers(x, sign, y) { return result }
    if !isDate && !isOtherDate, isDecimal(a) || isDecimal(b), let p = x.smallDecimal, let q = y.smallDecimal,
      let result = decimals(p, sign, q)
    {
      return result
    }
    let result: Double
    switch sign {
    case "+": result = x.double + y.double
    case "-": result = x.double - y.double
    case "*": result = x.double * y.double
    case "/": result = x.double / y.double
    case "modulus": result = fmod(x.double, y.double)
    case "**": result = pow(x.double, y.double)
    default: return .null
    }
    if !result.isFinite { return .null }
    return sign == "+" && isDate != isOtherDate || sign == "-" && isDate && !isOtherDate
      ? .date(result) : .double(result)
  }

  private static func isDate(_ value: Value) -> Bool { if case .date = value { true } else { false } }
  private static func isDecimal(_ value: Value) -> Bool { if case .decimal = value { true } else { false } }

  /// Nil where the result does not fit into 64 bits.
  private static func integers(_ x: Int64, _ sign: String, _ y: Int64) -> Value? {
    let (a, b) = (Int128(x), Int128(y))
    let result: Int128
    switch sign {
    case "+": result = a + b
    case "-": result = a - b
    case "*": result = a * b
    case "/": if y == 0 { return .null } else { result = a / b }
    case "modulus": if y == 0 { return .null } else { result = a % b }
    case "**": return power(x, y)
    default: return .null
    }
    return Int64(exactly: result).map(Value.int)
  }

  /// Whole exponents from 0 on; nil where the result does not fit into 64 bits.
  private static func power(_ base: Int64, _ exponent: Int64) -> Value? {
    if exponent < 0 { return nil }
    if base == 0 || base == 1 { return .int(exponent == 0 ? 1 : base) }
    if base == -1 { return .int(exponent % 2 == 0 ? 1 : -1) }
    if exponent > 63 { return nil }
    var result: Int128 = 1
    for _ in 0..<exponent {
      result *= Int128(base)
      if Int64(exactly: result) == nil { return nil }
    }
    return .int(Int64(result))
  }

  /// A shift by more than the width clears all bits; a negative count shifts the other way.
  private static func bits(_ x: Int64, _ sign: String, _ y: Int64) -> Int64 {
    switch sign {
    case "&": return x & y
    case "|": return x | y
    case "^": return x ^ y
    default:
      let isLeft = (sign == "<<") == (y >= 0)
      let count = y.magnitude
      if isLeft { return count > 63 ? 0 : x &* Int64(bitPattern: 1 << count) }
      return count > 62 ? (x < 0 ? -1 : 0) : floorDivision(x, 1 << count)
    }
  }

  private static func floorDivision(_ x: Int64, _ y: Int64) -> Int64 { x / y - (x % y < 0 ? 1 : 0) }

  /// Nil where doubles are to be used.
  private static func decimals(_ x: Decimal, _ sign: String, _ y: Decimal) -> Value? {
    switch sign {
    case "+": return .decimal(x + y)
    case "-": return .decimal(x - y)
    case "*": return .decimal(x * y)
    case "/": return y.isZero ? .null : .decimal(x / y)
    case "**":
      // Exponents up to 64, while no intermediate result exceeds the range.
      guard let count = Int("\(y)"), (0...64).contains(count) else { return nil }
      var result = Decimal(1)
      for _ in 0..<count {
        result *= x
        if !(-40...40).contains(result.exponent) { return nil }
      }
      return .decimal(result)
    case "modulus": return y.isZero ? .null : remainder(x, y)
    default: return .null
    }
  }

  /// With the sign of the dividend; nil where the quotient has more digits than decimals.
  private static func remainder(_ x: Decimal, _ y: Decimal) -> Value? {
    let quotient = x / y
    if quotient.exponent > 0 { return nil }
    var rest = x - whole(quotient, below: false) * y
    // A quotient that was rounded up is too great by one.
    if !rest.isZero && (rest < 0) != (x < 0) { rest += (y < 0) == (x < 0) ? y : -y }
    return .decimal(rest)
  }

  static func prefixed(_ sign: String, _ value: Value) -> Value {
    if sign == "-" {
      if case .decimal(let x) = value { return .decimal(-x) }
      return arithmetic(.int(0), "-", value)
    }
    guard case .int(let x)? = Number(value) else { return .null }
    return .int(-1 - x)
  }

  // MARK: Functions

  /// The functions that the suite evaluates independently of the library.
  static let functions: Set<String> = [
    "uppercase", "lowercase", "canonical", "length", "abs", "floor", "ceiling", "trunc", "sqrt", "log", "ln", "exp",
    "negate", "onesComplement",
  ]

  static func function(_ name: String, _ value: Value) -> Value {
    // For an added function, stores must give the result of its kernel.
    guard functions.contains(name) else { return Function.named(name + ":")?.evaluate([value]) ?? .null }
    if name == "negate" || name == "onesComplement" { return prefixed(name == "negate" ? "-" : "~", value) }
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
    case ("abs", .decimal(let x)): return .decimal(x < 0 ? -x : x)
    case ("floor", .decimal(let x)): return .decimal(whole(x, below: true))
    case ("ceiling", .decimal(let x)): return .decimal(-whole(-x, below: true))
    case ("trunc", .decimal(let x)): return .decimal(whole(x, below: false))
    case ("abs", _): return finite(abs(number.double))
    case ("floor", _): return finite(floor(number.double))
    case ("ceiling", _): return finite(ceil(number.double))
    case ("trunc", _): return finite(trunc(number.double))
    case ("sqrt", _): return finite(number.double.squareRoot())
    case ("log", _): return finite(log10(number.double))
    case ("ln", _): return finite(log(number.double))
    case ("exp", _): return finite(exp(number.double))
    default: return .null
    }
  }

  /// By the digits: those before the point, and one less for a negative number with a fraction if `below`.
  private static func whole(_ x: Decimal, below: Bool) -> Decimal {
    let parts = "\(x)".split(separator: ".", omittingEmptySubsequences: false)
    let whole = parts.first.flatMap { Decimal(string: String($0)) } ?? 0
    return below && x < 0 && parts.count == 2 ? whole - 1 : whole
  }

  static func finite(_ value: Double) -> Value { value.isFinite ? .double(value) : .null }

  // MARK: CAST

  static func cast(_ value: Value, _ type: String) -> Value {
    switch type {
    case "NSNumber": return number(value)
    case "NSDate": return Number(number(value)).map { .date($0.double) } ?? .null
    case "NSDecimalNumber": return Number(number(value)).flatMap(\.decimal).map(Value.decimal) ?? .null
    case "NSString": return written(value)
    case "NSURL": return text(value).map(Value.uri) ?? .null
    case "NSUUID":
      if case .string(let text) = value { return UUID(uuidString: text).map(Value.uuid) ?? .null }
      if case .uuid = value { return value }
      return .null
    default: return .null
    }
  }

  private static func number(_ value: Value) -> Value {
    switch value {
    case .date(let x): return .double(x)
    case .string(let text):
      if let whole = Int64(text) { return .int(whole) }
      // Swift reads other texts as numbers that the rules do not.
      if text.isEmpty || !text.unicodeScalars.allSatisfy("0123456789+-.eE".unicodeScalars.contains) { return .null }
      return Double(text).map(finite) ?? .null
    case .bool, .int, .double, .decimal: return value
    default: return .null
    }
  }

  private static func written(_ value: Value) -> Value {
    switch value {
    case .string(let text), .uri(let text): .string(text)
    case .bool(let x): .string(x ? "1" : "0")
    case .int(let x): .string("\(x)")
    case .double(let x): .string(x == x.rounded() && abs(x) < 1e15 ? String(format: "%.0f", x) : "\(x)")
    case .decimal(let x): .string("\(x)")
    case .uuid(let x): .string(x.uuidString)
    default: .null
    }
  }
}

extension ReferenceValues.Number {
  /// Nil beyond 1e±40.
  var smallDecimal: Decimal? { decimal.flatMap { (-40...40).contains($0.exponent) ? $0 : nil } }
}
