import AtomicEngine
import BinaryBackend
import Foundation
import StoreProtocol
import StoreSchema
import TestSupport
import Testing

/// The keyed archive in a file: what other readers find in it, and what this store takes from other writers.
@Suite struct BinaryArchiveTests {
  /// Foundation's own property list reader can read the archive.
  @Test func anotherReaderTakesTheArchive() throws {
    let folder = try StoreFolder("binary")
    defer { folder.remove() }
    let store = try BinaryBackend().open(at: folder.url, schema: LargeGraph.schema(), options: StoreOptions())
    try LargeGraph.fill(store)
    let file = try Data(contentsOf: folder.url)
    let count = file[40..<48].reduce(0) { $0 << 8 | Int($1) }
    let list = try PropertyListSerialization.propertyList(from: file[64..<64 + count], format: nil) as? [String: Any]
    #expect(list?["$archiver"] as? String == "NSKeyedArchiver")
    let objects = try #require(list?["$objects"] as? [Any])
    #expect(objects.filter { ($0 as? [String: Any])?["NSPrimaryKey64"] != nil }.count == 3010)
    #expect(objects.filter { $0 as? String == "text 7 é & <" }.count == 1)
  }

  /// The objects are in reverse order, so that each refers to objects whose bytes were already released.
  @Test func objectsOfAnArchiveComeInAnyOrder() throws {
    let folder = try StoreFolder("binary")
    defer { folder.remove() }
    let schema = try LargeGraph.schema()
    let store = try BinaryBackend().open(at: folder.url, schema: schema, options: StoreOptions())
    let (other, builder) = (try #require(schema.entity(named: "Other")), RowBuilder())
    let text = try #require(other.attributes.first { $0.name == "text" }?.slot)
    var changes = ChangeSet(time: 0)
    for number in 0..<5000 {
      builder.begin(slots: other.slots.count)
      builder.setString(text, String(repeating: "number \(number) ", count: 60))
      changes.insertions.append(builder.finishDraft(key: 0, entity: other.index, version: 1))
    }
    _ = try committed(changes, store)
    var file = try Data(contentsOf: folder.url)
    #expect(file.count > 1 << 22)
    try WholeFileChecksum.remove(from: &file)
    // The two lists of 5000 references with four bytes each.
    var (lists, start) = (0, file.startIndex)
    while let found = file.range(of: Data([0xAF, 0x11, 0x13, 0x88]), in: start..<file.endIndex) {
      let list = found.upperBound..<found.upperBound + 4 * 5000
      let references = stride(from: list.lowerBound, to: list.upperBound, by: 4).map { file[$0..<$0 + 4] }
      file.replaceSubrange(list, with: references.reversed().flatMap { $0 })
      (lists, start) = (lists + 1, list.upperBound)
    }
    #expect(lists == 2)
    try file.write(to: folder.url)
    let again = try BinaryBackend().open(at: folder.url, schema: schema, options: StoreOptions())
    #expect(try LargeGraph.facts(again) == LargeGraph.facts(store))
  }
}
