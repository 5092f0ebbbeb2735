import Foundation
import StoreSchema

/// Key-value coding. Foundation does not have it here, so the object implements it.
extension NSManagedObject {
  final func modelledValue(forKey key: String) -> Any? {
    if isNoted(key) { return KeyPathName.destination(key, self) }
    guard let found = info.keys[key] else {
      if key == "objectID" { return ownID }
      if key == "self" || key == "SELF" { return self }
      return value(forUndefinedKey: key)
    }
    switch found {
    case .attribute(let index): return attributeValue(info.attributes[index])
    case .relationship(let index):
      let relationship = info.relationships[index].relationship
      if !relationship.isToMany { return toOne(relationship) }
      let state = loadedToMany(relationship)
      return relationship.isOrdered ? state.asOrderedSet : state.asSet
    case .transient(let index):
      prepareToRead()
      return transient(index)
    case .fetched(let property): return fetchedValue(property)
    }
  }

  /// Whether the object is a probe of `KeyPathName`. Then the key was recorded, and there is no value for it.
  private func isNoted(_ key: String) -> Bool { flags.contains(.fault) && core == nil && KeyPathName.note(key) }

  private func attributeValue(_ info: AttributeInfo) -> Any? {
    let attribute = info.attribute
    if attribute.type == .composite { return CompositeCoding.dictionary(attribute) { plain(stored($0.slot), $0.slot) } }
    switch attribute.type {
    case .transformable: return transformed(info)
    case .binaryData where attribute.definition.allowsExternalBinaryDataStorage: return externalData(attribute.slot)
    default: return AttributeCoding.decode(stored(attribute.slot), attribute.type)
    }
  }

  /// The value after the leading byte: inline, or from the store.
  final func externalData(_ slot: Int) -> Data? {
    guard case .data(let bytes) = stored(slot), let form = bytes.first else { return nil }
    // A store that has replaced another one has its own files.
    if form == 2, core?.takeUpStores() == true { return externalData(slot) }
    return content(bytes)
  }

  /// What the bytes of a slot with a leading byte stand for.
  private func content(_ bytes: Data) -> Data? {
    if bytes.first != 2 { return Data(bytes.dropFirst()) }
    guard let core else {
      reportLostContext()
      return nil
    }
    return core.externalData(bytes.dropFirst(), of: self)
  }

  /// A value of a slot as key-value coding shows it: without the leading byte of data that may be outside of the row.
  final func plain(_ value: Value, _ slot: Int) -> Value {
    guard case .data(let bytes) = value, info.externalSlots.contains(slot) else { return value }
    return content(bytes).map(Value.data) ?? .null
  }

  final func transformed(_ info: AttributeInfo) -> Any? {
    let slot = info.attribute.slot
    prepareToRead()
    if let value = extras?.transformed[slot] { return value }
    guard case .data(let data) = stored(slot) else { return nil }
    guard let value = TransformableCoding.decode(data, info.description) else { return nil }
    makeExtras().transformed[slot] = value
    return value
  }

  private func fetchedValue(_ property: NSFetchedPropertyDescription) -> [Any] {
    // A fault would forget the results, so it is read before they are kept.
    prepareToRead()
    if let known = extras?.fetchedProperties[property.name] { return known }
    guard let fetched = core?.evaluate(property, of: self) else {
      if core == nil { reportLostContext() }
      return []
    }
    makeExtras().fetchedProperties[property.name] = fetched
    return fetched
  }

  final func setModelledValue(_ value: Any?, forKey key: String) {
    guard let found = info.keys[key] else { return setValue(value, forUndefinedKey: key) }
    switch found {
    case .attribute(let index): set(value, info.attributes[index], key)
    case .relationship(let index): set(value, info.relationships[index].relationship, key)
    case .transient(let index): changeTransient(value, index)
    case .fetched: misuse("'\(key)' is a fetched property; it cannot be set.")
    }
    tellObservers()
  }

  /// The value of a transient attribute. Until it is set that is the default value, of an object that was read, too.
  final func transient(_ index: Int) -> Any? {
    if let values = extras?.transients, index < values.count { return values[index] }
    return flags.contains(.inaccessible) ? nil : info.transientDefault(index)
  }

  /// Whether a transient attribute has another value than its default.
  final var hasTransients: Bool {
    extras?.transients.enumerated().contains { !Self.areEqual($1, info.transientDefault($0)) } ?? false
  }

  /// Whether a transient attribute has an equal value.
  final func hasTransient(_ value: Any?, _ index: Int) -> Bool {
    Self.areEqual(value, transient(index))
  }

  /// Sets a transient attribute as a change of the object.
  final func changeTransient(_ value: Any?, _ index: Int) {
    prepareToRead()
    noteTransientForUndo(index)
    setTransient(value, index)
    markUpdated()
  }

  /// Called before a transient attribute changes.
  final func noteTransientForUndo(_ index: Int) {
    if let core, core.recordsUndo, core.activity.isTracking { noteTransient(index) }
  }

