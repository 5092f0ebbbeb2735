// swift-format-ignore-file
import CoreData

public class Spelled: NSManagedObject {
  @NSManaged public var published: String?
  @NSManaged internal var inner: String?
  @NSManaged private var hidden: String?
  @NSManaged fileprivate var inFile: String?
  @NSManaged public private(set) var readable: String?
  @NSManaged public internal(set) var settableHere: String?
  @NSManaged private(set) public var setFirst: String?
  @NSManaged public fileprivate(set) var settableInFile: String?
  @NSManaged final var last: String?
  @NSManaged dynamic var dynamicText: String?
  @NSManaged nonisolated var free: String?
  @NSManaged var one, two: Int16
  @NSManaged var three: Int16, four: String?
  @NSManaged
  var onTwoLines: String?
  @NSManaged
  public
    var onThreeLines:
      String?
  @objc @NSManaged var seen: String?
  @NSManaged @objc var seenBehind: String?
  @objc(other) @NSManaged private var otherwise: String?
  @available(macOS 10.15, *) @NSManaged var available: String?
  @NSManaged /* a comment */ var /* another */ commented /* and */: /* one */ String? // the last
  @NSManaged var noSpace:String?
  @NSManaged var  wide   :   String?
  @NSManaged var semicolon: String?; @NSManaged var behindSemicolon: String?
  @NSManaged var `default`: String?
  @objc var größe: Int { 3 }
  @NSManaged var with_underscore: String?
  @NSManaged private var primitiveInner: String?
  @NSManaged var primitivePublished: NSString?
  @NSManaged var mapping: [
    String:
      Int
  ]?

  func touch() -> String {
    hidden = "hidden"
    readable = "readable"
    setFirst = "first"
    otherwise = "other"
    primitiveInner = "primitive"
    return [hidden, readable, setFirst, otherwise, primitiveInner].compactMap { $0 }.joined(separator: " ")
  }

  var custom: Int16 {
    get {
      willAccessValue(forKey: "custom")
      defer { didAccessValue(forKey: "custom") }
      return (primitiveValue(forKey: "custom") as? NSNumber)?.int16Value ?? 0
    }
    set {
      willChangeValue(forKey: "custom")
      setPrimitiveValue(NSNumber(value: newValue * 2), forKey: "custom")
      didChangeValue(forKey: "custom")
    }
  }
}

extension Spelled {
  @NSManaged public var inExtension: String?
  @NSManaged private var hiddenInExtension: String?
  func touchExtension() -> String? {
    hiddenInExtension = "touched"
    return hiddenInExtension
  }
}

public extension Spelled {
  @NSManaged var inPublicExtension: String?
}

open class OpenSpelled: NSManagedObject {
  @NSManaged open var overridable: String?
}
final class OverridingSpelled: OpenSpelled {
  override var overridable: String? {
    get { (primitiveValue(forKey: "overridable") as? String)?.uppercased() }
    set {
      willChangeValue(forKey: "overridable")
      setPrimitiveValue(newValue, forKey: "overridable")
      didChangeValue(forKey: "overridable")
    }
  }
}

private var entities: [NSEntityDescription] {
  let names = [
    "published", "inner", "hidden", "inFile", "readable", "settableHere", "setFirst", "settableInFile", "last",
    "dynamicText", "free", "four", "onTwoLines", "onThreeLines", "seen", "seenBehind", "other", "available",
    "commented", "noSpace", "wide", "semicolon", "behindSemicolon", "default", "with_underscore",
    "inExtension", "hiddenInExtension", "inPublicExtension",
  ]
  let spelled = entity(
    Spelled.self,
    names.map { attribute($0, .stringAttributeType) }
      + ["one", "two", "three", "custom"].map { attribute($0, .integer16AttributeType, 0) }
      + [attribute("mapping", .transformableAttributeType)])
  return [spelled] + [OpenSpelled.self, OverridingSpelled.self].map { entity($0, texts("overridable")) }
}

func spellingConstructs() {
  World.add(entities)
  accessLevels()
  severalVariables()
  tokens()
  primitives()
}

