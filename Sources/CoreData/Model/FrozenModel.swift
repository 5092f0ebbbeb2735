import Foundation
import RuntimeAccess
import StoreSchema
import Synchronization

/// An immutable model: its schema, and the data about each entity that contexts and objects use, by index.
final class FrozenModel: Sendable {
  let schema: Schema
  /// In the order of the schema's entities.
  let infos: [EntityInfo]
  /// The names of all transformable attributes.
  let transformableNames: Set<String>
  /// Distinguishes models in caches.
  let number: UInt64

  /// Objects and their IDs refer to entities without reference counting, so used entities are never freed.
  private static let used = Mutex<[[EntityInfo]]>([])
  private static let counter = Atomic<UInt64>(1)

  init(_ schema: Schema, _ model: NSManagedObjectModel) {
    self.schema = schema
    number = Self.counter.add(1, ordering: .relaxed).oldValue
    transformableNames = Set(
      schema.entities.flatMap { $0.attributes.lazy.filter { $0.type == .transformable }.map(\.name) })
    let byName = model.entitiesByName
    let number = self.number
    infos = schema.entities.compactMap { entity in
      byName[entity.name].map { EntityInfo(entity, $0, modelNumber: number) }
    }
    for info in infos { info.description.frozen = info }
    let infos = infos
    Self.used.withLock { $0.append(infos) }
    for info in infos { info.makeImmortal() }
  }
}

/// The data about one entity that contexts and objects use.
///
/// Sendable, unchecked: everything but the resolved class is constant, and that is atomic.
final class EntityInfo: @unchecked Sendable {
  let entity: Entity
  let slotCount: Int
  /// Held strongly, because IDs outlive models. The description refers back to this object, so the entities of a used
  /// model are not freed.
  let description: NSEntityDescription
  let keys: [String: Key]
  /// The initial values of a new object, by slot.
  let defaults: [(slot: Int, value: Value)]
  /// The initial values of transient attributes, of those that have one.
  let transientDefaults: [(index: Int, value: Any)]
  /// That of one of them. An entity has few.
  func transientDefault(_ index: Int) -> Any? { transientDefaults.first { $0.index == index }?.value }
  /// Defaults of transformable attributes. They are encoded at save, as values that a client has set.
  let transformableDefaults: [(slot: Int, value: Any)]
  /// Whether a new object has any initial values.
  var hasDefaults: Bool { !defaults.isEmpty || !transientDefaults.isEmpty || !transformableDefaults.isEmpty }
  /// The properties with validation predicates; mostly none.
  let rules: [PropertyRules]
  let relationships: [RelationshipInfo]
  /// The same relationships, not reference-counted: the entity keeps them.
  let relationshipReferences: ContiguousArray<Unmanaged<Relationship>>
  /// The slots of to-one relationships, by index of the relationship.
  let toOnes: ContiguousArray<ToOneSlot>
  /// The to-many relationships.
  let toManys: [Relationship]
  let attributes: [AttributeInfo]
  /// The slots of each composite attribute. They are one value: it is changed, merged and undone as a whole.
  let composites: [[Int]]
  /// The validation rule of each slot.
  let slotRules: ContiguousArray<SlotRule>
  /// The slots of numbers whose stored bits may be out of the range of their type.
  let numberSlots: ContiguousArray<NumberSlot>
  /// A bit for each mandatory slot.
  let mandatoryBits: ContiguousArray<UInt64>
  /// To-many relationships with a minimum or maximum count.
  let boundedRelationships: [RelationshipInfo]
  let oneToOnes: [Relationship]
  /// Derived attributes whose sources are in the object itself.
  let ownDerivations: [Attribute]
  /// Index of the root entity.
  let root: Int
  let transients: [NSAttributeDescription]
  /// Slots that must not be null at save, with the name of the property.
  let mandatorySlots: [(slot: Int, name: String)]
  /// Attributes in memory that must not be nil at save: index into `transients`.
  let mandatoryTransients: [(index: Int, name: String)]
  /// Composite attributes that must have a value, or that have elements which must have one where the composite has.
  let mandatoryComposites: [Attribute]
  /// Mandatory to-one relationships that do not follow the deletion of the destination.
  let mandatoryLooseLinks: [RelationshipInfo]
  /// Whether validation must check more than single slots: composites, transients, deleted destinations, counts or
  /// validation predicates.
  let hasWiderRules: Bool
  /// The slots that hold values of attributes, with the key path of each.
  let leaves: [(slot: Int, key: String)]
  let hasTransformables: Bool
  /// The slots of strings, of as many as an object may keep; see ``ReadTexts``.
  let textSlots: ContiguousArray<Int>
  /// Slots of binary attributes that may be kept outside the row.
  let externalSlots: [Int]
  /// A number that no other entity has, above 16 bits for what accessors find out about their property in this entity.
  /// Neither zero, nor ``NSManagedObject/noTag``.
  let accessorTag: UInt64
  private static let tags = Atomic<UInt64>(0)
  /// The number of the frozen model; see ``FrozenModel/number``.
  let modelNumber: UInt64
  private let resolving = Mutex(())
  /// What follows from the class of the entity's objects. Written once, under the lock; read without it.
  private let resolved = Atomic<UnsafePointer<ResolvedClass>?>(nil)
  private let checksValues = Atomic<Bool>(false)

