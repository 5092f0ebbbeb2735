import Foundation
import StoreQuery
import StoreSchema
import Testing

@Suite struct LiteralTests {
  @Test(
    arguments: [
      ("1", .int(1)), ("-1", .int(-1)), ("1.5", .double(1.5)), (".5", .double(0.5)), ("1e3", .double(1000)),
      ("1.5E-2", .double(0.015)),
      ("0x1F", .int(31)), ("0o17", .int(15)), ("0b101", .int(5)), ("-0x10", .int(-16)),
      ("9223372036854775807", .int(.max)),
      ("-9223372036854775808", .int(.min)), ("9223372036854775808", .decimal(Decimal(UInt64(1) << 63))),
      ("YES", .bool(true)), ("true", .bool(true)), ("No", .bool(false)), ("FALSE", .bool(false)), ("nil", .null),
      ("NULL", .null),
      (#""a\"b""#, .string("a\"b")), ("'a\"b'", .string("a\"b")),
      (#"'\n\t\\\'\101\x41\u00e9'"#, .string("\n\t\\'AA\u{E9}")),
      (#"'\ud83d\ude42\U0001F642'"#, .string("🙂🙂")), (#"'\d\q'"#, .string("dq")), ("'%@ %K'", .string("%@ %K")),
      ("''", .string("")),
    ] as [(String, Value)])
  func `literals`(format: String, expected: Value) throws {
    #expect(try StoreQuery.Expression(format: format) == .constant(expected))
  }
}
