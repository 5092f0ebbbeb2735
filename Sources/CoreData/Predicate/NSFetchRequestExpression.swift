import Foundation
import RuntimeAccess
import StoreQuery

/// The results of a fetch request, for example as the right side of `IN`, or their number
/// (https://developer.apple.com/documentation/coredata/nsfetchrequestexpression).
public final class NSFetchRequestExpression: NSExpression {
  private var payload: TreeExpression.Payload?

  required init?(coder: NSCoder) { nil }

  /// Makes an expression. The values of `fetch` and `context` must be an `NSFetchRequest` and an
  /// `NSManagedObjectContext`; usually both are constants. The request runs each time the expression is evaluated, and
  /// once for each fetch that the expression is a part of.
  public class func expression(
    forFetch fetch: NSExpression, context: NSExpression, countOnly countFlag: Bool
  ) -> NSExpression {
    make(
      .init(.fetch(ExpressionTree.part(fetch), context: ExpressionTree.part(context), countOnly: countFlag)))
  }

  static func make(_ payload: TreeExpression.Payload) -> NSFetchRequestExpression {
    let made = RawObject.made(NSFetchRequestExpression.self)
    made.payload = payload
    return made
  }

  var permission: EvaluationPermission? { payload?.permission }

  var tree: StoreQuery.Expression {
    guard let payload else { misuse("An expression was made without its initialiser.") }
    return payload.tree
  }

  private var parts: (fetch: StoreQuery.Expression, context: StoreQuery.Expression, countOnly: Bool) {
    guard case .fetch(let fetch, let context, let countOnly) = tree else { misuse("\(self) is no fetch.") }
    return (fetch, context, countOnly)
  }

  /// The expression for the fetch request.
  public var requestExpression: NSExpression { ExpressionTree.expression(parts.fetch, permission) }
  /// The expression for the context.
  public var contextExpression: NSExpression { ExpressionTree.expression(parts.context, permission) }
  /// Whether the value is the number of results.
  public var isCountOnlyRequest: Bool { parts.countOnly }

  public override func copy(with zone: NSZone? = nil) -> Any { self }
  public override var hash: Int { tree.hashValue }
  public override func isEqual(_ object: Any?) -> Bool { (object as? NSFetchRequestExpression)?.tree == tree }
  public override var description: String { tree.format }
}