  private struct ResolvedClass {
    let type: NSManagedObject.Type
    let methods: KeyValueMethods
    let hasMethods: Bool

    init(_ type: NSManagedObject.Type) {
      (self.type, methods) = (type, type.keyValueMethods)
      hasMethods = !methods.isEmpty
    }
  }

  /// The meaning of a key of key-value coding for objects of the entity.
  enum Key {
    /// A stored attribute: index into `attributes`.
    case attribute(Int)
    /// Index into `relationships`.
    case relationship(Int)
    /// An attribute kept in memory only: index into `transients`.
    case transient(Int)
    case fetched(NSFetchedPropertyDescription)
  }

  init(_ entity: Entity, _ description: NSEntityDescription, modelNumber: UInt64) {
    self.entity = entity
    slotCount = entity.slots.count
    root = entity.root
    self.description = description
    self.modelNumber = modelNumber
    accessorTag = Self.tags.add(1, ordering: .relaxed).newValue << 16
    let properties = description.propertiesByName
    var keys: [String: Key] = [:]
    attributes = entity.attributes.map { attribute in
      AttributeInfo(attribute, properties[attribute.name] as? NSAttributeDescription ?? NSAttributeDescription())
    }
    for (index, attribute) in entity.attributes.enumerated() { keys[attribute.name] = .attribute(index) }
    composites = entity.attributes.filter { $0.type == .composite }.map(\.slots)
    relationships = entity.relationships.compactMap { relationship in
      (properties[relationship.name] as? NSRelationshipDescription).map { RelationshipInfo(relationship, $0) }
    }
    relationshipReferences = ContiguousArray(entity.relationships.map(Unmanaged.passUnretained))
    toManys = entity.relationships.filter(\.isToMany)
    toOnes = ContiguousArray(entity.relationships.map(ToOneSlot.init))
    for (index, relationship) in entity.relationships.enumerated() { keys[relationship.name] = .relationship(index) }
    transients = properties.values.compactMap { $0 as? NSAttributeDescription }.filter(\.isTransient)
      .sorted { UTF8Order.isLess($0.name, $1.name) }
    for (index, attribute) in transients.enumerated() { keys[attribute.name] = .transient(index) }
    for property in properties.values {
      if let fetched = property as? NSFetchedPropertyDescription { keys[fetched.name] = .fetched(fetched) }
    }
    self.keys = keys
    defaults = attributes.flatMap { $0.defaults() }
    transientDefaults = transients.enumerated().compactMap { index, attribute in
      AttributeCoding.boxed(attribute.defaultValue).map { (index, $0) }
    }
    transformableDefaults = attributes.compactMap { info in
      guard info.attribute.type == .transformable else { return nil }
      return info.description.defaultValue.map { (info.attribute.slot, $0) }
    }
    rules = PropertyRules.all(attributes, relationships, transients)
    mandatorySlots =
      attributes.filter { !$0.attribute.isOptional && $0.attribute.type != .composite }.map {
        ($0.attribute.slot, $0.attribute.name)
      }
      + relationships.compactMap { info in
        info.relationship.isOptional ? nil : info.relationship.slot.map { ($0, info.relationship.name) }
      }
    var slotRules = ContiguousArray(repeating: SlotRule(), count: entity.slots.count)
    var mandatoryBits = ContiguousArray(repeating: UInt64(0), count: (entity.slots.count + 63) / 64)
    mandatoryTransients = transients.enumerated().filter { !$1.isOptional }.map { ($0, $1.name) }
    mandatoryComposites = entity.attributes.filter { attribute in
      attribute.type == .composite && (!attribute.isOptional || attribute.elements.contains { !$0.isOptional })
    }
    leaves = entity.attributes.flatMap { attribute in
      attribute.type == .composite
        ? attribute.elements.map { ($0.slot, attribute.name + "." + $0.name) } : [(attribute.slot, attribute.name)]
    }
    for attribute in entity.attributes.flatMap({ $0.type == .composite ? $0.elements : [$0] }) {
      slotRules[attribute.slot].range = SlotRule.Range(attribute.type)
    }
    for (slot, _) in mandatorySlots {
      slotRules[slot].isMandatory = true
      mandatoryBits[slot / 64] |= 1 << UInt64(slot % 64)
    }
    self.slotRules = slotRules
    numberSlots = ContiguousArray(slotRules.indices.compactMap { NumberSlot($0, slotRules[$0].range) })
    self.mandatoryBits = mandatoryBits
    oneToOnes = entity.relationships.filter { $0.slot != nil && $0.linkedInverse?.slot != nil }
    boundedRelationships = relationships.filter { info in
      let definition = info.relationship.definition
      return info.relationship.isToMany
        && (definition.maxCount > 1 || definition.minCount > 0)
    }
    mandatoryLooseLinks = relationships.filter { info in
      let rule = info.description.inverseRelationship?.deleteRule ?? .noActionDeleteRule
      return !info.relationship.isToMany && !info.relationship.isOptional && rule == .noActionDeleteRule
    }
    hasWiderRules =
      !(mandatoryComposites.isEmpty && mandatoryTransients.isEmpty && mandatoryLooseLinks.isEmpty
      && boundedRelationships.isEmpty && rules.isEmpty)
    ownDerivations = entity.attributes.filter { attribute in
      switch attribute.derivation {
      case .now: true
      case .keyPath(let keys), .function(_, let keys): keys.count == 1
      default: false
      }
    }
    textSlots = ContiguousArray(
      entity.slots.indices.lazy.filter { [.string, .uri].contains(entity.slots[$0]) }.prefix(ReadTexts.most))
    externalSlots = entity.slots.indices.filter { entity.slots[$0] == .externalData }
    hasTransformables = entity.attributes.contains { $0.type == .transformable }
  }

