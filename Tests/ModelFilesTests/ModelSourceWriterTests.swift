import Foundation
import PropertyLists
import StoreQuery
import StoreSchema
import TestSupport
import Testing

@testable import ModelFiles

/// Sources that are written: as Xcode formats them, and with what a record has.
@Suite struct ModelSourceWriterTests {
  /// The sources of the corpus that Xcode 14 or later has saved, by their text.
  private static func recent() throws -> [(url: URL, text: String)] {
    try Corpus.manifest().filter { $0.kind == "model-source" }.compactMap { entry in
      let text = try String(contentsOf: entry.file, encoding: .utf8)
      let version = text.components(separatedBy: "lastSavedToolsVersion=\"").dropFirst().first?.prefix { $0.isNumber }
      guard let number = version.flatMap({ Int($0) }), number >= 21279 else { return nil }
      return (entry.file, text)
    }
  }

  @Test(Corpus.condition) func `a source that Xcode has saved is formatted as it is`() throws {
    let sources = try Self.recent()
    #expect(sources.count == 33)
    for source in sources {
      var text = SourceText()
      text.write(try XMLElement.root(of: Data(source.text.utf8)))
      // Some projects end their files with a line end, which Xcode does not write.
      #expect(text.text == source.text.trimmingCharacters(in: .newlines), "\(Corpus.name(source.url))")
    }
  }

  /// Nothing of a record is lost, whichever file it comes from.
  @Test(Corpus.condition) func `what is written reads back equal, for every model`() throws {
    for url in Corpus.sourceModels + Corpus.compiledModels {
      let model = try ModelFile.read(at: url)
      let written = ModelSourceWriter(model)
      let differences = ModelDifferences.list(try ModelSourceReader().read(written.contents), model)
      #expect(differences.isEmpty, "\(Corpus.name(url)): \(differences.prefix(3))")
      #expect(written.omissions.isEmpty, "\(Corpus.name(url)): \(written.omissions.prefix(3))")
    }
  }

  // MARK: Sources that were compiled

  /// What a compiled model does not carry, or carries in another form, of each kind of element: the list of
  /// ``ModelSourceWriter``. A value is lost, added or changed; `.empty` stands for values and elements without content.
  private static let known: Set<String> = [
    // Xcode's own.
    "model.lastSavedToolsVersion", "model.systemVersion", "model.minimumToolsVersion", "model.macOSVersion",
    "model.iOSVersion", "model.sourceLanguage", "model.usedWithCloudKit", "model.usedWithSwiftData", "model.name",
    "model.name.empty", "elements.name", "elements.empty", "entity.codeGenerationType", "attribute.usesScalarValueType",
    "attribute.syncable", "relationship.syncable",
    // What says the same as nothing.
    "entity.representedClassName", "entity.representedClassName.empty", "attribute.valueTransformerName.empty",
    "userInfo.empty", "fetchRequest.includePropertyValues", "fetchRequest.includeSubentities",
    "fetchRequest.includesPendingChanges", "fetchRequest.returnObjectsAsFaults",
    // Two names of the same.
    "attribute.renamingIdentifier", "attribute.elementID",
    // One source names another entity than the destination.
    "relationship.inverseEntity",
    // One default value is none of its type, and one truth value is `0`.
    "attribute.defaultValueString",
    "fetchRequest.predicateString", "attribute.composite", "composite.name",
  ]

