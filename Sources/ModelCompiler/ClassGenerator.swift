import Foundation
import ModelFiles
import StoreSchema

/// Generates the Swift classes of a model, as Xcode does: for each entity `Student+CoreDataClass.swift` with the class,
/// and `Student+CoreDataProperties.swift` with its properties in an extension.
///
/// The text is that of Xcode but for the comment at its beginning, which has no date, so that equal models give equal
/// files. These forms are decided here, because no text of Xcode is known for them: composite and fetched properties,
/// and names that are keywords of Swift. Xcode's third file, `Model+CoreDataModel.swift`, is not generated: it declares
/// nothing that classes use.
public struct ClassGenerator: Sendable {
  /// The form of the text, which changes between releases of Xcode.
  public enum Edition: String, CaseIterable, Sendable {
    /// Of Xcode 12 to 16.
    case xcode16 = "16"
    /// Of Xcode 26: imports are public, and each file has a type alias that uses them.
    case xcode26 = "26"
    /// The newest that is known, seen in July 2026: as of Xcode 26, and members are of no actor.
    case xcode27 = "27"
  }

  /// The entities that get files.
  public enum Selection: Sendable {
    /// Those whose code Xcode generates during a build, by their code generation: the class and its properties, the
    /// properties only, or nothing.
    case build
    /// Each entity with a class of its own: the class and its properties, as Xcode's Create NSManagedObject Subclass.
    case all
  }

  /// A generated file.
  public struct File: Hashable, Sendable {
    /// The name, such as `Student+CoreDataClass.swift`.
    public var name: String
    /// The entity.
    public var entity: String
    /// The text.
    public var text: String
    /// Whether it declares the class, to which people add their code.
    public var isClass: Bool { name.hasSuffix("+CoreDataClass.swift") }
  }

  /// The sentence of the comment at the beginning of a generated file.
  public static let mark = "This file was automatically generated and should not be edited."

  private let source: ModelSource
  private let entities: [String: EntityRecord]
  private let edition: Edition

