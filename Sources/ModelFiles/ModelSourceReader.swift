import Foundation
import PropertyLists
import StoreQuery

/// Reads source models: the `contents` file of an `.xcdatamodel` (Xcode 4 and later).
///
/// The result equals the output of Apple's compiler: missing names are filled in, composites are expanded into the
/// attributes that use them, and entities without `syncable` get the user info that marks them.
public struct ModelSourceReader: Sendable {
  /// Replaces the "." before class names. Nil keeps the ".", as for a model compiled without a module.
  public var moduleName: String?

  /// A reader for sources of the given module.
  public init(moduleName: String? = nil) {
    self.moduleName = moduleName
  }

  /// Reads the XML text of a `contents` file. Throws as ``readSource(_:)`` does.
  public func read(_ data: Data) throws(ModelFileError) -> ModelRecord { try readSource(data).record }

  /// Reads an `.xcdatamodel` folder. Throws as ``readSource(folder:)`` does.
  public func read(folder: URL) throws(ModelFileError) -> ModelRecord { try readSource(folder: folder).record }

  /// Reads the XML text of a `contents` file, with what compiled models do not have.
  ///
  /// Throws `notAModel` for another document, `malformed` for a model that breaks a rule of the format, and
  /// `unsupported` for an unknown type of an attribute. The error has the element that it is about.
  public func readSource(_ data: Data) throws(ModelFileError) -> ModelSource {
    let root = try XMLElement.root(of: data)
    guard root.name == "model" else { throw ModelFileError(.notAModel, "the root element is <\(root.name)>") }
    var decoding = SourceDecoding(root, moduleName: moduleName)
    return try decoding.source()
  }

  /// Reads an `.xcdatamodel` folder, with what compiled models do not have.
  ///
  /// Throws `cannotRead` for a missing file, `xcode3Format` for a model of Xcode 3, otherwise as ``readSource(_:)``
  /// does. The error has the URL.
  public func readSource(folder: URL) throws(ModelFileError) -> ModelSource {
    let contents = folder.appending(path: "contents")
    if !contents.isExistingFile, folder.appending(path: "elements").isExistingFile {
      throw ModelFileError(
        .xcode3Format, "the model is in the format of Xcode 3; open and save it with a later Xcode", url: folder)
    }
    do {
      return try readSource(contents.contents())
    } catch {
      throw error.located(at: folder)
    }
  }
}

extension EntityRecord {
  /// Gives each index its old and its new form, as Apple's compiler does:
  /// - an indexed property also becomes a fetch index with its name
  /// - a compound index also becomes a fetch index with the joined names
  /// - a fetch index of one property also sets the property's flag
  /// - a fetch index of several properties also becomes a compound index
  mutating func repeatIndexes() {
    addCompoundIndexesAsFetchIndexes()
    var flagged: Set<String> = []
    var compounds = Set(compoundIndexes)
    for index in fetchIndexes {
      let names = index.elements.compactMap(\.propertyName)
      guard names.count == index.elements.count else { continue }
      if let name = names.first, names.count == 1 { flagged.insert(name) }
      if names.count > 1, compounds.insert(names).inserted { compoundIndexes.append(names) }
    }
    for position in properties.indices {
      let name = properties[position].name
      if properties[position].isIndexed, !flagged.contains(name) {
        fetchIndexes.append(FetchIndexRecord(name: name, elements: [FetchIndexElementRecord(propertyName: name)]))
      }
      if flagged.contains(name) { properties[position].isIndexed = true }
    }
  }
}

/// The decoding of one document.
struct SourceDecoding {
  let root: XMLElement
  let moduleName: String?
  let composites: [String: XMLElement]
  /// The number of attributes that composites may still be expanded into. Without this limit nested composites could
  /// multiply without end.
  var expansionsLeft = 10_000

  init(_ root: XMLElement, moduleName: String?) {
    self.root = root
    self.moduleName = moduleName
    composites = Dictionary(
      root.children("composite").map { ($0.attributes["name"] ?? "", $0) }, uniquingKeysWith: { first, _ in first })
  }

  mutating func model() throws(ModelFileError) -> ModelRecord {
    var entities: [EntityRecord] = []
    var names: Set<String> = []
    for element in root.children("entity") {
      let entity: EntityRecord
      do { entity = try self.entity(element) } catch { throw error.at(element.text("name") ?? "") }
      guard names.insert(entity.name).inserted else {
        throw ModelFileError(.malformed, "there are two entities named \(entity.name)", element: entity.name)
      }
      entities.append(entity)
    }
    for (kind, words) in [
      ("fetchRequest", "fetch requests"), ("configuration", "configurations"), ("composite", "composites"),
    ] {
      try requireDistinctNames(kind, words)
    }
    var templates: [FetchRequestRecord] = []
    for element in root.children("fetchRequest") {
      let name = try element.required("name")
      do { templates.append(try fetchRequest(element, name: name)) } catch { throw error.at(name) }
    }
    var configurations: [String: [String]] = [:]
    for element in root.children("configuration") {
      let members = element.children("memberEntity").compactMap { $0.attributes["name"] }
      configurations[try element.required("name")] = members.sorted { $0.precedesInBytes($1) }
    }
    return ModelRecord(
      versionIdentifiers: [root.attributes["userDefinedModelVersionIdentifier"] ?? ""],
      entities: entities.sorted { $0.name.precedesInBytes($1.name) },
      fetchRequestTemplates: templates.sorted { ($0.name ?? "").precedesInBytes($1.name ?? "") },
      configurations: configurations)
  }

