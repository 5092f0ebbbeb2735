import Foundation
import PropertyLists
import StoreQuery
import StoreSchema

/// Writes source models: the `contents` file of an `.xcdatamodel`, as Xcode formats it.
///
/// A record has nothing of what only Xcode needs. So where a source is read and written again, this is lost:
/// - the diagram
/// - `codeGenerationType`; `usesScalarValueType` gets the value that Xcode gives to new attributes
/// - the versions of the tools, the language and the use with CloudKit and SwiftData: they become those of a new model
/// - `syncable` of attributes, relationships and fetched properties
/// - the names of composites: each gets the name of the first attribute that has it
/// - the spelling of predicates, of expressions, of truth values and of numbers, such as `0` for `0.0`
/// - what says the same as nothing: empty values, empty `userInfo`, the class `NSManagedObject`, and flags of a fetch
///   request with their defaults
/// - a default value or a bound that is not of its type; the model has none then
/// - `renamingIdentifier`, which becomes `elementID`, and an `inverseEntity` that is not the destination.
///
/// A source has two forms for an index of one property and for one of several. Of both the older is written, the flag
/// `indexed` or `compoundIndexes`, where the index has the name that this form gives it.
public struct ModelSourceWriter {
  /// The text of a `contents` file.
  public let contents: Data
  /// What of the model a source cannot express, a sentence each. Where it is empty, the contents are read back as a
  /// model that is equal to the written one.
  public let omissions: [String]

  /// Writes a model.
  public init(_ model: ModelRecord) {
    var encoding = SourceEncoding(model)
    var text = SourceText()
    text.write(encoding.document())
    contents = Data(text.text.utf8)
    let known = encoding.omissions + text.omissions
    omissions = known + Self.differences(model, contents, besides: known)
  }

  /// What is read back in another form, and was not named yet.
  private static func differences(_ model: ModelRecord, _ contents: Data, besides known: [String]) -> [String] {
    var model = model
    // A source without an identifier has the empty one.
    if model.versionIdentifiers.isEmpty { model.versionIdentifiers = [""] }
    let again: ModelRecord
    do { again = try ModelSourceReader().read(contents) } catch {
      return ["The source cannot be read: \(error.message)."]
    }
    if again == model { return [] }
    let named = Set(known.map { $0.prefix { $0 != " " } })
    var owners: [(name: String, changes: [String])] = []
    let entities = Dictionary(again.entities.map { ($0.name, $0) }) { first, _ in first }
    for entity in model.entities {
      guard var other = entities[entity.name], other != entity else { continue }
      let properties = Dictionary(other.properties.map { ($0.name, $0) }) { first, _ in first }
      for property in entity.properties where properties[property.name] != property {
        let changes = properties[property.name].map { RecordChanges.list(property, $0) } ?? ["it is missing"]
        owners.append(("\(entity.name).\(property.name)", changes))
      }
      other.properties = entity.properties
      if other != entity { owners.append((entity.name, RecordChanges.list(entity, other))) }
    }
    if owners.isEmpty && known.isEmpty { owners.append(("The model", RecordChanges.list(model, again))) }
    return owners.filter { !named.contains($0.name[...]) }.map { name, changes in
      "\(name) is read back in another form: \(changes.joined(separator: ", "))."
    }
  }
}

/// The elements of one model.
struct SourceEncoding {
  let model: ModelRecord
  var omissions: [String] = []
  private var composites: [(name: String, elements: [PropertyRecord], nesting: Int)] = []
  /// The number of composites around the one that is written.
  private var nesting = 0
  private var compositeNames: [[PropertyRecord]: String] = [:]

  /// The user info of an entity that a source does not mark with `syncable`.
  private static let unsynced = "com.apple.syncservices.Syncable"

  init(_ model: ModelRecord) { self.model = model }

  mutating func document() -> XMLElement {
    var root = XMLElement(
      name: "model",
      attributes: [
        "type": "com.apple.IDECoreDataModeler.DataModel", "documentVersion": "1.0", "lastSavedToolsVersion": "1",
        "systemVersion": "11A491", "minimumToolsVersion": "Automatic", "sourceLanguage": "Swift",
        "userDefinedModelVersionIdentifier": model.versionIdentifiers.first ?? "",
      ])
    if model.versionIdentifiers.count > 1 {
      omit("Of the model's version identifiers only \(model.versionIdentifiers[0]) is written.")
    }
    root.children = model.entities.sorted { Self.precedes($0.name, $1.name) }.map { entity($0) }
    root.children += model.fetchRequestTemplates.map { fetchRequest($0, "The fetch request \($0.name ?? "")") }
    for (name, members) in model.configurations.sorted(by: { $0.key.precedesInBytes($1.key) }) {
      let children = members.map { XMLElement(name: "memberEntity", attributes: ["name": $0]) }
      root.children.append(XMLElement(name: "configuration", attributes: ["name": name], children: children))
    }
    // Writing a composite may add those that it contains.
    var next = 0
    while next < composites.count {
      let (name, elements, outer) = composites[next]
      nesting = outer + 1
      let children = elements.map { property($0, of: name) }
      root.children.append(XMLElement(name: "composite", attributes: ["name": name], children: children))
      next += 1
    }
    return root
  }

