import StoreProtocol
import StoreSchema

extension RowBuilder {
  /// Finishes a row whose values come from a client, or from a file of any size.
  ///
  /// Throws `invalidArgument`, and makes no row, where the values take more than 2 GiB together.
  public func finishChecked(key: Int64, entity: Entity, version: Int64) throws(StoreError) -> Row {
    if isTooLarge {
      throw StoreError(
        .invalidArgument,
        "The values of one object of the entity \(entity.name) take more than 2 GiB together. Divide them among several objects, or keep them in files.",
        context: ["entity": entity.name, "key": "\(key)"])
    }
    return finish(key: key, entity: entity.index, version: version)
  }

  /// The same for a row of a change set.
  public func finishCheckedDraft(key: Int64, entity: Entity, version: Int64) throws(StoreError) -> RowDraft {
    if isTooLarge { _ = try finishChecked(key: key, entity: entity, version: version) }
    return finishDraft(key: key, entity: entity.index, version: version)
  }
}
