import StoreQuery
import StoreSchema
import Testing

@Suite struct FormatArgumentTests {
  @Test func `substitutions take the arguments in order`() throws {
    let predicate = try Predicate(
      format: "%K == %@ AND %K.@count > %ld AND $x.%K IN %@",
      arguments: [
        .keyPath("a.and"), .value(.string("x")), .value(.string("b")), .value(.int(3)), .keyPath("c.d"),
        .array([.value(.int(1)), .array([.value(.null)])]),
      ])
    let expected = Predicate.and([
      .comparison(.init(.keyPath("a.and"), .equalTo, .constant(.string("x")))),
      .comparison(.init(.keyPath("b.@count"), .greaterThan, .constant(.int(3)))),
      .comparison(
        .init(
          .keyPathOf(.variable("x"), "c.d"), .in,
          .aggregate([.constant(.int(1)), .aggregate([.constant(.null)])]))),
    ])
    #expect(predicate == expected)
  }

  @Test func `expressions and predicates are inserted as if in parentheses`() throws {
    let sum = try Expression(format: "a + b")
    #expect(
      try Expression(format: "%@ * 2", arguments: [.expression(sum)])
        == .function("multiply:by:", [sum, .constant(.int(2))], target: nil))
    let either = try Predicate(format: "a == 1 OR b == 2")
    let predicate = try Predicate(format: "%@ AND c == %d", arguments: [.predicate(either), .value(.int(3))])
    #expect(predicate.format == "(a == 1 OR b == 2) AND c == 3")
    #expect(try Predicate(format: "%@", arguments: [.predicate(either)]) == either)
    #expect(try Expression(format: "%K", arguments: [.keyPath("self")]) == .evaluatedObject)
  }

  @Test(arguments: ["d", "D", "i", "u", "U", "x", "X", "o", "O", "c", "C", "ld", "lld", "lu", "llu", "hd", "qd", "zd"])
  func `integer substitutions`(type: String) throws {
    #expect(try Expression(format: "%" + type, arguments: [.value(.int(7))]) == .constant(.int(7)))
    #expect(throws: FormatError.self) { try Expression(format: "%" + type, arguments: [.value(.string("7"))]) }
  }

  @Test(arguments: ["f", "F", "lf", "Lf", "e", "E", "g", "G", "a", "A", "la"])
  func `floating point substitutions`(type: String) throws {
    #expect(try Expression(format: "%" + type, arguments: [.value(.double(0.5))]) == .constant(.double(0.5)))
  }

  @Test(arguments: ["s", "S", "ls", "p", "@"])
  func `text and pointer substitutions`(type: String) throws {
    #expect(try Expression(format: "%" + type, arguments: [.value(.string("x"))]) == .constant(.string("x")))
  }

  @Test(
    arguments: [
      ("a == %@", [], "The format asks for more than the 0 arguments that were given."),
      ("a == 1", [.value(.int(1))], "The format uses 0 arguments, but 1 were given."),
      ("a == '%@'", [.value(.int(1))], "The format uses 0 arguments, but 1 were given."),
      ("%K == 1", [.value(.int(1))], "Argument 1 is not a key path or a string, as its substitution asks."),
      ("a == %d", [.array([])], "Argument 1 is not a number, as its substitution asks."),
      ("a IN %@", [.array([.predicate(.value(true))])], "Argument 1 is a predicate inside a collection."),
      ("a IN %@", [.predicate(.value(true))], "Expected an expression, not a predicate, at offset 5, but found '%@'."),
    ] as [(String, [FormatArgument], String)])
  func `arguments that do not fit`(format: String, arguments: [FormatArgument], message: String) {
    let error = #expect(throws: FormatError.self) { try Predicate(format: format, arguments: arguments) }
    #expect(error?.message == message)
  }
}

