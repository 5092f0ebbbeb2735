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

  /// The differences between two versions of a model, in the order of their elements. Entities and properties are
  /// matched by their renaming identifiers, as a migration does.
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
  private(set) var changes: [ModelChange] = []

  init(_ old: ModelRecord, _ new: ModelRecord) {
    (self.old, self.new) = (old, new)
    let byIdentifier = Dictionary(new.entities.map { ($0.renamingIdentifier, $0.name) }) { first, _ in first }
    renamed = Dictionary(
      old.entities.compactMap { entity in byIdentifier[entity.renamingIdentifier].map { (entity.name, $0) } },
      uniquingKeysWith: { first, _ in first })
  }

  private mutating func add(_ element: String, _ effect: ModelChange.Effect, _ text: String) {
    changes.append(ModelChange(element, effect, text))
  }

  mutating func compare() {
    let origins = Dictionary(renamed.map { ($0.value, $0.key) }) { first, _ in first }
    for entity in new.entities {
      if let origin = origins[entity.name].flatMap({ old.entity(named: $0) }) {
        compare(origin, entity)
      } else {
        add(entity.name, .migrated, "The entity \(entity.name) is new; it has no objects.")
      }
    }
    for entity in old.entities where renamed[entity.name] == nil {
      add(entity.name, .loses, "The entity \(entity.name) is gone; its objects are dropped.")
    }
    compareRest()
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
    for constraint in b.uniquenessConstraints where !a.uniquenessConstraints.contains(constraint) {
      add(
        name, .mayFail,
        "\(name) must be unique by \(constraint.joined(separator: ", ")); objects with equal values stop the migration."
      )
    }
    for constraint in a.uniquenessConstraints where !b.uniquenessConstraints.contains(constraint) {
      add(name, .migrated, "\(name) need no longer be unique by \(constraint.joined(separator: ", ")).")
    }
    if a.fetchIndexes != b.fetchIndexes {
      add(name, .none, "The indexes of \(name) differ; a migration makes them anew.")
    }
    if a.userInfo != b.userInfo { add(name, .none, "The user info of \(name) differs.") }
    compareProperties(a, b)
  }

  private mutating func compareProperties(_ a: EntityRecord, _ b: EntityRecord) {
    // A property that moves up or down the hierarchy is kept, so it is looked for in all entities above and below.
    let known = Dictionary(properties(of: a, in: old).map { ($0.renamingIdentifier, $0) }) { first, _ in first }
    let own = Set(a.properties.map(\.name))
    var matched: Set<String> = []
    for property in b.properties {
      let element = "\(b.name).\(property.name)"
      guard let origin = known[property.renamingIdentifier] else {
        addNew(property, element)
        continue
      }
      matched.insert(origin.name)
      if origin.name != property.name {
        add(element, .migrated, "\(a.name).\(origin.name) is renamed to \(property.name); its values are kept.")
      }
      if !own.contains(origin.name) {
        add(element, .migrated, "\(element) is declared by \(b.name); an entity above declared it.")
      }
      compare(origin, property, element)
    }
    let inherited = Set(properties(of: b, in: new).map(\.renamingIdentifier))
    for property in a.properties
    where !matched.contains(property.name) && !inherited.contains(property.renamingIdentifier) {
      if property.isTransient {
        add("\(b.name).\(property.name)", .none, "The transient property \(b.name).\(property.name) is gone.")
      } else {
        add("\(b.name).\(property.name)", .loses, "\(b.name).\(property.name) is gone; its values are dropped.")
      }
    }
  }

  /// The properties of an entity and of those above it.
  private func properties(of entity: EntityRecord, in model: ModelRecord) -> [PropertyRecord] {
    var result = entity.properties
    // Readers check that inheritance has no cycle; a model in code may have one.
    var seen: Set<String> = [entity.name]
    var next = entity.superentity
    while let name = next, seen.insert(name).inserted, let parent = model.entity(named: name) {
      result += parent.properties
      next = parent.superentity
    }
    return result
  }

  private mutating func addNew(_ property: PropertyRecord, _ element: String) {
    switch property.kind {
    case .attribute(let attribute)
    where !property.isTransient && !property.isOptional && attribute.defaultValue.isNull
      && attribute.derivation == nil:
      add(
        element, .needsMapping,
        "\(element) is new and required, but has no default value; give it one, or make it optional.")
    case .relationship where !property.isOptional:
      add(
        element, .mayFail,
        "The relationship \(element) is new and required; objects without a destination cannot be saved.")
    default: add(element, property.isTransient ? .none : .migrated, "\(element) is new; it has its default value.")
    }
  }

  // MARK: Properties

  private mutating func compare(_ a: PropertyRecord, _ b: PropertyRecord, _ element: String) {
    if a.isTransient != b.isTransient {
      add(
        element, b.isTransient ? .loses : .migrated,
        b.isTransient
          ? "\(element) is transient; its values are dropped."
          : "\(element) is no longer transient; it has its default value.")
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
      let widens = integers.firstIndex(of: one.type).flatMap { from in
        integers.firstIndex(of: other.type).map { from < $0 }
      }
      let names = "\(typeName(other.type)); it was \(typeName(one.type))"
      if widens == true {
        add(
          element, .migrated,
          "\(element) is of the type \(names). Its values fit, but Apple's framework needs a mapping model.")
      } else {
        add(element, .needsMapping, "\(element) is of the type \(names).")
      }
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
    if one.derivation != other.derivation {
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
    if a.isOptional != b.isOptional || one.minCount != other.minCount
      || one.maxCount != other.maxCount && one.maxCount != 1
        && other.maxCount != 1
    {
      add(element, b.isOptional ? .migrated : .mayFail, "The number of objects that \(element) may have differs.")
    }
    if one.inverseName != other.inverseName {
      add(
        element, .migrated,
        "The inverse of \(element) is \(other.inverseName ?? "none"); it was \(one.inverseName ?? "none").")
    }
    if one.deleteRule != other.deleteRule { add(element, .none, "The deletion rule of \(element) differs.") }
  }
}
