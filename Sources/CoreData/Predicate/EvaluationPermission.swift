import Foundation
import StoreQuery
import Synchronization

/// Whether a predicate or expression from an archive may be evaluated. All parts of one archive share a permission.
///
/// "When securely decoding NSPredicate objects …, evaluation is disabled because it is potentially unsafe":
/// https://developer.apple.com/documentation/foundation/nspredicate/allowevaluation()
final class EvaluationPermission: Sendable {
  private let granted = Atomic<Bool>(false)

  var isGranted: Bool { granted.load(ordering: .acquiring) }
  func grant() { granted.store(true, ordering: .releasing) }

  static let excuse =
    "was decoded from an archive, and may be evaluated, fetched with and made a part of others only once allowEvaluation() was called. Look at its key paths and functions before."
}

extension NSPredicate {
  /// The permission of a predicate with a syntax tree. Compounds of Foundation's class have none; their parts have.
  var evaluationPermission: EvaluationPermission? {
    switch self {
    case let own as ComparisonTreePredicate: own.permission
    case let own as SyntaxPredicate: own.permission
    case let own as CompoundTreePredicate: own.permission
    default: nil
    }
  }

  /// The permissions of the predicate and of the parts of a compound.
  private var permissions: [EvaluationPermission] {
    var (result, pending): ([EvaluationPermission], [NSPredicate]) = ([], [self])
    while let next = pending.popLast() {
      switch next {
      case let next as ComparisonTreePredicate: next.permission.map { result.append($0) }
      case let next as SyntaxPredicate: next.permission.map { result.append($0) }
      case let next as CompoundTreePredicate: next.permission.map { result.append($0) }
      case let next as NSCompoundPredicate: pending += next.subpredicates
      default: break
      }
    }
    return result
  }

  /// Whether the predicate or a part of it was decoded, and ``allowEvaluation()`` has not been called yet.
  var isDenied: Bool { permissions.contains { !$0.isGranted } }

  /// Allows the evaluation of a predicate that was decoded from an archive. Before this call evaluating it stops the
  /// program, and a fetch with it throws.
  ///
  /// Check the predicate first: an archive from outside may contain any key path and any function; see
  /// ``unevaluablePart``. The call allows all parts of the same archive. It has no effect on a predicate that was not
  /// decoded. (https://developer.apple.com/documentation/foundation/nspredicate/allowevaluation())
  public func allowEvaluation() { for permission in permissions { permission.grant() } }
}

extension NSExpression {
  var evaluationPermission: EvaluationPermission? {
    (self as? TreeExpression)?.content.permission ?? (self as? NSFetchRequestExpression)?.permission
  }

  /// Whether the expression was decoded, and ``allowEvaluation()`` has not been called yet.
  var isDenied: Bool { evaluationPermission.map { !$0.isGranted } ?? false }

  /// Allows the evaluation of an expression that was decoded from an archive. Before this call evaluating it stops the
  /// program, and a fetch with it throws. Check the expression first; see `NSPredicate.allowEvaluation()`.
  /// (https://developer.apple.com/documentation/foundation/nsexpression/allowevaluation())
  public func allowEvaluation() { evaluationPermission?.grant() }
}

extension PredicateTree {
  /// The syntax tree of a predicate that becomes a part of another predicate or expression. Nil where ``of(_:)``
  /// returns nil. Stops the program for a predicate that must not be evaluated yet.
  static func part(_ predicate: NSPredicate) -> StoreQuery.Predicate? {
    if predicate.isDenied { misuse("The predicate \(predicate) \(EvaluationPermission.excuse)") }
    return of(predicate)
  }
}

extension ExpressionTree {
  /// The syntax tree of an expression that becomes a part of another one. Stops the program for an expression that must
  /// not be evaluated yet.
  static func part(_ expression: NSExpression) -> StoreQuery.Expression {
    if expression.isDenied { misuse("The expression \(expression) \(EvaluationPermission.excuse)") }
    return of(expression)
  }
}