  private func noteTransient(_ index: Int) {
    let (extras, former) = (makeExtras(), transient(index))
    if extras.formerTransients[index] == nil { extras.formerTransients[index] = .some(former) }
  }

  final func setTransient(_ value: Any?, _ index: Int) {
    let extras = makeExtras()
    if core?.activity.isTracking ?? true { extras.changedTransients.insert(index) }
    for index in extras.transients.count..<info.transients.count {
      extras.transients.append(info.transientDefault(index))
    }
    extras.transients[index] = AttributeCoding.boxed(AttributeCoding.flattened(value))
  }

  private func set(_ value: Any?, _ info: AttributeInfo, _ key: String) {
    let attribute = info.attribute
    if attribute.type == .composite { return setComposite(value, attribute) { change($1, to: $0) } }
    if attribute.derivation != nil {
      misuse("'\(key)' is a derived attribute; it is computed at save and cannot be set.")
    }
    if attribute.type == .transformable {
      prepareToRead()
      let value = AttributeCoding.flattened(value)
      if let value, !TransformableCoding.accepts(value, info) { refuse(value, key, attribute.type) }
      // Called before the value is stored, because the event keeps the former value.
      withCore { $0.markUpdated(self) }
      makeExtras().transformed[attribute.slot] = value
      // The bytes are encoded at save; until then a marker shows that the slot has changed.
      return setOverlay(value == nil ? .null : TransformableCoding.pending, attribute.slot)
    }
    guard let encoded = AttributeCoding.assigned(value, attribute) else { refuse(value, key, attribute.type) }
    change(attribute.slot, to: encoded)
  }

  private func setComposite(_ value: Any?, _ attribute: Attribute, _ set: (Value, Int) -> Void) {
    do {
      for leaf in try CompositeCoding.leaves(value, attribute, AttributeCoding.assigned) { set(leaf.value, leaf.slot) }
    } catch { refuse(error.key, error.desired, given: error.given) }
  }

  private func refuse(_ value: Any?, _ key: String, _ type: StoreSchema.AttributeType) -> Never {
    refuse(key, type, given: value.map { "\(Swift.type(of: $0))" } ?? "nil")
  }

  private func refuse(_ key: String, _ type: StoreSchema.AttributeType, given: String) -> Never {
    misuse(
      "Unacceptable type of value for attribute: property = \"\(key)\"; desired type = \(type); given type = \(given).")
  }

  private func set(_ value: Any?, _ relationship: Relationship, _ key: String) {
    switch destinations(value, relationship, key) {
    case .one(let object): setToOne(relationship, object)
    case .many(let members): setToMany(relationship, members)
    }
  }

  private enum Destinations { case one(NSManagedObject?), many([NSManagedObject]) }

  /// The new destinations of a relationship; a value of another type stops the program.
  private func destinations(_ value: Any?, _ relationship: Relationship, _ key: String) -> Destinations {
    let value = AttributeCoding.flattened(value)
    if !relationship.isToMany {
      guard let value else { return .one(nil) }
      guard let object = value as? NSManagedObject else {
        misuse(
          "Unacceptable type of value for to-one relationship: property = \"\(key)\"; given \(Swift.type(of: value)).")
      }
      return .one(object)
    }
    guard let members = Self.members(value, isOrdered: relationship.isOrdered) else {
      let required = relationship.isOrdered ? "NSOrderedSet" : "NSSet"
      let given = value.map { "\(Swift.type(of: $0))" }
      misuse(
        "Unacceptable type of value for to-many relationship: property = \"\(key)\"; "
          + "desired type = \(required); given \(given ?? "nil").")
    }
    return .many(members)
  }

  /// The members in a value for a to-many relationship; nil for a value of another type.
  static func members(_ value: Any?, isOrdered: Bool) -> [NSManagedObject]? {
    switch value {
    case nil: []
    case let view as RelationshipOrderedSet where isOrdered: Array(view.members)
    case let set as NSOrderedSet where isOrdered: set.array as? [NSManagedObject]
    case let set as NSSet where !isOrdered: set.allObjects as? [NSManagedObject]
    case let set as Set<NSManagedObject> where !isOrdered: Array(set)
    case let set as Set<AnyHashable> where !isOrdered: set.map(\.base) as? [NSManagedObject]
    default: nil
    }
  }

  // MARK: Primitive values

  final func primitive(_ key: String) -> Any? {
    if flags.contains(.fault) { return primitiveOfFault(key) }
    if case .relationship(let index)? = info.keys[key], info.relationships[index].relationship.isToMany {
      let relationship = info.relationships[index].relationship
      return loadedToMany(relationship).primitiveSet(isOrdered: relationship.isOrdered)
    }
    return modelledValue(forKey: key)
  }

