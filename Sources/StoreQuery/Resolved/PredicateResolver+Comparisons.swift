import StoreSchema

/// Comparisons.
extension PredicateResolver {
  /// On the left of ANY, lists of up to this number of constants are expanded.
  private static let writtenOut = 100

  func resolve(_ comparison: Predicate.Comparison) throws(ResolutionError) -> ResolvedPredicate {
    let left = try operand(comparison.left)
    switch comparison.modifier {
    case .direct: return try direct(left, try operand(comparison.right), comparison)
    case .any: return try any(left, comparison, negated: false)
    case .all: return .not(try any(left, comparison, negated: true))
    }
  }

  /// Whether the comparison holds for some element on the left; with `negated`, whether it does not hold for some
  /// element.
  private func any(
    _ left: ResolvedOperand, _ comparison: Predicate.Comparison, negated: Bool
  ) throws(ResolutionError) -> ResolvedPredicate {
    func test(_ element: ResolvedOperand, _ resolver: PredicateResolver) throws(ResolutionError) -> ResolvedPredicate {
      let test = try resolver.direct(element, try resolver.operand(comparison.right), comparison)
      return negated ? .not(test) : test
    }
    guard case .many(let many) = left else { return try test(left, self) }
    switch many.collection {
    case .constants(let values) where values.count <= Self.writtenOut:
      return .or(try values.map { (value) throws(ResolutionError) in try test(.one(.constant(value)), self) })
    case .list(let elements):
      return .or(try elements.map { (element) throws(ResolutionError) in try test(.one(element), self) })
    case .values(let base, let path):
      var (inner, path) = (self, path)
      inner.depth += 1
      path.variable = inner.depth
      return .exists(base, variable: inner.depth, try test(.one(.path(path)), inner))
    default:
      var inner = self
      inner.depth += 1
      let element = SlotPath(variable: inner.depth, leaf: .object)
      return .exists(many.collection, variable: inner.depth, try test(.one(.path(element)), inner))
    }
  }

  private func direct(
    _ left: ResolvedOperand, _ right: ResolvedOperand, _ comparison: Predicate.Comparison
  ) throws(ResolutionError) -> ResolvedPredicate {
    if comparison.op == .customSelector {
      throw .unsupported("The comparison \(Predicate.comparison(comparison).format) calls a selector.")
    }
    switch (left.named(as: right), right.named(as: left)) {
    case (.one(let a), .one(let b)): return try ones(a, b, comparison)
    case (.one(let a), .many(let b)): return try one(a, in: b, comparison)
    case (.many(let a), .one(let b)): return try many(a, b, comparison)
    case (.many(let a), .many(let b)): return try collections(a, b, comparison)
    case (.entityName(let path), _): return try names(path, right, comparison) { $0 }
    case (_, .entityName(let path)):
      return try names(path, left, comparison) { (name) in
        var comparison = name
        swap(&comparison.left, &comparison.right)
        return comparison
      }
    }
  }

  private func ones(
    _ a: ResolvedExpression, _ b: ResolvedExpression, _ comparison: Predicate.Comparison
  ) throws(ResolutionError) -> ResolvedPredicate {
    if comparison.op == .between { throw bounds(comparison) }
    if comparison.op == .matches, case .constant(.string(let pattern)) = b {
      do { _ = try RegularExpression(pattern, options: comparison.options) } catch {
        throw .invalid("The pattern of MATCHES is none: \(error.message)")
      }
    }
    if case .constant(.reference) = a { return identity(a, b, comparison) }
    if case .constant(.reference) = b { return identity(a, b, comparison) }
    // Constants need no look-up, so they are compared here.
    if case .constant(let a) = a, case .constant(let b) = b {
      return .constant(ComparisonKernel.evaluate(comparison.op, comparison.options, left: a, right: b))
    }
    return .comparison(a, comparison.op, b, comparison.options)
  }

  /// A comparison with a given object.
  private func identity(
    _ a: ResolvedExpression, _ b: ResolvedExpression, _ comparison: Predicate.Comparison
  ) -> ResolvedPredicate {
    switch comparison.op {
    case .equalTo: equal(a, b, comparison.options)
    case .notEqualTo: .not(equal(a, b, comparison.options))
    default: .comparison(a, comparison.op, b, comparison.options)
    }
  }

