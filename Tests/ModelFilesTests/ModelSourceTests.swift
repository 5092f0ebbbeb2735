import Foundation
import ModelFiles
import PropertyLists
import StoreQuery
import StoreSchema
import Testing

@Suite struct ModelSourceTests {
  static func model(_ body: String, moduleName: String? = nil) throws -> ModelRecord {
    let text = """
      <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
      <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" userDefinedModelVersionIdentifier="v1">
      \(body)
      </model>
      """
    return try ModelSourceReader(moduleName: moduleName).read(Data(text.utf8))
  }

  static func attribute(_ xml: String) throws -> (PropertyRecord, AttributeRecord) {
    let model = try model("<entity name='E' syncable='YES'><attribute name='a' \(xml)/></entity>")
    let property = try #require(model.entities.first?.properties.first)
    guard case .attribute(let attribute) = property.kind else { throw ModelFileError(.malformed, "no attribute") }
    return (property, attribute)
  }

  @Test(arguments: [
    ("Integer 16", "7", Value.int(7)), ("Integer 64", "-9223372036854775808", .int(.min)),
    ("Double", "0.5", .double(0.5)), ("Boolean", "YES", .bool(true)),
    ("Decimal", "12.50", .decimal(Decimal(sign: .plus, exponent: -1, significand: 125))),
    ("Boolean", "NO", .bool(false)), ("String", "", .string("")), ("String", "a&amp;b", .string("a&b")),
    ("URI", "https://a.b", .uri("https://a.b")), ("UUID", "nonsense", .null), ("Integer 32", "", .null),
    ("Decimal", "1x", .null), ("Date", "yesterday", .null), ("Binary", "x", .null),
    ("Integer 16", "-32768", .int(-32_768)), ("Integer 16", "70000", .null), ("Integer 16", "4.0", .int(4)),
    ("Integer 32", "2147483647", .int(2_147_483_647)), ("Integer 32", "99999999999", .null),
    ("Integer 64", "9223372036854775808", .null), ("Integer 64", "9007199254740993.0", .int(9_007_199_254_740_993)),
    ("Integer 64", "1e18", .int(1_000_000_000_000_000_000)),
    ("Integer 64", "1e19", .null),
    ("Double", "nan", .null), ("Double", "inf", .null), ("Double", "1e999", .null), ("Float", "1e99", .null),
    ("Decimal", ".", .null), ("Decimal", "+.5", .decimal(Decimal(sign: .plus, exponent: -1, significand: 5))),
    ("Decimal", "nan", .null), ("Decimal", "1e999", .null), ("Decimal", "1e-999", .null),
    ("Decimal", "1.", .decimal(1)),
    ("Decimal", "123456789012345678901234567890123456789", .null), ("Decimal", "e5", .null),
  ])
  func `default values are read by type`(_ type: String, _ text: String, _ expected: Value) throws {
    let (_, attribute) = try Self.attribute("attributeType='\(type)' defaultValueString='\(text)'")
    #expect(attribute.defaultValue == expected)
  }

  @Test func `the interval of a date default wins over its text`() throws {
    let (_, attribute) = try Self.attribute(
      "attributeType='Date' defaultDateTimeInterval='-86400' defaultValueString='long ago'")
    #expect(attribute.defaultValue == .date(-86_400))
  }

