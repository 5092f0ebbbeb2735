import CoreData
import Foundation
import ModelCompiler
import ModelFiles
import PropertyLists
import SourceRewriter
import StoreProtocol
import StoreQuery

/// The readers of untrusted bytes, one entry for each. None may end the program, whatever the bytes are.
///
/// The fuzzer calls these with generated inputs; the tests call them with inputs that once failed.
public enum FuzzTarget: String, CaseIterable, Sendable {
  case propertyList, keyedArchive, embeddedModel, metadata, objectID, predicateFormat, fetchPlan
  case modelSource, mappingModel, swiftSource

  public func run(_ data: Data) {
    switch self {
    case .propertyList: Self.readPropertyList(data)
    case .keyedArchive: Self.readArchive(data)
    case .embeddedModel: Self.readModel(data)
    case .metadata: Self.readMetadata(data)
    case .objectID: Self.readURI(data)
    case .predicateFormat: Self.readFormat(data)
    case .fetchPlan: FetchPlanTarget.run(data)
    case .modelSource: Self.compile(data)
    case .mappingModel: Self.readMapping(data)
    case .swiftSource: Self.rewrite(data)
    }
  }

  /// A list that can be read must be unchanged after it is written and read again.
  private static func readPropertyList(_ data: Data) {
    _ = try? XMLPropertyListReader.read(data)
    guard let list = try? BinaryPropertyListReader.read(data) else { return }
    let written = BinaryPropertyListWriter.write(list)
    // Compared as bytes, because a list with a NaN is not equal to itself.
    guard let again = try? BinaryPropertyListReader.read(written), BinaryPropertyListWriter.write(again) == written
    else {
      fatalError("a property list that was read cannot be written and read again")
    }
  }

  /// A format that can be read must be unchanged after it is printed and read again.
  private static func readFormat(_ data: Data) {
    let text = String(decoding: data, as: UTF8.self)
    if let predicate = try? StoreQuery.Predicate(format: text) {
      guard (try? StoreQuery.Predicate(format: predicate.format)) == predicate else {
        fatalError("a predicate that was read is not the one that is read from its own format: \(predicate.format)")
      }
    }
    if let expression = try? StoreQuery.Expression(format: text) {
      guard (try? StoreQuery.Expression(format: expression.format)) == expression else {
        fatalError("an expression that was read is not the one that is read from its own format: \(expression.format)")
      }
    }
  }

  private static func readArchive(_ data: Data) {
    data.withUnsafeBytes { bytes in
      guard let archive = try? KeyedArchiveBytes(bytes), let root = try? archive.root("root") else { return }
      look(at: root, in: archive)
      guard let elements = try? archive.elements(of: root) else { return }
      for index in 0..<min(1000, elements.count) {
        if let item = try? archive.item(at: archive.location(index, in: elements)) { look(at: item, in: archive) }
      }
    }
    guard let archive = try? KeyedArchiveReader(data), let root = archive.root() else { return }
    _ = root.propertyList()
    _ = (root.string, root.integer, root.bool, root.double, root.date, root.uuid, root.urlString, root.decimal)
    _ = (root.array?.count, root.entries?.count, root.keys, root.classNames)
    _ = NSSecureUnarchiveFromDataTransformer().transformedValue(data)
  }

  private static func look(at item: KeyedArchiveBytes.Item, in archive: KeyedArchiveBytes) {
    _ = (try? archive.integer(item), try? archive.double(item), try? archive.string(item), try? archive.date(item))
    _ = (try? archive.uuid(item), try? archive.asciiURL(item), try? archive.plainData(item))
    _ = (try? archive.entries(of: item), try? archive.isNullObject(item), try? archive.takeOut(item)?.propertyList())
  }

  /// A model that can be read is checked as a model is when it is used first. It is not really used, because the
  /// library would keep it forever.
  private static func readModel(_ data: Data) {
    guard let model = try? ModelArchive.model(data) else { return }
    _ = model.entityVersionHashesByName
    _ = try? model.checked()
    for entity in model.entities { _ = (entity.attributesByName, entity.relationshipsByName, entity.userInfo) }
  }

