import StoreQuery
import StoreSchema
import Testing

@Suite struct GrammarTests {
  static func compare(_ op: Predicate.Operator, _ options: Predicate.Options = []) -> Predicate {
    .comparison(.init(.keyPath("a"), op, .constant(.int(1)), options: options))
  }

  static let a1 = compare(.equalTo)
  static let b1 = Predicate.comparison(.init(.keyPath("b"), .equalTo, .constant(.int(1))))
  static let c1 = Predicate.comparison(.init(.keyPath("c"), .equalTo, .constant(.int(1))))
  static let cd: Predicate.Options = [.caseInsensitive, .diacriticInsensitive]

  @Test(
    arguments: [
      ("=", .equalTo), ("==", .equalTo), ("!=", .notEqualTo), ("<>", .notEqualTo), ("<", .lessThan),
      ("<=", .lessThanOrEqualTo), ("=<", .lessThanOrEqualTo), (">", .greaterThan), (">=", .greaterThanOrEqualTo),
      ("=>", .greaterThanOrEqualTo), ("BETWEEN", .between), ("in", .in), ("BeginsWith", .beginsWith),
      ("ENDSWITH", .endsWith), ("contains", .contains), ("LIKE", .like), ("matches", .matches),
    ] as [(String, Predicate.Operator)])
  func `every spelling of every operator`(spelling: String, op: Predicate.Operator) throws {
    #expect(try Predicate(format: "a \(spelling) 1") == Self.compare(op))
    #expect(try Predicate(format: "(a)\(spelling)(1)") == Self.compare(op))
    #expect(try Predicate(format: "a \(spelling)[c] 1") == Self.compare(op, .caseInsensitive))
    #expect(try Predicate(format: "a \(spelling) [DC] 1") == Self.compare(op, Self.cd))
    let all: Predicate.Options = [.caseInsensitive, .diacriticInsensitive, .normalized, .localeSensitive]
    #expect(try Predicate(format: "a \(spelling)[lncd] 1") == Self.compare(op, all))
  }

  @Test(
    arguments: [
      ("a = 1 AND b = 1 && c = 1", .and([a1, b1, c1])), ("a = 1 or b = 1 || c = 1", .or([a1, b1, c1])),
      ("a = 1 OR b = 1 AND c = 1", .or([a1, .and([b1, c1])])),
      ("a = 1 AND b = 1 OR c = 1", .or([.and([a1, b1]), c1])),
      ("(a = 1 AND b = 1) AND c = 1", .and([.and([a1, b1]), c1])), ("NOT a = 1 AND b = 1", .and([.not(a1), b1])),
      ("NOT (a = 1 AND b = 1)", .not(.and([a1, b1]))), ("!a = 1", .not(a1)), ("not not a = 1", .not(.not(a1))),
      ("((((a = 1))))", a1), ("TRUEPREDICATE", .value(true)), ("falsepredicate", .value(false)), ("$p", .variable("p")),
      ("$p AND a = 1", .and([.variable("p"), a1])), ("NOT($p)", .not(.variable("p"))),
      ("ANY a = 1", .comparison(.init(.keyPath("a"), .equalTo, .constant(.int(1)), modifier: .any))),
      ("SOME a = 1", .comparison(.init(.keyPath("a"), .equalTo, .constant(.int(1)), modifier: .any))),
      ("ALL a = 1", .comparison(.init(.keyPath("a"), .equalTo, .constant(.int(1)), modifier: .all))),
      ("NONE a = 1", .not(.comparison(.init(.keyPath("a"), .equalTo, .constant(.int(1)), modifier: .any)))),
      (
        "ANY a = 1 AND b = 1",
        .and([.comparison(.init(.keyPath("a"), .equalTo, .constant(.int(1)), modifier: .any)), b1])
      ),
      (
        "a BETWEEN {1, b}",
        .comparison(.init(.keyPath("a"), .between, .aggregate([.constant(.int(1)), .keyPath("b")])))
      ),
    ] as [(String, Predicate)])
  func `predicates group as Apple's do`(format: String, expected: Predicate) throws {
    #expect(try Predicate(format: format) == expected)
  }