  @Test func `limits and patterns become predicates`() throws {
    let text = try Self.attribute(
      "attributeType='String' minValueString='3' maxValueString='32' regularExpressionString='^a$'"
    ).0
    #expect(
      try text.validations == [
        ValidationRecord(Predicate(format: "length >= 3"), warning: .code(1670)),
        ValidationRecord(Predicate(format: "length <= 32"), warning: .code(1660)),
        ValidationRecord(Predicate(format: "SELF MATCHES '^a$'"), warning: .code(1680)),
      ])
    let number = try Self.attribute("attributeType='Integer 16' minValueString='0'").0
    #expect(try number.validations.map(\.predicate) == [Predicate(format: "SELF >= 0")])
    let date = try Self.attribute("attributeType='Date' maxDateTimeInterval='10' maxValueString='soon'").0
    let bound = Predicate.comparison(.init(.evaluatedObject, .lessThanOrEqualTo, .constant(.date(10))))
    #expect(date.validations.map(\.predicate) == [bound])
  }

  @Test func `derived attributes are read-only and count as the compiler writes it`() throws {
    let (property, attribute) = try Self.attribute(
      "attributeType='Integer 64' derived='YES' derivationExpression='children.@count'")
    #expect(property.isReadOnly)
    #expect(attribute.derivation == .function("count:", [.keyPath("children")], target: nil))
  }

  @Test func `an attribute without type is undefined`() throws {
    #expect(try Self.attribute("transient='YES'").1.type == 0)
  }

  @Test func `composites are expanded`() throws {
    let model = try Self.model(
      """
      <entity name='E'><attribute name='a' attributeType='Composite' composite='C'/></entity>
      <composite name='C'><attribute name='x' attributeType='String'/>
        <attribute name='y' attributeType='Composite' composite='D'/></composite>
      <composite name='D'><attribute name='z' attributeType='Boolean'/></composite>
      """)
    guard case .attribute(let attribute) = model.entities[0].properties[0].kind, let elements = attribute.elements
    else {
      Issue.record("the attribute has no elements")
      return
    }
    #expect(elements.map(\.name) == ["x", "y"])
    guard case .attribute(let inner) = elements[1].kind else { return }
    #expect(inner.elements?.map(\.name) == ["z"])
    #expect(try CompiledModelReader.read(CompiledModelWriter.write(model)) == model)
  }

  @Test(arguments: [
    "<entity/>", "<entity name='A'/><entity name='A'/>", "<entity name='A'><attribute/></entity>",
    "<entity name='A'><attribute name='a'/><attribute name='a'/></entity>",
    "<entity name='A'><attribute name='a' attributeType='Complex'/></entity>",
    "<entity name='A'><attribute name='a' attributeType='Composite' composite='C'/></entity>",
    "<entity name='A'><attribute name='a' attributeType='Composite' composite='C'/></entity><composite name='C'>"
      + "<attribute name='b' attributeType='Composite' composite='C'/></composite>",
    "<entity name='A'><relationship name='a'/></entity>",
    "<entity name='A'><relationship name='a' destinationEntity='A' maxCount='many'/></entity>",
    "<entity name='A'><fetchedProperty name='a'/></entity>", "<entity name='A' parentEntity='A'/>",
    "<entity name=''/>", "<entity name='A'><attribute name='' attributeType='String'/></entity>",
    "<entity name='A' parentEntity='None'/>",
    "<entity name='A' parentEntity='B'/><entity name='B' parentEntity='C'/><entity name='C' parentEntity='B'/>",
    "<fetchRequest name='f' entity='A' predicateString='a =='/>", "<entity name='A'>", "&entity;",
  ])
  func `malformed models are refused`(_ body: String) {
    #expect(throws: ModelFileError.self) { try Self.model(body) }
  }

  /// Each error names the element that it is about, and begins with it or has it in its sentence.
  @Test(arguments: [
    (
      "<attribute name='a' attributeType='String' derived='YES'/>", "E.a",
      "E.a: the derived attribute has no derivation expression; write one"
    ),
    ("<attribute name='a' attributeType='Complex'/>", "E.a", "E.a: the attribute is of the unknown type Complex"),
    (
      "<attribute name='a' attributeType='Date' defaultDateTimeInterval='nan'/>", "E.a",
      "E.a: the defaultDateTimeInterval of <attribute> is not a number: nan"
    ),
    (
      "<relationship name='r' destinationEntity='E' minCount='-5'/>", "E.r",
      "E.r: the minCount of <relationship> is not a number from 0 to 2147483647: -5"
    ),
    (
      "<relationship name='r' destinationEntity='E' toMany='YES' minCount='99999999999'/>", "E.r",
      "E.r: the minCount of <relationship> is not a number from 0 to 2147483647: 99999999999"
    ),
    ("<relationship name='r'/>", "E.r", "E.r: the relationship has no destination entity; choose one"),
    (
      "<relationship name='r' destinationEntity='E' deletionRule='Maybe'/>", "E.r",
      "E.r: the deletion rule Maybe is unknown"
    ),
    (
      "<fetchedProperty name='f'><fetchRequest name='x' entity='E' predicateString='('/></fetchedProperty>", "E.f",
      "E.f: the predicate ( cannot be read: "
    ),
    ("<attribute name=''/>", "E", "E: <attribute> has no name"),
    ("<attribute name='a'/><attribute name='a'/>", "E.a", "the entity E has two properties named a"),
    (
      "<fetchIndex name='i'><fetchIndexElement property='a' type='RTREE'/></fetchIndex>", "E",
      "E: the index i has the unknown type RTREE; it is Binary or RTree"
    ),
    (
      "<fetchIndex name='i'><fetchIndexElement property='a' order='sideways'/></fetchIndex>", "E",
      "E: the index i has the unknown order sideways; it is ascending or descending"
    ),
  ])
  func `an error names its element`(_ body: String, _ element: String, _ message: String) {
    let error = #expect(throws: ModelFileError.self) { try Self.model("<entity name='E'>\(body)</entity>") }
    #expect(error?.element == element)
    #expect(error?.message.hasPrefix(message) == true, "\(error?.message ?? "")")
  }

  @Test(arguments: [
    ("<fetchRequest name='x' entity='E'/>", "fetch requests"), ("<configuration name='x'/>", "configurations"),
    ("<composite name='x'/>", "composites"),
  ])
  func `two of one name are refused`(_ body: String, _ words: String) {
    let error = #expect(throws: ModelFileError.self) { try Self.model(body + body) }
    #expect(error == ModelFileError(.malformed, "there are two \(words) named x", element: "x"))
  }

  @Test func `the elements of an index have a kind and an order`() throws {
    let model = try Self.model(
      """
      <entity name='E'><attribute name='a' attributeType='Double'/><fetchIndex name='i'>
      <fetchIndexElement property='a' type='RTree' order='descending'/><fetchIndexElement property='a' type='Binary'/>
      </fetchIndex></entity>
      """)
    let elements = [
      FetchIndexElementRecord(propertyName: "a", type: 1, isAscending: false),
      FetchIndexElementRecord(propertyName: "a"),
    ]
    #expect(model.entities[0].fetchIndexes.map(\.elements) == [elements])
  }

  @Test func `entities inherit from 256 at most`() throws {
    func chain(_ count: Int) -> String {
      (1..<count).reduce("<entity name='E0'/>") { $0 + "<entity name='E\($1)' parentEntity='E\($1 - 1)'/>" }
    }
    #expect(try Self.model(chain(256)).entities.count == 256)
    let error = #expect(throws: ModelFileError.self) { try Self.model(chain(300)) }
    #expect(error?.message.contains("more than 256") == true)
  }

  @Test func `composites that multiply are refused`() {
    let levels = (0..<8).map { level in
      "<composite name='C\(level)'>"
        + (0..<20).map { "<attribute name='a\($0)' attributeType='Composite' composite='C\(level + 1)'/>" }.joined()
        + "</composite>"
    }
    let body =
      "<entity name='E'><attribute name='a' attributeType='Composite' composite='C0'/></entity>"
      + levels.joined() + "<composite name='C8'/>"
    #expect(throws: ModelFileError.self) { try Self.model(body) }
  }

  @Test func `entities, relationships and class names follow the compiler`() throws {
    let model = try Self.model(
      """
      <entity name='B' representedClassName='.Bee' parentEntity='A' elementID='Old' versionHashModifier='m'>
        <relationship name='many' optional='YES' toMany='YES' deletionRule='Deny' ordered='YES' destinationEntity='A'/>
        <relationship name='bounded' toMany='YES' minCount='1' maxCount='5' deletionRule='Cascade'
          destinationEntity='A' inverseName='i' inverseEntity='A'/>
        <relationship name='one' maxCount='1' deletionRule='No Action' destinationEntity='A'/>
        <attribute name='n' attributeType='String' indexed='YES' elementID='oldN'/>
        <uniquenessConstraints><uniquenessConstraint><constraint value='n'/></uniquenessConstraint></uniquenessConstraints>
        <userInfo><entry key='k' value='v'/></userInfo>
      </entity>
      <entity name='A' representedClassName='NSManagedObject' isAbstract='YES' syncable='YES'/>
      <configuration name='C'><memberEntity name='B'/><memberEntity name='A'/></configuration>
      """, moduleName: "App")
    #expect(model.versionIdentifiers == ["v1"])
    #expect(model.configurations == ["C": ["A", "B"]])
    let (a, b) = (model.entities[0], model.entities[1])
    #expect(a.className == nil && a.isAbstract && a.userInfo.isEmpty && a.renamingIdentifier == "A")
    #expect(b.className == "App.Bee" && b.superentity == "A" && b.renamingIdentifier == "Old")
    #expect(b.userInfo == ["k": .string("v"), "com.apple.syncservices.Syncable": .string("NO")])
    #expect(b.uniquenessConstraints == [["n"]])
    #expect(b.fetchIndexes == [FetchIndexRecord(name: "n", elements: [FetchIndexElementRecord(propertyName: "n")])])
    #expect(b.properties.map(\.name) == ["bounded", "many", "n", "one"])
    let kinds = b.properties.map(\.kind)
    #expect(
      kinds[0]
        == .relationship(
          RelationshipRecord(destinationEntity: "A", inverseName: "i", minCount: 1, maxCount: 5, deleteRule: 2)))
    let many = RelationshipRecord(destinationEntity: "A", maxCount: 0, deleteRule: 3, isOrdered: true)
    #expect(kinds[1] == .relationship(many))
    #expect(kinds[3] == .relationship(RelationshipRecord(destinationEntity: "A", maxCount: 1, deleteRule: 0)))
    #expect(try CompiledModelReader.read(CompiledModelWriter.write(model)) == model)
  }
}