  private func one(
    _ value: ResolvedExpression, in many: ResolvedMany, _ comparison: Predicate.Comparison
  ) throws(ResolutionError) -> ResolvedPredicate {
    switch comparison.op {
    case .in: return member(value, many, comparison.options)
    case .between:
      switch many.collection {
      case .constants(let values) where values.count == 2:
        return between(value, .constant(values[0]), .constant(values[1]), comparison.options)
      case .list(let bounds) where bounds.count == 2: return between(value, bounds[0], bounds[1], comparison.options)
      default: throw bounds(comparison)
      }
    case .equalTo, .notEqualTo:
      guard case .constant(.null) = value else { throw needsModifier(comparison) }
      return isEmpty(many, comparison.op)
    default: throw needsModifier(comparison)
    }
  }

  private func many(
    _ many: ResolvedMany, _ value: ResolvedExpression, _ comparison: Predicate.Comparison
  ) throws(ResolutionError) -> ResolvedPredicate {
    switch (comparison.op, value) {
    case (.contains, _): return member(value, many, comparison.options)
    case (.equalTo, .constant(.null)), (.notEqualTo, .constant(.null)): return isEmpty(many, comparison.op)
    default: throw needsModifier(comparison)
    }
  }

  /// Collections of constants are compared as sets. Other collections are rejected.
  private func collections(
    _ a: ResolvedMany, _ b: ResolvedMany, _ comparison: Predicate.Comparison
  ) throws(ResolutionError) -> ResolvedPredicate {
    guard case .constants(let a) = a.collection, case .constants(let b) = b.collection,
      comparison.op == .equalTo || comparison.op == .notEqualTo
    else { throw needsModifier(comparison) }
    return .constant(SetKernel.areEqual(a, b) == (comparison.op == .equalTo))
  }

  /// `nil` equals an empty relationship.
  private func isEmpty(_ many: ResolvedMany, _ op: Predicate.Operator) -> ResolvedPredicate {
    let isFilled = ResolvedPredicate.exists(many.collection, variable: depth + 1, .constant(true))
    return op == .equalTo ? .not(isFilled) : isFilled
  }

  private func between(
    _ value: ResolvedExpression, _ low: ResolvedExpression, _ high: ResolvedExpression, _ options: Predicate.Options
  ) -> ResolvedPredicate {
    if case .constant(let value) = value, case .constant(let low) = low, case .constant(let high) = high {
      return .constant(ComparisonKernel.evaluate(.between, options, left: value, right: [low, high]))
    }
    return .between(value, low, high, options)
  }

  /// A comparison with the name of an object's entity becomes a test for the matching entities.
  private func names(
    _ path: SlotPath, _ other: ResolvedOperand, _ comparison: Predicate.Comparison,
    _ order: (Predicate.Comparison) -> Predicate.Comparison
  ) throws(ResolutionError) -> ResolvedPredicate {
    let constant: Expression
    switch other {
    case .one(.constant(let value)): constant = .constant(value)
    case .many(let many):
      guard case .constants(let values) = many.collection else { fallthrough }
      constant = .aggregate(values.map(Expression.constant))
    default: throw .unsupported("The name of an entity is compared with constants only.")
    }
    var fitting: [Value] = []
    for entity in schema.entities {
      var test = comparison
      (test.left, test.right, test.modifier) = (.constant(.string(entity.name)), constant, .direct)
      if try resolve(order(test)) == .constant(true) { fitting.append(.int(Int64(entity.index))) }
    }
    // After a relationship there may be no object, and so no name.
    if !path.hops.isEmpty {
      var test = comparison
      (test.left, test.right, test.modifier) = (.constant(.null), constant, .direct)
      if try resolve(order(test)) == .constant(true) { fitting.append(.null) }
    }
    return .member(.path(path), of: .constants(fitting), [])
  }

  private func bounds(_ comparison: Predicate.Comparison) -> ResolutionError {
    .invalid("\(Predicate.comparison(comparison).format) has not the two bounds that BETWEEN needs.")
  }

  private func needsModifier(_ comparison: Predicate.Comparison) -> ResolutionError {
    .unsupported(
      "\(Predicate.comparison(comparison).format) compares a collection; put ANY, ALL or NONE before it, or use IN, CONTAINS, @count or SUBQUERY."
    )
  }
}

extension ResolvedOperand {
  /// An entity that is compared with names, which is the form of constant entities, counts as its name.
  fileprivate func named(as other: ResolvedOperand) -> ResolvedOperand {
    guard case .one(.path(let path)) = self, case .entity = path.leaf else { return self }
    switch other {
    case .one(.constant(.string)): return .entityName(path)
    case .many(let many):
      guard case .constants(let values) = many.collection, !values.isEmpty,
        values.allSatisfy({ if case .string = $0 { true } else { false } })
      else { return self }
      return .entityName(path)
    default: return self
    }
  }
}
