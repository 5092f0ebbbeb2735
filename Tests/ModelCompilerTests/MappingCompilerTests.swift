import Foundation
import ModelCompiler
import ModelFiles
import PropertyLists
import StoreQuery
import StoreSchema
import TestSupport
import Testing

@Suite struct MappingCompilerTests {
  private typealias Mapping = MappingSource.EntityMapping
  private typealias Property = MappingSource.PropertyMapping

  private static func instances(_ mapping: String, _ path: String) -> StoreQuery.Expression {
    .function(
      "destinationInstancesForEntityMappingNamed:sourceInstances:",
      [.constant(.string(mapping)), .keyPathOf(.variable("source"), path)], target: .variable("manager"))
  }

  /// The mapping model whose compiled form is in the corpus, as its source has it.
  private static let cars: MappingSource = {
    let policy = "REPLACE_AT_RUNTIME.V2to3MakerPolicy"
    let previous = instances("PersonToPerson", "owner")
    let relationships = [
      Property("createdBy"), Property("owner"), Property("previousOwners", valueExpression: previous),
    ]
    let attributes = ["markedForDeletionAsOf", "model", "numberPlate"].map { Property($0) }
    let cars = StoreQuery.Expression.function(
      "destinationInstancesForSourceRelationshipNamed:sourceInstances:",
      [.constant(.string("cars")), .keyPathOf(.variable("source"), "cars")], target: .variable("manager"))
    func car(_ name: String, _ more: [Property] = []) -> Mapping {
      Mapping(
        from: name, to: name, policyClassName: policy, attributes: more + attributes, relationships: relationships)
    }
    return MappingSource(entityMappings: [
      car("Car"), car("LuxuryCar", [Property("isLimitedEdition")]),
      Mapping(
        from: "Person", to: "Person", attributes: ["firstName", "lastName", "updatedAt"].map { Property($0) },
        relationships: [Property("cars"), Property("previousCars", valueExpression: cars)]),
      car("SportCar"),
      Mapping(from: nil, to: "Maker", attributes: [Property("name")], relationships: [Property("cars")]),
    ])
  }()

  @Test(Corpus.condition) func `a mapping model is compiled as Apple's compiler does`() throws {
    let models = Corpus.root.appending(
      path: "models/compiled/alemar11+CoreDataPlus/Tests/Resources/SampleModel/Fixtures/SampleModel.momd")
    let (old, new) = (
      try ModelFile.read(at: models.appending(path: "SampleModel2.mom")),
      try ModelFile.read(at: models.appending(path: "SampleModel3.mom"))
    )
    let compiled = try MappingCompiler(from: old, to: new).compile(Self.cars)
    let file = Corpus.files(under: "models/mapping") { $0.pathExtension == "cdm" }[0]
    #expect(try compiled == CompiledMapping.read(Data(contentsOf: file)))
  }

  /// The corpus has the models of most mapping models of its projects, in another folder.
  @Test(Corpus.condition) func `every mapping model of the corpus whose models are there is compiled`() throws {
    let models = Corpus.files(under: "models/models") { $0.pathExtension == "xcdatamodel" }
    func find(_ path: String?, _ project: Substring) -> URL? {
      let end = (path ?? "").split(separator: "/").suffix(2).map(String.init)
      return models.first {
        Corpus.name($0).split(separator: "/")[2] == project && $0.pathComponents.suffix(2) == end[...]
      }
    }
    var (compiled, without) = (0, 0)
    for folder in Corpus.files(under: "models/mapping", where: { $0.pathExtension == "xcmappingmodel" }) {
      let mapping = try MappingSource.read(folder: folder)
      let project = Corpus.name(folder).split(separator: "/")[2]
      guard let old = find(mapping.sourceModelPath, project), let new = find(mapping.destinationModelPath, project)
      else {
        without += 1
        continue
      }
      let output = try ModelCompiler().compile(mapping: folder, from: old, to: new)
      #expect(try ModelCompiler().compile(mapping: folder, from: old, to: new) == output)
      compiled += 1
    }
    #expect((compiled, without) == (9, 5))
  }