  mutating func omit(_ sentence: String) { omissions.append(sentence) }

  /// The name of the composite with these elements: that of the first attribute of it, with a number where another
  /// composite has this name.
  ///
  /// Nil beyond ``ModelRecord/compositeLimit``, where the reader ends, too.
  mutating func composite(_ elements: [PropertyRecord], _ attribute: String) -> String? {
    guard nesting < ModelRecord.compositeLimit else {
      omit("\(attribute) is a composite that is nested too deeply for a source.")
      return nil
    }
    if let name = compositeNames[elements] { return name }
    let isTaken = composites.contains { $0.name == attribute }
    let name = isTaken ? "\(attribute)-\(composites.count + 1)" : attribute
    composites.append((name, elements, nesting))
    compositeNames[elements] = name
    return name
  }

  /// The order of Xcode: upper and lower case are the same, and digits are numbers.
  private static func precedes(_ one: String, _ other: String) -> Bool {
    switch one.compare(other, options: [.caseInsensitive, .numeric]) {
    case .orderedSame: one.precedesInBytes(other)
    case let order: order == .orderedAscending
    }
  }

  private mutating func entity(_ entity: EntityRecord) -> XMLElement {
    let owner = entity.name
    var attributes = ["name": entity.name]
    attributes["representedClassName"] = entity.className
    attributes["isAbstract"] = flag(entity.isAbstract)
    attributes["parentEntity"] = entity.superentity
    attributes["elementID"] = entity.renamingIdentifier == entity.name ? nil : entity.renamingIdentifier
    attributes["versionHashModifier"] = entity.versionHashModifier
    var userInfo = entity.userInfo
    if userInfo[Self.unsynced] == .string("NO") {
      userInfo[Self.unsynced] = nil
    } else {
      attributes["syncable"] = "YES"
    }
    var element = XMLElement(name: "entity", attributes: attributes)
    let indexes = StatedIndexes(entity)
    let properties = entity.properties.sorted { Self.precedes($0.name, $1.name) }.map { property in
      var element = self.property(property, of: owner)
      element.attributes["indexed"] = flag(indexes.flags.contains(property.name))
      return element
    }
    for kind in ["attribute", "relationship", "fetchedProperty"] {
      element.children += properties.filter { $0.name == kind }
    }
    element.children += indexes.fetchIndexes.map(fetchIndex)
    element.children += groups(indexes.compounds, "compoundIndexes", "compoundIndex", "index")
    element.children += groups(
      entity.uniquenessConstraints, "uniquenessConstraints", "uniquenessConstraint", "constraint")
    element.children += self.userInfo(userInfo, owner)
    return element
  }

  func flag(_ value: Bool) -> String? { value ? "YES" : nil }

  private func groups(_ names: [[String]], _ outer: String, _ group: String, _ inner: String) -> [XMLElement] {
    if names.isEmpty { return [] }
    let children = names.map { names in
      XMLElement(
        name: group, attributes: [:], children: names.map { XMLElement(name: inner, attributes: ["value": $0]) })
    }
    return [XMLElement(name: outer, attributes: [:], children: children)]
  }

  private mutating func userInfo(_ entries: [String: PropertyList], _ owner: String) -> [XMLElement] {
    var children: [XMLElement] = []
    for (key, value) in entries.sorted(by: { $0.key.precedesInBytes($1.key) }) {
      if let text = value.stringValue {
        children.append(XMLElement(name: "entry", attributes: ["key": key, "value": text]))
      } else {
        omit("\(owner) has the user info \(key), which is no text.")
      }
    }
    return children.isEmpty ? [] : [XMLElement(name: "userInfo", attributes: [:], children: children)]
  }

