import Foundation
import ModelFiles
import Testing

@testable import ModelCompiler

/// The text of generated classes. `Scripts/generated_text` compares it with files of Xcode.
@Suite struct ClassGeneratorTests {
  private static let model = """
    <entity name="Person" representedClassName="Person" syncable="YES" codeGenerationType="class">
    <attribute name="name" attributeType="String"/>
    <attribute name="age" optional="YES" attributeType="Integer 16" defaultValueString="0" usesScalarValueType="YES"/>
    <attribute name="height" attributeType="Double" usesScalarValueType="NO"/>
    <attribute name="born" attributeType="Date" usesScalarValueType="NO"/>
    <attribute name="seen" attributeType="Date" usesScalarValueType="YES"/>
    <attribute name="default" attributeType="Boolean" usesScalarValueType="YES"/>
    <attribute name="color" attributeType="Transformable" customClassName=".Color" valueTransformerName="T"/>
    <attribute name="tags" attributeType="Transformable" customClassName="[String]" valueTransformerName="T"/>
    <attribute name="blob" attributeType="Transformable" valueTransformerName="T"/>
    <attribute name="place" attributeType="Composite" composite="Place"/>
    <relationship name="pet" maxCount="1" destinationEntity="Pet" inverseName="owners" inverseEntity="Pet"/>
    <fetchedProperty name="others" optional="YES"><fetchRequest name="r" entity="Person"/></fetchedProperty>
    </entity>
    <entity name="Pet" representedClassName=".Animal" parentEntity="Being" codeGenerationType="category">
    <relationship name="owners" toMany="YES" ordered="YES" destinationEntity="Person" inverseName="pet" \
    inverseEntity="Person"/>
    </entity>
    <entity name="Being" isAbstract="YES" representedClassName="Other.Being"/>
    <entity name="Plain"/>
    <composite name="Place"><attribute name="x" attributeType="Double"/></composite>
    """

  private func files(
    _ edition: ClassGenerator.Edition, _ selection: ClassGenerator.Selection = .build
  ) throws -> [String: String] {
    let source = try ModelSourceReader().readSource(Data(TestModels.contents(Self.model).utf8))
    let files = ClassGenerator(source, edition: edition).files(selection)
    return Dictionary(uniqueKeysWithValues: files.map { ($0.name, $0.text) })
  }