@Suite struct FormatErrorTests {
  @Test(
    arguments: [
      ("", 0, "a value, a key path or a predicate", "the end"),
      ("a ==", 4, "a value, a key path or a predicate", "the end"),
      ("a == 1 b", 7, "an operator or the end", "'b'"), ("(a == 1", 7, "an operator, ')'", "the end"),
      ("sum(a == 1", 10, "an operator, ',' or ')'", "the end"), ("{1, 2] == a", 5, "an operator, ',' or '}'", "']'"),
      ("a == 'x", 7, "a closing quotation mark", "the end"), ("é == “x”", 6, "a name, a value or an operator", "'“'"),
      ("a == AND", 5, "a value or a key path before 'AND'", "'AND'"),
      ("AND a == 1", 0, "a value or a key path before 'AND'", "'AND'"),
      ("a ==[x] 1", 5, "options out of c, d, n, l", "'x'"), ("a.", 2, "a key after '.'", "the end"),
      ("a", 0, "a predicate", "'a'"), ("a == 1 + (b == 2)", 9, "an expression, not a predicate,", "'('"),
      ("a == b == c", 0, "an expression, not a predicate,", "'a'"),
      ("a := 1", 0, "a variable on the left of ':='", "'a'"),
      ("ANY (a == 1 AND b == 2)", 0, "a modifier with one comparison after it", "'ANY'"),
      ("ANY ALL a == 1", 0, "a modifier with one comparison after it", "'ANY'"),
      (
        "SUBQUERY(a, b, c == 1).@count > 0", 0, "SUBQUERY with a collection, a variable such as '$x' and a predicate",
        "'SUBQUERY'"
      ),
      ("a == $", 6, "a name after '$'", "the end"), ("a == 1e999", 5, "a number in the range of a double", "'1e999'"),
      ("a == 0xFFFFFFFFFFFFFFFFF", 5, "a number of base 16 that fits 64 bits", "'0xFFFFFFFFFFFFFFFFF'"),
      ("a == 0b12", 5, "a number of base 2 that fits 64 bits", "'0b12'"),
      ("a == %y", 6, "a substitution type such as '@', 'K' or 'd' after '%'", "'y'"),
      (#"a == '\ud800'"#, 12, "a Unicode scalar value", "'''"), (")", 0, "a value, a key path or a predicate", "')'"),
      ("a:b == 1", 4, "'(' after the function name 'a:b'", "'=='"),
      ("f(1, 2, 3) == 1", 0, "another number of arguments", "'f'"),
      ("a UTI-CONFORMS-TO 'b'", 2, "an operator or the end", "'UTI'"),
      ("NOT", 3, "a value, a key path or a predicate", "the end"),
      ("a NOT IN b", 2, "an operator or the end", "'NOT'"), ("(a, b) == c", 2, "an operator, ')'", "','"),
    ] as [(String, Int, String, String)])
  func `errors say where, what was expected and what was found`(
    format: String, position: Int, expected: String, found: String
  ) {
    let error = #expect(throws: FormatError.self) { try Predicate(format: format) }
    #expect(error?.position == position)
    #expect(error?.expected == expected)
    #expect(error?.found == found)
    #expect(error?.message.hasSuffix(".") == true)
  }
}

@Suite struct PrinterTests {
  @Test(arguments: [
    ("name=='Bob' && age>5", "name == \"Bob\" AND age > 5"),
    ("any tags.name beginswith[dc] 'a'", "ANY tags.name BEGINSWITH[cd] \"a\""),
    ("not (a=1)", "NOT a == 1"), ("NONE a = 1", "NOT ANY a == 1"), ("!(a=1 or b=2)", "NOT (a == 1 OR b == 2)"),
    ("SUBQUERY(x,$y,$y.z=1).@count>0", "SUBQUERY(x, $y, $y.z == 1).@count > 0"),
    ("x between {1,2}", "x BETWEEN {1, 2}"),
    ("truepredicate", "TRUEPREDICATE"), ("a = CAST(123, 'NSDate')", "a == CAST(123.000000, \"NSDate\")"),
    ("#in.#first = 1 and a.select = 2", "#in.#first == 1 AND a.select == 2"), ("a=nil", "a == nil"),
    ("a=YES", "a == 1"),
    ("(a=1 or b=2) and c=3", "(a == 1 OR b == 2) AND c == 3"),
    ("a=1 or (b=2 and c=3)", "a == 1 OR (b == 2 AND c == 3)"),
    ("(a+1)*2 > b[LAST].c", "(a + 1) * 2 > b[LAST].c"), ("a-(b-c) > 0", "a - (b - c) > 0"),
    ("(2**3)**4 > -a", "(2 ** 3) ** 4 > -a"),
    ("a = 'it\\'s \"\\n\\u0001é'", "a == \"it's \\\"\\n\\u0001é\""), ("now() > sum(a)", "now() > sum(a)"),
    ("a %% 2 = 0", "modulus:by:(a, 2) == 0"),
    ("a = 1.0 OR a = -2.50", "a == 1.0 OR a == -2.5"), ("a <> 5", "a != 5"), ("self IN {}", "SELF IN {}"),
    ("(-2) ** 2 = 4", "(-2) ** 2 == 4"),
    ("FUNCTION(a,'b:',1) = 0", "FUNCTION(a, \"b:\" , 1) == 0"), ("TERNARY(a=1,2,3) = a", "TERNARY(a == 1, 2, 3) == a"),
    ("a.#'b c' = 1", "a.#\"b c\" == 1"),
  ])
  func `formats are written in Apple's style`(format: String, expected: String) throws {
    #expect(try Predicate(format: format).format == expected)
  }

  @Test func `compounds of fewer than two members print as what they mean`() {
    let a = GrammarTests.a1
    #expect(Predicate.and([]).format == "TRUEPREDICATE")
    #expect(Predicate.or([]).format == "FALSEPREDICATE")
    #expect(Predicate.not(.and([.or([a])])).format == "NOT a == 1")
    #expect(Predicate.and([.or([.and([.or([a, a])])]), a]).format == "(a == 1 OR a == 1) AND a == 1")
  }
}
