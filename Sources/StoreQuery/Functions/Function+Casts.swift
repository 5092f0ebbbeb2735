import StoreSchema

/// Casts: `CAST(value, 'NSDate')` and the like. A format cannot call them by their selectors.
extension Function {
  static let casts = [
    // Of a number or a text, the date that many seconds after 2001-01-01T00:00:00Z.
    cast(to: "NSDate", gives: .always(.date), CastKernel.date),
    // Of a date, its seconds; of a text, what it spells.
    cast(to: "NSNumber", gives: .number, CastKernel.number),
    cast(to: "NSDecimalNumber", gives: .always(.decimalOrDouble), CastKernel.decimal),
    // A number in digits, a UUID or a URL as its text.
    cast(to: "NSString", gives: .always(.text), CastKernel.string),
    cast(to: "NSUUID", gives: .always(.uuid), CastKernel.uuid),
    cast(to: "NSURL", gives: .always(.uri), CastKernel.url),
    // Of bytes alone.
    cast(to: "NSData", gives: .always(.data), CastKernel.data),
  ]

  private static func cast(
    to className: String, gives type: ResultType, _ kernel: @escaping @Sendable (Value) -> Value
  ) -> Function {
    Function("CAST " + className, castClass: className, [.any], gives: type, .values { kernel($0[0]) })
  }
}
