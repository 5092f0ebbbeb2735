import AtomicEngine
import BinaryBackend
import Foundation
import PropertyLists
import StoreProtocol
import StoreSchema
import TestSupport
import Testing

@Suite struct BinaryStoreTests {
  private static func schema() throws -> Schema {
    func attribute(_ name: String, _ type: AttributeType) -> AttributeDefinition {
      AttributeDefinition(name: name, type: type)
    }
    var (band, player) = (EntityDefinition(name: "Band"), EntityDefinition(name: "Player"))
    band.attributes = [attribute("name", .string)]
    player.attributes = [
      attribute("title", .string), attribute("age", .integer64), attribute("isIn", .boolean),
      attribute("score", .double),
      attribute("born", .date), attribute("mark", .uuid), attribute("home", .uri), attribute("photo", .binaryData),
    ]
    var (players, bands) = (
      RelationshipDefinition(name: "players", destination: "Player"),
      RelationshipDefinition(name: "band", destination: "Band")
    )
    (players.inverse, bands.inverse, bands.maxCount) = ("band", "players", 1)
    (band.relationships, player.relationships) = ([players], [bands])
    return try Schema([band, player])
  }

  /// A file that a script has written from the description of the format alone, compared with the script's list of its
  /// contents.
  @Test func aFileThatAnotherProgramWroteIsReadWhole() throws {
    let folder = try StoreFolder("binary")
    defer { folder.remove() }
    let expected = try Python.run(["coredata_fixtures/make_binary_fixture.py", folder.url.path]).split(separator: "\n")
      .map { line in
        try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
      }
    #expect(expected.count == 5)
    let schema = try Self.schema()
    var options = StoreOptions()
    options.ignoresModelVersion = true
    let store = try BinaryBackend().open(at: folder.url, schema: schema, options: options)
    #expect(store.identifier == "01234567-89AB-CDEF-0123-456789ABCDEF")
    #expect(store.metadata.additional["mine"] == .string("kept"))
    #expect(store.metadata.versionIdentifiers == ["one"])
    let snapshot = try store.snapshot()
    for object in expected {
      let name = try #require(object["entity"] as? String)
      let entity = try #require(schema.entity(named: name))
      let key = try #require((object["key"] as? NSNumber)?.int64Value)
      let row = try #require(try snapshot.row(of: entity.index, key: key))
      #expect(row.entity == entity.index)
      let values = try #require(object["values"] as? [String: Any])
      for attribute in entity.attributes {
        let value = row.value(attribute.slot, entity.slots[attribute.slot])
        #expect(value == Self.value(values[attribute.name], attribute.type), "\(key).\(attribute.name)")
      }
      let related = try #require(object["related"] as? [String: [NSNumber]])
      for relationship in entity.relationships {
        var keys: [Int64] = []
        if let slot = relationship.slot {
          keys = row.isNull(slot) ? [] : [row.int(slot)]
        } else {
          try snapshot.destinations(of: relationship, owners: [key]) { keys.append($1.key) }
        }
        #expect(keys == (related[relationship.name] ?? []).map(\.int64Value))
      }
    }
    // A later save keeps all of it, now with a checksum.
    #expect(try store.allocateKeys(root: 0, count: 1) == 10..<11)
    let again = try BinaryBackend().open(at: folder.url, schema: schema, options: options)
    #expect(again.metadata == store.metadata)
    #expect(try again.allocateKeys(root: 0, count: 1) == 11..<12)
  }

  private static func value(_ json: Any?, _ type: AttributeType) -> Value? {
    switch (type, json) {
    case (.string, let x as String): .string(x)
    case (.uri, let x as String): .uri(x)
    case (.uuid, let x as String): UUID(uuidString: x).map(Value.uuid)
    case (.binaryData, let x as String): x == "00ff" ? .data(Data([0, 255])) : .data(Data())
    case (.boolean, let x as NSNumber): .bool(x.boolValue)
    case (.integer64, let x as NSNumber): .int(x.int64Value)
    case (.double, let x as NSNumber): .double(x.doubleValue)
    case (.date, let x as NSNumber): .date(x.doubleValue)
    default: .null
    }
  }

  /// Leaves out the key counter and the number after it, which may have any value in a file without a checksum.
  @Test(arguments: Array(0..<48) + Array(64..<72)) func aDamagedHeaderIsRefused(_ index: Int) throws {
    let folder = try StoreFolder("binary")
    defer { folder.remove() }
    _ = try Python.run(["coredata_fixtures/make_binary_fixture.py", folder.url.path])
    var options = StoreOptions()
    options.ignoresModelVersion = true
    var bytes = try Data(contentsOf: folder.url)
    bytes[index] ^= 0x81
    try bytes.write(to: folder.url)
    #expect(throws: StoreError.self) {
      try BinaryBackend().open(at: folder.url, schema: Self.schema(), options: options)
    }
    #expect(try Data(contentsOf: folder.url) == bytes)
  }
}
