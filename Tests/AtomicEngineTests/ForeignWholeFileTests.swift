import Foundation
import StoreProtocol
import StoreSchema
import TestSupport
import Testing

/// Files without a checksum, as other writers make them.
@Suite struct ForeignWholeFileTests {
  /// Without a checksum the contents of the file are unverified until they are read.
  @Test(arguments: Format.allCases) func damageWithoutAChecksumNeverStopsTheProgram(_ format: Format) throws {
    let folder = try StoreFolder(format.rawValue)
    defer { folder.remove() }
    let schema = try EveryType.schema()
    let store = try format.backend.open(at: folder.url, schema: schema, options: StoreOptions())
    let (entity, builder) = (schema.entities[0], RowBuilder())
    let previous = try #require(entity.relationship(named: "previous")?.slot)
    var changes = ChangeSet(time: 0)
    for number in 0..<4 {
      builder.begin(slots: entity.slots.count)
      for (slot, kind) in entity.slots.enumerated() {
        if kind == .string { builder.setString(slot, "text \(number)") }
        if kind == .uuid { builder.setUUID(slot, UUID()) }
        if kind == .date || kind == .double { builder.setDouble(slot, Double(number) + 0.25) }
        if kind == .data { builder.set(slot, .data(Data("data".utf8))) }
      }
      if number > 0 { builder.setInt(previous, -1) }
      changes.insertions.append(builder.finishDraft(key: 0, entity: 0, version: 1))
    }
    guard case .committed = try store.commit(changes) else { throw StoreError(.invalidArgument, "not committed") }
    var sound = try Data(contentsOf: folder.url)
    try WholeFileChecksum.remove(from: &sound)
    var generator = SystemRandomNumberGenerator()
    var options = StoreOptions()
    (options.ignoresModelVersion, options.isReadOnly) = (true, true)
    var opened = 0
    for round in 0..<4000 {
      var bad = sound
      for _ in 0...round % 4 {
        bad[Int.random(in: bad.indices, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
      }
      if round % 7 == 0 { bad = bad.prefix(Int.random(in: 0...bad.count, using: &generator)) }
      try bad.write(to: folder.url)
      do {
        let store = try format.backend.open(at: folder.url, schema: schema, options: options)
        try store.snapshot().scan(0..<1) { row in
          for (slot, kind) in entity.slots.enumerated() { _ = row.value(slot, kind) }
        }
        opened += 1
      } catch {
        // Every error is a StoreError.
        #expect(!error.message.isEmpty)
      }
    }
    // A changed value can leave a valid file.
    #expect(opened > 0 && opened < 4000)
  }
}
