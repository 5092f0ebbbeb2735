import Foundation
import PropertyLists
import StoreQuery

/// The source of a mapping model: the `xcmapping.xml` of an `.xcmappingmodel`, which is an XML store of Xcode's own
/// model.
public struct MappingSource: Hashable, Sendable {
  /// The path of the older model as Xcode saved it, relative to the project.
  public var sourceModelPath: String?
  /// The path of the newer model.
  public var destinationModelPath: String?
  /// The mappings in the order of their numbers.
  public var entityMappings: [EntityMapping]

  /// A mapping of an entity.
  public struct EntityMapping: Hashable, Sendable {
    /// The name, where the author has chosen one; otherwise it is made of the names of the entities.
    public var name: String?
    /// The entity of the older model; nil for a new one.
    public var sourceEntity: String?
    /// The entity of the newer model; nil for one that is removed.
    public var destinationEntity: String?
    /// The class of the migration policy.
    public var policyClassName: String?
    /// The predicate of the source objects; nil for all.
    public var filter: String?
    /// The expression for the source objects, where the author has written one.
    public var sourceExpression: StoreQuery.Expression?
    /// The attributes.
    public var attributes: [PropertyMapping]
    /// The relationships.
    public var relationships: [PropertyMapping]
    /// Notes of the author; nil for none.
    public var userInfo: [String: PropertyList]?

    /// A mapping as Xcode makes it: of all objects, with generated expressions.
    public init(
      from sourceEntity: String?, to destinationEntity: String?, name: String? = nil, policyClassName: String? = nil,
      attributes: [PropertyMapping] = [], relationships: [PropertyMapping] = []
    ) {
      (self.name, self.sourceEntity, self.destinationEntity) = (name, sourceEntity, destinationEntity)
      (self.policyClassName, self.attributes, self.relationships) = (policyClassName, attributes, relationships)
    }
  }

  /// A mapping of a property.
  public struct PropertyMapping: Hashable, Sendable {
    /// The name in the newer model.
    public var name: String
    /// The expression for the value, where the author has written one.
    public var valueExpression: StoreQuery.Expression?
    /// The mapping of the destination's entity, where the author has chosen one.
    public var mappingName: String?
    /// The objects that are mapped by it, such as `$source.pets`.
    public var sourceKeyPath: String?
    /// Notes of the author; nil for none.
    public var userInfo: [String: PropertyList]?

    /// A property with a generated expression, unless there is another.
    public init(
      _ name: String, valueExpression: StoreQuery.Expression? = nil, mappingName: String? = nil,
      sourceKeyPath: String? = nil
    ) {
      (self.name, self.valueExpression) = (name, valueExpression)
      (self.mappingName, self.sourceKeyPath) = (mappingName, sourceKeyPath)
    }
  }

  /// A mapping model of the given mappings, in their order.
  public init(
    sourceModelPath: String? = nil, destinationModelPath: String? = nil, entityMappings: [EntityMapping] = []
  ) {
    (self.sourceModelPath, self.destinationModelPath) = (sourceModelPath, destinationModelPath)
    self.entityMappings = entityMappings
  }

  /// Reads an `.xcmappingmodel` folder. Throws as ``read(_:)`` does, and `cannotRead` for a missing file.
  public static func read(folder: URL) throws(ModelFileError) -> MappingSource {
    do {
      return try read(folder.appending(path: "xcmapping.xml").contents())
    } catch {
      throw error.located(at: folder)
    }
  }

  /// Reads the text of an `xcmapping.xml`. Objects that the mapping model does not contain, which Xcode leaves in the
  /// file, are left out.
  ///
  /// Throws `notAModel` for a file without one mapping model, `malformed` for a damaged one, and `unsupported` for an
  /// expression or a note that a compiled mapping cannot have.
  public static func read(_ data: Data) throws(ModelFileError) -> MappingSource {
    let objects: [String: MappingObject]
    do { objects = try MappingObject.read(data) } catch { throw ModelFileError(error) }
    let roots = objects.values.filter { $0.type == "XDDEVMAPPINGMODEL" }
    guard let root = roots.first, roots.count == 1 else {
      throw ModelFileError(.notAModel, "the file has \(roots.count) mapping models, not one")
    }
    var mappings: [(number: Int, mapping: EntityMapping)] = []
    var graph = MappingGraph(objects: objects)
    for object in try graph.take("entitymappings", of: root) {
      let number = object.attributes["mappingnumber"].flatMap(Int.init) ?? 0
      mappings.append((number, try object.entityMapping(&graph)))
    }
    return MappingSource(
      sourceModelPath: root.text("sourcemodelpath"), destinationModelPath: root.text("destinationmodelpath"),
      entityMappings: mappings.sorted { $0.number < $1.number }.map(\.mapping))
  }
}

/// The objects of the file. Each belongs to one other at most, so that a file cannot describe more than it contains.
private struct MappingGraph {
  let objects: [String: MappingObject]
  private var taken: Set<String> = []

  init(objects: [String: MappingObject]) { self.objects = objects }

  mutating func take(_ name: String, of owner: MappingObject) throws(ModelFileError) -> [MappingObject] {
    var result: [MappingObject] = []
    for id in owner.relationships[name] ?? [] {
      guard taken.insert(id).inserted else {
        throw ModelFileError(.malformed, "the mapping \(id) belongs to two owners")
      }
      if let object = objects[id] { result.append(object) }
    }
    return result
  }
}

