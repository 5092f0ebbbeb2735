import Foundation

/// One typed attribute value or reference, as stores, rows and predicates exchange it.
///
/// `null` is the absent value. Equality is exact: strings by their UTF-8 bytes, doubles by IEEE rules.
public enum Value: Sendable {
  /// No value.
  case null
  /// A truth value.
  case bool(Bool)
  /// A whole number of any width.
  case int(Int64)
  /// A floating-point number of 64 or 32 bits.
  case double(Double)
  /// A decimal number.
  case decimal(Decimal)
  /// Seconds since 2001-01-01T00:00:00Z.
  case date(Double)
  /// A string. It is compared by its UTF-8 bytes.
  case string(String)
  /// The absolute string of a URI.
  case uri(String)
  /// A UUID.
  case uuid(UUID)
  /// Binary data, or the encoded form of a transformable value.
  case data(Data)
  /// The destination of a to-one relationship.
  case reference(ObjectReference)

  /// Whether there is no value.
  public var isNull: Bool {
    if case .null = self { return true }
    return false
  }
}

extension Value: Hashable {
  public static func == (a: Value, b: Value) -> Bool {
    switch (a, b) {
    case (.null, .null): true
    case (.bool(let x), .bool(let y)): x == y
    case (.int(let x), .int(let y)): x == y
    case (.double(let x), .double(let y)): x == y
    case (.decimal(let x), .decimal(let y)): x == y
    case (.date(let x), .date(let y)): x == y
    // Swift compares strings by canonical equivalence; this comparison must not (DESIGN 9.3).
    case (.string(let x), .string(let y)): x.utf8.elementsEqual(y.utf8)
    case (.uri(let x), .uri(let y)): x.utf8.elementsEqual(y.utf8)
    case (.uuid(let x), .uuid(let y)): x == y
    case (.data(let x), .data(let y)): x == y
    case (.reference(let x), .reference(let y)): x == y
    default: false
    }
  }

  public func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .bool(let x): hasher.combine(x)
    case .int(let x): hasher.combine(x)
    case .double(let x), .date(let x): hasher.combine(x)
    case .decimal(let x): hasher.combine(x)
    case .string(let x), .uri(let x): for byte in x.utf8 { hasher.combine(byte) }
    case .uuid(let x): hasher.combine(x)
    case .data(let x): hasher.combine(x)
    case .reference(let x): hasher.combine(x)
    }
  }
}

/// Identifies one object of a store: its entity and its key, which is unique within the entity's hierarchy.
///
/// Positive keys are permanent. A negative key `-(n + 1)` stands for the n-th insertion of the change set that contains
/// it. It is replaced when the store has assigned the key of that object.
public struct ObjectReference: Hashable, Sendable {
  /// Index into ``Schema/entities``: the object's own entity, not the declared destination.
  public var entity: Int
  /// The object's key: positive for a permanent one.
  public var key: Int64

  /// A reference to the object with the key, of the entity with the index.
  @inlinable
  public init(entity: Int, key: Int64) {
    self.entity = entity
    self.key = key
  }
}