  private func fetchIndex(_ index: FetchIndexRecord) -> XMLElement {
    var children: [XMLElement] = []
    for element in index.elements {
      var attributes = ["type": element.type == 1 ? "RTree" : "Binary"]
      attributes["property"] = element.propertyName
      attributes["expression"] = element.propertyName == nil ? element.expression?.format : nil
      attributes["order"] = element.isAscending ? "ascending" : "descending"
      children.append(XMLElement(name: "fetchIndexElement", attributes: attributes))
    }
    var attributes = ["name": index.name]
    attributes["partialIndexPredicate"] = index.partialPredicate?.format
    return XMLElement(name: "fetchIndex", attributes: attributes, children: children)
  }

  private mutating func fetchRequest(_ request: FetchRequestRecord, _ owner: String) -> XMLElement {
    let usual = FetchRequestRecord(name: nil, entityName: "", resultType: request.resultType)
    var attributes = ["name": request.name ?? "fetchedPropertyFetchRequest", "entity": request.entityName]
    attributes["predicateString"] = request.predicate?.format
    attributes["resultType"] = request.resultType == 0 ? nil : "\(request.resultType)"
    attributes["fetchLimit"] = request.fetchLimit == 0 ? nil : "\(request.fetchLimit)"
    attributes["fetchBatchSize"] = request.fetchBatchSize == 0 ? nil : "\(request.fetchBatchSize)"
    let flags = [
      ("includeSubentities", request.includesSubentities, usual.includesSubentities),
      ("includePropertyValues", request.includesPropertyValues, usual.includesPropertyValues),
      ("includesPendingChanges", request.includesPendingChanges, usual.includesPendingChanges),
      ("returnObjectsAsFaults", request.returnsObjectsAsFaults, usual.returnsObjectsAsFaults),
      ("returnDistinctResults", request.returnsDistinctResults, usual.returnsDistinctResults),
    ]
    for (key, value, usual) in flags where value != usual { attributes[key] = value ? "YES" : "NO" }
    var stated = request
    (stated.sortDescriptors, stated.fetchOffset, stated.propertiesToFetch) = ([], 0, nil)
    (stated.propertiesToGroupBy, stated.havingPredicate) = ([], nil)
    (stated.relationshipKeyPathsForPrefetching, stated.shouldRefreshRefetchedObjects) = ([], false)
    if stated != request {
      omit("\(owner) has an order, an offset or properties to fetch, group or prefetch, which a source cannot express.")
    }
    return XMLElement(name: "fetchRequest", attributes: attributes)
  }

  // MARK: Properties

  private mutating func property(_ property: PropertyRecord, of owner: String) -> XMLElement {
    let name = "\(owner).\(property.name)"
    var attributes = ["name": property.name]
    attributes["optional"] = flag(property.isOptional)
    attributes["elementID"] = property.renamingIdentifier == property.name ? nil : property.renamingIdentifier
    attributes["versionHashModifier"] = property.versionHashModifier
    attributes["spotlightIndexingEnabled"] = flag(property.isIndexedBySpotlight)
    attributes["storedInTruthFile"] = flag(property.isStoredInExternalRecord)
    var element: XMLElement
    switch property.kind {
    case .attribute(let attribute):
      attributes["transient"] = flag(property.isTransient)
      add(attribute, property, to: &attributes, name)
      element = XMLElement(name: "attribute", attributes: attributes)
    case .relationship(let relationship):
      attributes["transient"] = flag(property.isTransient)
      add(relationship, to: &attributes, name)
      element = XMLElement(name: "relationship", attributes: attributes)
    case .fetchedProperty(let request):
      element = XMLElement(name: "fetchedProperty", attributes: attributes)
      element.children.append(fetchRequest(request, name))
    }
    element.children += userInfo(property.userInfo, name)
    return element
  }

  private mutating func add(
    _ relationship: RelationshipRecord, to attributes: inout [String: String], _ owner: String
  ) {
    attributes["toMany"] = flag(relationship.maxCount != 1)
    attributes["minCount"] = relationship.minCount == 0 ? nil : "\(relationship.minCount)"
    attributes["maxCount"] = relationship.maxCount < 1 ? nil : "\(relationship.maxCount)"
    let rules = ["No Action", "Nullify", "Cascade", "Deny"]
    if rules.indices.contains(relationship.deleteRule) {
      attributes["deletionRule"] = rules[relationship.deleteRule]
    } else {
      omit("\(owner) has the unknown delete rule \(relationship.deleteRule).")
    }
    attributes["ordered"] = flag(relationship.isOrdered)
    attributes["destinationEntity"] = relationship.destinationEntity
    attributes["inverseName"] = relationship.inverseName
    attributes["inverseEntity"] = relationship.inverseName.map { _ in relationship.destinationEntity }
  }
}
