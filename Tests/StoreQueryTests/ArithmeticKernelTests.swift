import Foundation
import StoreQuery
import StoreSchema
import Testing

private func decimal(_ text: String) -> Value { .decimal(Decimal(string: text) ?? .nan) }

@Suite struct ArithmeticKernelTests {
  @Test(
    arguments: [
      (.add, .int(2), .int(3), .int(5)), (.subtract, .int(2), .int(3), .int(-1)),
      (.multiply, .int(2), .int(3), .int(6)),
      (.divide, .int(7), .int(2), .int(3)), (.divide, .int(-7), .int(2), .int(-3)),
      (.modulus, .int(-7), .int(2), .int(-1)),
      (.power, .int(2), .int(10), .int(1024)), (.power, .int(2), .int(-1), .double(0.5)),
      (.power, .int(0), .int(0), .int(1)),
      (.power, .int(-1), .int(.max), .int(-1)), (.power, .int(3), .int(39), .int(4_052_555_153_018_976_267)),
      (.add, .int(.max), .int(1), .double(0x1p63)), (.subtract, .int(.min), .int(1), .double(-0x1p63)),
      (.multiply, .int(.max), .int(2), .double(0x1p64)), (.divide, .int(.min), .int(-1), .double(0x1p63)),
      (.modulus, .int(.min), .int(-1), .int(0)), (.power, .int(2), .int(64), .double(0x1p64)),
      (.power, .int(10), .int(400), .null),
      (.add, .bool(true), .bool(true), .int(2)), (.add, .int(1), .double(0.5), .double(1.5)),
      (.divide, .int(7), .double(2), .double(3.5)), (.modulus, .double(7.5), .int(2), .double(1.5)),
      (.power, .double(2), .double(0.5), .double(2.0.squareRoot())), (.power, .int(-8), .double(0.5), .null),
    ] as [(ArithmeticKernel.Operation, Value, Value, Value)])
  func `integers stay integers until they overflow`(
    operation: ArithmeticKernel.Operation, a: Value, b: Value, expected: Value
  ) {
    #expect(ArithmeticKernel.evaluate(operation, a, b) == expected)
  }

  @Test(
    arguments: [
      (.add, decimal("0.1"), decimal("0.2"), decimal("0.3")), (.add, decimal("0.1"), .double(0.2), decimal("0.3")),
      (.multiply, decimal("1.5"), .int(2), decimal("3")), (.divide, decimal("1"), .int(8), decimal("0.125")),
      (.modulus, decimal("7.5"), .int(2), decimal("1.5")), (.modulus, decimal("-7.5"), .int(2), decimal("-1.5")),
      (.power, decimal("1.1"), .int(2), decimal("1.21")), (.power, decimal("4"), .double(0.5), .double(2)),
      (.add, .int(.max), decimal("1"), decimal("9223372036854775808")),
      (.multiply, decimal("1e127"), decimal("1e127"), .double(1e254)),
      (.add, decimal("1"), .double(1e300), .double(1e300)),
      (.power, decimal("1e30"), .int(5), .double(pow(1e30, 5))),
      (.divide, decimal("1e-128"), decimal("1e127"), .double(1e-128 / 1e127)),
      (.modulus, decimal("1e40"), decimal("3e-40"), .double(fmod(1e40, 3e-40))),
    ] as [(ArithmeticKernel.Operation, Value, Value, Value)])
  func `decimals stay exact, and leave for doubles where they would overflow`(
    operation: ArithmeticKernel.Operation, a: Value, b: Value, expected: Value
  ) {
    #expect(ArithmeticKernel.evaluate(operation, a, b) == expected)
  }

  @Test(
    arguments: [
      (.divide, .int(1), .int(0)), (.divide, .double(1), .int(0)), (.divide, decimal("1"), .int(0)),
      (.modulus, .int(1), .int(0)),
      (.modulus, .double(1), .double(0)), (.modulus, decimal("1"), .int(0)), (.divide, .double(0), .double(0)),
      (.power, .int(0), .int(-1)), (.multiply, .double(1e300), .double(1e300)), (.add, .double(.infinity), .int(1)),
      (.add, .double(.nan), .int(1)), (.add, .null, .int(1)), (.add, .int(1), .null), (.add, .string("1"), .int(1)),
      (.bitwiseAnd, .double(1), .int(1)), (.bitwiseOr, decimal("1"), .int(1)), (.add, .decimal(.nan), .int(1)),
    ] as [(ArithmeticKernel.Operation, Value, Value)])
  func `what has no finite result is null`(operation: ArithmeticKernel.Operation, a: Value, b: Value) {
    #expect(ArithmeticKernel.evaluate(operation, a, b).isNull)
  }

  @Test(
    arguments: [
      (.bitwiseAnd, 6, 3, 2), (.bitwiseOr, 6, 3, 7), (.bitwiseXor, 6, 3, 5), (.shiftLeft, 1, 4, 16),
      (.shiftRight, -16, 2, -4),
      (.shiftLeft, 1, 64, 0), (.shiftRight, -1, 100, -1), (.shiftLeft, 16, -2, 4), (.shiftLeft, 1, .min, 0),
    ] as [(ArithmeticKernel.Operation, Int64, Int64, Int64)])
  func `bits are those of 64-bit integers`(
    operation: ArithmeticKernel.Operation, a: Int64, b: Int64, expected: Int64
  ) {
    #expect(ArithmeticKernel.evaluate(operation, .int(a), .int(b)) == .int(expected))
  }

  @Test func `dates move by seconds`() {
    #expect(ArithmeticKernel.evaluate(.add, .date(10), .int(5)) == .date(15))
    #expect(ArithmeticKernel.evaluate(.add, decimal("0.5"), .date(10)) == .date(10.5))
    #expect(ArithmeticKernel.evaluate(.subtract, .date(10), .double(2.5)) == .date(7.5))
    #expect(ArithmeticKernel.evaluate(.subtract, .date(10), .date(4)) == .double(6))
    #expect(ArithmeticKernel.evaluate(.divide, .date(7), .int(2)) == .double(3.5))
    #expect(ArithmeticKernel.evaluate(.add, .date(1), .date(2)) == .double(3))
  }

  @Test func `signs and complements`() {
    #expect(ArithmeticKernel.negate(.int(5)) == .int(-5))
    #expect(ArithmeticKernel.negate(.int(.min)) == .double(0x1p63))
    #expect(ArithmeticKernel.negate(decimal("1e100")) == decimal("-1e100"))
    #expect(ArithmeticKernel.negate(.double(0.5)) == .double(-0.5))
    #expect(ArithmeticKernel.negate(.null).isNull)
    #expect(ArithmeticKernel.negate(.string("1")).isNull)
    #expect(ArithmeticKernel.complement(.int(0)) == .int(-1))
    #expect(ArithmeticKernel.complement(.bool(true)) == .int(-2))
    #expect(ArithmeticKernel.complement(.double(1)).isNull)
  }
}
