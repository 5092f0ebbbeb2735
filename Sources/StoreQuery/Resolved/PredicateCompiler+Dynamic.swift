import StoreSchema

/// The dynamic parts of a program, as closures that return operands of the source.
extension PredicateCompiler {
  typealias DynamicOperand = @Sendable (Frame) throws(Source.Failure) -> Source.Operand

  func dynamic(_ expression: ResolvedExpression) -> DynamicOperand {
    switch expression {
    case .dynamic(let form, let operands):
      let operands = operands.map { dynamic($0) }
      return { (frame) throws(Source.Failure) in
        var values: [Source.Operand] = []
        for operand in operands { values.append(try operand(frame)) }
        return frame.source.evaluate(form, values, of: frame.object)
      }
    case .collection(.constants(let values)): return { (frame) in frame.source.operand(values) }
    case .collection(let collection):
      let items = items(collection)
      return { (frame) throws(Source.Failure) in
        let operands = try items(frame).map { Self.operand($0, frame.source) }
        return frame.source.evaluate(.list, operands, of: frame.object)
      }
    case .conditional(let condition, let yes, let no):
      let (condition, yes, no) = (test(condition), dynamic(yes), dynamic(no))
      return { (frame) throws(Source.Failure) in try condition(frame) ? try yes(frame) : try no(frame) }
    case .path(let path) where path.variable == 0: return { (frame) in frame.source.operand(of: frame.object) }
    case .path(let path): return { (frame) in Self.operand(frame.elements[path.variable - 1], frame.source) }
    case .constant, .function, .aggregate, .element, .end:
      let value = operand(expression)
      return { (frame) throws(Source.Failure) in frame.source.operand(try value(frame)) }
    }
  }

  private static func operand(_ item: EvaluationItem<Source>, _ source: Source) -> Source.Operand {
    switch item {
    case .object(let object): source.operand(of: object)
    case .value(let value): source.operand(value)
    case .operand(let operand): operand
    }
  }
}
