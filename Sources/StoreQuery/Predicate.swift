import StoreSchema

/// A predicate as it is written: a syntax tree over ``Expression``.
///
/// Its value is always true or false; there is no third value. `nil > 5` is false, and so its negation is true.
public indirect enum Predicate: Hashable, Sendable {
  /// `TRUEPREDICATE` or `FALSEPREDICATE`.
  case value(Bool)
  case comparison(Comparison)
  case and([Predicate])
  case or([Predicate])
  case not(Predicate)
  /// `$name` where a predicate is expected.
  case variable(String)

  /// One comparison: `[modifier] left operator[options] right`.
  public struct Comparison: Hashable, Sendable {
    public var left: Expression
    public var right: Expression
    public var modifier: Modifier
    public var op: Operator
    public var options: Options

    public init(
      _ left: Expression, _ op: Operator, _ right: Expression, modifier: Modifier = .direct, options: Options = []
    ) {
      self.left = left
      self.right = right
      self.modifier = modifier
      self.op = op
      self.options = options
    }
  }

  /// The operators, with the raw values that Apple's archives use (`NSComparisonPredicate.Operator`).
  public enum Operator: UInt, Hashable, Sendable {
    case lessThan = 0
    case lessThanOrEqualTo = 1
    case greaterThan = 2
    case greaterThanOrEqualTo = 3
    case equalTo = 4
    case notEqualTo = 5
    case matches = 6
    case like = 7
    case beginsWith = 8
    case endsWith = 9
    case `in` = 10
    case customSelector = 11
    case contains = 99
    case between = 100

    /// The operator for exchanged sides; nil where there is none.
    package var mirrored: Self? {
      switch self {
      case .lessThan: .greaterThan
      case .lessThanOrEqualTo: .greaterThanOrEqualTo
      case .greaterThan: .lessThan
      case .greaterThanOrEqualTo: .lessThanOrEqualTo
      case .equalTo: self
      default: nil
      }
    }
  }

  /// How a to-many left side is compared (`NSComparisonPredicate.Modifier`).
  public enum Modifier: UInt, Hashable, Sendable {
    case direct = 0
    case all = 1
    case any = 2
  }

  /// `[c]`, `[d]`, `[n]`, `[l]` with the bits of `NSComparisonPredicate.Options`.
  public struct Options: OptionSet, Hashable, Sendable {
    public var rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let caseInsensitive = Options(rawValue: 1)
    public static let diacriticInsensitive = Options(rawValue: 2)
    public static let normalized = Options(rawValue: 4)
    public static let localeSensitive = Options(rawValue: 8)
  }
}
