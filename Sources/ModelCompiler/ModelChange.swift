import ModelFiles
import StoreSchema

/// A difference between two versions of a model, and what it means for a store of the older one.
public struct ModelChange: Hashable, Sendable, CustomStringConvertible {
  /// What becomes of the data when a store is migrated.
  public enum Effect: String, Hashable, Sendable {
    /// Nothing in the store changes: the version hashes are the same.
    case none
    /// The store is migrated, and no value is lost.
    case migrated
    /// The store is migrated, and values are lost.
    case loses
    /// The migration stops, and the store stays, where its data does not fit.
    case mayFail
    /// No migration can be inferred: a mapping model is necessary.
    case needsMapping
  }

  /// The element: `Student` or `Student.name`, by the names of the newer model, or of the older one where it is gone.
  /// Empty for the model itself.
  public var element: String
  /// What becomes of the data.
  public var effect: Effect
  /// What is different and what a migration does, as a sentence.
  public var description: String

  init(_ element: String, _ effect: Effect, _ description: String) {
    (self.element, self.effect, self.description) = (element, effect, description)
  }

  /// The differences between two versions of a model: those of the newer model's entities, then what is gone, then what
  /// concerns several entities or the whole model. Entities and properties are matched by their renaming identifiers,
  /// as a migration does.
  public static func changes(from old: ModelRecord, to new: ModelRecord) -> [ModelChange] {
    var comparison = ModelComparison(old, new)
    comparison.compare()
    return comparison.changes
  }
}

/// The comparison of two versions.
private struct ModelComparison {
  let old: ModelRecord
  let new: ModelRecord
  /// The name in the newer model of each entity of the older one that has a counterpart.
  private let renamed: [String: String]
  /// The reverse.
  private let origins: [String: String]
  private let oldEntities: [String: EntityRecord]
  private let newEntities: [String: EntityRecord]
  private(set) var changes: [ModelChange] = []

  init(_ old: ModelRecord, _ new: ModelRecord) {
    (self.old, self.new) = (old, new)
    oldEntities = Dictionary(old.entities.map { ($0.name, $0) }) { first, _ in first }
    newEntities = Dictionary(new.entities.map { ($0.name, $0) }) { first, _ in first }
    let byIdentifier = Dictionary(new.entities.map { ($0.renamingIdentifier, $0.name) }) { first, _ in first }
    renamed = Dictionary(
      old.entities.compactMap { entity in byIdentifier[entity.renamingIdentifier].map { (entity.name, $0) } },
      uniquingKeysWith: { first, _ in first })
    origins = Dictionary(renamed.map { ($0.value, $0.key) }) { first, _ in first }
  }

  private mutating func add(_ element: String, _ effect: ModelChange.Effect, _ text: String) {
    changes.append(ModelChange(element, effect, text))
  }

  mutating func compare() {
    for entity in new.entities {
      if let origin = origins[entity.name].flatMap({ oldEntities[$0] }) {
        compare(origin, entity)
      } else {
        add(entity.name, .migrated, "The entity \(entity.name) is new; it has no objects of its own.")
      }
    }
    for entity in old.entities where renamed[entity.name] == nil {
      let (effect, what): (ModelChange.Effect, String) =
        entity.isAbstract ? (.migrated, "it was abstract and had no objects") : (.loses, "its objects are dropped")
      add(entity.name, effect, "The entity \(entity.name) is gone; \(what).")
    }
    compareHierarchies()
    compareRest()
  }

  /// Hierarchies cannot be merged: entities that had no common parent cannot have one
  /// (https://developer.apple.com/documentation/coredata/migrating-your-data-model-automatically).
  private mutating func compareHierarchies() {
    var roots: [String: Set<String>] = [:]
    for (from, to) in renamed {
      guard let before = lineage(from, oldEntities).last, let after = lineage(to, newEntities).last else { continue }
      roots[after.name, default: []].insert(before.name)
    }
    for (root, merged) in roots.sorted(by: { UTF8Order.isLess($0.key, $1.key) }) where merged.count > 1 {
      let names = merged.sorted(by: UTF8Order.isLess).joined(separator: ", ")
      add(root, .needsMapping, "The hierarchies of \(names) are merged in that of \(root).")
    }
  }