  /// A generator for one version of a model. Class names with a leading "." are in the module that the files are
  /// compiled in, and so are all others: a module before a class name is left out.
  public init(_ source: ModelSource, edition: Edition = .xcode26) {
    self.source = source
    self.edition = edition
    entities = Dictionary(source.record.entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// A generator for the current version of a model, and the path of this version. Nil where it cannot be read: its
  /// compilation says why.
  public static func current(of model: URL, edition: Edition) -> (generator: Self, path: String)? {
    guard let version = try? ModelBundle.currentVersion(model),
      let source = try? ModelSourceReader().readSource(folder: version)
    else { return nil }
    return (Self(source, edition: edition), version.path)
  }

  /// The classes that are generated during builds, as one source.
  public var buildSource: String {
    "import CoreData\nimport Foundation\n\n" + files(.build).map(\.text).joined(separator: "\n")
  }

  /// The files, in the order of the entities in the source.
  public func files(_ selection: Selection = .build) -> [File] {
    var files: [File] = []
    var classes: Set<String> = []
    for entity in source.entities {
      let (declaresClass, hasProperties) =
        switch (selection, entity.codeGeneration) {
        case (.all, _), (.build, .classDefinition): (true, true)
        case (.build, .category): (false, true)
        case (.build, .manual): (false, false)
        }
      // Objects of an entity without a class of its own are of NSManagedObject. Two entities may share a class.
      guard hasProperties, let record = entities[entity.name], let name = className(record),
        Keywords.isIdentifier(name), classes.insert(name).inserted
      else { continue }
      if declaresClass {
        files.append(file(name + "+CoreDataClass.swift", entity.name, classText(record, name)))
      }
      files.append(file(name + "+CoreDataProperties.swift", entity.name, propertiesText(entity, record, name)))
    }
    return files
  }

  /// What cannot be generated as the model asks. `path` is the `.xcdatamodel` folder.
  public func diagnostics(path: String) -> [ModelDiagnostic] {
    let generated = source.entities.filter { $0.codeGeneration != .manual }
    var result = generated.flatMap { problems($0, path: path) }
    let owners = Dictionary(grouping: generated) { entities[$0.name].flatMap(className) ?? "" }
    for (name, entities) in owners.sorted(by: { UTF8Order.isLess($0.key, $1.key) })
    where entities.count > 1 && !name.isEmpty {
      let list = entities.map(\.name).joined(separator: ", ")
      result.append(
        ModelDiagnostic(
          .warning, "The class \(name) is that of \(list); it is generated with the properties of the first",
          path: path,
          element: entities[0].name))
    }
    guard source.language == .objectiveC, !generated.isEmpty else { return result }
    return result + [
      ModelDiagnostic(
        .warning,
        """
        The language of the model's classes is Objective-C; Swift classes are generated. Choose Swift as the model's code \
        generation language to confirm that
        """, path: path)
    ]
  }

  /// What of an entity has no code, and where the code is not what the model says.
  private func problems(_ entity: EntitySource, path: String) -> [ModelDiagnostic] {
    guard let record = entities[entity.name], let name = className(record) else { return [] }
    func problem(_ element: String, _ text: String) -> ModelDiagnostic {
      ModelDiagnostic(.warning, "\(element): \(text)", path: path, element: element)
    }
    var result: [ModelDiagnostic] = []
    if !Keywords.isIdentifier(name) {
      result.append(problem(entity.name, "no code is generated, because \"\(name)\" is no name in Swift; rename it"))
    } else if entity.codeGeneration == .classDefinition,
      let parent = record.superentity.flatMap({ entities[$0] }).flatMap(className), !Keywords.isIdentifier(parent)
    {
      let text =
        "the class inherits from NSManagedObject, because \"\(parent)\", the class of its parent entity, is no name"
      result.append(problem(entity.name, text + " in Swift; rename it"))
    }
    let known = Dictionary(record.properties.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    for property in entity.properties.compactMap({ known[$0.name] }) {
      let element = "\(entity.name).\(property.name)"
      if let objection = objection(to: property) {
        result.append(problem(element, "no code is generated, because \(objection)"))
      } else if let name = property.otherEntity.flatMap({ entities[$0] }).flatMap(className),
        !Keywords.isIdentifier(name)
      {
        result.append(
          problem(element, "the accessor is of NSManagedObject, because \"\(name)\" is no name in Swift; rename it"))
      }
    }
    return result
  }

  /// The reason why a property cannot be declared.
  private func objection(to property: PropertyRecord) -> String? {
    let name = property.name
    if !Keywords.isIdentifier(name) { return "\"\(name)\" is no name in Swift; rename it" }
    if case .attribute(let attribute) = property.kind, let type = Self.customType(attribute), !TypeText.isType(type) {
      return "its custom class \"\(type)\" is no type in Swift; correct it"
    }
    return nil
  }

  // MARK: Files

  private func file(_ name: String, _ entity: String, _ text: String) -> File {
    let header = """
      //
      //  \(name)
      //
      //  \(Self.mark)
      //


      """
    return File(name: name, entity: entity, text: header + text)
  }

  /// The imports, and a type alias for `NSSet`, which Xcode 26 writes so that the imports are public with a reason.
  private func imports(_ className: String, _ part: String, linesAfter: Int) -> String {
    let lines = String(repeating: "\n", count: linesAfter)
    switch edition {
    case .xcode16: return "import Foundation\nimport CoreData\n" + lines
    case .xcode26, .xcode27:
      return "public import Foundation\npublic import CoreData\n" + lines
        + "public typealias \(className)\(part)Set = NSSet\n\n"
    }
  }

  private func classText(_ entity: EntityRecord, _ name: String) -> String {
    // A class of the current module has no name in Objective-C, which is the module's name and its own.
    let isOfModule = entity.className?.hasPrefix(".") ?? false
    return imports(name, "CoreDataClass", linesAfter: 1) + (isOfModule ? "" : "@objc(\(name))") + "\n"
      + """
      public class \(Keywords.quotedType(name)): \(className(of: entity.superentity)) {

      }

      """
  }

  private func propertiesText(_ source: EntitySource, _ entity: EntityRecord, _ name: String) -> String {
    let known = Dictionary(entity.properties.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    let properties = source.properties.compactMap { property -> (PropertySource, PropertyRecord)? in
      guard let record = known[property.name], objection(to: record) == nil else { return nil }
      return (property, record)
    }
    var text = imports(name, "CoreDataProperties", linesAfter: edition == .xcode27 ? 1 : 2)
    let name = Keywords.quotedType(name)
    text += """
      extension \(name) {

          @nonobjc public class func fetchRequest() -> NSFetchRequest<\(name)> {
              return NSFetchRequest<\(name)>(entityName: "\(Self.escaped(entity.name))")
          }


      """
    let modifiers = edition == .xcode27 ? "nonisolated public" : "public"
    for (property, record) in properties {
      text += "    @NSManaged \(modifiers) var \(Keywords.quoted(record.name)): \(type(record, property))\n"
    }
    text += "\n}\n"
    for (_, record) in properties {
      guard case .relationship(let relationship) = record.kind, relationship.maxCount != 1 else { continue }
      let accessors = ToManyAccessors(
        property: record.name, destination: className(of: relationship.destinationEntity),
        isOrdered: relationship.isOrdered,
        modifiers: modifiers)
      text += "\n// MARK: Generated accessors for \(record.name)\nextension \(name) {\n\(accessors.text)\n}\n"
    }
    if entity.superentity == nil { text += "\nextension \(name) : Identifiable {\n\n}\n" }
    return text
  }

  // MARK: Types

  /// The class of an entity without its module; nil for NSManagedObject.
  private func className(_ entity: EntityRecord) -> String? {
    entity.className.map { String($0.split(separator: ".").last ?? $0[...]) }
  }

  /// The class of the objects of another entity, as code names it.
  private func className(of entity: String?) -> String {
    guard let name = entity.flatMap({ entities[$0] }).flatMap(className), Keywords.isIdentifier(name) else {
      return "NSManagedObject"
    }
    return Keywords.quotedType(name)
  }

  /// A name as the content of a literal.
  private static func escaped(_ name: String) -> String {
    [("\\", "\\\\"), ("\"", "\\\""), ("\n", "\\n"), ("\r", "\\r")].reduce(name) { $0.replacing($1.0, with: $1.1) }
  }

  private func type(_ property: PropertyRecord, _ source: PropertySource) -> String {
    switch property.kind {
    case .relationship(let relationship):
      if relationship.maxCount == 1 { return className(of: relationship.destinationEntity) + "?" }
      return relationship.isOrdered ? "NSOrderedSet?" : "NSSet?"
    case .fetchedProperty(let request):
      return "[\(className(of: request.entityName))]?"
    case .attribute(let attribute): return type(attribute, isScalar: source.usesScalarType)
    }
  }

  /// The text that the model's author wrote as the class of an attribute; nil where the type decides.
  private static func customType(_ attribute: AttributeRecord) -> String? {
    switch AttributeTypeName(rawValue: attribute.type) {
    case .transformable, .undefined, .objectID, nil:
      attribute.valueClassName.map { $0.hasPrefix(".") ? String($0.dropFirst()) : $0 }
    default: nil
    }
  }

  /// A required attribute is optional in Swift too: it has no value before one is set. A scalar is zero then.
  private func type(_ attribute: AttributeRecord, isScalar: Bool) -> String {
    let scalar: String
    switch AttributeTypeName(rawValue: attribute.type) {
    case .integer16: scalar = "Int16"
    case .integer32: scalar = "Int32"
    case .integer64: scalar = "Int64"
    case .double: scalar = "Double"
    case .float: scalar = "Float"
    case .boolean: scalar = "Bool"
    case .date: return isScalar ? "TimeInterval" : "Date?"
    case .string: return "String?"
    case .binary: return "Data?"
    case .decimal: return "NSDecimalNumber?"
    case .uuid: return "UUID?"
    case .uri: return "URL?"
    case .composite: return "[String: Any]?"
    case .transformable, .undefined, .objectID, nil:
      return (Self.customType(attribute) ?? "NSObject") + "?"
    }
    return isScalar ? scalar : "NSNumber?"
  }
}

extension PropertyRecord {
  /// The entity of the objects that the property has.
  fileprivate var otherEntity: String? {
    switch kind {
    case .attribute: nil
    case .relationship(let relationship): relationship.destinationEntity
    case .fetchedProperty(let request): request.entityName
    }
  }
}
