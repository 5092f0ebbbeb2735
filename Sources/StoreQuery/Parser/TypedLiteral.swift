import Foundation
import StoreSchema

/// Constants without their own literal are written as casts: `CAST(123.000000, "NSDate")`. Apple's printer does so for
/// dates. This library does the same for the other types, so that every constant can be parsed again.
enum TypedLiteral {
  /// The constant that `CAST(literal, "type")` denotes; nil for a cast that must be evaluated.
  static func value(of literal: Expression, as type: String) -> Value? {
    switch (type, literal.literal) {
    case ("NSDate", .int(let seconds)): .date(Double(seconds))
    // A truth value prints as a number.
    case ("NSDate", .bool(let truth)): .date(truth ? 1 : 0)
    case ("NSDate", .double(let seconds)): .date(seconds)
    case ("NSNumber", .string(let text)): nonFinite[text].map(Value.double)
    case ("NSDecimalNumber", .string(let text)): decimal(text).map(Value.decimal)
    case ("NSUUID", .string(let text)): UUID(uuidString: text).map(Value.uuid)
    case ("NSURL", .string(let text)): .uri(text)
    case ("NSData", .string(let text)): Data(base64Encoded: text).map(Value.data)
    case ("NSManagedObjectID", .string(let text)): reference(text).map(Value.reference)
    default: nil
    }
  }

  /// The literal and the class name with which to write the value; nil if it has its own literal.
  static func form(of value: Value) -> (literal: String, type: String)? {
    switch value {
    case .date(let seconds): (date(seconds), "NSDate")
    case .double(let number) where !number.isFinite: ("\"\(number)\"", "NSNumber")
    case .decimal(let number): ("\"\(number)\"", "NSDecimalNumber")
    case .uuid(let uuid): ("\"\(uuid.uuidString)\"", "NSUUID")
    case .uri(let text): (FormatPrinter.quoted(text), "NSURL")
    case .data(let data): ("\"\(data.base64EncodedString())\"", "NSData")
    case .reference(let object): ("\"\(object.entity)/p\(object.key)\"", "NSManagedObjectID")
    default: nil
    }
  }

  private static let nonFinite = ["inf": Double.infinity, "-inf": -Double.infinity, "nan": Double.nan]

  /// Six digits after the decimal point, as Apple writes them, or as many as the value needs.
  private static func date(_ seconds: Double) -> String {
    guard seconds.isFinite else { return FormatPrinter.literal(of: .double(seconds)) }
    guard abs(seconds) < 1e15 else { return "\(seconds)" }
    let text = String(format: "%.6f", seconds)
    return Double(text) == seconds ? text : "\(seconds)"
  }

  private static func decimal(_ text: String) -> Decimal? {
    if text == "NaN" { return .nan }
    // `Decimal` accepts the valid beginning of an invalid text.
    guard text.utf8.allSatisfy({ "0123456789+-.eE".utf8.contains($0) }), Double(text) != nil else { return nil }
    return Decimal(string: text)
  }

  private static func reference(_ text: String) -> ObjectReference? {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, let entity = Int(parts[0]), parts[1].first == "p", let key = Int64(parts[1].dropFirst())
    else { return nil }
    return ObjectReference(entity: entity, key: key)
  }
}
