import Foundation
import StoreProtocol
import StoreSchema
import Synchronization
import Testing

@testable import SQLiteBackend

/// How an SQLite commit searches for objects that refer to deleted ones. The case `DEL-020/guard` tests that it finds
/// them.
@Suite struct ReferrerSearchTests {
  /// `Member`, whose rows refer to an object of `Owner` and to one of `Other`.
  private static func schema() throws -> Schema {
    func entity(_ name: String, _ relationship: String, _ destination: String, _ inverse: String) -> EntityDefinition {
      var entity = EntityDefinition(name: name)
      var relationship = RelationshipDefinition(name: relationship, destination: destination)
      (relationship.inverse, relationship.deleteRule) = (inverse, .nullify)
      entity.relationships = [relationship]
      return entity
    }
    var member = EntityDefinition(name: "Member")
    member.relationships = ["Owner", "Other"].map { name in
      var relationship = RelationshipDefinition(name: name.lowercased(), destination: name)
      (relationship.inverse, relationship.maxCount) = ("members", 1)
      return relationship
    }
    return try Schema([
      member, entity("Owner", "members", "Member", "owner"), entity("Other", "members", "Member", "other"),
    ])
  }

  private static func commit(_ changes: ChangeSet, to store: any Store) throws -> [Int64] {
    guard case .committed(let receipt) = try store.commit(changes) else { throw CocoaError(.coderInvalidValue) }
    return receipt.keys
  }

  /// The table of the members is read once for each relationship, not once for each deleted object, whatever the order
  /// of the deletions.
  @Test func withoutAnIndexOneReadFindsTheReferrersOfAllDeletedObjects() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "referrers-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let url = folder.appending(path: "store.sqlite")
    let schema = try Self.schema()
    let member = try #require(schema.entity(named: "Member"))
    let slot = try #require(member.relationship(named: "owner")?.slot)
    let owner = try #require(schema.entity(named: "Owner")?.index)
    let other = try #require(schema.entity(named: "Other")?.index)

    let made = try SQLiteBackend().open(at: url, schema: schema, options: StoreOptions())
    let builder = RowBuilder()
    let entities = (0..<40).map { $0 % 2 == 0 ? owner : other }
    var insertion = ChangeSet(time: 0)
    for (number, entity) in entities.enumerated() {
      builder.begin(slots: 0)
      insertion.insertions.append(builder.finishDraft(key: -Int64(number + 1), entity: entity, version: 1))
    }
    let keys = try Self.commit(insertion, to: made)
    let objects = zip(entities, keys).map { ObjectReference(entity: $0, key: $1) }
    var link = ChangeSet(time: 0)
    builder.begin(slots: member.slots.count)
    builder.setInt(slot, objects[6].key)
    link.insertions = [builder.finishDraft(key: -1, entity: member.index, version: 1)]
    _ = try Self.commit(link, to: made)
    try made.close()
    try SQLiteConnection(url.path, .readWrite, timeout: 1).execute(
      "DROP INDEX ZMEMBER_ZOWNER_INDEX; DROP INDEX ZMEMBER_ZOTHER_INDEX")

    let steps = Mutex([String]())
    var options = StoreOptions()
    options.trace = { sql, _ in steps.withLock { $0.append(sql) } }
    let store = try SQLiteBackend().open(at: url, schema: schema, options: options)
    var deletion = ChangeSet(time: 0)
    deletion.deletions = objects.map { ChangeSet.Deletion($0, versionRead: 1) }
    guard case .conflicts(let conflicts) = try store.commit(deletion) else {
      Issue.record("the member was not found")
      return
    }
    #expect(conflicts.map(\.reference) == [objects[6]])
    // Each search takes one step, plus one for each row that it finds.
    let searches = steps.withLock { $0.filter { $0.contains("FROM ZMEMBER t0 WHERE") } }
    #expect((2...4).contains(searches.count), "\(searches)")
    try store.close()
  }
}
