import Foundation
import StoreQuery

/// Runs fetches within predicates and expressions: `FETCH(request, context, countOnly)`.
enum NestedFetch {
  /// The results of the request, or their number. A dictionary with one entry is replaced by the value of the entry.
  static func value(_ request: Any?, _ context: Any?, countOnly: Bool) throws -> Any {
    guard let request = request as? any NestedFetching, let context = context as? NSManagedObjectContext else {
      throw CocoaError(
        .coreData,
        userInfo: [NSLocalizedDescriptionKey: "FETCH needs an NSFetchRequest and an NSManagedObjectContext."])
    }
    return try context.core.run {
      if countOnly { return try request.count(in: context) }
      return try request.results(in: context).map { result in
        if let values = result as? NSDictionary, values.count == 1 { values.allValues[0] } else { result }
      }
    }
  }

  /// The same value as a literal, for a predicate that is resolved for a fetch.
  static func literal(
    _ request: StoreQuery.Expression, _ context: StoreQuery.Expression, countOnly: Bool
  ) throws(ResolutionError) -> StoreQuery.Expression {
    do {
      let parts = [request, context].map { ObjectExpression().value($0, nil).value }
      return Substitution.literal(PredicateArgument.make(try value(parts[0], parts[1], countOnly: countOnly)))
    } catch { throw ResolutionError(message: "The fetch within the predicate failed: \(error)", isUnsupported: false) }
  }
}

/// A fetch request, whatever the type of its results.
protocol NestedFetching {
  func results(in context: NSManagedObjectContext) throws -> [Any]
  func count(in context: NSManagedObjectContext) throws -> Int
}

extension NSFetchRequest: NestedFetching {
  func results(in context: NSManagedObjectContext) throws -> [Any] { try context.results(erased) }
  func count(in context: NSManagedObjectContext) throws -> Int { try context.count(erased) }
}
