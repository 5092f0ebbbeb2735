extension Predicate {
  /// Reads a predicate in the language of Apple's "Predicate Format String Syntax".
  ///
  /// Each substitution takes the next argument; a number of arguments other than the format uses is an error. Names are
  /// not checked: keys and functions may be any. A format nested deeper than 200 levels is refused.
  public init(format: String, arguments: [FormatArgument] = []) throws(FormatError) {
    var parser = try FormatParser(format, arguments)
    let node = try parser.parseAll()
    self = try parser.predicate(node)
  }
}

extension Expression {
  /// Reads an expression as it may stand on either side of a comparison; see `Predicate.init(format:arguments:)`.
  public init(format: String, arguments: [FormatArgument] = []) throws(FormatError) {
    var parser = try FormatParser(format, arguments)
    let node = try parser.parseAll()
    self = try parser.expression(node)
  }
}
