import CoreData
import Foundation
import TestSupport
import Testing

/// Files of mapping models.
@Suite(Corpus.condition) struct MappingModelFileTests {
  private static var file: URL {
    Corpus.root.appending(
      path: "models/mapping/alemar11+CoreDataPlus/Tests/Resources/SampleModel/Fixtures/V2toV3.cdm")
  }

  @Test func aFileOfApplesCompilerIsRead() throws {
    let mapping = try #require(NSMappingModel(contentsOf: Self.file))
    #expect(mapping.entityMappings.count > 1)
    for entity in mapping.entityMappings {
      #expect(entity.sourceEntityVersionHash?.count == 32 || entity.sourceEntityName == nil)
      #expect(entity.destinationEntityVersionHash?.count == 32 || entity.destinationEntityName == nil)
      #expect(entity.attributeMappings?.allSatisfy { $0.name?.isEmpty == false } == true)
    }
    let properties = mapping.entityMappings.flatMap { ($0.attributeMappings ?? []) + ($0.relationshipMappings ?? []) }
    #expect(properties.contains { "\($0.valueExpression!)".contains("$source") })
  }

  @Test func mappingModelsWithEqualMappingsAreEqual() throws {
    let (first, second) = (try #require(NSMappingModel(contentsOf: Self.file)), NSMappingModel(contentsOf: Self.file))
    #expect(first == second && first.hash == second?.hash && first.copy() as? NSMappingModel == first)
    #expect(first != NSMappingModel())
    for change: (NSEntityMapping) -> Void in [
      { $0.name = "Other" }, { $0.mappingType = .copyEntityMappingType }, { $0.attributeMappings = nil },
      { $0.sourceEntityVersionHash = Data() },
      { $0.attributeMappings?.first?.valueExpression = NSExpression(format: "1") },
      { $0.sourceExpression = NSExpression(format: "2") }, { $0.entityMigrationPolicyClassName = "Policy" },
    ] {
      let other = try #require(NSMappingModel(contentsOf: Self.file))
      let mapping = try #require(other.entityMappings.first { $0.attributeMappings?.isEmpty == false })
      if mapping.mappingType == .copyEntityMappingType { mapping.mappingType = .customEntityMappingType }
      change(mapping)
      #expect(other != first)
    }
  }

  @Test func aMappingModelIsFoundByTheVersionHashes() throws {
    let folder = try StoreFolder("mapping")
    defer { folder.remove() }
    let parent = folder.url.deletingLastPathComponent()
    let mapping = try #require(NSMappingModel(contentsOf: Self.file))
    try FileManager.default.copyItem(at: Self.file, to: parent.appending(path: "V2toV3.cdm"))
    let bundle = try #require(Bundle(url: parent))
    func model(_ names: [(String?, Data?)]) -> NSManagedObjectModel { HashedModel(names) }
    let source = model(mapping.entityMappings.map { ($0.sourceEntityName, $0.sourceEntityVersionHash) })
    let destination = model(mapping.entityMappings.map { ($0.destinationEntityName, $0.destinationEntityVersionHash) })
    let found = NSMappingModel(from: [bundle], forSourceModel: source, destinationModel: destination)
    #expect(found?.entityMappings.map(\.name) == mapping.entityMappings.map(\.name))
    #expect(NSMappingModel(from: [bundle], forSourceModel: destination, destinationModel: source) == nil)
    #expect(NSMappingModel(from: [], forSourceModel: source, destinationModel: destination) == nil)
    #expect(NSMappingModel(from: [bundle], forSourceModel: source, destinationModel: nil) == nil)
  }

  @Test func whatIsNoMappingModelIsNotRead() throws {
    #expect(NSMappingModel(contentsOf: nil) == nil)
    #expect(NSMappingModel(contentsOf: URL(filePath: "/nowhere")) == nil)
    let folder = try StoreFolder("mapping")
    defer { folder.remove() }
    let data = try Data(contentsOf: Self.file)
    for part in [0, 1, 100, data.count - 40] {
      try data.prefix(part).write(to: folder.url)
      #expect(NSMappingModel(contentsOf: folder.url) == nil)
    }
  }
}

/// A model that has entities with these version hashes only.
private final class HashedModel: NSManagedObjectModel, @unchecked Sendable {
  private let hashes: [String: Data]

  init(_ names: [(String?, Data?)]) {
    hashes = Dictionary(names.compactMap { name, hash in name.flatMap { name in hash.map { (name, $0) } } }) { $1 }
    super.init()
  }

  required init?(coder: NSCoder) { nil }

  override var entityVersionHashesByName: [String: Data] { hashes }
}