  /// An entity and those that it inherits from. Readers check that there is no cycle; a model in code may have one.
  private func lineage(_ name: String, _ entities: [String: EntityRecord]) -> [EntityRecord] {
    var result: [EntityRecord] = []
    var seen: Set<String> = []
    var next = entities[name]
    while let current = next, seen.insert(current.name).inserted {
      result.append(current)
      next = current.superentity.flatMap { entities[$0] }
    }
    return result
  }

  private mutating func compareRest() {
    if old.configurations != new.configurations { add("", .none, "The configurations differ.") }
    if old.fetchRequestTemplates != new.fetchRequestTemplates { add("", .none, "The fetch request templates differ.") }
    if old.versionIdentifiers != new.versionIdentifiers {
      add(
        "", .none,
        "The identifier of the version is \(list(new.versionIdentifiers)); it was \(list(old.versionIdentifiers)).")
    }
  }

  private func list(_ names: [String]) -> String {
    names.isEmpty ? "none" : names.map { "\"\($0)\"" }.joined(separator: ", ")
  }

  // MARK: Entities

  private mutating func compare(_ a: EntityRecord, _ b: EntityRecord) {
    let name = b.name
    if a.name != b.name { add(name, .migrated, "The entity \(a.name) is renamed to \(b.name); its objects are kept.") }
    let parent = a.superentity.map { renamed[$0] ?? $0 }
    if parent != b.superentity {
      add(
        name, .migrated,
        "\(name) inherits from \(b.superentity ?? "no entity"); it did from \(a.superentity ?? "none").")
    }
    if a.isAbstract != b.isAbstract {
      add(
        name, b.isAbstract ? .loses : .migrated,
        b.isAbstract
          ? "\(name) is abstract; its own objects are dropped." : "\(name) is no longer abstract.")
    }
    if a.className != b.className {
      add(
        name, .none,
        "The class of \(name) is \(b.className ?? "NSManagedObject"); it was \(a.className ?? "NSManagedObject").")
    }
    if a.versionHashModifier != b.versionHashModifier {
      add(
        name, .migrated,
        "\(name) has another version hash modifier: its stores are migrated although nothing else differs.")
    }
    let names = properties(lineage(b.name, newEntities)).mapValues(\.0.name)
    let before = Dictionary(
      properties(lineage(a.name, oldEntities)).map { ($0.value.0.name, names[$0.key] ?? $0.value.0.name) }
    ) { first, _ in first }
    // By the names of the newer model: to rename an attribute does not change the constraint.
    let constraints = a.uniquenessConstraints.map { $0.map { before[$0] ?? $0 } }
    for constraint in b.uniquenessConstraints where !constraints.contains(constraint) {
      add(
        name, .mayFail,
        "\(name) must be unique by \(constraint.joined(separator: ", ")); objects with equal values stop the migration."
      )
    }
    for constraint in constraints where !b.uniquenessConstraints.contains(constraint) {
      add(name, .migrated, "\(name) need no longer be unique by \(constraint.joined(separator: ", ")).")
    }
    if a.fetchIndexes != b.fetchIndexes {
      add(name, .none, "The indexes of \(name) differ; stores make them anew.")
    }
    if a.userInfo != b.userInfo { add(name, .none, "The user info of \(name) differs.") }
    compareProperties(a, b)
  }

  private mutating func compareProperties(_ a: EntityRecord, _ b: EntityRecord) {
    let before = properties(lineage(a.name, oldEntities))
    var matched: Set<String> = []
    for property in b.properties {
      let element = "\(b.name).\(property.name)"
      guard let (origin, owner) = before[property.renamingIdentifier] else {
        // One that comes from below is compared there.
        if !comesFromBelow(property, b.name) { addNew(property, element) }
        continue
      }
      matched.insert(property.renamingIdentifier)
      if origin.name != property.name {
        add(element, .migrated, "\(a.name).\(origin.name) is renamed to \(property.name); its values are kept.")
      }
      if owner != a.name { add(element, .migrated, "\(element) is declared by \(b.name); \(owner) declared it.") }
      compare(origin, property, element)
    }
    let after = properties(lineage(b.name, newEntities))
    for property in a.properties where !matched.contains(property.renamingIdentifier) {
      let element = "\(b.name).\(property.name)"
      if let (moved, owner) = after[property.renamingIdentifier] {
        // Where an entity above declared it too, nothing moves.
        guard !(origins[owner].flatMap { oldEntities[$0] }?.properties.contains { $0.name == property.name } ?? false)
        else {
          continue
        }
        add(element, .migrated, "\(element) is declared by \(owner); its values are kept.")
        compare(property, moved, element)
      } else if property.isTransient {
        add(element, .none, "The transient property \(element) is gone.")
      } else {
        add(element, .loses, "\(element) is gone; its values are dropped.")
      }
    }
  }

