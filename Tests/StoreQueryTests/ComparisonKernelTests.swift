import StoreQuery
import StoreSchema
import Testing

@Suite struct ComparisonKernelTests {
  typealias Op = StoreQuery.Predicate.Operator

  @Test(
    arguments: [
      (.null, .lessThan, .int(5), false), (.int(5), .lessThan, .null, false), (.null, .greaterThan, .int(5), false),
      (.null, .lessThanOrEqualTo, .null, false), (.null, .greaterThanOrEqualTo, .null, false),
      (.null, .equalTo, .null, true), (.null, .equalTo, .int(0), false), (.null, .notEqualTo, .int(0), true),
      (.int(0), .notEqualTo, .null, true), (.null, .notEqualTo, .null, false), (.null, .contains, .string("a"), false),
      (.string("a"), .beginsWith, .null, false), (.null, .like, .string("*"), false),
      (.null, .matches, .string(".*"), false),
      (.null, .in, .string("a"), false),
    ] as [(Value, Op, Value, Bool)])
  func `null equals null and is ordered with nothing`(left: Value, op: Op, right: Value, expected: Bool) {
    #expect(ComparisonKernel.evaluate(op, left: left, right: right) == expected)
  }

  @Test(
    arguments: [
      (.int(1), .lessThan, .double(1.5), true), (.int(1), .lessThanOrEqualTo, .int(1), true),
      (.int(2), .greaterThan, .int(1), true), (.int(1), .greaterThanOrEqualTo, .int(2), false),
      (.string("a"), .equalTo, .int(1), false), (.string("a"), .notEqualTo, .int(1), true),
      (.string("a"), .lessThan, .int(1), false), (.string("a"), .greaterThan, .int(1), false),
      (.string("abc"), .contains, .string("b"), true), (.string("abc"), .beginsWith, .string("ab"), true),
      (.string("abc"), .endsWith, .string("bc"), true), (.string("abc"), .like, .string("a?c"), true),
      (.string("abc"), .matches, .string("a.*"), true), (.string("abc"), .matches, .string("("), false),
      (.string("b"), .in, .string("abc"), true), (.string("abc"), .in, .string("b"), false),
      (.uri("http://a"), .beginsWith, .string("http:"), true), (.int(10), .like, .string("10"), false),
      (.int(1), .between, .int(1), false), (.int(1), .customSelector, .int(1), false),
      (.double(.nan), .equalTo, .double(.nan), false), (.double(.nan), .notEqualTo, .double(.nan), true),
    ] as [(Value, Op, Value, Bool)])
  func `operators over two values`(left: Value, op: Op, right: Value, expected: Bool) {
    #expect(ComparisonKernel.evaluate(op, left: left, right: right) == expected)
  }

  @Test func `IN finds an equal element, null among them`() {
    let list: [Value] = [.int(1), .string("É"), .null]
    #expect(ComparisonKernel.evaluate(.in, left: .double(1), right: list))
    #expect(ComparisonKernel.evaluate(.in, left: .null, right: list))
    #expect(!ComparisonKernel.evaluate(.in, left: .null, right: [.int(1)]))
    #expect(!ComparisonKernel.evaluate(.in, left: .string("e"), right: list))
    let options: StoreQuery.Predicate.Options = [.caseInsensitive, .diacriticInsensitive]
    #expect(ComparisonKernel.evaluate(.in, options, left: .string("e"), right: list))
    #expect(!ComparisonKernel.evaluate(.in, left: .int(1), right: []))
    #expect(ComparisonKernel.evaluate(.contains, left: list, right: .int(1)))
    #expect(!ComparisonKernel.evaluate(.contains, left: list, right: .int(2)))
    #expect(!ComparisonKernel.evaluate(.equalTo, left: list, right: .int(1)))
  }

  @Test(
    arguments: [
      (.int(1), [.int(1), .int(3)], true), (.int(3), [.int(1), .int(3)], true), (.int(4), [.int(1), .int(3)], false),
      (.double(1.5), [.int(1), .int(3)], true), (.int(2), [.int(3), .int(1)], false), (.int(1), [.int(1)], false),
      (.int(1), [.int(1), .int(1), .int(1)], false), (.null, [.null, .null], false),
      (.int(1), [.null, .int(3)], false),
      (.string("b"), [.string("a"), .string("c")], true), (.string("b"), [.int(1), .string("c")], false),
      (.date(5), [.date(5), .date(6)], true),
    ] as [(Value, [Value], Bool)])
  func `BETWEEN includes both of two bounds`(value: Value, bounds: [Value], expected: Bool) {
    #expect(ComparisonKernel.evaluate(.between, left: value, right: bounds) == expected)
  }
}