  /// Of an element and its children, what differs; children are found by their names.
  private static func differences(_ one: XMLElement, _ other: XMLElement, _ path: String) -> [(
    key: String, text: String
  )] {
    var result: [(String, String)] = []
    for key in Set(one.attributes.keys).union(other.attributes.keys).sorted() {
      let (a, b) = (one.attributes[key], other.attributes[key])
      if a == b { continue }
      // The spelling of numbers.
      if key == "defaultValueString", let number = a.flatMap(Double.init), number == b.flatMap(Double.init) { continue }
      let isEmpty = a == "" && b == nil
      result.append(("\(one.name).\(key)\(isEmpty ? ".empty" : "")", "\(path) \(key): \(a ?? "-") became \(b ?? "-")"))
    }
    let (names, others) = (one.children.map(Self.name), other.children.map(Self.name))
    for name in Set(names).symmetricDifference(others).sorted() {
      result.append((name.kind + (name.isEmpty ? ".empty" : ".name"), "\(path): \(name)"))
    }
    for child in one.children {
      guard let partner = other.children.first(where: { Self.name($0) == Self.name(child) }) else { continue }
      result += differences(child, partner, "\(path)/\(child.attributes["name"] ?? child.name)")
    }
    return result
  }

  private struct Name: Hashable, Comparable {
    let (kind, text): (String, String)
    let isEmpty: Bool
    static func < (one: Name, other: Name) -> Bool { (one.kind, one.text) < (other.kind, other.text) }
  }

  private static func name(_ element: XMLElement) -> Name {
    let keys = ["name", "key", "property", "value"]
    return Name(
      kind: element.name, text: keys.lazy.compactMap { element.attributes[$0] }.first ?? "",
      isEmpty: element.attributes.isEmpty && element.children.isEmpty)
  }

  @Test(Corpus.condition) func `a source that was compiled loses only what a compiled model lacks`() throws {
    let sources = try Corpus.manifest().filter { $0.kind == "model-source" }.map(\.file)
    #expect(sources.count == 165)
    var found: [String: [String]] = [:]
    for source in sources {
      let model = try ModelFile.read(at: source.deletingLastPathComponent())
      let compiled = try CompiledModelReader.read(try CompiledModelWriter.write(model))
      let written = try XMLElement.root(of: ModelSourceWriter(compiled).contents)
      for (key, text) in Self.differences(try XMLElement.root(of: Data(contentsOf: source)), written, "") {
        found[key, default: []].append("\(Corpus.name(source)): \(text)")
      }
    }
    for (key, texts) in found.sorted(by: { $0.key < $1.key }) where !Self.known.contains(key) {
      Issue.record("\(texts.count) of \(key), such as \(texts[0])")
    }
    #expect(Self.known.subtracting(found.keys).isEmpty, "what is listed is lost of no source")
  }

  // MARK: What a source cannot express