  /// The properties of a lineage by their renaming identifiers, each with the entity that declares it.
  private func properties(_ lineage: [EntityRecord]) -> [String: (PropertyRecord, owner: String)] {
    var result: [String: (PropertyRecord, owner: String)] = [:]
    for entity in lineage {
      for property in entity.properties where result[property.renamingIdentifier] == nil {
        result[property.renamingIdentifier] = (property, entity.name)
      }
    }
    return result
  }

  /// Whether an entity below declared the property before.
  private func comesFromBelow(_ property: PropertyRecord, _ owner: String) -> Bool {
    renamed.contains { from, to in
      to != owner && lineage(to, newEntities).contains { $0.name == owner }
        && oldEntities[from]?.properties.contains { $0.renamingIdentifier == property.renamingIdentifier } == true
    }
  }

  private mutating func addNew(_ property: PropertyRecord, _ element: String) {
    if property.isTransient { return add(element, .none, "\(element) is new; no store keeps it.") }
    switch property.kind {
    case .attribute(let attribute) where attribute.derivation != nil:
      add(element, .migrated, "\(element) is new; it is computed.")
    case .attribute(let attribute)
    where !property.isOptional && attribute.defaultValue.isNull && attribute.elements == nil:
      add(
        element, .needsMapping,
        "\(element) is new and required, but has no default value; give it one, or make it optional.")
    case .attribute: add(element, .migrated, "\(element) is new; it has its default value.")
    case .relationship where !property.isOptional:
      add(
        element, .mayFail,
        "The relationship \(element) is new and required; objects without a destination cannot be saved.")
    case .relationship: add(element, .migrated, "The relationship \(element) is new; it has no objects.")
    case .fetchedProperty: add(element, .none, "The fetched property \(element) is new.")
    }
  }

  // MARK: Properties

  private mutating func compare(_ a: PropertyRecord, _ b: PropertyRecord, _ element: String) {
    switch (a.isTransient, b.isTransient) {
    case (true, true):
      if a != b { add(element, .none, "The transient property \(element) differs.") }
      return
    case (false, true): return add(element, .loses, "\(element) is transient; its values are dropped.")
    case (true, false): return addNew(b, element)
    case (false, false): break
    }
    switch (a.kind, b.kind) {
    case (.attribute(let one), .attribute(let other)): compare(one, other, a, b, element)
    case (.relationship(let one), .relationship(let other)): compare(one, other, a, b, element)
    case (.fetchedProperty(let one), .fetchedProperty(let other)):
      if one != other { add(element, .none, "The fetch request of \(element) differs.") }
    default: add(element, .needsMapping, "\(element) is a property of another kind.")
    }
    if a.versionHashModifier != b.versionHashModifier {
      add(element, .migrated, "\(element) has another version hash modifier.")
    }
    if a.validations != b.validations {
      add(element, .none, "The validation of \(element) differs; stored values stay.")
    }
    if a.userInfo != b.userInfo { add(element, .none, "The user info of \(element) differs.") }
  }