/// An object of the XML store.
private struct MappingObject {
  var type: String
  var attributes: [String: String] = [:]
  var relationships: [String: [String]] = [:]

  /// The objects by their IDs.
  static func read(_ data: Data) throws(PropertyListError) -> [String: MappingObject] {
    var scanner = try XMLScanner(data, allowsDocumentType: true)
    var objects: [String: MappingObject] = [:]
    var object: (id: String, content: MappingObject)?
    var (attribute, text): (String?, String) = (nil, "")
    while let event = try scanner.next() {
      switch event {
      case .start("object", let attributes):
        object = (attributes["id"] ?? "", MappingObject(type: attributes["type"] ?? ""))
      case .start("attribute", let attributes): (attribute, text) = (attributes["name"], "")
      case .start("relationship", let attributes):
        let ids = (attributes["idrefs"] ?? "").split(separator: " ").map(String.init)
        if let name = attributes["name"] { object?.content.relationships[name] = ids }
      case .text(let part): if attribute != nil { text += part }
      case .end("attribute"):
        if let name = attribute { object?.content.attributes[name] = MappingObject.unescaped(text) }
        attribute = nil
      case .end("object"):
        if let object { objects[object.id] = object.content }
        object = nil
      default: break
      }
    }
    return objects
  }

  /// Apple's XML stores write some characters as `\\u3c00`, with the bytes of the code unit exchanged.
  private static func unescaped(_ text: String) -> String {
    guard text.contains("\\u") else { return text }
    var units: [UInt16] = []
    var rest = Array(text.utf16)[...]
    let (backslash, letter) = (UInt16(UInt8(ascii: "\\")), UInt16(UInt8(ascii: "u")))
    while let unit = rest.first {
      let digits = rest.dropFirst(2).prefix(4)
      if unit == backslash, rest.dropFirst().first == letter, digits.count == 4,
        let code = UInt16(String(decoding: digits, as: UTF16.self), radix: 16)
      {
        // A writer with the other order of bytes would not have exchanged them.
        units.append([0x26, 0x3C, 0x3E].contains(code) ? code : code.byteSwapped)
        rest = rest.dropFirst(6)
      } else {
        units.append(unit)
        rest = rest.dropFirst()
      }
    }
    return String(decoding: units, as: UTF16.self)
  }

  /// The text of an attribute, nil if it is empty.
  func text(_ name: String) -> String? { attributes[name].flatMap { $0.isEmpty ? nil : $0 } }

  /// The bytes of an archive; nil where there is none.
  private func archive(_ name: String) throws(ModelFileError) -> Data? {
    guard let text = text(name) else { return nil }
    guard let data = Data(base64Encoded: text, options: .ignoreUnknownCharacters) else {
      throw ModelFileError(.malformed, "the \(name) of a mapping is not in Base64")
    }
    return data
  }

  /// The archived dictionary of the author's notes; nil where there is none, or where it is empty. Throws for an
  /// archive of something else, and for a note that is no property list: a compiled mapping could not have it.
  private func userInfo() throws(ModelFileError) -> [String: PropertyList]? {
    guard let data = try archive("userinfodata") else { return nil }
    let owner = text("name") ?? text("destinationname") ?? text("sourcename") ?? "a mapping"
    let reader: KeyedArchiveReader
    do { reader = try KeyedArchiveReader(data) } catch { throw ModelFileError(error).at(owner) }
    guard let entries = reader.root()?.stringEntries else {
      throw ModelFileError(.malformed, "\(owner): the userinfodata is no dictionary", element: owner)
    }
    var result: [String: PropertyList] = [:]
    for (key, value) in entries {
      guard let note = value.propertyList(depth: 8, nodes: 1000) else {
        throw ModelFileError(.unsupported, "\(owner): the user info \(key) is no property list", element: owner)
      }
      result[key] = note
    }
    return result.isEmpty ? nil : result
  }

  /// An archived expression; nil where there is none.
  private func expression(_ name: String) throws(ModelFileError) -> StoreQuery.Expression? {
    guard let data = try archive(name) else { return nil }
    guard case .expression(let expression) = try QueryArchive.read(data) else {
      throw ModelFileError(.malformed, "the \(name) of a mapping is no expression")
    }
    return expression
  }

  func entityMapping(_ graph: inout MappingGraph) throws(ModelFileError) -> MappingSource.EntityMapping {
    var mapping = MappingSource.EntityMapping(
      from: text("sourcename"), to: text("destinationname"), name: text("name"),
      policyClassName: text("migrationpolicyclassname"), attributes: try properties("attributemappings", &graph),
      relationships: try properties("relationshipmappings", &graph))
    mapping.filter = text("sourcefilterpredicatestring")
    mapping.sourceExpression = try expression("sourceexpressiondata")
    mapping.userInfo = try userInfo()
    return mapping
  }

  private func properties(
    _ name: String, _ graph: inout MappingGraph
  ) throws(ModelFileError) -> [MappingSource.PropertyMapping] {
    var result: [MappingSource.PropertyMapping] = []
    for object in try graph.take(name, of: self) {
      var mapping = MappingSource.PropertyMapping(
        object.attributes["name"] ?? "", valueExpression: try object.expression("valueexpressiondata"),
        mappingName: object.text("sourcemappingname"), sourceKeyPath: object.text("sourcekeypath"))
      mapping.userInfo = try object.userInfo()
      result.append(mapping)
    }
    return result.sorted { $0.name.precedesInBytes($1.name) }
  }
}
