import StoreSchema

/// Compiles expressions and collections to closures.
extension PredicateCompiler {
  typealias Operand = CompiledPredicate<Source>.Operand
  typealias Items = CompiledPredicate<Source>.Items

  func operand(_ expression: ResolvedExpression) -> Operand {
    switch expression {
    case .constant(let value): return { _ in value }
    case .path(let path): return operand(path)
    case .function(let function, let operands):
      let operands = operands.map(operand)
      return { (frame) throws(Source.Failure) in
        var values: [Value] = []
        for operand in operands { values.append(try operand(frame)) }
        return function.evaluate(values)
      }
    case .conditional(let condition, let yes, let no):
      let (condition, yes, no) = (test(condition), operand(yes), operand(no))
      return { (frame) throws(Source.Failure) in try condition(frame) ? try yes(frame) : try no(frame) }
    case .aggregate(let aggregate, let collection):
      let values = values(collection)
      return { (frame) throws(Source.Failure) in aggregate.evaluate(try values(frame)) }
    case .element(let collection, let index):
      let (values, index) = (values(collection), operand(index))
      return { (frame) throws(Source.Failure) in
        let values = try values(frame)
        guard case .int(let index) = try index(frame), values.indices.contains(Int(clamping: index)) else {
          return .null
        }
        return values[Int(index)]
      }
    case .end(let collection, let isLast):
      let values = values(collection)
      return { (frame) throws(Source.Failure) in
        let values = try values(frame)
        return (isLast ? values.last : values.first) ?? .null
      }
    }
  }

  private func operand(_ path: SlotPath) -> Operand {
    { [source] (frame) throws(Source.Failure) in
      if path.variable == 0 { return try source.value(at: path, of: frame.object) }
      switch frame.elements[path.variable - 1] {
      case .object(let object): return try source.value(at: path, of: object)
      case .value(let value): return value
      }
    }
  }

  /// The values of a collection; objects as references.
  func values(_ collection: ResolvedCollection) -> (Frame) throws(Source.Failure) -> [Value] {
    if case .constants(let values) = collection { return { _ in values } }
    let items = items(collection)
    let object = SlotPath(leaf: .object)
    return { [source] (frame) throws(Source.Failure) in
      var values: [Value] = []
      for item in try items(frame) {
        switch item {
        case .value(let value): values.append(value)
        case .object(let element): values.append(try source.value(at: object, of: element))
        }
      }
      return values
    }
  }

  func items(_ collection: ResolvedCollection) -> Items {
    switch collection {
    case .constants(let values): return { _ in values.map { .value($0) } }
    case .list(let elements):
      let elements = elements.map(operand)
      return { (frame) throws(Source.Failure) in
        var items: [EvaluationItem<Source.Object>] = []
        for element in elements { items.append(.value(try element(frame))) }
        return items
      }
    case .members(let variable, let hops):
      return { [source] (frame) throws(Source.Failure) in
        if variable == 0 { return try source.objects(over: hops, from: frame.object).map { .object($0) } }
        guard case .object(let object) = frame.elements[variable - 1] else { return [] }
        return try source.objects(over: hops, from: object).map { .object($0) }
      }
    case .following(let base, let hops): return following(items(base), hops)
    case .values(let base, let path): return elements(items(base), path)
    case .filtered(let base, let variable, let condition):
      let (items, condition) = (items(base), test(condition))
      return { (frame) throws(Source.Failure) in
        var kept: [EvaluationItem<Source.Object>] = []
        for item in try items(frame) where try condition(frame.with(item, as: variable)) { kept.append(item) }
        return kept
      }
    case .set(let operation, let left, let right):
      let (left, right) = (values(left), values(right))
      return { (frame) throws(Source.Failure) in
        SetKernel.evaluate(operation, try left(frame), try right(frame)).map { .value($0) }
      }
    case .distinct(let base):
      let values = values(base)
      return { (frame) throws(Source.Failure) in SetKernel.distinct(try values(frame)).map { .value($0) } }
    }
  }

  private func following(_ items: @escaping Items, _ hops: [Relationship]) -> Items {
    { [source] (frame) throws(Source.Failure) in
      var result: [EvaluationItem<Source.Object>] = []
      for case .object(let object) in try items(frame) {
        for next in try source.objects(over: hops, from: object) { result.append(.object(next)) }
      }
      return result
    }
  }

  private func elements(_ items: @escaping Items, _ path: SlotPath) -> Items {
    { [source] (frame) throws(Source.Failure) in
      var result: [EvaluationItem<Source.Object>] = []
      for case .object(let object) in try items(frame) { result.append(.value(try source.value(at: path, of: object))) }
      return result
    }
  }
}