  private mutating func compare(
    _ one: AttributeRecord, _ other: AttributeRecord, _ a: PropertyRecord, _ b: PropertyRecord, _ element: String
  ) {
    if one.type != other.type {
      let integers = [AttributeTypeName.integer16, .integer32, .integer64].map(\.rawValue)
      let (from, to) = (integers.firstIndex(of: one.type), integers.firstIndex(of: other.type))
      let fits = if let from, let to { from < to } else { false }
      add(
        element, .needsMapping,
        "\(element) is of the type \(typeName(other.type)); it was \(typeName(one.type)).\(fits ? " All values fit." : "")"
      )
    }
    if a.isOptional, !b.isOptional, other.derivation == nil, other.type != AttributeTypeName.composite.rawValue {
      if other.defaultValue.isNull {
        add(
          element, .mayFail,
          "\(element) is required, but has no default value; objects without a value stop the migration.")
      } else {
        add(element, .migrated, "\(element) is required; objects without a value get its default value.")
      }
    }
    if !a.isOptional, b.isOptional { add(element, .migrated, "\(element) is optional.") }
    if one.defaultValue != other.defaultValue {
      add(element, .none, "The default value of \(element) differs; stored values stay.")
    }
    if other.derivation == nil, one.derivation != nil {
      add(element, .migrated, "\(element) is no longer computed; it keeps its values.")
    } else if one.derivation != other.derivation {
      add(element, .migrated, "\(element) is computed in another way, and computed anew.")
    }
    if one.allowsExternalBinaryDataStorage != other.allowsExternalBinaryDataStorage {
      let may = other.allowsExternalBinaryDataStorage ? "may" : "may not"
      add(element, .migrated, "Large values of \(element) \(may) be in files of their own.")
    }
    if one.preservesValueInHistoryOnDeletion != other.preservesValueInHistoryOnDeletion {
      let stays = other.preservesValueInHistoryOnDeletion ? "stay" : "do not stay"
      add(element, .migrated, "Values of \(element) \(stays) in the history of deleted objects.")
    }
    if one.valueTransformerName != other.valueTransformerName {
      add(element, .none, "\(element) has another transformer; stored bytes stay as they are.")
    }
    if one.type == other.type, one.valueClassName != other.valueClassName {
      add(element, .none, "The class of the values of \(element) is \(other.valueClassName ?? "not stated").")
    }
    if one.elements != other.elements { add(element, .migrated, "The elements of the composite \(element) differ.") }
  }

  private func typeName(_ type: Int) -> String { AttributeTypeName(rawValue: type)?.sourceName ?? "\(type)" }

  private mutating func compare(
    _ one: RelationshipRecord, _ other: RelationshipRecord, _ a: PropertyRecord, _ b: PropertyRecord, _ element: String
  ) {
    let destination = renamed[one.destinationEntity] ?? one.destinationEntity
    if destination != other.destinationEntity {
      add(element, .needsMapping, "\(element) leads to \(other.destinationEntity); it did to \(one.destinationEntity).")
    }
    if one.maxCount == 1, other.maxCount != 1 { add(element, .migrated, "\(element) is to-many; its links are kept.") }
    if one.maxCount != 1, other.maxCount == 1 {
      add(
        element, .loses,
        "\(element) is to-one; of several links the first stays, or that to the object with the lowest key.")
    }
    if one.maxCount != 1, other.maxCount != 1, one.isOrdered != other.isOrdered {
      add(
        element, other.isOrdered ? .migrated : .loses,
        other.isOrdered
          ? "\(element) is ordered, by the keys of its objects." : "\(element) is no longer ordered; the order is lost."
      )
    }
    let isNarrower =
      a.isOptional && !b.isOptional || other.minCount > one.minCount
      || other.maxCount > 1 && one.maxCount != 1 && (one.maxCount < 1 || other.maxCount < one.maxCount)
    let isOther =
      a.isOptional != b.isOptional || other.minCount != one.minCount
      || other.maxCount != 1 && one.maxCount != 1 && max(0, other.maxCount) != max(0, one.maxCount)
    if isNarrower {
      add(element, .mayFail, "\(element) must have other numbers of objects; those that have not cannot be saved.")
    } else if isOther {
      add(element, .migrated, "\(element) may have other numbers of objects.")
    }
    if one.inverseName != other.inverseName {
      add(
        element, .migrated,
        "The inverse of \(element) is \(other.inverseName ?? "none"); it was \(one.inverseName ?? "none").")
    }
    if one.deleteRule != other.deleteRule { add(element, .none, "The deletion rule of \(element) differs.") }
  }
}
