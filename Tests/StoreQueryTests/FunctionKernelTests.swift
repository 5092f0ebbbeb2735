import Foundation
import StoreQuery
import StoreSchema
import Testing

/// Functions, casts, statistics and sets over values, compared with literal results.
@Suite struct FunctionKernelTests {
  private static func decimal(_ digits: String) -> Value { Decimal(string: digits).map(Value.decimal) ?? .null }

  @Test(
    arguments: [
      ("negate:", .int(5), .int(-5)), ("negate:", .int(.min), .double(0x1p63)),
      ("negate:", .double(2.5), .double(-2.5)),
      ("negate:", decimal("1.5"), decimal("-1.5")), ("negate:", .null, .null), ("negate:", .string("5"), .null),
      ("onesComplement:", .int(0), .int(-1)), ("onesComplement:", .bool(true), .int(-2)),
      ("onesComplement:", .double(1), .null),
      ("abs:", .int(-3), .int(3)), ("abs:", .int(.min), .double(0x1p63)),
      ("abs:", .double(-0.5), .double(0.5)),
      ("abs:", decimal("-7.25"), decimal("7.25")), ("abs:", .date(-3), .double(3)), ("abs:", .null, .null),
      ("abs:", .double(.nan), .null),
      ("ceiling:", .int(3), .int(3)), ("ceiling:", .double(2.1), .double(3)), ("ceiling:", .double(-2.1), .double(-2)),
      ("ceiling:", decimal("2.1"), decimal("3")), ("ceiling:", decimal("-2.1"), decimal("-2")),
      ("floor:", .double(2.9), .double(2)), ("floor:", .double(-2.1), .double(-3)),
      ("floor:", decimal("-2.1"), decimal("-3")),
      ("trunc:", .double(-2.9), .double(-2)), ("trunc:", decimal("-2.9"), decimal("-2")),
      ("trunc:", decimal("2.9"), decimal("2")), ("trunc:", .double(.infinity), .null),
      ("sqrt:", .int(49), .double(7)), ("sqrt:", .double(-1), .null), ("sqrt:", .string("4"), .null),
      ("log:", .int(1000), .double(3)), ("log:", .int(0), .null), ("ln:", .int(1), .double(0)),
      ("exp:", .int(0), .double(1)), ("exp:", .int(1_000_000), .null),
      ("uppercase:", .string("straße"), .string("STRASSE")), ("lowercase:", .string("ÀÉ"), .string("àé")),
      ("uppercase:", .int(5), .null), ("uppercase:", .string(""), .string("")),
      ("canonical:", .string("Ève"), .string("eve")), ("canonical:", .null, .null),
      ("length:", .string("a😀"), .int(3)), ("length:", .string(""), .int(0)), ("length:", .data(Data([1, 2])), .null),
    ] as [(String, Value, Value)])
  func functions(_ selector: String, _ operand: Value, _ expected: Value) {
    #expect(Function.named(selector)?.evaluate([operand]) == expected)
  }

  @Test(
    arguments: [
      ("NSDate", .int(5), .date(5)), ("NSDate", .double(0.5), .date(0.5)), ("NSDate", .date(7), .date(7)),
      ("NSDate", .null, .null),
      ("NSDate", .string("12"), .date(12)), ("NSDate", .string("today"), .null),
      ("NSNumber", .string("12"), .int(12)), ("NSNumber", .string("-1.5e3"), .double(-1500)),
      ("NSNumber", .string("nan"), .null),
      ("NSNumber", .string("0x10"), .null), ("NSNumber", .string(""), .null), ("NSNumber", .date(3), .double(3)),
      ("NSNumber", .bool(true), .bool(true)), ("NSNumber", .uuid(UUID()), .null),
      ("NSDecimalNumber", .double(0.1), decimal("0.1")), ("NSDecimalNumber", .string("2"), decimal("2")),
      ("NSDecimalNumber", .double(1e300), .null),
      ("NSString", .int(5), .string("5")), ("NSString", .double(5), .string("5")),
      ("NSString", .double(0.5), .string("0.5")),
      ("NSString", .bool(false), .string("0")), ("NSString", decimal("1.50"), .string("1.5")),
      ("NSString", .uri("x:y"), .string("x:y")),
      ("NSString", .date(0), .null), ("NSString", .null, .null),
      ("NSURL", .string("x:y"), .uri("x:y")), ("NSURL", .int(1), .null), ("NSUUID", .string("no"), .null),
      ("NSData", .data(Data([1])), .data(Data([1]))), ("NSData", .string("x"), .null),
    ] as [(String, Value, Value)])
  func casts(_ className: String, _ value: Value, _ expected: Value) {
    #expect(Function.cast(to: className)?.evaluate([value]) == expected)
  }

  @Test func aUUIDAndItsText() {
    let uuid = UUID()
    #expect(CastKernel.string(.uuid(uuid)) == .string(uuid.uuidString))
    #expect(CastKernel.uuid(.string(uuid.uuidString)) == .uuid(uuid))
  }

  @Test(
    arguments: [
      ("median:", [.int(3), .int(1), .int(2)], .int(2)), ("median:", [.int(1), .int(2)], .double(1.5)),
      ("median:", [.int(1), .null, .string("x")], .int(1)), ("median:", [], .null), ("median:", [.double(.nan)], .null),
      ("median:", [decimal("1"), decimal("2")], decimal("1.5")),
      ("mode:", [.int(1), .int(2), .double(2)], .int(2)), ("mode:", [.int(7), .int(3)], .int(3)),
      ("mode:", [.null], .null),
      ("stddev:", [.int(2), .int(4)], .double(1)), ("stddev:", [.int(5)], .double(0)), ("stddev:", [], .null),
    ] as [(String, [Value], Value)])
  func statistics(_ selector: String, _ values: [Value], _ expected: Value) throws {
    let found = ResolvedAggregate.function(try #require(Function.named(selector))).evaluate(values)
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
