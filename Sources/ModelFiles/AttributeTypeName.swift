/// The raw values of attribute types, with the names that source models give them. The cases carry the names of
/// `NSAttributeType`.
public enum AttributeTypeName: Int, CaseIterable, Sendable {
  /// No type; only for transient attributes.
  case undefined = 0
  /// `Integer 16`.
  case integer16 = 100
  /// `Integer 32`.
  case integer32 = 200
  /// `Integer 64`.
  case integer64 = 300
  /// `Decimal`.
  case decimal = 400
  /// `Double`.
  case double = 500
  /// `Float`.
  case float = 600
  /// `String`.
  case string = 700
  /// `Boolean`.
  case boolean = 800
  /// `Date`.
  case date = 900
  /// `Binary`.
  case binary = 1000
  /// `UUID`.
  case uuid = 1100
  /// `URI`.
  case uri = 1200
  /// `Transformable`.
  case transformable = 1800
  /// `Object ID`; only for results of fetches.
  case objectID = 2000
  /// `Composite`.
  case composite = 2100

  /// The `attributeType` of a source model.
  public var sourceName: String {
    switch self {
    case .undefined: "Undefined"
    case .integer16: "Integer 16"
    case .integer32: "Integer 32"
    case .integer64: "Integer 64"
    case .decimal: "Decimal"
    case .double: "Double"
    case .float: "Float"
    case .string: "String"
    case .boolean: "Boolean"
    case .date: "Date"
    case .binary: "Binary"
    case .uuid: "UUID"
    case .uri: "URI"
    case .transformable: "Transformable"
    case .objectID: "Object ID"
    case .composite: "Composite"
    }
  }

  /// The class of the type's values where the model names none.
  public var valueClassName: String? {
    switch self {
    case .undefined, .transformable: nil
    case .integer16, .integer32, .integer64, .double, .float, .boolean: "NSNumber"
    case .decimal: "NSDecimalNumber"
    case .string: "NSString"
    case .date: "NSDate"
    case .binary: "NSData"
    case .uuid: "NSUUID"
    case .uri: "NSURL"
    case .objectID: "NSManagedObjectID"
    case .composite: "NSDictionary"
    }
  }

  init?(sourceName: String) {
    guard let match = Self.allCases.first(where: { $0.sourceName == sourceName }) else { return nil }
    self = match
  }
}