  deinit {
    guard let resolved = resolved.load(ordering: .acquiring) else { return }
    UnsafeMutablePointer(mutating: resolved).deinitialize(count: 1)
    resolved.deallocate()
  }

  /// Ends the reference counting of objects that every object of the entity refers to, and that are never freed:
  /// threads that make objects of one entity would contend for the counts.
  fileprivate func makeImmortal() {
    ImmortalObject.make(self)
    ImmortalObject.make(description)
    for relationship in entity.relationships { ImmortalObject.make(relationship) }
  }

  /// Whether the class of the entity's objects checks values by code of its own. Known once there is an object.
  var validatesValues: Bool { checksValues.load(ordering: .relaxed) }

  /// The class of the entity's objects.
  var objectClass: NSManagedObject.Type { (resolved.load(ordering: .acquiring) ?? resolve()).pointee.type }

  /// Whether that class has custom accessors or validation methods.
  var hasKeyValueMethods: Bool { (resolved.load(ordering: .acquiring) ?? resolve()).pointee.hasMethods }

  /// These methods.
  var keyValueMethods: KeyValueMethods { (resolved.load(ordering: .acquiring) ?? resolve()).pointee.methods }

  private func resolve() -> UnsafePointer<ResolvedClass> {
    resolving.withLock { _ in
      if let known = resolved.load(ordering: .acquiring) { return known }
      let type = ManagedObjectClass.resolve(description)
      checksValues.store(NSManagedObject.checksValues(type), ordering: .relaxed)
      let pointer = UnsafeMutablePointer<ResolvedClass>.allocate(capacity: 1)
      pointer.initialize(to: ResolvedClass(type))
      resolved.store(UnsafePointer(pointer), ordering: .releasing)
      return UnsafePointer(pointer)
    }
  }
}

