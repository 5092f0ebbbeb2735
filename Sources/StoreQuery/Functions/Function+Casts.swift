import StoreSchema

/// Casts: `CAST(value, 'NSDate')` and others. A format cannot call them by their selectors.
extension Function {
  static let casts = [
    // A number or text gives the date that many seconds after 2001-01-01T00:00:00Z.
    cast(to: "NSDate", gives: .always(.date), CastKernel.date),
    // A date gives its seconds; a text gives the number that it contains.
    cast(to: "NSNumber", gives: .number, CastKernel.number),
    cast(to: "NSDecimalNumber", gives: .always(.decimalOrDouble), CastKernel.decimal),
    // A number gives its digits; a UUID or URL gives its text.
    cast(to: "NSString", gives: .always(.text), CastKernel.string),
    cast(to: "NSUUID", gives: .always(.uuid), CastKernel.uuid),
    cast(to: "NSURL", gives: .always(.uri), CastKernel.url),
    // Only bytes give bytes.
    cast(to: "NSData", gives: .always(.data), CastKernel.data),
  ]

  private static func cast(
    to className: String, gives type: ResultType, _ kernel: @escaping @Sendable (Value) -> Value
  ) -> Function {
    Function("CAST " + className, castClass: className, [.any], gives: type, .values { kernel($0[0]) })
  }
}
