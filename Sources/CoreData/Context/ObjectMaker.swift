import StoreSchema

/// Makes the objects of rows, one after another. It remembers the last row's entity, as rows of one entity come together.
struct ObjectMaker {
  private let core: ContextCore
  private let frozen: FrozenModel
  private let storeIndex: UInt16
  private var entity = -1
  private var description: NSEntityDescription?
  private var objectClass = NSManagedObject.self

  init(_ core: ContextCore, _ frozen: FrozenModel, _ storeIndex: UInt16) {
    self.core = core
    self.frozen = frozen
    self.storeIndex = storeIndex
  }

  /// A fault with its row at hand, not registered yet.
  @inline(__always)
  mutating func make(_ row: Row) -> NSManagedObject {
    if row.entity != entity || description == nil {
      entity = row.entity
      description = frozen.infos[entity].description
      objectClass = frozen.infos[entity].objectClass
    }
    let object = objectClass.make(description.unsafelyUnwrapped)
    object.core = core
    object.key = row.key
    object.storeIndex = storeIndex
    object.row = row
    object.flags = .fault
    return object
  }
}
