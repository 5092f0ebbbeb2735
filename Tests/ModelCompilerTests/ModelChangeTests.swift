import Foundation
import ModelCompiler
import ModelFiles
import TestSupport
import Testing

/// The sentences about two versions of a model.
@Suite struct ModelChangeTests {
  private func model(_ body: String) throws -> ModelRecord {
    try ModelSourceReader().read(Data(TestModels.contents(body).utf8))
  }

  private func changes(_ old: String, _ new: String) throws -> [String] {
    try ModelChange.changes(from: model(old), to: model(new)).map { "\($0.effect.rawValue): \($0)" }
  }

  /// The changes of an entity with one property.
  private func changes(of old: String, to new: String) throws -> [String] {
    let other =
      #"<entity name="B"><relationship name="a" toMany="YES" destinationEntity="A" inverseName="b"/></entity>"#
    return try changes(#"<entity name="A">\#(old)</entity>"# + other, #"<entity name="A">\#(new)</entity>"# + other)
  }

  private static let name = #"<attribute name="name" optional="YES" attributeType="String"/>"#

  @Test func `equal models have no difference`() throws {
    #expect(try changes(of: Self.name, to: Self.name).isEmpty)
  }

  /// Also where entities and properties were renamed from an older version.
  @Test(Corpus.condition) func `no model of the corpus differs from itself, and versions do`() throws {
    for url in Corpus.compiledModels {
      let model = try ModelFile.read(at: url)
      #expect(ModelChange.changes(from: model, to: model).isEmpty, "\(Corpus.name(url))")
    }
    let folder = Corpus.root.appending(
      path: "models/compiled/alemar11+CoreDataPlus/Tests/Resources/SampleModel/Fixtures/SampleModel.momd")
    let found = ModelChange.changes(
      from: try ModelFile.read(at: folder.appending(path: "SampleModel2.mom")),
      to: try ModelFile.read(at: folder.appending(path: "SampleModel3.mom")))
    #expect(found.contains { "\($0)" == "The entity Maker is new; it has no objects of its own." })
  }

  @Test func `entities come, go and are renamed`() throws {
    #expect(
      try changes(#"<entity name="A"/><entity name="B"/>"#, #"<entity name="C" elementID="A"/><entity name="D"/>"#) == [
        "migrated: The entity A is renamed to C; its objects are kept.",
        "migrated: The entity D is new; it has no objects of its own.",
        "loses: The entity B is gone; its objects are dropped.",
      ])
    #expect(
      try changes(
        #"<entity name="A"/><entity name="B"/>"#,
        #"<entity name="A" isAbstract="YES"/><entity name="B" parentEntity="A"/>"#)
        == [
          "loses: A is abstract; its own objects are dropped.", "migrated: B inherits from A; it did from none.",
          "needsMapping: The hierarchies of A, B are merged in that of A.",
        ])
  }

  struct Example: Sendable, CustomTestStringConvertible {
    var old: String
    var new: String
    var expected: [String]
    var testDescription: String { expected.first ?? "" }
  }

