import Foundation
import StoreQuery
import StoreSchema
import Testing

/// Functions, casts, statistics and sets over values, compared with literal results.
@Suite struct FunctionKernelTests {
  private typealias Function = FunctionKernel.Function

  private static func decimal(_ digits: String) -> Value { Decimal(string: digits).map(Value.decimal) ?? .null }

  @Test(
    arguments: [
      (.negate, .int(5), .int(-5)), (.negate, .int(.min), .double(0x1p63)), (.negate, .double(2.5), .double(-2.5)),
      (.negate, decimal("1.5"), decimal("-1.5")), (.negate, .null, .null), (.negate, .string("5"), .null),
      (.complement, .int(0), .int(-1)), (.complement, .bool(true), .int(-2)), (.complement, .double(1), .null),
      (.absolute, .int(-3), .int(3)), (.absolute, .int(.min), .double(0x1p63)),
      (.absolute, .double(-0.5), .double(0.5)),
      (.absolute, decimal("-7.25"), decimal("7.25")), (.absolute, .date(-3), .double(3)), (.absolute, .null, .null),
      (.absolute, .double(.nan), .null),
      (.ceiling, .int(3), .int(3)), (.ceiling, .double(2.1), .double(3)), (.ceiling, .double(-2.1), .double(-2)),
      (.ceiling, decimal("2.1"), decimal("3")), (.ceiling, decimal("-2.1"), decimal("-2")),
      (.floor, .double(2.9), .double(2)), (.floor, .double(-2.1), .double(-3)),
      (.floor, decimal("-2.1"), decimal("-3")),
      (.truncate, .double(-2.9), .double(-2)), (.truncate, decimal("-2.9"), decimal("-2")),
      (.truncate, decimal("2.9"), decimal("2")), (.truncate, .double(.infinity), .null),
      (.squareRoot, .int(49), .double(7)), (.squareRoot, .double(-1), .null), (.squareRoot, .string("4"), .null),
      (.logarithm, .int(1000), .double(3)), (.logarithm, .int(0), .null), (.naturalLogarithm, .int(1), .double(0)),
      (.exponential, .int(0), .double(1)), (.exponential, .int(1_000_000), .null),
      (.uppercase, .string("straße"), .string("STRASSE")), (.lowercase, .string("ÀÉ"), .string("àé")),
      (.uppercase, .int(5), .null), (.uppercase, .string(""), .string("")),
      (.canonical, .string("Ève"), .string("eve")), (.canonical, .null, .null),
      (.length, .string("a😀"), .int(3)), (.length, .string(""), .int(0)), (.length, .data(Data([1, 2])), .null),
    ] as [(FunctionKernel.Function, Value, Value)])
  func functions(_ function: FunctionKernel.Function, _ operand: Value, _ expected: Value) {
    #expect(FunctionKernel.evaluate(function, operand) == expected)
  }

  @Test(
    arguments: [
      (.date, .int(5), .date(5)), (.date, .double(0.5), .date(0.5)), (.date, .date(7), .date(7)), (.date, .null, .null),
      (.date, .string("12"), .date(12)), (.date, .string("today"), .null),
      (.number, .string("12"), .int(12)), (.number, .string("-1.5e3"), .double(-1500)),
      (.number, .string("nan"), .null),
      (.number, .string("0x10"), .null), (.number, .string(""), .null), (.number, .date(3), .double(3)),
      (.number, .bool(true), .bool(true)), (.number, .uuid(UUID()), .null),
      (.decimal, .double(0.1), decimal("0.1")), (.decimal, .string("2"), decimal("2")),
      (.decimal, .double(1e300), .null),
      (.text, .int(5), .string("5")), (.text, .double(5), .string("5")), (.text, .double(0.5), .string("0.5")),
      (.text, .bool(false), .string("0")), (.text, decimal("1.50"), .string("1.5")),
      (.text, .uri("x:y"), .string("x:y")),
      (.text, .date(0), .null), (.text, .null, .null),
      (.url, .string("x:y"), .uri("x:y")), (.url, .int(1), .null), (.uuid, .string("no"), .null),
      (.data, .data(Data([1])), .data(Data([1]))), (.data, .string("x"), .null),
    ] as [(CastKernel.Target, Value, Value)])
  func casts(_ target: CastKernel.Target, _ value: Value, _ expected: Value) {
    #expect(CastKernel.evaluate(value, as: target) == expected)
  }

  @Test func aUUIDAndItsText() {
    let uuid = UUID()
    #expect(CastKernel.evaluate(.uuid(uuid), as: .text) == .string(uuid.uuidString))
    #expect(CastKernel.evaluate(.string(uuid.uuidString), as: .uuid) == .uuid(uuid))
  }

  @Test(
    arguments: [
      (.median, [.int(3), .int(1), .int(2)], .int(2)), (.median, [.int(1), .int(2)], .double(1.5)),
      (.median, [.int(1), .null, .string("x")], .int(1)), (.median, [], .null), (.median, [.double(.nan)], .null),
      (.median, [decimal("1"), decimal("2")], decimal("1.5")),
      (.mode, [.int(1), .int(2), .double(2)], .int(2)), (.mode, [.int(7), .int(3)], .int(3)), (.mode, [.null], .null),
      (.deviation, [.int(2), .int(4)], .double(1)), (.deviation, [.int(5)], .double(0)), (.deviation, [], .null),
    ] as [(StatisticsKernel.Function, [Value], Value)])
  func statistics(_ function: StatisticsKernel.Function, _ values: [Value], _ expected: Value) {
    let found = StatisticsKernel.evaluate(function, values)
    #expect(ValueComparison.areEqual(found, expected), "\(found)")
  }

  @Test func setsHaveEachValueOnce() {
    let (a, b): ([Value], [Value]) = ([.int(1), .string("x"), .double(1), .null], [.bool(true), .null, .string("y")])
    #expect(SetKernel.evaluate(.union, a, b) == [.int(1), .string("x"), .null, .string("y")])
    #expect(SetKernel.evaluate(.intersect, a, b) == [.int(1), .null])
    #expect(SetKernel.evaluate(.minus, a, b) == [.string("x")])
    #expect(SetKernel.areEqual([.int(2), .int(1)], [.double(1), .int(2), .int(2)]))
    #expect(!SetKernel.areEqual([.int(2)], [.int(2), .null]))
    // Strings with different scalars are distinct.
    #expect(SetKernel.distinct([.string("é"), .string("e\u{301}")]).count == 2)
  }
}