private func accessLevels() {
  construct(.managedTypes, "public") { try works(\Spelled.published, "published", "a") }
  construct(.managedTypes, "internal") { try works(\Spelled.inner, "inner", "a") }
  construct(.managedTypes, "private, private(set), and a private one with a name") {
    expect(World.make(Spelled.self).touch(), is: "hidden readable first other primitive")
  }
  construct(.managedTypes, "fileprivate") { try works(\Spelled.inFile, "inFile", "a") }
  construct(.managedTypes, "public internal(set)") { try works(\Spelled.settableHere, "settableHere", "a") }
  construct(.managedTypes, "public fileprivate(set)") { try works(\Spelled.settableInFile, "settableInFile", "a") }
  construct(.managedTypes, "open, overridden") {
    let object = World.make(OverridingSpelled.self)
    object.overridable = "a"
    expect(object.overridable, is: "A")
    expect(object.primitiveValue(forKey: "overridable") as? String, is: "a")
  }
  construct(.managedTypes, "final") { try works(\Spelled.last, "last", "a") }
  construct(.managedTypes, "dynamic") { try works(\Spelled.dynamicText, "dynamicText", "a") }
  construct(.managedTypes, "nonisolated") { try works(\Spelled.free, "free", "a") }
  construct(.managedTypes, "in an extension") { try works(\Spelled.inExtension, "inExtension", "a") }
  construct(.managedTypes, "private in an extension") {
    expect(World.make(Spelled.self).touchExtension(), is: "touched")
  }
  construct(.managedTypes, "in a public extension") { try works(\Spelled.inPublicExtension, "inPublicExtension", "a") }
}

private func severalVariables() {
  construct(.managedTypes, "two variables of one type") {
    try works(\Spelled.one, "one", 1)
    try works(\Spelled.two, "two", 2)
  }
  construct(.managedTypes, "two variables of two types") {
    try works(\Spelled.three, "three", 3)
    try works(\Spelled.four, "four", "a", nil)
  }
}

private func tokens() {
  construct(.managedTypes, "the attribute on a line of its own") { try works(\Spelled.onTwoLines, "onTwoLines", "a") }
  construct(.managedTypes, "a declaration on four lines") { try works(\Spelled.onThreeLines, "onThreeLines", "a") }
  construct(.managedTypes, "a type on several lines") { try works(\Spelled.mapping, "mapping", ["a": 1], nil) }
  construct(.managedTypes, "objc before") { try works(\Spelled.seen, "seen", "a") }
  construct(.managedTypes, "objc behind") { try works(\Spelled.seenBehind, "seenBehind", "a") }
  construct(.managedTypes, "available") { try works(\Spelled.available, "available", "a") }
  construct(.managedTypes, "comments between all tokens") { try works(\Spelled.commented, "commented", "a") }
  construct(.managedTypes, "no space and much space") {
    try works(\Spelled.noSpace, "noSpace", "a")
    try works(\Spelled.wide, "wide", "a")
  }
  construct(.managedTypes, "two declarations on a line") {
    try works(\Spelled.semicolon, "semicolon", "a")
    try works(\Spelled.behindSemicolon, "behindSemicolon", "b")
  }
  construct(.managedTypes, "a keyword as a name") { try works(\Spelled.default, "default", "a") }
  construct(.keyPaths, "a name with letters of other languages") { expect(#keyPath(Spelled.größe), is: "größe") }
  construct(.managedTypes, "a name with an underscore") {
    try works(\Spelled.with_underscore, "with_underscore", "a")
  }
}

private func primitives() {
  construct(.managedTypes, "the primitive value of a property") {
    let object = World.make(Spelled.self)
    object.published = "public"
    expect(object.primitivePublished, is: "public")
    object.primitivePublished = "primitive"
    expect(object.published, is: "primitive")
  }
  construct(.managedTypes, "a custom accessor with the primitive value by its key") {
    let object = World.make(Spelled.self)
    object.custom = 4
    expect(object.custom, is: 8)
  }
}