  static let examples = [
    Example(old: "", new: name, expected: ["migrated: A.name is new; it has its default value."]),
    Example(old: name, new: "", expected: ["loses: A.name is gone; its values are dropped."]),
    Example(
      old: "", new: #"<attribute name="n" attributeType="String"/>"#,
      expected: ["needsMapping: A.n is new and required, but has no default value; give it one, or make it optional."]),
    Example(
      old: name, new: #"<attribute name="title" optional="YES" attributeType="String" elementID="name"/>"#,
      expected: ["migrated: A.name is renamed to title; its values are kept."]),
    Example(
      old: #"<attribute name="n" optional="YES" attributeType="Integer 16"/>"#,
      new: #"<attribute name="n" optional="YES" attributeType="Integer 64"/>"#,
      expected: ["needsMapping: A.n is of the type Integer 64; it was Integer 16. All values fit."]),
    Example(
      old: name, new: #"<attribute name="name" optional="YES" attributeType="Date"/>"#,
      expected: ["needsMapping: A.name is of the type Date; it was String."]),
    Example(
      old: name, new: #"<attribute name="name" attributeType="String"/>"#,
      expected: ["mayFail: A.name is required, but has no default value; objects without a value stop the migration."]),
    Example(
      old: name, new: #"<attribute name="name" attributeType="String" defaultValueString="x"/>"#,
      expected: [
        "migrated: A.name is required; objects without a value get its default value.",
        "none: The default value of A.name differs; stored values stay.",
      ]),
    Example(
      old: #"<relationship name="b" optional="YES" toMany="YES" destinationEntity="B" inverseName="a"/>"#,
      new: #"<relationship name="b" optional="YES" maxCount="1" destinationEntity="B" inverseName="a"/>"#,
      expected: [
        "loses: A.b is to-one; of several links the first stays, or that to the object with the lowest key."
      ]),
    Example(
      old: #"<relationship name="b" optional="YES" toMany="YES" destinationEntity="B" inverseName="a"/>"#,
      new: #"<relationship name="b" optional="YES" toMany="YES" ordered="YES" destinationEntity="B" inverseName="a"/>"#,
      expected: ["migrated: A.b is ordered, by the keys of its objects."]),
    Example(
      old: name,
      new: name + "<uniquenessConstraints><uniquenessConstraint><constraint value=\"name\"/></uniquenessConstraint>"
        + "</uniquenessConstraints>",
      expected: ["mayFail: A must be unique by name; objects with equal values stop the migration."]),
    Example(
      old: name, new: name.replacing("String\"", with: "String\" regularExpressionString=\"a\""),
      expected: ["none: The validation of A.name differs; stored values stay."]),
  ]

  @Test(arguments: examples) func `each difference says what becomes of the data`(_ example: Example) throws {
    #expect(try changes(of: example.old, to: example.new) == example.expected)
  }

  @Test func `a property that moves in the hierarchy is kept and compared`() throws {
    let (below, above) = (
      #"<entity name="A"/><entity name="B" parentEntity="A">\#(Self.name)</entity>"#,
      #"<entity name="A">\#(Self.name)</entity><entity name="B" parentEntity="A"/>"#
    )
    #expect(try changes(below, above) == ["migrated: B.name is declared by A; its values are kept."])
    #expect(
      try changes(above, below) == [
        "loses: A.name is gone; its values are dropped.", "migrated: B.name is declared by B; A declared it.",
      ])
    let other = above.replacing("String", with: "Date")
    #expect(try changes(below, other).contains("needsMapping: B.name is of the type Date; it was String."))
  }

  @Test func `hierarchies are not merged`() throws {
    let found = try changes(
      #"<entity name="A"/><entity name="B"/>"#,
      #"<entity name="A" parentEntity="P"/><entity name="B" parentEntity="P"/><entity name="P" isAbstract="YES"/>"#)
    #expect(found.contains("needsMapping: The hierarchies of A, B are merged in that of P."))
  }

  @Test func `no store has transient properties`() throws {
    func text(_ rest: String) -> String { #"<attribute name="x" \#(rest)/>"# }
    let transient = #"transient="YES""#
    #expect(
      try changes(of: text(transient), to: text(transient + #" attributeType="String""#)) == [
        "none: The transient property A.x differs."
      ])
    #expect(
      try changes(of: text(#"optional="YES" attributeType="String""#), to: text(transient)) == [
        "loses: A.x is transient; its values are dropped."
      ])
    #expect(
      try changes(of: text(transient), to: text(#"attributeType="String""#))[0].hasPrefix(
        "needsMapping: A.x is new and"))
  }

  @Test func `a renamed attribute keeps its constraint, and derived attributes are computed`() throws {
    func unique(_ name: String) -> String {
      "<uniquenessConstraints><uniquenessConstraint><constraint value=\"\(name)\"/></uniquenessConstraint>"
        + "</uniquenessConstraints>"
    }
    let title = #"<attribute name="title" optional="YES" attributeType="String" elementID="name"/>"#
    #expect(
      try changes(of: Self.name + unique("name"), to: title + unique("title")) == [
        "migrated: A.name is renamed to title; its values are kept."
      ])
    let derived =
      #"<attribute name="d" optional="YES" attributeType="Date" derived="YES" derivationExpression="now()"/>"#
    #expect(try changes(of: "", to: derived) == ["migrated: A.d is new; it is computed."])
  }
}
