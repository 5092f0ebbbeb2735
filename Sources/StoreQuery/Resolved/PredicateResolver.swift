import StoreSchema

/// A name or construct of a predicate that does not fit the entity it is meant for.
public struct ResolutionError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What is wrong, as a sentence.
  public let message: String
  /// Whether the predicate is valid but not yet understood here.
  public let isUnsupported: Bool

  public var description: String { message }
}

/// Resolves the names of predicates to slots of one entity.
public struct PredicateResolver {
  private let schema: Schema
  private let entity: Entity
  private let reference: (UnsavedObject) -> ObjectReference

  /// `reference` gives what stands for an object that had no permanent key: one with the key zero matches nothing.
  public init(
    _ schema: Schema, _ entity: Entity,
    reference: @escaping (UnsavedObject) -> ObjectReference = { _ in ObjectReference(entity: 0, key: 0) }
  ) {
    self.schema = schema
    self.entity = entity
    self.reference = reference
  }

  public func resolve(_ predicate: Predicate) throws(ResolutionError) -> ResolvedPredicate {
    switch predicate {
    case .value(let value): return .constant(value)
    case .and(let parts): return .and(try resolve(parts))
    case .or(let parts): return .or(try resolve(parts))
    case .not(let inner): return .not(try resolve(inner))
    case .comparison(let comparison): return try resolve(comparison)
    case .variable(let name): throw unbound(name)
    }
  }

  private func resolve(_ parts: [Predicate]) throws(ResolutionError) -> [ResolvedPredicate] {
    var result: [ResolvedPredicate] = []
    for part in parts { result.append(try resolve(part)) }
    return result
  }

  private func resolve(_ comparison: Predicate.Comparison) throws(ResolutionError) -> ResolvedPredicate {
    guard comparison.modifier == .direct else {
      throw ResolutionError(message: "ANY, ALL and NONE are not supported in fetches yet.", isUnsupported: true)
    }
    let left = try resolve(comparison.left)
    let right = try resolve(comparison.right)
    // `constant IN {…}` and the like have nothing to look up: they are decided here.
    if case .constant(let a) = left {
      switch right {
      case .constant(let b):
        return .constant(ComparisonKernel.evaluate(comparison.op, comparison.options, left: a, right: b))
      case .list(let b):
        return .constant(ComparisonKernel.evaluate(comparison.op, comparison.options, left: a, right: b))
      case .path: break
      }
    }
    return .comparison(left, comparison.op, right, comparison.options)
  }

  private func resolve(_ expression: Expression) throws(ResolutionError) -> ResolvedExpression {
    switch expression {
    case .constant(let value): return .constant(value)
    case .object(let object): return .constant(.reference(reference(object)))
    case .evaluatedObject: return .path(SlotPath(leaf: .object))
    case .keyPath(let text): return .path(try path(text))
    case .aggregate(let elements): return .list(try list(elements))
    case .variable(let name): throw unbound(name)
    case .keyPathOf(.evaluatedObject, let text): return .path(try path(text))
    case .keyPathOf, .function, .set, .subquery, .conditional, .assignment, .anyKey, .fetch, .cast:
      throw ResolutionError(
        message: "The expression \(expression.format) is not supported in fetches yet.", isUnsupported: true)
    }
  }

  private func list(_ elements: [Expression]) throws(ResolutionError) -> [Value] {
    var result: [Value] = []
    for element in elements {
      switch element {
      case .constant(let value): result.append(value)
      case .object(let object): result.append(.reference(reference(object)))
      default:
        throw ResolutionError(
          message: "A list may hold constants only; \(element.format) is none.", isUnsupported: true)
      }
    }
    return result
  }

  private func unbound(_ name: String) -> ResolutionError {
    ResolutionError(
      message: "The variable $\(name) has no value; use withSubstitutionVariables(_:) first.", isUnsupported: false)
  }

  /// Resolves a key path over to-one relationships to a value or a to-one relationship.
  public func path(_ text: String) throws(ResolutionError) -> SlotPath {
    var current = entity
    var hops: [Relationship] = []
    let keys = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    var index = 0
    while index < keys.count {
      let key = keys[index]
      let isLast = index == keys.count - 1
      switch current.property(named: key) {
      case .attribute(let place):
        let attribute = current.attributes[place]
        return SlotPath(hops: hops, leaf: try leaf(attribute, keys[(index + 1)...], of: current, text))
      case .relationship(let place):
        let relationship = current.relationships[place]
        if relationship.isToMany {
          throw ResolutionError(
            message:
              "The key path \(text) goes over the to-many relationship \(current.name).\(key), which fetches do not support yet.",
            isUnsupported: true)
        }
        if isLast { return SlotPath(hops: hops, leaf: .toOne(relationship)) }
        hops.append(relationship)
        current = schema.entities[relationship.destination]
      case nil:
        if isLast, ["self", "SELF", "objectID"].contains(key) { return SlotPath(hops: hops, leaf: .object) }
        throw ResolutionError(
          message: "The key path \(text) was not found: the entity \(current.name) has no stored property \(key).",
          isUnsupported: false)
      }
      index += 1
    }
    throw ResolutionError(message: "The key path is empty.", isUnsupported: false)
  }

  private func leaf(
    _ attribute: Attribute, _ rest: ArraySlice<String>, of entity: Entity, _ text: String
  ) throws(ResolutionError) -> SlotPath.Leaf {
    if attribute.elements.isEmpty && rest.isEmpty {
      return .attribute(
        slot: attribute.slot, kind: entity.slots[attribute.slot], declaringEntity: attribute.declaringEntity)
    }
    let name = rest.joined(separator: ".")
    if let element = attribute.elements.first(where: { $0.name == name }) {
      return .attribute(slot: element.slot, kind: entity.slots[element.slot], declaringEntity: element.declaringEntity)
    }
    throw ResolutionError(
      message: "The key path \(text) was not found: \(attribute.name) has no element \(name).", isUnsupported: false)
  }
}
