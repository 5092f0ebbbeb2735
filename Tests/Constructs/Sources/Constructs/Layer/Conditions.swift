import CoreData

#if os(Linux) || os(Windows) || os(Android)
  private let isAppleHere = false
#elseif canImport(ObjectiveC)
  private let isAppleHere = true
#else
  private let isAppleHere = false
#endif

class Conditional: NSManagedObject {
  #if true
    @NSManaged var always: String?
  #endif
  #if false
    @NSManaged var never: String?
  #else
    @NSManaged var otherwise: String?
  #endif
  #if CONSTRUCTS_OF_ANOTHER_TARGET
    @NSManaged var number: Int64
  #else
    @NSManaged var number: Int16
  #endif
  #if os(macOS) || os(Linux)
    #if compiler(>=5)
      #if swift(>=4) && !CONSTRUCTS_OF_ANOTHER_TARGET
        @objc(deepName) @NSManaged var deep: String?
      #endif
    #endif
  #endif
  #if canImport(UIKit)
    @objc var image: UIImage? { nil }
  #endif

  #if os(macOS)
    @objc
  #elseif os(Linux)
    @objc
  #endif
  var branched: String { "branched" }

  @NSManaged
  #if compiler(>=5)
    @objc(attributedText)
  #endif
  var attributed: String?

  #if !canImport(ObjectiveC)
    /* a comment with #endif */
    var isBridged: Bool { false }
  #else
    var isBridged: Bool { true }
  #endif

  func values() -> [String] {
    var result = ["a"]
    #if DEBUG
      result.append("#if DEBUG")
    #else
      result.append("#else")
    #endif
    return result
  }
}

#if swift(>=5)
  extension Conditional {
    @NSManaged var inside: String?
    override func awakeFromInsert() {
      super.awakeFromInsert()
      inside = "awake"
    }
  }
#endif

#if CONSTRUCTS_OF_ANOTHER_TARGET
  final class Branched: NSManagedObject {
    @NSManaged var text: Int64
  }
#else
  final class Branched: NSManagedObject {
    @NSManaged var text: String?
  }
#endif

#if compiler(>=5)
  @objc(ConstructsBegun)
#else
  @objc(ConstructsBegunOtherwise)
#endif
final class Begun: NSManagedObject {
  @NSManaged var text: String?
  var list: [String] {
    let items = ["a", "b"]
      #if compiler(>=5)
        .map { $0 + #keyPath(Begun.text) }
      #endif
    return items
  }
}

#if true
  @objc protocol ConditionalProtocol { var text: String? { get } }
#endif
extension Begun: ConditionalProtocol {}

private var entities: [NSEntityDescription] {
  let names = ["always", "otherwise", "deepName", "attributedText", "inside"]
  let conditional = entity(
    Conditional.self,
    names.map { attribute($0, .stringAttributeType) } + [attribute("number", .integer16AttributeType, 0)])
  return [
    conditional, entity(Branched.self, texts("text")), entity(Begun.self, texts("text")),
    entity(Unreadable.self, texts("text")),
  ]
}

func conditionConstructs() {
  World.add(entities)
  construct(.conditions, "a member that is always there") { try works(\Conditional.always, "always", "a") }
  construct(.conditions, "a member behind else") { try works(\Conditional.otherwise, "otherwise", "a") }
  construct(.conditions, "a member with a type in each branch") { try works(\Conditional.number, "number", 3) }
  construct(.conditions, "three conditions inside of each other") { try works(\Conditional.deep, "deepName", "a") }
  construct(.conditions, "a type that is there on some platforms only") {
    expect(World.make(Conditional.self).entity.propertiesByName["image"] == nil)
  }
  construct(.conditions, "an attribute in each branch of a member") {
    expect(World.make(Conditional.self).branched, is: "branched")
  }
  construct(.conditions, "a name under a condition") {
    try works(\Conditional.attributed, "attributedText", "a")
  }
  construct(.conditions, "a comment with a directive") {
    expect(World.make(Conditional.self).isBridged, is: isAppleHere)
  }
  construct(.conditions, "an extension with an override under a condition") {
    expect(World.make(Conditional.self).inside, is: "awake")
  }
  construct(.conditions, "a class in each branch") { try works(\Branched.text, "text", "a") }
  construct(.conditions, "an attribute of a class in each branch") { try works(\Begun.text, "text", "a") }
  construct(.conditions, "a postfix condition") { expect(World.make(Begun.self).list, is: ["atext", "btext"]) }
  construct(.conditions, "a protocol under a condition") {
    let object: any ConditionalProtocol = World.make(Begun.self)
    expect(object.text == nil)
  }
  unreadableConditions()
}
