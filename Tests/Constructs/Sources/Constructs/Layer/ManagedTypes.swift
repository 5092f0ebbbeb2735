import CoreData

final class Texts: NSManagedObject {
  @NSManaged var optional: String?
  @NSManaged var required: String
  // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
  @NSManaged var unwrapped: String!
  @NSManaged var foundation: NSString?
  @NSManaged var requiredFoundation: NSString
  @NSManaged var qualified: Swift.String?
  @NSManaged var generic: Optional<String>
  @NSManaged var link: URL?
  @NSManaged var requiredLink: URL
  @NSManaged var foundationLink: NSURL?
  @NSManaged var identifier: UUID?
  @NSManaged var requiredIdentifier: UUID
  @NSManaged var foundationIdentifier: NSUUID?
}

final class Numbers: NSManagedObject {
  @NSManaged var truth: Bool
  @NSManaged var small: Int16
  @NSManaged var middle: Int32
  @NSManaged var large: Int64
  @NSManaged var word: Int
  @NSManaged var tiny: Int8
  @NSManaged var unsigned: UInt16
  @NSManaged var unsignedMiddle: UInt32
  @NSManaged var double: Double
  @NSManaged var float: Float
  @NSManaged var float64: Float64
  @NSManaged var measure: CGFloat
  @NSManaged var aliased: Count
  @NSManaged var qualified: Swift.Int64
  @NSManaged var number: NSNumber?
  @NSManaged var requiredNumber: NSNumber
  // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
  @NSManaged var unwrappedNumber: NSNumber!
  @NSManaged var truthNumber: NSNumber?
  @NSManaged var decimal: NSDecimalNumber?
  @NSManaged var requiredDecimal: NSDecimalNumber
  @NSManaged var order: ComparisonResult
}

typealias Count = Int32

final class Moments: NSManagedObject {
  @NSManaged var date: Date?
  @NSManaged var requiredDate: Date
  @NSManaged var qualifiedDate: Foundation.Date?
  @NSManaged var foundationDate: NSDate?
  @NSManaged var interval: TimeInterval
  @NSManaged var data: Data?
  @NSManaged var requiredData: Data
  @NSManaged var foundationData: NSData?
  @NSManaged var external: Data?
}

@objc enum State: Int16 {
  case draft, published
}
@objc enum Priority: Int32 {
  case low = 1
  case high = 5
}
@objc enum Level: Int64 {
  case ground, first
}
@objc enum Rank: Int {
  case last, first
}

final class Enumerations: NSManagedObject {
  @objc enum Color: Int16 {
    case red, green
  }
  @NSManaged var state: State
  @NSManaged var priority: Priority
  @NSManaged var level: Level
  @NSManaged var rank: Rank
  @NSManaged var color: Color
  @NSManaged var qualifiedColor: Enumerations.Color
  @NSManaged private var storedState: Int16
  var computedState: State? {
    get { State(rawValue: storedState) }
    set { storedState = newValue?.rawValue ?? 0 }
  }
}

final class Boxes: NSManagedObject {
  @NSManaged var strings: [String]?
  @NSManaged var requiredStrings: [String]
  @NSManaged var numbers: [Int]?
  @NSManaged var nested: [[String]]?
  @NSManaged var dictionary: [String: String]?
  @NSManaged var counts: [String: Int]?
  @NSManaged var anything: [String: Any]?
  @NSManaged var objects: [Any]?
  @NSManaged var set: Set<String>?
  @NSManaged var requiredSet: Set<Int>
  @NSManaged var longArray: Array<String>?
  @NSManaged var longDictionary: Dictionary<String, [Int]>?
  @NSManaged var array: NSArray?
  @NSManaged var mapping: NSDictionary?
  @NSManaged var value: Any?
  @NSManaged var object: AnyObject?
  @NSManaged var root: NSObject?
  @NSManaged var coding: (any NSCoding)?
  @NSManaged var secureCoding: NSSecureCoding?
  @NSManaged var both: (NSCoding & NSObjectProtocol)?
  @NSManaged var point: Point?
  @NSManaged var sign: Point.Sign?
  @NSManaged var cached: Point?
  @NSManaged var reference: NSManagedObjectID?
}

@objc(ConstructsPoint) final class Point: NSObject, NSSecureCoding {
  @objc(ConstructsPointSign) final class Sign: NSObject {
    @objc var height = 3
  }
  static var supportsSecureCoding: Bool { true }
  let x: Int
  init(x: Int) { self.x = x }
  init?(coder: NSCoder) { x = coder.decodeInteger(forKey: "x") }
  func encode(with coder: NSCoder) { coder.encode(x, forKey: "x") }
  override func isEqual(_ object: Any?) -> Bool { (object as? Point)?.x == x }
  override var hash: Int { x }
}