/// A stored attribute with its description.
final class AttributeInfo {
  let attribute: Attribute
  let description: NSAttributeDescription
  /// The class of a transformable attribute's values; nil where the model names none, or the process does not have it.
  let valueClass: AnyClass?

  init(_ attribute: Attribute, _ description: NSAttributeDescription) {
    self.attribute = attribute
    self.description = description
    valueClass = attribute.type == .transformable ? TransformableCoding.valueClass(description) : nil
  }

  /// The values of a new object. An element that is missing in the composite's default gets the element's own default.
  func defaults() -> [(slot: Int, value: Value)] {
    if attribute.type == .composite {
      let own = (try? CompositeCoding.leaves(description.defaultValue, attribute)) ?? []
      return attribute.elements.compactMap { element in
        if let value = own.first(where: { $0.slot == element.slot })?.value, !value.isNull {
          return (element.slot, value)
        }
        let value = description.element(element.name)?.defaultValue
        return value.flatMap { AttributeCoding.encode($0, element) }.map { (element.slot, $0) }
      }
    }
    guard let value = description.defaultValue, attribute.type != .transformable else { return [] }
    return AttributeCoding.encode(value, attribute).map { [(attribute.slot, $0)] } ?? []
  }
}

/// The validation rule for the values in one slot.
struct SlotRule {
  var isMandatory = false
  var range = Range.none

  /// Whether a changed value, which is not nil, follows the rule.
  @inline(__always)
  func allows(_ address: UnsafePointer<Value?>) -> Bool {
    switch address.pointee {
    case .null?: !isMandatory
    case .int(let x)?:
      switch range {
      case .integer16: Int64(Int16(truncatingIfNeeded: x)) == x
      case .integer32: Int64(Int32(truncatingIfNeeded: x)) == x
      default: true
      }
    case .double(let x)?, .date(let x)?: range != .number || !x.isNaN
    case .bool?, .uuid?, .data?, .reference?, nil: true
    case .string(let x)?, .uri(let x)?: range != .uri || range.contains(.uri(x))
    case .decimal(let x)?: range == .finiteDecimal && x.isFinite
    }
  }

  /// The values that an attribute's type allows of those that fit into a slot.
  enum Range {
    case none, integer16, integer32, number, finiteDecimal, uri

    init(_ type: AttributeType) {
      switch type {
      case .integer16: self = .integer16
      case .integer32: self = .integer32
      case .double, .float, .date: self = .number
      case .decimal: self = .finiteDecimal
      case .uri: self = .uri
      default: self = .none
      }
    }

    func contains(_ value: Value) -> Bool {
      switch (self, value) {
      case (.integer16, .int(let x)): Int16(exactly: x) != nil
      case (.integer32, .int(let x)): Int32(exactly: x) != nil
      case (.number, .double(let x)), (.number, .date(let x)): !x.isNaN
      case (.finiteDecimal, .decimal(let x)): x.isFinite
      // A number that no integer can have.
      case (_, .decimal): false
      case (.uri, .uri(let x)), (.uri, .string(let x)): URL(string: x) != nil
      default: true
      }
    }
  }
}

/// A slot of numbers whose bits may be out of the range of their type.
struct NumberSlot {
  let slot: Int
  /// Integers of the type are at least `-half` and less than `half`. Zero for floating-point numbers and dates.
  let half: Int64

  init?(_ slot: Int, _ range: SlotRule.Range) {
    self.slot = slot
    switch range {
    case .integer16: half = 1 << 15
    case .integer32: half = 1 << 31
    case .number: half = 0
    case .none, .finiteDecimal, .uri: return nil
    }
  }
}

/// The location of a to-one relationship in an object's row.
struct ToOneSlot {
  /// Negative for a to-many relationship.
  let slot: Int
  let entitySlot: Int?
  let destination: Int

  init(_ relationship: Relationship) {
    slot = relationship.slot ?? -1
    entitySlot = relationship.entitySlot
    destination = relationship.destination
  }
}

/// A relationship with its description and its inverse.
final class RelationshipInfo {
  let relationship: Relationship
  let deleteRule: NSDeleteRule
  let description: NSRelationshipDescription

  init(_ relationship: Relationship, _ description: NSRelationshipDescription) {
    self.relationship = relationship
    self.description = description
    deleteRule = description.deleteRule
  }
}
