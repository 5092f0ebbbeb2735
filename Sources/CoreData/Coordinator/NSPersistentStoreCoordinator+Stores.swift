import StoreSchema

/// Which store takes which entity.
extension NSPersistentStoreCoordinator {
  /// The first store, in the order they were added, whose configuration has the entity.
  func storeIndex(for entity: Entity) -> UInt16? {
    openStores.first { takes($0, entity) && !$0.refusesChanges }.map { UInt16($0.index) }
      ?? openStores.first { takes($0, entity) }.map { UInt16($0.index) }
  }

  func takes(_ store: NSPersistentStore, _ entity: Entity) -> Bool {
    if store.configuration == NSManagedObjectModel.defaultConfiguration { return true }
    return model.members(ofConfiguration: store.configuration)?.contains { $0.name == entity.name } ?? false
  }

  func storeIndex(of id: NSManagedObjectID) -> UInt16? {
    guard let store = id.store else { return nil }
    if store.root === self { return UInt16(store.index) }
    return openStores.first { $0 === store || $0.ownIdentifier == store.ownIdentifier }.map { UInt16($0.index) }
  }
}