  /// A source model that can be read is checked, compiled, written as a source, and its classes are generated. The
  /// compiled model must be equal to it.
  private static func compile(_ data: Data) {
    guard let source = try? ModelSourceReader(moduleName: "M").readSource(data) else { return }
    _ = ModelLint.check(source, path: "M.xcdatamodel")
    _ = (ClassGenerator(source).files(.all), ModelSourceWriter(source.record).omissions, source.record.versionHashes)
    guard let compiled = try? CompiledModelWriter.write(source.record) else { return }
    guard (try? CompiledModelReader.read(compiled)) == source.record else {
      fatalError("a source model is another one when it is compiled and read")
    }
  }

  /// A compiled mapping model that can be read must be unchanged after it is written and read again. One in Xcode's
  /// form is compiled between two models that have what it names, or refused.
  private static func readMapping(_ data: Data) {
    if let mapping = try? CompiledMapping.read(data), let written = try? CompiledMapping.write(mapping) {
      guard let again = try? CompiledMapping.read(written), (try? CompiledMapping.write(again)) == written else {
        fatalError("a mapping model that was read cannot be written and read again")
      }
    }
    guard let source = try? MappingSource.read(data) else { return }
    var model = ModelRecord()
    for name in Set(source.entityMappings.prefix(100).flatMap { [$0.sourceEntity, $0.destinationEntity] }) {
      guard let name else { continue }
      var entity = EntityRecord(name: name)
      let mappings = source.entityMappings.prefix(100).filter {
        $0.destinationEntity == name || $0.sourceEntity == name
      }
      for property in Set(mappings.flatMap { $0.attributes.prefix(100).map(\.name) }) {
        entity.properties.append(PropertyRecord(name: property, kind: .attribute(AttributeRecord(type: 700))))
      }
      model.entities.append(entity)
    }
    guard let compiled = try? MappingCompiler(from: model, to: model).compile(source),
      let written = try? CompiledMapping.write(compiled)
    else { return }
    guard (try? CompiledMapping.read(written)) != nil else { fatalError("a compiled mapping model cannot be read") }
  }

  /// The changes that are listed must be all that is changed.
  private static func rewrite(_ data: Data) {
    let bytes = Array(data)
    _ = SourceSurvey(.init(path: "a.swift", bytes: bytes))
    let output = Rewriter([.init(path: "a.swift", bytes: bytes)]).outputs[0]
    var (position, rebuilt): (Int, [UInt8]) = (0, [])
    for change in output.changes {
      rebuilt += bytes[position..<change.range.lowerBound] + Array(change.text.utf8)
      position = change.range.upperBound
    }
    rebuilt += bytes[position...]
    // The source begins behind the line that names the original.
    let lines = output.bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 2, omittingEmptySubsequences: false)
    let head =
      output.bytes.starts(with: "import CoreData\n".utf8) ? lines[0].count + lines[1].count + 2 : lines[0].count + 1
    guard output.bytes.dropFirst(head).starts(with: rebuilt) else { fatalError("something else is changed") }
  }

  private static func readMetadata(_ data: Data) {
    guard let list = try? BinaryPropertyListReader.read(data),
      let metadata = try? StoreMetadata(list, identifier: "A", storeType: "SQLite")
    else { return }
    _ = MetadataCoding.dictionary(metadata)
    _ = BinaryPropertyListWriter.write(.dictionary(metadata.propertyList(isNew: false)))
  }

  /// A URI that names an object must equal the URI of that object. `STORE` is replaced by the store's UUID.
  private static func readURI(_ data: Data) {
    let text = String(decoding: data, as: UTF8.self).replacing("STORE", with: storeIdentifier)
    guard let id = library.managedObjectID(for: text) else { return }
    guard library.managedObjectID(forURIRepresentation: id.uriRepresentation()) == id else {
      fatalError("an object ID does not survive its own URI")
    }
  }

  private static let library: NSPersistentStoreCoordinator = {
    let entity = NSEntityDescription()
    entity.name = "Book"
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    _ = try? coordinator.addPersistentStore(type: .sqlite, at: URL(fileURLWithPath: "/dev/null"))
    return coordinator
  }()

  private static let storeIdentifier = library.persistentStores.first?.identifier ?? ""
}
