import Foundation
import StoreSchema

/// A name or construct of a predicate that is not valid for its entity.
public struct ResolutionError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What is wrong, as a sentence.
  public let message: String
  /// Whether the predicate is valid in the language, but not for fetches.
  public let isUnsupported: Bool

  /// An error with a sentence that says what is wrong.
  public init(message: String, isUnsupported: Bool) {
    self.message = message
    self.isUnsupported = isUnsupported
  }

  public var description: String { message }

  static func unsupported(_ message: String) -> ResolutionError { .init(message: message, isUnsupported: true) }
  static func invalid(_ message: String) -> ResolutionError { .init(message: message, isUnsupported: false) }
}

/// Resolves the names of predicates to slots of one entity.
public struct PredicateResolver {
  let schema: Schema
  let entity: Entity
  let reference: (ObjectConstant) -> ObjectReference
  /// Returns the literal for the result of a fetch within the predicate.
  let nested: NestedFetch
  /// The value of `now()`.
  let now: Double
  /// The variables of the enclosing subqueries.
  var variables: [String: Variable] = [:]
  /// The columns of the table whose groups are tested, by their names.
  var columns: [String: Int] = [:]
  /// The number of enclosing collections whose elements have a variable number.
  var depth = 0

  struct Variable {
    let number: Int
    /// Nil for a value.
    let entity: Entity?
  }

  /// Runs a fetch within a predicate: `request`, `context`, and whether only the number of results is needed.
  public typealias NestedFetch = (Expression, Expression, Bool) throws(ResolutionError) -> Expression

  /// `reference` returns the reference for an object that had no permanent key; one with the key zero matches nothing.
  /// `now` is in seconds since 2001-01-01T00:00:00Z, the same for a whole predicate.
  public init(
    _ schema: Schema, _ entity: Entity, now: Double = Date().timeIntervalSinceReferenceDate,
    nested: @escaping NestedFetch = { (request, _, _) throws(ResolutionError) in
      throw ResolutionError(message: "FETCH(\(request.format), …) has no place here.", isUnsupported: true)
    },
    reference: @escaping (ObjectConstant) -> ObjectReference = { _ in ObjectReference(entity: 0, key: 0) }
  ) {
    self.schema = schema
    self.entity = entity
    self.now = now
    self.reference = reference
    self.nested = nested
  }

  /// Resolves a predicate. Variables that it assigns are replaced by their values (see decision 064).
  public func resolve(_ predicate: Predicate) throws(ResolutionError) -> ResolvedPredicate {
    try resolved(try AssignmentReplacement.replace(predicate))
  }

  /// Resolves a part of a predicate after assignments were replaced.
  func resolved(_ predicate: Predicate) throws(ResolutionError) -> ResolvedPredicate {
    switch predicate {
    case .value(let value): return .constant(value)
    case .and(let parts): return .and(try resolved(parts))
    case .or(let parts): return .or(try resolved(parts))
    case .not(let inner): return .not(try resolved(inner))
    case .comparison(let comparison): return try resolve(comparison)
    case .variable(let name): throw unbound(name)
    }
  }

  private func resolved(_ parts: [Predicate]) throws(ResolutionError) -> [ResolvedPredicate] {
    var result: [ResolvedPredicate] = []
    for part in parts { result.append(try resolved(part)) }
    return result
  }

  func unbound(_ name: String) -> ResolutionError {
    .invalid("The variable $\(name) has no value; use withSubstitutionVariables(_:) first.")
  }

  /// Resolves a key path over to-one relationships to a value or a to-one relationship.
  public func path(_ text: String) throws(ResolutionError) -> SlotPath {
    guard case .one(.path(let path)) = try walk(text, from: 0, entity) else {
      throw .unsupported("The key path \(text) does not lead to one value of an object.")
    }
    return path
  }
}

/// The result of resolving an expression.
enum ResolvedOperand {
  case one(ResolvedExpression)
  case many(ResolvedMany)
  /// The name of the entity of the object at a path.
  case entityName(SlotPath)
}

/// A collection, and the kind of its elements.
struct ResolvedMany {
  var collection: ResolvedCollection
  /// The entity of elements that are objects; nil for values.
  var entity: Entity?
}