  @Test func `the code generation of each entity decides which files there are`() throws {
    #expect(
      try files(.xcode16).keys.sorted() == [
        "Animal+CoreDataProperties.swift", "Person+CoreDataClass.swift", "Person+CoreDataProperties.swift",
      ])
    #expect(
      try files(.xcode16, .all).keys.sorted() == [
        "Animal+CoreDataClass.swift", "Animal+CoreDataProperties.swift", "Being+CoreDataClass.swift",
        "Being+CoreDataProperties.swift", "Person+CoreDataClass.swift", "Person+CoreDataProperties.swift",
      ])
  }

  @Test func `the types of properties are those of Xcode`() throws {
    let text = try #require(try files(.xcode16)["Person+CoreDataProperties.swift"])
    let expected = """
      //
      //  Person+CoreDataProperties.swift
      //
      //  This file was automatically generated and should not be edited.
      //

      import Foundation
      import CoreData


      extension Person {

          @nonobjc public class func fetchRequest() -> NSFetchRequest<Person> {
              return NSFetchRequest<Person>(entityName: "Person")
          }

          @NSManaged public var name: String?
          @NSManaged public var age: Int16
          @NSManaged public var height: NSNumber?
          @NSManaged public var born: Date?
          @NSManaged public var seen: TimeInterval
          @NSManaged public var `default`: Bool
          @NSManaged public var color: Color?
          @NSManaged public var tags: [String]?
          @NSManaged public var blob: NSObject?
          @NSManaged public var place: [String: Any]?
          @NSManaged public var pet: Animal?
          @NSManaged public var others: [Person]?

      }

      extension Person : Identifiable {

      }

      """
    #expect(text == expected)
  }

  @Test func `an ordered relationship has ten functions, a subclass no Identifiable`() throws {
    let text = try #require(try files(.xcode26)["Animal+CoreDataProperties.swift"])
    #expect(text.contains("public import Foundation\npublic import CoreData\n\n\npublic typealias "))
    #expect(text.contains("AnimalCoreDataPropertiesSet = NSSet\n\nextension Animal {\n"))
    #expect(text.contains("NSFetchRequest<Animal>(entityName: \"Pet\")"))
    #expect(text.components(separatedBy: "@objc(").count == 11)
    #expect(text.contains("@objc(replaceOwnersAtIndexes:withOwners:)\n    @NSManaged public func replaceOwners("))
    #expect(text.contains("addToOwners(_ values: NSOrderedSet)"))
    #expect(!text.contains("Identifiable"))
  }

  @Test func `a class inherits from that of the parent entity`() throws {
    let files = try files(.xcode26, .all)
    // A class of the current module has no name in Objective-C.
    #expect(
      files["Animal+CoreDataClass.swift"]?.hasSuffix(
        "AnimalCoreDataClassSet = NSSet\n\n\npublic class Animal: Being {\n\n}\n") == true)
    #expect(files["Being+CoreDataClass.swift"]?.contains("@objc(Being)\npublic class Being: NSManagedObject {") == true)
  }

  @Test func `the newest edition has members of no actor`() throws {
    let text = try #require(try files(.xcode27)["Animal+CoreDataProperties.swift"])
    #expect(text.contains("@NSManaged nonisolated public var owners: NSOrderedSet?"))
    #expect(text.contains("@NSManaged nonisolated public func addToOwners("))
    #expect(text.contains("public import CoreData\n\npublic typealias"))
  }

  @Test func `what is no name in Swift is not generated, and reported`() throws {
    let text = TestModels.contents(
      #"""
      <entity name="A&quot;B" representedClassName="AB" codeGenerationType="class">
      <attribute name="x: Int { fatalError() }; var y" attributeType="String"/><attribute name="open" attributeType="String"/>
      </entity>
      <entity name="C" representedClassName="C D" codeGenerationType="class"/>
      <entity name="E" representedClassName="AB" codeGenerationType="class"/>
      """#)
    let source = try ModelSourceReader().readSource(Data(text.utf8))
    let generator = ClassGenerator(source)
    let files = generator.files()
    #expect(files.map(\.name) == ["AB+CoreDataClass.swift", "AB+CoreDataProperties.swift"])
    #expect(files[1].text.contains(#"(entityName: "A\"B")"#))
    #expect(files[1].text.contains("@NSManaged public var open: String?") && !files[1].text.contains("fatalError"))
    let found = generator.diagnostics(path: "M")
    #expect(found.map(\.element) == [#"A"B.x: Int { fatalError() }; var y"#, "C", #"A"B"#])
    #expect(found.last?.message == #"The class AB is that of A"B, E; it is generated with the properties of the first"#)
  }

  private static func generator(_ body: String) throws -> ClassGenerator {
    ClassGenerator(try ModelSourceReader().readSource(Data(TestModels.contents(body).utf8)), edition: .xcode16)
  }

  @Test(arguments: ["class", "self", "Any", "where", "some", "any"])
  func `a class with a reserved name has backticks`(_ name: String) throws {
    let files = try Self.generator(
      """
      <entity name="A" representedClassName="\(name)" codeGenerationType="class"/>
      <entity name="B" representedClassName="B" parentEntity="A" codeGenerationType="class">
      <relationship name="one" maxCount="1" destinationEntity="A"/><relationship name="many" toMany="YES" destinationEntity="A"/>
      <fetchedProperty name="f"><fetchRequest name="r" entity="A"/></fetchedProperty></entity>
      """
    ).files()
    #expect(files.count == 4)
    #expect(files[0].text.contains("@objc(\(name))\npublic class `\(name)`: NSManagedObject {"))
    #expect(files[1].text.contains("extension `\(name)` {"))
    #expect(files[1].text.contains("NSFetchRequest<`\(name)`>(entityName: \"A\")"))
    #expect(files[1].text.contains("extension `\(name)` : Identifiable {"))
    #expect(files[2].text.contains("public class B: `\(name)` {"))
    for text in ["var one: `\(name)`?", "addToMany(_ value: `\(name)`)", "var f: [`\(name)`]?"] {
      #expect(files[3].text.contains(text))
    }
  }

  @Test(arguments: [
    ("_", "\"_\" is no name in Swift; rename it"),
    ("1a", "\"1a\" is no name in Swift; rename it"),
  ])
  func `a property that Swift cannot have is left out and reported`(_ name: String, _ reason: String) throws {
    let generator = try Self.generator(
      """
      <entity name="E" representedClassName="E" codeGenerationType="class">
      <attribute name="\(name)" attributeType="String"/></entity>
      """)
    #expect(!generator.buildSource.contains("@NSManaged"))
    let found = generator.diagnostics(path: "M")
    #expect(found.map(\.message) == ["E.\(name): no code is generated, because \(reason)"])
    #expect(found.map(\.element) == ["E.\(name)"])
  }

  @Test(arguments: ["Type", "Protocol", "Any", "class"])
  func `a property with a reserved name is in backticks`(_ name: String) throws {
    let generator = try Self.generator(
      """
      <entity name="E" representedClassName="E" codeGenerationType="class">
      <attribute name="\(name)" attributeType="String"/></entity>
      """)
    #expect(generator.buildSource.contains("@NSManaged public var `\(name)`: String?"))
    #expect(generator.diagnostics(path: "M").isEmpty)
  }

  @Test(arguments: [
    "[any Codable]", "[String : any Sendable]", "Dictionary<String, any Sendable>", "[Int: (any P & Q)]",
  ])
  func `existential types within others are types`(_ type: String) { #expect(TypeText.isType(type)) }

  @Test func `a class that Swift cannot have is named wherever it is needed`() throws {
    let generator = try Self.generator(
      """
      <entity name="A" representedClassName="_"/>
      <entity name="B" representedClassName="B" parentEntity="A" codeGenerationType="class"/>
      <entity name="C&#10;D" representedClassName="C" codeGenerationType="class">
      <relationship name="r" maxCount="1" destinationEntity="A"/></entity>
      <entity name="F" representedClassName="F" parentEntity="B" codeGenerationType="class"/>
      <entity name="G" representedClassName="G" parentEntity="A" codeGenerationType="category"/>
      """)
    #expect(generator.files().map(\.entity) == ["B", "B", "C\nD", "C\nD", "F", "F", "G"])
    #expect(generator.buildSource.contains("public class B: NSManagedObject {"))
    #expect(generator.buildSource.contains("public class F: B {"))
    #expect(generator.buildSource.contains("(entityName: \"C\\nD\")"))
    #expect(generator.buildSource.contains("var r: NSManagedObject?"))
    #expect(
      generator.diagnostics(path: "M").map(\.message) == [
        "B: the class inherits from NSManagedObject, because \"_\", the class of its parent entity, is no name in Swift; "
          + "rename it",
        "C\nD.r: the accessor is of NSManagedObject, because \"_\" is no name in Swift; rename it",
      ])
  }

  @Test(arguments: [
    "evil? } ; func x() {", "Int, y: Int", "Int = 3", "A\nB", "A B", "[A", "A]", "A<B", "any A", "A & B", "class", "",
    "`A`", "A!", "A // B", "A.", "_", String(repeating: "[", count: 100_000),
  ])
  func `a custom class that is no type is left out and reported`(_ type: String) throws {
    guard !type.isEmpty else { return #expect(!TypeText.isType(type)) }
    let escaped = type.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing("\n", with: "&#10;")
    let generator = try Self.generator(
      """
      <entity name="E" representedClassName="E" codeGenerationType="class">
      <attribute name="a" attributeType="Transformable" valueTransformerName="T" customClassName="\(escaped)"/></entity>
      """)
    #expect(!generator.buildSource.contains("@NSManaged"))
    #expect(
      generator.diagnostics(path: "M").map(\.message)
        == ["E.a: no code is generated, because its custom class \"\(type)\" is no type in Swift; correct it"])
  }

  @Test(arguments: [
    "A", "App.Color", "[String]", "[String: Double]", "Set<Int>", "Dictionary<String, [A.B?]>", "(any P & Q)", "(A, B)",
    "Any", "[String : Any]", "A?", "Ünïcode_9",
  ])
  func `a custom class may be any type`(_ type: String) { #expect(TypeText.isType(type)) }

  @Test func `Objective-C as the language is reported`() throws {
    let text = TestModels.contents(Self.model, model: #"sourceLanguage="Objective-C""#)
    let source = try ModelSourceReader().readSource(Data(text.utf8))
    #expect(ClassGenerator(source).diagnostics(path: "M").first?.message.contains("Objective-C") == true)
    let manual = TestModels.contents(#"<entity name="E" representedClassName="E"/>"#, model: "")
    let none = try ModelSourceReader().readSource(Data(manual.utf8))
    #expect(ClassGenerator(none).diagnostics(path: "M").isEmpty)
  }
}
