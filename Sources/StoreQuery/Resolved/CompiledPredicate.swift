import StoreSchema

/// A predicate that is prepared for many objects of one kind of source. It defines the meaning of predicates.
public struct CompiledPredicate<Source: EvaluationSource>: Sendable {
  private let test: @Sendable (Source.Object, Source) throws(Source.Failure) -> Bool

  /// Prepares a predicate.
  public init(_ predicate: ResolvedPredicate) {
    if let fast = Source.test(predicate) {
      test = { (object, _) in fast(object) }
    } else {
      let inner = PredicateCompiler<Source>().test(predicate)
      test = { (object, source) throws(Source.Failure) in try inner(Frame(source: source, object: object)) }
    }
  }

  /// Whether an object of the source matches the predicate.
  public func callAsFunction(_ object: Source.Object, in source: Source) throws(Source.Failure) -> Bool {
    try test(object, source)
  }
}

/// An expression that is prepared to be evaluated for many objects of one kind of source.
public struct CompiledExpression<Source: EvaluationSource>: Sendable {
  private let value: @Sendable (Source.Object, Source) throws(Source.Failure) -> Value

  /// Prepares an expression.
  public init(_ expression: ResolvedExpression) {
    if case .path(let path) = expression {
      value = { (object, source) throws(Source.Failure) in try source.value(at: path, of: object) }
    } else {
      let operand = PredicateCompiler<Source>().operand(expression)
      value = { (object, source) throws(Source.Failure) in try operand(Frame(source: source, object: object)) }
    }
  }

  /// The value of the expression for an object of the source.
  public func callAsFunction(_ object: Source.Object, in source: Source) throws(Source.Failure) -> Value {
    try value(object, source)
  }
}

/// An expression that is prepared to be evaluated for many objects without a schema.
public struct DynamicExpression<Source: EvaluationSource>: Sendable {
  private let operand: PredicateCompiler<Source>.DynamicOperand

  /// Prepares an expression.
  public init(_ expression: ResolvedExpression) { operand = PredicateCompiler<Source>().dynamic(expression) }

  /// The result of the expression for an object of the source.
  public func callAsFunction(_ object: Source.Object, in source: Source) throws(Source.Failure) -> Source.Operand {
    try operand(Frame(source: source, object: object))
  }
}

/// The current object, and the current elements of the variables.
struct Frame<Source: EvaluationSource> {
  var source: Source
  let object: Source.Object
  var elements: [EvaluationItem<Source>] = []

  func with(_ element: EvaluationItem<Source>, as variable: Int) -> Frame {
    var frame = self
    frame.elements.removeSubrange(min(variable - 1, elements.count)...)
    frame.elements.append(element)
    return frame
  }
}

/// Compiles resolved predicates to closures.
struct PredicateCompiler<Source: EvaluationSource>: Sendable {
  typealias Frame = StoreQuery.Frame<Source>
  typealias Test = @Sendable (Frame) throws(Source.Failure) -> Bool

  func test(_ predicate: ResolvedPredicate) -> Test {
    if let fast = Source.test(predicate) { return { fast($0.object) } }
    switch predicate {
    case .constant(let value): return { _ in value }
    case .not(let inner):
      let inner = test(inner)
      return { (frame) throws(Source.Failure) in try !inner(frame) }
    case .and(let parts): return all(parts.map { test($0) }, stopAt: false)
    case .or(let parts): return all(parts.map { test($0) }, stopAt: true)
    case .comparison(let left, let op, let right, let options):
      return comparison(operand(left), op, right, options)
    case .dynamic(let comparison, let left, let right):
      let (left, right) = (dynamic(left), dynamic(right))
      return { (frame) throws(Source.Failure) in
        frame.source.holds(comparison, try left(frame), try right(frame))
      }
    case .between(let value, let low, let high, let options):
      let (value, low, high) = (operand(value), operand(low), operand(high))
      return { (frame) throws(Source.Failure) in
        let bounds = [try low(frame), try high(frame)]
        return ComparisonKernel.evaluate(.between, options, left: try value(frame), right: bounds)
      }
    case .member(let value, of: let collection, let options): return member(operand(value), collection, options)
    case .exists(let collection, let variable, let inner):
      let (items, inner) = (items(collection), test(inner))
      return { (frame) throws(Source.Failure) in
        for item in try items(frame) where try inner(frame.with(item, as: variable)) { return true }
        return false
      }
    }
  }

  private func all(_ tests: [Test], stopAt end: Bool) -> Test {
    { (frame) throws(Source.Failure) in
      for test in tests where try test(frame) == end { return end }
      return !end
    }
  }

  private func comparison(
    _ left: @escaping Operand, _ op: Predicate.Operator, _ right: ResolvedExpression, _ options: Predicate.Options
  ) -> Test {
    if case .constant(.string(let pattern)) = right,
      let matcher = try? TextMatcher(op, options, pattern: pattern), op != .equalTo
    {
      return { (frame) throws(Source.Failure) in try left(frame).text.map(matcher.matches) ?? false }
    }
    let right = operand(right)
    return { (frame) throws(Source.Failure) in
      ComparisonKernel.evaluate(op, options, left: try left(frame), right: try right(frame))
    }
  }

  private func member(
    _ value: @escaping Operand, _ collection: ResolvedCollection, _ options: Predicate.Options
  ) -> Test {
    if case .constants(let constants) = collection, options.isEmpty {
      let known = Set(constants.map(EqualValue.init))
      return { (frame) throws(Source.Failure) in known.contains(EqualValue(value: try value(frame))) }
    }
    let values = values(collection)
    return { (frame) throws(Source.Failure) in
      ComparisonKernel.evaluate(.in, options, left: try value(frame), right: try values(frame))
    }
  }
}