  @Test func `what a source cannot express is named`() throws {
    let data = PropertyRecord(
      name: "photo",
      kind: .attribute(AttributeRecord(type: 1000, valueClassName: "NSData", defaultValue: .data(Data([1])))),
      userInfo: ["size": .integer(3)],
      validations: [ValidationRecord(.comparison(.init(.evaluatedObject, .notEqualTo, .constant(.int(3)))))])
    var request = FetchRequestRecord(name: "all", entityName: "Item")
    request.sortDescriptors = [SortRecord(key: "photo")]
    let model = ModelRecord(
      versionIdentifiers: ["a", "b"], entities: [EntityRecord(name: "Item", properties: [data])],
      fetchRequestTemplates: [request])
    let written = ModelSourceWriter(model)
    #expect(
      written.omissions == [
        "Of the model's version identifiers only a is written.",
        "Item.photo has a default value that a source cannot express.",
        "Item.photo has the condition SELF != 3, which a source cannot express.",
        "Item.photo has the user info size, which is no text.",
        "The fetch request all has an order, an offset or properties to fetch, group or prefetch, "
          + "which a source cannot express.",
      ])
    let again = try ModelSourceReader().read(written.contents)
    #expect(again.entities.map(\.name) == ["Item"] && again.versionIdentifiers == ["a"])
  }

  /// Whatever is lost without a sentence of its own is found because the source is read back.
  @Test func `what is read back in another form is named`() throws {
    let condition = Predicate.comparison(.init(.evaluatedObject, .greaterThanOrEqualTo, .constant(.int(3))))
    let count = PropertyRecord(
      name: "count", kind: .attribute(AttributeRecord(type: 200, valueClassName: "NSNumber")),
      validations: [ValidationRecord(condition, warning: .text("Too few."))])
    let model = ModelRecord(versionIdentifiers: [""], entities: [EntityRecord(name: "Item", properties: [count])])
    #expect(ModelSourceWriter(model).omissions == ["Item.count is read back in another form: validations."])
    let empty = PropertyRecord(
      name: "link", kind: .relationship(RelationshipRecord(destinationEntity: "Item", inverseName: "")),
      isReadOnly: true, renamingIdentifier: "")
    let item = EntityRecord(name: "Item", className: "NSManagedObject", properties: [empty])
    #expect(
      ModelSourceWriter(ModelRecord(versionIdentifiers: [""], entities: [item])).omissions == [
        "Item.link is read back in another form: inverseName was \"\" and is none, isReadOnly was true and is false, "
          + "renamingIdentifier was \"\" and is \"link\".",
        "Item is read back in another form: className was \"NSManagedObject\" and is none.",
      ])
    #expect(ModelSourceWriter(ModelRecord()).omissions.isEmpty)
  }

  /// A composite in composites, as the reader allows them, and one more.
  @Test func `composites are written as deep as they are read`() throws {
    func model(_ levels: Int) -> ModelRecord {
      var property = PropertyRecord(name: "x", kind: .attribute(AttributeRecord(type: 700, valueClassName: "NSString")))
      for level in 0..<levels {
        let record = AttributeRecord(type: 2100, valueClassName: "NSDictionary", elements: [property])
        property = PropertyRecord(name: "c\(level)", kind: .attribute(record))
      }
      return ModelRecord(versionIdentifiers: [""], entities: [EntityRecord(name: "E", properties: [property])])
    }
    let written = ModelSourceWriter(model(16))
    #expect(written.omissions.isEmpty)
    #expect(try ModelSourceReader().read(written.contents) == model(16))
    #expect(ModelSourceWriter(model(17)).omissions.first == "c0 is a composite that is nested too deeply for a source.")
    #expect(throws: ModelFileError.self) { try CompiledModelWriter.write(model(17)) }
  }

  @Test func `elements are written as deep as they are read`() throws {
    func element(_ levels: Int) -> XMLElement {
      (1..<levels).reduce(XMLElement(name: "e", attributes: [:])) { inner, _ in
        XMLElement(name: "e", attributes: [:], children: [inner])
      }
    }
    var (text, deeper) = (SourceText(), SourceText())
    text.write(element(16))
    #expect(text.omissions.isEmpty)
    #expect(throws: Never.self) { try XMLElement.root(of: Data(text.text.utf8)) }
    deeper.write(element(17))
    #expect(deeper.omissions == ["The content of <e> is nested too deeply for a source."])
    #expect(throws: Never.self) { try XMLElement.root(of: Data(deeper.text.utf8)) }
  }

  /// Any text is written so that it is read back, and nobody's text ends an element.
  @Test(arguments: ["<a b=\"c\">&amp;</a>", "line\nend\ttab\r", "'\u{1F600}é", "]]>", ""])
  func `texts are escaped`(text: String) throws {
    let info: [String: PropertyList] = text.isEmpty ? [:] : [text: .string(text)]
    let model = ModelRecord(
      versionIdentifiers: [text],
      entities: [EntityRecord(name: "Item", userInfo: info.merging(["empty": .string(text)]) { $1 })])
    #expect(try ModelSourceReader().read(ModelSourceWriter(model).contents) == model)
  }

  @Test func `control characters are left out and named`() throws {
    let written = ModelSourceWriter(ModelRecord(entities: [EntityRecord(name: "I\u{1}tem")]))
    #expect(written.omissions == ["The name of <entity> has a control character, which XML cannot have."])
    #expect(try ModelSourceReader().read(written.contents).entities.map(\.name) == ["Item"])
  }
}