  private func requireDistinctNames(_ kind: String, _ words: String) throws(ModelFileError) {
    var names: Set<String> = []
    for element in root.children(kind) {
      let name = try element.required("name")
      guard names.insert(name).inserted else {
        throw ModelFileError(.malformed, "there are two \(words) named \(name)", element: name)
      }
    }
  }

  private mutating func entity(_ element: XMLElement) throws(ModelFileError) -> EntityRecord {
    let name = try element.required("name")
    var userInfo = element.userInfo
    // Apple's compiler adds this; clients of Sync Services once read it.
    if element.attributes["syncable"] == nil { userInfo["com.apple.syncservices.Syncable"] = .string("NO") }
    var indexes: [FetchIndexRecord] = []
    for index in element.children("fetchIndex") { indexes.append(try fetchIndex(index)) }
    var entity = EntityRecord(
      name: name, className: className(element.text("representedClassName")), isAbstract: element.flag("isAbstract"),
      superentity: element.text("parentEntity"), renamingIdentifier: element.text("elementID"),
      versionHashModifier: element.text("versionHashModifier"), userInfo: userInfo,
      uniquenessConstraints: names(element, "uniquenessConstraints", "uniquenessConstraint", "constraint"),
      fetchIndexes: indexes, compoundIndexes: names(element, "compoundIndexes", "compoundIndex", "index"),
      properties: try properties(element, of: name))
    entity.repeatIndexes()
    return entity
  }

  private func className(_ text: String?) -> String? {
    text == "NSManagedObject" ? nil : qualified(text)
  }

  /// Puts the module's name before a leading ".".
  func qualified(_ className: String?) -> String? {
    guard let className, let moduleName, className.hasPrefix(".") else { return className }
    return moduleName + className
  }

  private func names(_ element: XMLElement, _ outer: String, _ group: String, _ inner: String) -> [[String]] {
    element.children(outer).flatMap { $0.children(group) }.map { group in
      group.children(inner).compactMap { $0.attributes["value"] }
    }
  }

  private func fetchIndex(_ element: XMLElement) throws(ModelFileError) -> FetchIndexRecord {
    let name = try element.required("name")
    var elements: [FetchIndexElementRecord] = []
    for part in element.children("fetchIndexElement") {
      let property = part.text("property")
      let expression = property == nil ? try PredicateText.derivation(part.required("expression")) : nil
      elements.append(
        FetchIndexElementRecord(
          propertyName: property, expression: expression,
          type: try part.choice("type", ["Binary": 0, "RTree": 1], of: name) ?? 0,
          isAscending: try part.choice("order", ["ascending": true, "descending": false], of: name) ?? true))
    }
    var index = FetchIndexRecord(name: name, elements: elements)
    if let text = element.text("partialIndexPredicate") {
      index.partialPredicate = try PredicateText.predicate(text)
    }
    return index
  }

  func fetchRequest(_ element: XMLElement, name: String?) throws(ModelFileError) -> FetchRequestRecord {
    // A request without entity has an empty name: it is chosen later.
    guard let entityName = element.attributes["entity"] else {
      throw ModelFileError(.malformed, "<fetchRequest> has no entity")
    }
    var request = FetchRequestRecord(
      name: name, entityName: entityName, resultType: try element.count("resultType") ?? 0)
    if let text = element.text("predicateString") { request.predicate = try PredicateText.predicate(text) }
    request.fetchLimit = try element.count("fetchLimit") ?? 0
    request.fetchBatchSize = try element.count("fetchBatchSize") ?? 0
    request.includesSubentities = element.optionalFlag("includeSubentities") ?? request.includesSubentities
    request.includesPropertyValues = element.optionalFlag("includePropertyValues") ?? request.includesPropertyValues
    request.includesPendingChanges = element.optionalFlag("includesPendingChanges") ?? request.includesPendingChanges
    request.returnsObjectsAsFaults = element.optionalFlag("returnObjectsAsFaults") ?? request.returnsObjectsAsFaults
    request.returnsDistinctResults = element.optionalFlag("returnDistinctResults") ?? request.returnsDistinctResults
    return request
  }
}
