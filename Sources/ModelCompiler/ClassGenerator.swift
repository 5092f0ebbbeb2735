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

  /// Names that Swift cannot have.
  private func problems(_ entity: EntitySource, path: String) -> [ModelDiagnostic] {
    guard let name = entities[entity.name].flatMap(className) else { return [] }
    var names = entity.properties.map { ("\(entity.name).\($0.name)", $0.name) }
    names.insert((entity.name, name), at: 0)
    return names.filter { !Keywords.isIdentifier($0.1) }.map { element, name in
      ModelDiagnostic(
        .warning, "\(element): no code is generated, because \"\(name)\" is no name in Swift; rename it", path: path,
        element: element)
    }
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
      public class \(name): \(superclass(entity)) {

      }

      """
  }

  private func propertiesText(_ source: EntitySource, _ entity: EntityRecord, _ name: String) -> String {
    let known = Dictionary(entity.properties.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    let properties = source.properties.compactMap { property -> (PropertySource, PropertyRecord)? in
      guard Keywords.isIdentifier(property.name) else { return nil }
      return known[property.name].map { (property, $0) }
    }
    let entityName = entity.name.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
    var text = imports(name, "CoreDataProperties", linesAfter: edition == .xcode27 ? 1 : 2)
    text += """
      extension \(name) {

          @nonobjc public class func fetchRequest() -> NSFetchRequest<\(name)> {
              return NSFetchRequest<\(name)>(entityName: "\(entityName)")
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
        property: record.name, destination: destination(relationship), isOrdered: relationship.isOrdered,
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

  private func superclass(_ entity: EntityRecord) -> String {
    entity.superentity.flatMap { entities[$0] }.flatMap(className) ?? "NSManagedObject"
  }

  private func destination(_ relationship: RelationshipRecord) -> String {
    entities[relationship.destinationEntity].flatMap(className) ?? "NSManagedObject"
  }

  private func type(_ property: PropertyRecord, _ source: PropertySource) -> String {
    switch property.kind {
    case .relationship(let relationship):
      if relationship.maxCount == 1 { return destination(relationship) + "?" }
      return relationship.isOrdered ? "NSOrderedSet?" : "NSSet?"
    case .fetchedProperty(let request):
      return "[\(entities[request.entityName].flatMap(className) ?? "NSManagedObject")]?"
    case .attribute(let attribute): return type(attribute, isScalar: source.usesScalarType)
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
      let name = attribute.valueClassName ?? "NSObject"
      return (name.hasPrefix(".") ? String(name.dropFirst()) : name) + "?"
    }
    return isScalar ? scalar : "NSNumber?"
  }
}
