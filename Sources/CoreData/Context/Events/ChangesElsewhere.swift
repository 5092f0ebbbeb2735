import Foundation
import StoreSchema

/// Changes that other contexts or processes have saved, as object IDs or their URIs.
struct ChangesElsewhere: Sendable {
  private enum Name: Hashable {
    case id(NSManagedObjectID)
    case uri(URL)
  }

  private var inserted: Set<Name>
  private var updated: Set<Name>
  private var deleted: Set<Name>

  /// The changes in the user info of a did-save notification, or in a dictionary like it.
  init(_ userInfo: [AnyHashable: Any]) {
    func names(_ keys: String...) -> Set<Name> {
      Set(keys.flatMap { key in Self.elements(userInfo[key]).compactMap(Self.name) })
    }
    inserted = names(NSInsertedObjectsKey, NSInsertedObjectIDsKey)
    updated = names(
      NSUpdatedObjectsKey, NSUpdatedObjectIDsKey, NSRefreshedObjectsKey, NSRefreshedObjectIDsKey,
      NSInvalidatedObjectsKey, NSInvalidatedObjectIDsKey)
    deleted = names(NSDeletedObjectsKey, NSDeletedObjectIDsKey)
  }

  /// Adds changes that were saved later. An object that is deleted later no longer counts as inserted or updated. An
  /// object that is inserted or updated later no longer counts as deleted: a parent may have taken the deletion back.
  mutating func add(_ later: ChangesElsewhere) {
    inserted.formUnion(later.inserted)
    updated.formUnion(later.updated)
    deleted.formUnion(later.deleted)
    inserted.subtract(later.deleted)
    updated.subtract(later.deleted)
    deleted.subtract(later.inserted.union(later.updated).subtracting(later.deleted))
  }

  private static func elements(_ value: Any?) -> [Any] {
    switch value {
    case let set as NSSet: set.allObjects
    case let set as Set<AnyHashable>: set.map(\.base)
    case let set as Set<NSManagedObject>: Array(set)
    case let set as Set<NSManagedObjectID>: Array(set)
    case let array as [Any]: array
    default: []
    }
  }

  private static func name(_ element: Any) -> Name? {
    switch element {
    case let object as NSManagedObject: .id(object.ownID)
    case let id as NSManagedObjectID: .id(id)
    case let uri as URL: .uri(uri)
    default: nil
    }
  }

  // MARK: In one context

  typealias Location = (reference: ObjectReference, store: UInt16)

  /// The changes as references of a context; IDs that the context cannot have are left out.
  func locations(in core: ContextCore) -> (inserted: [Location], updated: [Location], deleted: [Location]) {
    func locations(_ names: Set<Name>) -> [Location] { names.compactMap { Self.location($0, core) } }
    return (locations(inserted), locations(updated), locations(deleted))
  }

  /// The entity is looked up by name, because the ID may come from another coordinator's copy of the model.
  private static func location(_ name: Name, _ core: ContextCore) -> Location? {
    let id: NSManagedObjectID? =
      switch name {
      case .id(let id): id
      case .uri(let uri): core.coordinator?.managedObjectID(forURIRepresentation: uri)
      }
    guard let id, let store = core.coordinator?.storeIndex(of: id),
      let entity = core.frozen?.schema.entity(named: id.info.entity.name)
    else { return nil }
    let present = core.present(ObjectReference(entity: entity.index, key: id.key), store: store)
    return id.isKnown(to: core) && core.canBeStored(present.reference) ? present : nil
  }
}