  @Test func `the models of a mapping model are found near it`() throws {
    let folder = try TestFolder()
    let bundle = folder.url.appending(path: "Models/App.xcdatamodeld")
    try TestModels.writeBundle(["One", "Two"], current: "Two", to: bundle)
    let mapping = folder.url.appending(path: "Mappings/OneToTwo.xcmappingmodel")
    try FileManager.default.createDirectory(at: mapping, withIntermediateDirectories: true)
    func write(_ path: String) throws {
      let text = """
        <database><object type="XDDEVMAPPINGMODEL" id="z1">
        <attribute name="sourcemodelpath" type="string">Project/\(path)/One.xcdatamodel</attribute>
        <attribute name="destinationmodelpath" type="string">Project/\(path)/Two.xcdatamodel</attribute>
        <relationship name="entitymappings" type="0/0" destination="X" idrefs="z2"></relationship></object>
        <object type="XDDEVENTITYMAPPING" id="z2"><attribute name="sourcename" type="string">One</attribute>
        <attribute name="destinationname" type="string">Two</attribute>
        <relationship name="attributemappings" type="0/0" destination="X" idrefs="z3"></relationship></object>
        <object type="XDDEVATTRIBUTEMAPPING" id="z3"><attribute name="name" type="string">a</attribute></object>
        </database>
        """
      try Data(text.utf8).write(to: mapping.appending(path: "xcmapping.xml"))
    }
    try write("Models/App.xcdatamodeld")
    let compiled = try ModelCompiler().compile(mapping: mapping)
    #expect(compiled.name == "OneToTwo.cdm")
    guard case .file(let data) = compiled.content else { return #expect(Bool(false)) }
    let record = try CompiledMapping.read(data)
    #expect(record.entityMappings.map(\.name) == ["OneToTwo"])
    let hash = try ModelFile.read(at: bundle.appending(path: "Two.xcdatamodel")).versionHashes["Two"]
    #expect(record.entityMappings[0].destinationHash == hash)
    #expect(
      record.entityMappings[0].attributeMappings?.map(\.valueExpression) == [.keyPathOf(.variable("source"), "a")])
    // Elsewhere they must be given.
    try write("Elsewhere/Other.xcdatamodeld")
    let failure = #expect(throws: CompilationFailure.self) { try ModelCompiler().compile(mapping: mapping) }
    #expect(failure.map { "\($0)" }?.contains("was not found near it") == true)
    let given = try ModelCompiler().compile(
      mapping: mapping, from: bundle.appending(path: "One.xcdatamodel"), to: bundle.appending(path: "Two.xcdatamodel"))
    #expect(given == compiled)
  }

  private static func mapping(_ userInfo: String, _ ofProperty: String) -> Data {
    Data(
      """
      <database><object type="XDDEVMAPPINGMODEL" id="z1">
      <relationship name="entitymappings" type="0/0" destination="X" idrefs="z2"></relationship></object>
      <object type="XDDEVENTITYMAPPING" id="z2"><attribute name="sourcename" type="string">A</attribute>
      <attribute name="destinationname" type="string">A</attribute>
      <attribute name="userinfodata" type="binary">\(userInfo)</attribute>
      <relationship name="attributemappings" type="0/0" destination="X" idrefs="z3"></relationship></object>
      <object type="XDDEVATTRIBUTEMAPPING" id="z3"><attribute name="name" type="string">x</attribute>
      <attribute name="userinfodata" type="binary">\(ofProperty)</attribute></object></database>
      """.utf8)
  }

  private static func archive(_ value: PropertyList) -> String {
    var writer = KeyedArchiveWriter()
    let root = writer.add(value, depth: 9)
    return writer.archive(root: root).base64EncodedString()
  }

  @Test func `notes of the author are compiled, and none is lost silently`() throws {
    let notes = Self.archive(.dictionary(["why": .string("renamed"), "step": .integer(2)]))
    let source = try MappingSource.read(Self.mapping(notes, Self.archive(.dictionary(["a": .string("b")]))))
    let model = try model(#"<entity name="A"><attribute name="x" attributeType="String"/></entity>"#)
    let compiled = try MappingCompiler(from: model, to: model).compile(source)
    let mapping = try #require(CompiledMapping.read(CompiledMapping.write(compiled)).entityMappings.first)
    #expect(mapping.userInfo == ["why": .string("renamed"), "step": .integer(2)])
    #expect(mapping.attributeMappings?.map(\.userInfo) == [["a": .string("b")]])
    let empty = try MappingSource.read(Self.mapping(Self.archive(.dictionary([:])), ""))
    #expect(empty.entityMappings[0].userInfo == nil)
    let list = #expect(throws: ModelFileError.self) {
      try MappingSource.read(Self.mapping(Self.archive(.array([.integer(1)])), ""))
    }
    #expect(list == ModelFileError(.malformed, "A: the userinfodata is no dictionary", element: "A"))
    #expect(throws: ModelFileError.self) { try MappingSource.read(Self.mapping("AAAA", "")) }
  }

  private func model(_ body: String) throws -> ModelRecord {
    try ModelSourceReader().read(Data(TestModels.contents(body).utf8))
  }

  @Test func `what a model does not have is refused`() throws {
    let old = try model(#"<entity name="A"><attribute name="x" attributeType="String"/></entity>"#)
    let new = try model(#"<entity name="B"><attribute name="y" attributeType="String"/></entity>"#)
    let compiler = MappingCompiler(from: old, to: new)
    #expect(throws: ModelFileError.self) {
      try compiler.compile(MappingSource(entityMappings: [Mapping(from: "B", to: "B")]))
    }
    #expect(throws: ModelFileError.self) {
      try compiler.compile(MappingSource(entityMappings: [Mapping(from: "A", to: "B", attributes: [Property("x")])]))
    }
    let twice = MappingSource(entityMappings: [Mapping(from: "A", to: "B"), Mapping(from: "A", to: "B")])
    #expect(throws: ModelFileError.self) { try compiler.compile(twice) }
    let removed = try compiler.compile(MappingSource(entityMappings: [Mapping(from: "A", to: nil)]))
    #expect(removed.entityMappings.map(\.name) == ["A"])
    #expect(removed.entityMappings.map(\.type) == [3])
    #expect(removed.entityMappings[0].destinationHash == nil)
  }
}
