import StoreSchema

/// A predicate in its written form: a syntax tree over ``Expression``.
///
/// Its value is always true or false; there is no third value. `nil > 5` is false, and so its negation is true.
public indirect enum Predicate: Hashable, Sendable {
  /// `TRUEPREDICATE` or `FALSEPREDICATE`.
  case value(Bool)
  /// A comparison of one value, or of the elements of a collection, with another value.
  case comparison(Comparison)
  /// True where all parts are true; also without parts.
  case and([Predicate])
  /// True where at least one part is true; false without parts.
  case or([Predicate])
  /// True where the part is false.
  case not(Predicate)
  /// `$name` where a predicate is expected.
  case variable(String)

  /// One comparison: `[modifier] left operator[options] right`.
  public struct Comparison: Hashable, Sendable {
    /// The expression before the operator.
    public var left: Expression
    /// The expression after the operator.
    public var right: Expression
    /// Whether the comparison applies to the left value, to all of its elements, or to any element.
    public var modifier: Modifier
    /// The operator.
    public var op: Operator
    /// How texts are compared.
    public var options: Options

    /// A comparison of two expressions.
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
    /// `<`.
    case lessThan = 0
    /// `<=`.
    case lessThanOrEqualTo = 1
    /// `>`.
    case greaterThan = 2
    /// `>=`.
    case greaterThanOrEqualTo = 3
    /// `==`. Nil equals nil.
    case equalTo = 4
    /// `!=`: the negation of `==`.
    case notEqualTo = 5
    /// `MATCHES`: the whole left text matches the regular expression on the right.
    case matches = 6
    /// `LIKE`: the whole left text matches the pattern on the right, in which `*` stands for any text and `?` for one
    /// character.
    case like = 7
    /// `BEGINSWITH`: the left text begins with the right one.
    case beginsWith = 8
    /// `ENDSWITH`: the left text ends with the right one.
    case endsWith = 9
    /// `IN`: the left value is in the collection on the right, or the left text in the right one.
    case `in` = 10
    /// A comparison by a method of the left object. It is kept, but never evaluated.
    case customSelector = 11
    /// `CONTAINS`: the collection on the left contains the right value, or the left text the right text.
    case contains = 99
    /// `BETWEEN`: the left value is between the two on the right, both included.
    case between = 100

    /// The operator after exchanging the sides; nil where there is none.
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
    /// The left value itself is compared.
    case direct = 0
    /// `ALL`: every element on the left meets the comparison.
    case all = 1
    /// `ANY` or `SOME`: some element on the left meets the comparison.
    case any = 2
  }

  /// `[c]`, `[d]`, `[n]`, `[l]` with the bits of `NSComparisonPredicate.Options`.
  public struct Options: OptionSet, Hashable, Sendable {
    /// One bit for each option.
    public var rawValue: UInt
    /// The options with bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }
    /// `[c]`: upper and lower case are the same.
    public static let caseInsensitive = Options(rawValue: 1)
    /// `[d]`: marks on letters do not count.
    public static let diacriticInsensitive = Options(rawValue: 2)
    /// `[n]`: both texts are already in the same Unicode normalization form, and are compared literally.
    public static let normalized = Options(rawValue: 4)
    /// `[l]`: texts are compared by the rules of the user's language.
    public static let localeSensitive = Options(rawValue: 8)
  }
}
