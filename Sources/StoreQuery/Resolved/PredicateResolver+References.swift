import StoreSchema

/// Objects as given values.
///
/// A key identifies one object in its whole entity hierarchy, whatever entity a reference contains: the entity in a URI
/// may be an ancestor of the object's own. Values of objects contain their own entity. So a given reference is resolved
/// to all references that may mean the same object.
extension PredicateResolver {
  /// The references that mean the same object as a given one. Only the value itself where it is not a reference, or
  /// where the hierarchy has only one entity.
  func meanings(_ value: Value) -> [Value] {
    guard case .reference(let reference) = value, reference.key > 0, schema.entities.indices.contains(reference.entity)
    else { return [value] }
    let hierarchy = schema.entities[schema.entities[reference.entity].root].subtree
    return hierarchy.map { .reference(ObjectReference(entity: $0, key: reference.key)) }
  }

  /// Whether two single values are equal.
  func equal(
    _ a: ResolvedExpression, _ b: ResolvedExpression, _ options: Predicate.Options
  ) -> ResolvedPredicate {
    switch (a, b) {
    case (.constant(let a), .constant(let b)):
      return .constant(ComparisonKernel.evaluate(.in, options, left: a, right: meanings(b)))
    case (let other, .constant(let value)), (.constant(let value), let other):
      let meanings = meanings(value)
      return meanings.count == 1
        ? .comparison(a, .equalTo, b, options) : .member(other, of: .constants(meanings), options)
    default: return .comparison(a, .equalTo, b, options)
    }
  }

  /// Whether a value equals some element of a collection.
  func member(
    _ value: ResolvedExpression, _ many: ResolvedMany, _ options: Predicate.Options
  ) -> ResolvedPredicate {
    switch (value, many.collection) {
    case (.constant(let value), .constants(let values)):
      return .constant(ComparisonKernel.evaluate(.in, options, left: value, right: values.flatMap(meanings)))
    case (_, .constants(let values)): return .member(value, of: .constants(values.flatMap(meanings)), options)
    case (_, .list(let elements)): return .or(elements.map { equal(value, $0, options) })
    case (_, .set(.union, let a, let b)):
      return .or([member(value, .init(collection: a), options), member(value, .init(collection: b), options)])
    case (.constant(let constant), _):
      let meanings = meanings(constant)
      if meanings.count == 1 { break }
      if many.entity == nil {
        return .or(meanings.map { .member(.constant($0), of: many.collection, options) })
      }
      let element = ResolvedExpression.path(SlotPath(variable: depth + 1, leaf: .object))
      return .exists(
        many.collection.asObjects, variable: depth + 1, .member(element, of: .constants(meanings), options))
    default: break
    }
    return .member(value, of: many.collection, options)
  }
}
