import Foundation
import ModelFiles
import StoreQuery
import TestSupport
import Testing

/// Mapping models as files.
@Suite struct MappingTests {
  @Test(Corpus.condition) func `a compiled mapping model is read, and written with the same objects`() throws {
    let files = Corpus.files(under: "models/mapping") { $0.pathExtension == "cdm" }
    #expect(files.count == 1)
    for file in files {
      let data = try Data(contentsOf: file)
      let mapping = try CompiledMapping.read(data)
      #expect(
        mapping.entityMappings.map(\.name) == [
          "CarToCar", "LuxuryCarToLuxuryCar", "PersonToPerson", "SportCarToSportCar", "Maker",
        ])
      #expect(mapping.entityMappings.map(\.type) == [1, 1, 4, 1, 2])
      let written = try CompiledMapping.write(mapping)
      #expect(try CompiledMapping.read(written) == mapping)
      #expect(try ArchiveDifferences.list(written, from: data).isEmpty)
    }
  }

  @Test(Corpus.condition) func `every source of the corpus is read`() throws {
    let folders = Corpus.files(under: "models/mapping") { $0.pathExtension == "xcmappingmodel" }
    #expect(folders.count == 14)
    var (entities, properties, expressions) = (0, 0, 0)
    for folder in folders {
      let mapping = try MappingSource.read(folder: folder)
      #expect(mapping.sourceModelPath?.hasSuffix(".xcdatamodel") == true)
      #expect(mapping.destinationModelPath?.hasSuffix(".xcdatamodel") == true)
      let all = mapping.entityMappings.flatMap { $0.attributes + $0.relationships }
      entities += mapping.entityMappings.count
      properties += all.count
      expressions += all.filter { $0.valueExpression != nil }.count
    }
    #expect((entities, properties, expressions) == (26, 100, 4))
  }

  @Test func `other files are refused`() throws {
    let model = try CompiledModelWriter.write(ModelRecord())
    #expect(throws: ModelFileError.self) { try CompiledMapping.read(model) }
    #expect(throws: ModelFileError.self) { try CompiledMapping.read(Data("bplist00".utf8)) }
    #expect(throws: ModelFileError.self) { try MappingSource.read(Data("<database/>".utf8)) }
    #expect(throws: ModelFileError.self) {
      try MappingSource.read(folder: URL(filePath: "/nonexistent.xcmappingmodel"))
    }
  }

  /// Xcode leaves deleted mappings in the file.
  @Test func `objects outside the mapping model are left out`() throws {
    let text = """
      <?xml version="1.0" standalone="yes"?>
      <!DOCTYPE database SYSTEM "file:///System/Library/DTDs/CoreData.dtd">
      <database>
      <object type="XDDEVENTITYMAPPING" id="z1"><attribute name="destinationname" type="string">B</attribute>
      <attribute name="sourcefilterpredicatestring" type="string">age \\u3e00 18 \\u2600\\u2600 x \\u003c 2</attribute>
      <attribute name="mappingnumber" type="int16">2</attribute></object>
      <object type="XDDEVENTITYMAPPING" id="z2"><attribute name="sourcename" type="string">A</attribute>
      <attribute name="migrationpolicyclassname" type="string"></attribute>
      <attribute name="mappingnumber" type="int16">1</attribute>
      <relationship name="attributemappings" type="0/0" destination="X" idrefs="z5"></relationship></object>
      <object type="XDDEVENTITYMAPPING" id="z3"><attribute name="sourcename" type="string">Orphan</attribute></object>
      <object type="XDDEVMAPPINGMODEL" id="z4"><attribute name="sourcemodelpath" type="string">M</attribute>
      <relationship name="entitymappings" type="0/0" destination="X" idrefs="z1 z2"></relationship></object>
      <object type="XDDEVATTRIBUTEMAPPING" id="z5"><attribute name="name" type="string">x</attribute></object>
      </database>
      """
    let mapping = try MappingSource.read(Data(text.utf8))
    #expect(mapping.sourceModelPath == "M")
    #expect(mapping.entityMappings.map(\.sourceEntity) == ["A", nil])
    #expect(mapping.entityMappings.map(\.destinationEntity) == [nil, "B"])
    #expect(mapping.entityMappings[0].attributes == [.init("x")])
    #expect(mapping.entityMappings[0].policyClassName == nil)
    #expect(mapping.entityMappings[1].filter == "age > 18 && x < 2")
    // Nothing belongs to two owners, so that a file cannot describe more than it contains.
    let twice = text.replacing("\"z1 z2\"", with: "\"z1 z2 z2\"")
    #expect(throws: ModelFileError.self) { try MappingSource.read(Data(twice.utf8)) }
  }
}
