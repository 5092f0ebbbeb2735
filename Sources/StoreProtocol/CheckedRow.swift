import StoreSchema

extension RowBuilder {
  /// Ends a row whose values come from a client, or from a file that may have any size.
  ///
  /// Throws `invalidArgument` where its values take more than 2 GiB together, which no row can have. Then there is no
  /// row.
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