  private static func f(_ name: String, _ arguments: Expression...) -> Expression {
    .function(name, arguments, target: nil)
  }
  private static let (a, b, c) = (Expression.keyPath("a"), Expression.keyPath("b"), Expression.keyPath("c"))
  private static func n(_ value: Int64) -> Expression { .constant(.int(value)) }
  private static func s(_ value: String) -> Expression { .constant(.string(value)) }

  @Test(
    arguments: [
      ("a + b * c", f("add:to:", a, f("multiply:by:", b, c))),
      ("a - b - c", f("from:subtract:", f("from:subtract:", a, b), c)),
      ("a ** b ** c", f("raise:toPower:", a, f("raise:toPower:", b, c))), ("a / b", f("divide:by:", a, b)),
      ("-a ** 2", f("negate:", f("raise:toPower:", a, n(2)))),
      ("-2 ** 2", f("negate:", f("raise:toPower:", n(2), n(2)))),
      ("a -1", f("from:subtract:", a, n(1))), ("a - -1", f("from:subtract:", a, n(-1))), ("-a", f("negate:", a)),
      ("-(5)", f("negate:", n(5))), ("+a", a), ("(a + b) * c", f("multiply:by:", f("add:to:", a, b), c)),
      ("a & b | c ^ 1", f("bitwiseOr:with:", f("bitwiseAnd:with:", a, b), f("bitwiseXor:with:", c, n(1)))),
      ("~a << 1 >> 2", f("rightshift:by:", f("leftshift:by:", f("onesComplement:", a), n(1)), n(2))),
      ("a %% b", f("modulus:by:", a, b)), ("modulus:by:(a, b)", f("modulus:by:", a, b)),
      ("a[0]", f("objectFrom:withIndex:", a, n(0))),
      ("a[FIRST]", f("objectFrom:withIndex:", a, .firstIndex)), ("a[last]", f("objectFrom:withIndex:", a, .lastIndex)),
      ("a[SIZE].b", .keyPathOf(f("objectFrom:withIndex:", a, .sizeIndex), "b")),
      ("a[b + 1]", f("objectFrom:withIndex:", a, f("add:to:", b, n(1)))),
      ("sum(a)", f("sum:", a)), ("now()", f("now")), ("sum({1, 2})", f("sum:", .aggregate([n(1), n(2)]))),
      ("{}", .aggregate([])),
      ("bitwiseAnd(a, b)", f("bitwiseAnd:with:", a, b)), ("custom(a)", f("custom:", a)),
      ("FUNCTION(a, 'x:y:', 1, b)", .function("x:y:", [n(1), b], target: a)),
      ("function(self, 'class')", .function("class", [], target: .evaluatedObject)),
      ("a UNION b MINUS c", .set(.minus, .set(.union, a, b), c)),
      ("a intersect {1}", .set(.intersect, a, .aggregate([n(1)]))),
      ("$x := a + 1", .assignment("x", f("add:to:", a, n(1)))), ("TERNARY(a == 1, 2, b)", .conditional(a1, n(2), b)),
      (
        "SUBQUERY(a, $x, $x == 1).@count",
        .keyPathOf(.subquery(a, variable: "x", .comparison(.init(.variable("x"), .equalTo, n(1)))), "@count")
      ),
      ("CAST(a, 'NSDate')", .cast(a, "NSDate")), ("CAST(1.5, \"NSDate\")", .constant(.date(1.5))),
      ("castObject:toType:(a, 'NSString')", .cast(a, "NSString")),
      ("FETCH(a, b, NO)", .fetch(a, context: b, countOnly: false)), ("ANYKEY", .anyKey),
      ("SELF", .evaluatedObject), ("self.a.b", .keyPath("a.b")), ("a.b.@avg.c", .keyPath("a.b.@avg.c")),
      ("@sum.a", .keyPath("@sum.a")),
      ("$x.a.b", .keyPathOf(.variable("x"), "a.b")), ("'abc'.length", .keyPathOf(s("abc"), "length")),
      ("#and.in.#or", .keyPath("and.in.or")),
      ("größe.名前", .keyPath("größe.名前")), ("a\u{A0}+\tb", f("add:to:", a, b)), ("first", .keyPath("first")),
      ("#'a b'.c", .keyPath("a b.c")),
    ] as [(String, Expression)])
  func `expressions`(format: String, expected: Expression) throws {
    #expect(try Expression(format: format) == expected)
    #expect(try Expression(format: expected.format) == expected)
  }
}
