import StoreSchema

/// A value as an element of a set. Values are the same element if ``ValueComparison/areEqual(_:_:options:)`` without
/// options says so: 1, 1.0 and true are one element.
public struct EqualValue: Hashable, Sendable {
  /// The value of the element.
  public let value: Value

  /// The element with a value.
  public init(value: Value) { self.value = value }

  public static func == (a: EqualValue, b: EqualValue) -> Bool {
    if case .reference(let x) = a.value, case .reference(let y) = b.value { return x == y }
    return ValueComparison.areEqual(a.value, b.value)
  }

  public func hash(into hasher: inout Hasher) {
    if case .reference(let reference) = value {
      hasher.combine(reference.key)
    } else if let number = Number(value) {
      // Equal numbers have the same double.
      hasher.combine(number.double + 0)
    } else if let text = value.text {
      for byte in text.utf8 { hasher.combine(byte) }
    } else {
      value.hash(into: &hasher)
    }
  }
}

/// Set operations over collections of values. The result has each value once, in the order of its first occurrence.
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

  /// Each value once, in the order of its first occurrence.
  public static func distinct(_ values: [Value]) -> [Value] {
    var known: Set<EqualValue> = []
    return values.filter { known.insert(EqualValue(value: $0)).inserted }
  }

  /// Whether both collections have the same elements. Number and order of occurrences do not count.
  public static func areEqual(_ left: [Value], _ right: [Value]) -> Bool {
    Set(left.map(EqualValue.init)) == Set(right.map(EqualValue.init))
  }
}
