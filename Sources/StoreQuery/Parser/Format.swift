extension Predicate {
  /// Parses a predicate in the language of Apple's "Predicate Format String Syntax".
  ///
  /// Each substitution takes the next argument; a number of arguments that differs from the format is an error. Names
  /// are not checked: any key or function is accepted. A format nested deeper than 200 levels is rejected.
  public init(format: String, arguments: [FormatArgument] = []) throws(FormatError) {
    var parser = try FormatParser(format, arguments)
    let node = try parser.parseAll()
    self = try parser.predicate(node)
  }
}

extension Expression {
  /// Parses an expression, as on either side of a comparison; see `Predicate.init(format:arguments:)`.
  public init(format: String, arguments: [FormatArgument] = []) throws(FormatError) {
    var parser = try FormatParser(format, arguments)
    let node = try parser.parseAll()
    self = try parser.expression(node)
  }
}
