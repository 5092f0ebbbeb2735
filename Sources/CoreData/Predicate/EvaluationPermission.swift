import Foundation
import StoreQuery
import Synchronization

/// Whether what was read from an archive may be evaluated. Everything that one archive holds shares it.
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
  /// Of a predicate with a tree; compounds of Foundation's class have parts only.
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

  /// Whether it, or a part of it, was decoded and waits for ``allowEvaluation()``.
  var isDenied: Bool { permissions.contains { !$0.isGranted } }

  /// Allows a predicate that was decoded from an archive to be evaluated: until then evaluating it stops the program
  /// and a fetch with it throws.
  ///
  /// Look at the predicate before: an archive from outside may have any key path and any function; see
  /// ``unevaluablePart``. All parts of the same archive are allowed with it. Nothing happens to predicates that were
  /// not decoded.
  /// (https://developer.apple.com/documentation/foundation/nspredicate/allowevaluation())
  public func allowEvaluation() { for permission in permissions { permission.grant() } }
}

extension NSExpression {
  var evaluationPermission: EvaluationPermission? {
    (self as? TreeExpression)?.content.permission ?? (self as? NSFetchRequestExpression)?.permission
  }

  /// Whether it was decoded and waits for ``allowEvaluation()``.
  var isDenied: Bool { evaluationPermission.map { !$0.isGranted } ?? false }

  /// Allows an expression that was decoded from an archive to be evaluated: until then evaluating it stops the program
  /// and a fetch with it throws. Look at it before; see `NSPredicate.allowEvaluation()`.
  /// (https://developer.apple.com/documentation/foundation/nsexpression/allowevaluation())
  public func allowEvaluation() { evaluationPermission?.grant() }
}

extension PredicateTree {
  /// The tree of what becomes a part of something else. Stops the program for what must not be evaluated; nil as
  /// ``of(_:)``.
  static func part(_ predicate: NSPredicate) -> StoreQuery.Predicate? {
    if predicate.isDenied { misuse("The predicate \(predicate) \(EvaluationPermission.excuse)") }
    return of(predicate)
  }
}

extension ExpressionTree {
  /// The tree of what becomes a part of something else. Stops the program for what must not be evaluated.
  static func part(_ expression: NSExpression) -> StoreQuery.Expression {
    if expression.isDenied { misuse("The expression \(expression) \(EvaluationPermission.excuse)") }
    return of(expression)
  }
}
