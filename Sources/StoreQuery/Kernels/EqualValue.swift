import StoreSchema

/// A value as an element of a set, in which ``ValueComparison/areEqual(_:_:options:)`` without options says what is one
/// element: 1, 1.0 and true are.
public struct EqualValue: Hashable, Sendable {
  /// The value that is an element.
  public let value: Value

  /// The element that a value is.
  public init(value: Value) { self.value = value }

  public static func == (a: EqualValue, b: EqualValue) -> Bool {
    if case .reference(let x) = a.value, case .reference(let y) = b.value { return x == y }
    return ValueComparison.areEqual(a.value, b.value)
  }

  public func hash(into hasher: inout Hasher) {
    if case .reference(let reference) = value {
      hasher.combine(reference.key)
    } else if let number = Number(value) {
      // Numbers that are equal are the same double.
      hasher.combine(number.double + 0)
    } else if let text = value.text {
      for byte in text.utf8 { hasher.combine(byte) }
    } else {
      value.hash(into: &hasher)
    }
  }
}

/// What set expressions mean over collections of values: each value once, in the order of its first appearance.
public enum SetKernel {
  /// The elements of a union, an intersection or a difference.
  public static func evaluate(_ operation: Expression.SetOperation, _ left: [Value], _ right: [Value]) -> [Value] {
    switch operation {
    case .union: return distinct(left + right)
    case .intersect:
      let other = Set(right.map(EqualValue.init))
      return distinct(left).filter { other.contains(EqualValue(value: $0)) }
    case .minus:
      let other = Set(right.map(EqualValue.init))
      return distinct(left).filter { !other.contains(EqualValue(value: $0)) }
    }
  }

  /// Each value once, in the order of its first appearance.
  public static func distinct(_ values: [Value]) -> [Value] {
    var known: Set<EqualValue> = []
    return values.filter { known.insert(EqualValue(value: $0)).inserted }
  }

  /// Whether both have the same elements, however often and in whichever order.
  public static func areEqual(_ left: [Value], _ right: [Value]) -> Bool {
    Set(left.map(EqualValue.init)) == Set(right.map(EqualValue.init))
  }
}
