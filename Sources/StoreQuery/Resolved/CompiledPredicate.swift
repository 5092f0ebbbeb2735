import StoreSchema

/// A predicate that is prepared for many objects. It defines the meaning of predicates.
public struct CompiledPredicate<Source: EvaluationSource> {
  /// The current object, and the current elements of the variables.
  struct Frame {
    let object: Source.Object
    var elements: [EvaluationItem<Source.Object>] = []

    func with(_ element: EvaluationItem<Source.Object>, as variable: Int) -> Frame {
      var frame = self
      frame.elements.removeSubrange(min(variable - 1, elements.count)...)
      frame.elements.append(element)
      return frame
    }
  }

  typealias Test = (Frame) throws(Source.Failure) -> Bool
  typealias Operand = (Frame) throws(Source.Failure) -> Value
  typealias Items = (Frame) throws(Source.Failure) -> [EvaluationItem<Source.Object>]

  private let test: (Source.Object) throws(Source.Failure) -> Bool

  /// Prepares a predicate for the objects of a source.
  public init(_ predicate: ResolvedPredicate, _ source: Source) {
    let compiler = PredicateCompiler(source)
    if let fast = source.test(predicate) {
      test = { fast($0) }
    } else {
      let inner = compiler.test(predicate)
      test = { (object) throws(Source.Failure) in try inner(Frame(object: object)) }
    }
  }

  /// Whether the object matches the predicate.
  public func callAsFunction(_ object: Source.Object) throws(Source.Failure) -> Bool { try test(object) }
}

/// An expression that is prepared to be evaluated for many objects.
public struct CompiledExpression<Source: EvaluationSource> {
  private let value: (Source.Object) throws(Source.Failure) -> Value

  /// Prepares an expression for the objects of a source.
  public init(_ expression: ResolvedExpression, _ source: Source) {
    if case .path(let path) = expression {
      value = { (object) throws(Source.Failure) in try source.value(at: path, of: object) }
    } else {
      let operand = PredicateCompiler(source).operand(expression)
      value = { (object) throws(Source.Failure) in try operand(CompiledPredicate<Source>.Frame(object: object)) }
    }
  }

  /// The value of the expression for the object.
  public func callAsFunction(_ object: Source.Object) throws(Source.Failure) -> Value { try value(object) }
}

/// Compiles resolved predicates to closures.
struct PredicateCompiler<Source: EvaluationSource> {
  typealias Frame = CompiledPredicate<Source>.Frame
  typealias Test = CompiledPredicate<Source>.Test

  let source: Source

  init(_ source: Source) { self.source = source }

  func test(_ predicate: ResolvedPredicate) -> Test {
    if let fast = source.test(predicate) { return { fast($0.object) } }
    switch predicate {
    case .constant(let value): return { _ in value }
    case .not(let inner):
      let inner = test(inner)
      return { (frame) throws(Source.Failure) in try !inner(frame) }
    case .and(let parts): return all(parts.map(test), stopAt: false)
    case .or(let parts): return all(parts.map(test), stopAt: true)
    case .comparison(let left, let op, let right, let options):
      return comparison(operand(left), op, right, options)
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
    _ left: @escaping CompiledPredicate<Source>.Operand, _ op: Predicate.Operator, _ right: ResolvedExpression,
    _ options: Predicate.Options
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
    _ value: @escaping CompiledPredicate<Source>.Operand, _ collection: ResolvedCollection, _ options: Predicate.Options
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