  /// The values that ``setPrimitive(_:_:)`` has set since the object became a fault. Other values are not read.
  private func primitiveOfFault(_ key: String) -> Any? {
    if isNoted(key) { return KeyPathName.destination(key, self) }
    switch info.keys[key] {
    case .attribute(let index)?:
      let attribute = info.attributes[index].attribute
      switch attribute.type {
      case .composite: return CompositeCoding.dictionary(attribute) { plain(changed($0.slot) ?? .null, $0.slot) }
      case .transformable: return extras?.transformed[attribute.slot]
      case .binaryData where attribute.definition.allowsExternalBinaryDataStorage:
        guard case .data(let bytes)? = changed(attribute.slot) else { return nil }
        return Data(bytes.dropFirst())
      default: return changed(attribute.slot).flatMap { AttributeCoding.decode($0, attribute.type) }
      }
    case .transient(let index)?: return transient(index)
    case .relationship(let index)?:
      let relationship = info.relationships[index].relationship
      if relationship.isToMany {
        let state = toMany(relationship)
        return state.isFault ? nil : state.primitiveSet(isOrdered: relationship.isOrdered)
      }
      guard let slot = relationship.slot, case .reference(let reference)? = changed(slot) else { return nil }
      return core?.externalDestination(of: self, slot: slot) ?? core?.object(reference, store: storeIndex)
    case .fetched?, nil: return nil
    }
  }

  final func setPrimitive(_ value: Any?, _ key: String) {
    switch info.keys[key] {
    case .attribute(let index)?:
      let attribute = info.attributes[index]
      if attribute.attribute.type == .composite {
        setComposite(value, attribute.attribute) { setOverlay($0, $1) }
      } else if attribute.attribute.type == .transformable {
        let value = AttributeCoding.flattened(value)
        makeExtras().transformed[attribute.attribute.slot] = value
        setOverlay(value == nil ? .null : TransformableCoding.pending, attribute.attribute.slot)
      } else if let encoded = AttributeCoding.assigned(value, attribute.attribute) {
        setOverlay(encoded, attribute.attribute.slot)
      } else {
        refuse(value, key, attribute.attribute.type)
      }
    case .transient(let index)?: setTransient(value, index)
    case .relationship(let index)?:
      let relationship = info.relationships[index].relationship
      switch destinations(value, relationship, key) {
      case .one(let object): setPrimitiveToOne(index, object)
      case .many(let members): setPrimitiveToMany(relationship, members)
      }
    case .fetched?, nil: setValue(value, forUndefinedKey: key)
    }
  }

  // MARK: Key paths

  /// The value at a dotted path. Behind a to-many relationship, the value is a collection of the values of its members.
  public final func value(forKeyPath keyPath: String) -> Any? {
    KeyPathValue.value(of: self, keyPath.split(separator: ".").map(String.init)[...])
  }

  /// Sets the last key of a dotted path on the object at the path before it. After a to-many relationship, sets it on
  /// each member. The last keys may name an element of a composite attribute.
  ///
  /// If a to-one relationship in the path is nil, nothing is set. A value in the path that is not an object stops the
  /// program.
  public final func setValue(_ value: Any?, forKeyPath keyPath: String) {
    var keys = keyPath.split(separator: ".").map(String.init)[...]
    var owners: [NSManagedObject] = [self]
    while keys.count > 1, let key = keys.first {
      var next: [NSManagedObject] = []
      for owner in owners {
        if case .attribute(let index)? = owner.info.keys[key] {
          let attribute = owner.info.attributes[index].attribute
          if attribute.type == .composite {
            owner.setElement(keys.dropFirst().joined(separator: "."), of: attribute, value)
            continue
          }
        }
        guard let found = AttributeCoding.flattened(owner.value(forKey: key)) else { continue }
        guard let objects = (ObjectCollection.elements(found) ?? [found]) as? [NSManagedObject] else {
          misuse("The key path '\(keyPath)' contains '\(key)', whose value is not an object; its values cannot be set.")
        }
        next += objects
      }
      owners = next
      keys = keys.dropFirst()
    }
    guard let last = keys.first else { return }
    for owner in owners { owner.setValue(value, forKey: last) }
  }

  private func setElement(_ path: String, of attribute: Attribute, _ value: Any?) {
    let key = attribute.name + "." + path
    guard let element = attribute.elements.first(where: { $0.name == path }) else {
      misuse("The composite attribute '\(attribute.name)' has no element '\(path)' whose value could be set.")
    }
    guard let encoded = AttributeCoding.assigned(value, element) else { refuse(value, key, element.type) }
    store(encoded, in: element.slot)
  }

  /// The value of a modelled property by its name; see ``NSManagedObject/value(forKey:)``.
  public final subscript(key: String) -> Any? {
    get { value(forKey: key) }
    set { setValue(newValue, forKey: key) }
  }

  /// The values of several properties by name; `NSNull` for nil.
  public final func dictionaryWithValues(forKeys keys: [String]) -> [String: Any] {
    Dictionary(keys.map { ($0, value(forKey: $0) ?? NSNull()) }, uniquingKeysWith: { first, _ in first })
  }

  /// Sets several properties by name, in no particular order; `NSNull` sets nil.
  /// https://developer.apple.com/documentation/objectivec/nsobject-swift.class/setvaluesforkeys(_:)
  public final func setValuesForKeys(_ keyedValues: [String: Any]) {
    for (key, value) in keyedValues { setValue(value is NSNull ? nil : value, forKey: key) }
  }
}
