import CoreData

@objc(ConstructsNamedClass)
final class Named: NSManagedObject {
  @NSManaged var title: String?
}

@objc final class Unnamed: NSManagedObject {
  @NSManaged var title: String?
}

@objcMembers class AllMembers: NSManagedObject {
  @NSManaged var title: String?
  var label: String { "label of " + (title ?? "nobody") }
  let constant = "constant"
  @nonobjc var pair: (Int, Int) { (1, 2) }
  @nonobjc func sum(_ values: (Int, Int)) -> Int { values.0 + values.1 }
  private var secret: (Int, Int) { (3, 4) }
  var secretSum: Int { sum(secret) }
}

class InheritingMembers: AllMembers {
  var motto: String { "motto" }
}

@objcMembers
public final class PublicMembers: NSManagedObject {
  public var label: String { "public" }
}

class Attributed: NSManagedObject {
  @NSManaged var title: String?
  @objc(isDone) @NSManaged var done: Bool
  @objc var heading: String { "# " + (title ?? "") }
  @objc(shownTitle) var titleToShow: String { title?.uppercased() ?? "" }
  @objc dynamic var level = 1
  dynamic var depth = 2
  @objc public dynamic final var both = 3
  @objc let kind = "attributed"
  @objc lazy var tags = ["a", "b"]
  @objc weak var partner: Attributed?
  @objc var settable: String {
    get { title ?? "" }
    set { title = newValue }
  }
  @NSCopying var copied: NSString = "copied"

  @objc func fullName() -> String { "full " + (title ?? "") }
  @objc(renameTo:because:) func rename(_ title: String, reason: String) { self.title = title + reason }
  @objc private func hidden() -> Int { 5 }
  @objc final func visible() -> Int { hidden() }
  @objc class func className2() -> String { "class" }
  @objc static func staticName() -> String { "static" }
  @objc static var counter = 0
  @objc class var plural: String { "attributeds" }
  @objc subscript(index: Int) -> String { "\(index)" }
  @discardableResult @objc func touch() -> Bool { true }
  @objc @discardableResult func poke() -> Bool { false }
  @objc
  func onItsOwnLine() -> Int { 6 }
  @available(macOS 10.15, *)
  @objc
  @inline(never)
  func underSeveral() -> Int { 7 }
  // swift-format-ignore
  @objc(
    first:
    second:
  )
  func overLines(_ first: Int, second: Int) -> Int { first + second }
  // swift-format-ignore
  @objc public
    dynamic
    func modifiersOverLines() -> Int { 9 }
}

@objc extension Attributed {
  var fromExtension: String { "extension" }
  func functionFromExtension() -> Int { 10 }
}

@nonobjc extension Attributed {
  func pairFromExtension() -> (Int, Int) { (11, 12) }
}

extension Attributed {
  @nonobjc class func fetchRequest() -> NSFetchRequest<Attributed> { NSFetchRequest(entityName: "Attributed") }
}

@objc enum Size: Int { case small = 1, large }
@objc(ConstructsWeight) enum Weight: Int32, CaseIterable { case light, heavy }
@objc public enum Plain: Int { case one }

@objc protocol Titled { var title: String? { get set } }
@objc(ConstructsNumbered) protocol Numbered: NSObjectProtocol { func number() -> Int }
@objc public protocol EntityNamed: NSFetchRequestResult {
  static var entityName: String { get }
}
@objc protocol Chained: Titled, Numbered {}

extension Named: Titled {}

final class Numbering: NSManagedObject, Chained {
  @NSManaged var title: String?
  func number() -> Int { 13 }
}

@objc open class Modelled: NSManagedObject, EntityNamed {
  @objc open class var entityName: String { "Modelled" }
}

final class DerivedModelled: Modelled {
  override class var entityName: String { "DerivedModelled" }
}

extension NSFetchRequest {
  @objc convenience init(entityClass: NSManagedObject.Type) { self.init(entityName: String(describing: entityClass)) }
}

final class OwnInitializer: NSManagedObject {
  @objc override private init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
    super.init(entity: entity, insertInto: context)
  }
  @objc convenience init(in context: NSManagedObjectContext) {
    self.init(entity: OwnInitializer.entity(), insertInto: context)
    title = "made"
  }
  @NSManaged var title: String?
}

@objc final class NoObject: NSObject, @unchecked Sendable {
  @objc var value: Int
  @objc init(value: Int) { self.value = value }
  @objc override convenience init() { self.init(value: 14) }
  @objc deinit {}
}
