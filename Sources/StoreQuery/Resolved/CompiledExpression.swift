import StoreSchema

/// Compiles expressions and collections to closures.
extension PredicateCompiler {
  typealias Operand = @Sendable (Frame) throws(Source.Failure) -> Value
  typealias Values = @Sendable (Frame) throws(Source.Failure) -> [Value]
  typealias Items = @Sendable (Frame) throws(Source.Failure) -> [EvaluationItem<Source>]

  func operand(_ expression: ResolvedExpression) -> Operand {
    switch expression {
    case .constant(let value): return { _ in value }
    case .path(let path): return operand(path)
    case .function(let function, let operands):
      let operands = operands.map { operand($0) }
      return { (frame) throws(Source.Failure) in
        var values: [Value] = []
        for operand in operands { values.append(try operand(frame)) }
        return function.evaluate(values)
      }
    case .conditional(let condition, let yes, let no):
      let (condition, yes, no) = (test(condition), operand(yes), operand(no))
      return { (frame) throws(Source.Failure) in try condition(frame) ? try yes(frame) : try no(frame) }
    case .aggregate(.size, let collection):
      let items = items(collection)
      return { (frame) throws(Source.Failure) in .int(Int64(try items(frame).count)) }
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
    case .dynamic, .collection:
      let operand = dynamic(expression)
      return { (frame) throws(Source.Failure) in frame.source.value(of: try operand(frame)) }
    }
  }

  private func operand(_ path: SlotPath) -> Operand {
    { (frame) throws(Source.Failure) in
      if path.variable == 0 { return try frame.source.value(at: path, of: frame.object) }
      switch frame.elements[path.variable - 1] {
      case .object(let object): return try frame.source.value(at: path, of: object)
      case .value(let value): return value
      case .operand(let operand): return frame.source.value(of: operand)
      }
    }
  }

  /// The values of a collection; objects as references.
  func values(_ collection: ResolvedCollection) -> Values {
    if case .constants(let values) = collection { return { _ in values } }
    let items = items(collection)
    let object = SlotPath(leaf: .object)
    return { (frame) throws(Source.Failure) in
      var values: [Value] = []
      for item in try items(frame) {
        switch item {
        case .value(let value): values.append(value)
        case .object(let element): values.append(try frame.source.value(at: object, of: element))
        case .operand(let operand): values.append(frame.source.value(of: operand))
        }
      }
      return values
    }
  }

  func items(_ collection: ResolvedCollection) -> Items {
    switch collection {
    case .constants(let values): return { _ in values.map { .value($0) } }
    case .list(let elements):
      let elements = elements.map { operand($0) }
      return { (frame) throws(Source.Failure) in
        var items: [EvaluationItem<Source>] = []
        for element in elements { items.append(.value(try element(frame))) }
        return items
      }
    case .members(let variable, let hops):
      return { (frame) throws(Source.Failure) in
        if variable == 0 { return try frame.source.objects(over: hops, from: frame.object).map { .object($0) } }
        guard case .object(let object) = frame.elements[variable - 1] else { return [] }
        return try frame.source.objects(over: hops, from: object).map { .object($0) }
      }
    case .following(let base, let hops): return following(items(base), hops)
    case .values(let base, let path): return elements(items(base), path)
    case .filtered(let base, let variable, let condition):
      let (items, condition) = (items(base), test(condition))
      let isDynamic = if case .elements = base { true } else { false }
      return { (frame) throws(Source.Failure) in
        var kept: [EvaluationItem<Source>] = []
        for item in try items(frame) {
          var inner = frame.with(item, as: variable)
          if isDynamic { inner.source = inner.source.inner() }
          if try condition(inner) { kept.append(item) }
        }
        return kept
      }
    case .elements(of: let operand, let single):
      let operand = dynamic(operand)
      return { (frame) throws(Source.Failure) in
        frame.source.elements(of: try operand(frame), single: single).map { .operand($0) }
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
    { (frame) throws(Source.Failure) in
      var result: [EvaluationItem<Source>] = []
      for case .object(let object) in try items(frame) {
        for next in try frame.source.objects(over: hops, from: object) { result.append(.object(next)) }
      }
      return result
    }
  }

  private func elements(_ items: @escaping Items, _ path: SlotPath) -> Items {
    { (frame) throws(Source.Failure) in
      var result: [EvaluationItem<Source>] = []
      for case .object(let object) in try items(frame) {
        result.append(.value(try frame.source.value(at: path, of: object)))
      }
      return result
    }
  }
}
