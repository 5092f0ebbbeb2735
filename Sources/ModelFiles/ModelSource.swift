import StoreSchema

/// A source model: its record, and what compiled models do not have: how classes are generated from it, and the order
/// of its elements.
public struct ModelSource: Hashable, Sendable {
  /// The language of generated classes.
  public enum Language: Hashable, Sendable {
    /// `sourceLanguage="Swift"`.
    case swift
    /// `sourceLanguage="Objective-C"`, and models older than the setting.
    case objectiveC
  }

  /// The model itself.
  public var record: ModelRecord
  /// The language of the classes that are generated.
  public var language: Language
  /// Whether the model is for CloudKit, whose databases have rules of their own.
  public var isUsedWithCloudKit: Bool
  /// The names of the configurations that are for CloudKit.
  public var cloudKitConfigurations: Set<String>
  /// The entities in the order of the source. Each is also in the record.
  public var entities: [EntitySource]
  /// The composites in the order of the source, with their names and attributes. No code is generated for them.
  public var composites: [EntitySource] = []

  /// A source model of the given parts.
  public init(
    record: ModelRecord, language: Language = .swift, isUsedWithCloudKit: Bool = false,
    cloudKitConfigurations: Set<String> = [], entities: [EntitySource]
  ) {
    self.record = record
    self.language = language
    self.isUsedWithCloudKit = isUsedWithCloudKit
    self.cloudKitConfigurations = cloudKitConfigurations
    self.entities = entities
  }

  /// The source of a model without one, such as a compiled model: its entities and properties in the order of their
  /// names, with scalar types for numbers, and no class that is generated during a build.
  public init(_ record: ModelRecord) {
    self.init(
      record: record,
      entities: record.entities.map { entity in
        EntitySource(
          name: entity.name, properties: entity.properties.map { PropertySource(name: $0.name, usesScalarType: true) })
      })
  }
}

/// What a source model states of an entity beyond its ``EntityRecord``.
public struct EntitySource: Hashable, Sendable {
  /// The code that is generated during a build.
  public enum CodeGeneration: Hashable, Sendable {
    /// None: the application has the class. Xcode's "Manual/None".
    case manual
    /// An extension with the properties: the application has the class itself.
    case category
    /// The class with its properties.
    case classDefinition
  }

  /// The name of the entity.
  public var name: String
  /// The code that is generated during a build.
  public var codeGeneration: CodeGeneration
  /// The properties that the entity declares, in the order of the source: attributes, then relationships, then fetched
  /// properties, as Xcode writes them.
  public var properties: [PropertySource]

  /// An entity whose class the application has, unless stated otherwise.
  public init(name: String, codeGeneration: CodeGeneration = .manual, properties: [PropertySource]) {
    self.name = name
    self.codeGeneration = codeGeneration
    self.properties = properties
  }
}

/// What a source model states of a property beyond its ``PropertyRecord``.
public struct PropertySource: Hashable, Sendable {
  /// The name of the property.
  public var name: String
  /// Whether the accessor of a number, a date or a UUID has a scalar type. Only YES in the source means that it has.
  public var usesScalarType: Bool
  /// The default value's text where it is not a value of the attribute's type. The attribute then has no default.
  public var unreadableDefault: String?

  /// The text of the least value where it is not a value of the attribute's type. There is no least value then.
  public var unreadableMinimum: String?
  /// The text of the greatest value where it is not a value of the attribute's type. There is no greatest value then.
  public var unreadableMaximum: String?
  /// The entity that the source names as the inverse's, which is that of the destination or one that this inherits
  /// from. It is not compiled.
  public var inverseEntity: String?

  /// A property.
  public init(name: String, usesScalarType: Bool, unreadableDefault: String? = nil) {
    self.name = name
    self.usesScalarType = usesScalarType
    self.unreadableDefault = unreadableDefault
  }
}

extension SourceDecoding {
  /// The document as a source model.
  mutating func source() throws(ModelFileError) -> ModelSource {
    let record = try model()
    try record.requireInheritance()
    var entities: [EntitySource] = []
    for element in root.children("entity") {
      let properties = element.children.filter { ["attribute", "relationship", "fetchedProperty"].contains($0.name) }
      entities.append(
        EntitySource(
          name: try element.required("name"), codeGeneration: try codeGeneration(element),
          properties: properties.map(property)))
    }
    let configurations = root.children("configuration").filter { $0.flag("usedWithCloudKit") }
    var source = ModelSource(
      record: record, language: root.attributes["sourceLanguage"] == "Swift" ? .swift : .objectiveC,
      isUsedWithCloudKit: root.flag("usedWithCloudKit"),
      cloudKitConfigurations: Set(configurations.compactMap { $0.attributes["name"] }), entities: entities)
    for element in root.children("composite") {
      source.composites.append(
        EntitySource(
          name: try element.required("name"), properties: element.children("attribute").map(property)))
    }
    return source
  }

  private func property(_ element: XMLElement) -> PropertySource {
    var property = PropertySource(
      name: element.attributes["name"] ?? "", usesScalarType: element.flag("usesScalarValueType"))
    property.inverseEntity = element.text("inverseName") == nil ? nil : element.text("inverseEntity")
    let name = element.text("attributeType") ?? AttributeTypeName.undefined.sourceName
    guard element.name == "attribute", let type = AttributeTypeName(sourceName: name) else { return property }
    if let text = element.text("defaultValueString"), element.text("defaultDateTimeInterval") == nil, type != .string,
      SourceValue.value(text, type: type).isNull
    {
      property.unreadableDefault = text
    }
    property.unreadableMinimum = SourceValidation.unreadableBound(element, "min", type)
    property.unreadableMaximum = SourceValidation.unreadableBound(element, "max", type)
    return property
  }

  private func codeGeneration(_ entity: XMLElement) throws(ModelFileError) -> EntitySource.CodeGeneration {
    switch entity.text("codeGenerationType") {
    case nil, "none": return .manual
    case "category": return .category
    case "class": return .classDefinition
    case .some(let other):
      throw ModelFileError(.malformed, "the code generation type \(other) is unknown").at(entity.text("name") ?? "")
    }
  }
}
