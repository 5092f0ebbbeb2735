import Foundation
import StoreProtocol
import StoreSchema

extension Session {
  /// A few objects with values and links of all kinds.
  func fillShapes() throws {
    let o = try commit { changes in
      for number in 0..<3 { try changes.insert("Source", ["name": .text("source \(number)")]) }
      for number in 0..<3 { try changes.insert("Target", ["name": .text("target \(number)")]) }
    }
    try commit {
      try $0.connect(o[0], "manyMany", o[3], "manyManyBack")
      try $0.connect(o[1], "manyMany", o[4], "manyManyBack")
      try $0.link(o[2], "manyWay", add: [o[5]])
      try $0.link(o[0], "friends", add: [o[1]])
    }
    try commit { try $0.connect(o[2], "orderedOne", o[4], "orderedOneBack") }
  }

  /// All values and links as text, the same for equal contents.
  func dump() throws -> [String] { try ContentDump.lines(of: store) }
}

/// All that a store holds, as text.
enum ContentDump {
  static func lines(of store: any Store) throws -> [String] {
    let schema = store.schema
    let view = try store.snapshot()
    var lines: [String] = []
    for root in schema.entities where root.superentity == nil {
      var rows: [Row] = []
      try view.scan(root.subtree) { rows.append($0) }
      for row in rows { lines.append(try line(row, schema, view)) }
    }
    return lines
  }

  private static func line(_ row: Row, _ schema: Schema, _ view: any StoreSnapshot) throws -> String {
    guard schema.entities.indices.contains(row.entity) else { return "row of entity \(row.entity)" }
    let entity = schema.entities[row.entity]
    guard row.slotCount == entity.slots.count else { return "row of \(row.slotCount) slots" }
    var parts = ["\(entity.name) \(row.key)"]
    for (slot, kind) in entity.slots.enumerated() { parts.append("\(row.value(slot, kind))") }
    for relationship in entity.relationships where relationship.isToMany {
      var keys: [Int64] = []
      try view.destinations(of: relationship, owners: [row.key]) { keys.append($1.key) }
      parts.append("\(relationship.name) \(keys)")
    }
    return parts.joined(separator: "|")
  }
}

extension CaseContext {
  /// Makes a store, closes it, and gives its file's bytes.
  func sample() throws -> Data {
    let s = try open(Fixtures.shapes())
    try s.fillShapes()
    try s.close()
    return try fileBytes()
  }

  /// Removes all files of the case's folder.
  func clear() throws {
    guard let folder = location.folder else { return }
    for file in try files() { try FileManager.default.removeItem(at: folder.appending(path: file)) }
  }

  /// Puts bytes in place of the store, with nothing beside them.
  private func put(_ bytes: Data) throws {
    try clear()
    try bytes.write(to: url)
  }

  /// What a reader gets from the file: its contents, or nil for an error of the store.
  private func contents(_ schema: Schema) throws -> (identifier: String, lines: [String])? {
    do {
      let store = try openRaw(url, schema)
      defer { try? store.close() }
      return (store.identifier, try ContentDump.lines(of: store))
    } catch is StoreError { return nil }
  }

  /// Cuts the sample at many lengths.
  func cut(every step: Int) throws {
    let good = try sample()
    leavesDamage()
    let schema = try Fixtures.shapes()
    let identifier = sites[0].identifier
    guard let expected = try contents(schema)?.lines else { try fail("the sample does not open") }
    for length in stride(from: 0, to: good.count, by: good.count > 20_000 ? max(step, good.count / 400 * step) : step) {
      let bad = Data(good.prefix(length))
      try put(bad)
      guard let found = try contents(schema) else {
        expect(try fileBytes() == bad, "the file of \(length) bytes was changed though it was refused")
        continue
      }
      if length == 0 {
        expect(found.identifier != identifier && found.lines.isEmpty, "an empty file was taken for the store")
      } else if capabilities.contains(.checksums) {
        expect(false, "a file cut at \(length) of \(good.count) bytes was opened")
      } else {
        expect(found.lines == expected, "a file cut at \(length) of \(good.count) bytes gives other data")
      }
    }
    try clear()
  }

  /// Changes single bytes of the sample: `count` of them, or all in three ways.
  func flip(count: Int?, mayChange: Bool) throws {
    let good = try sample()
    leavesDamage()
    let schema = try Fixtures.shapes()
    try put(good)
    guard let expected = try contents(schema)?.lines else { try fail("the sample does not open") }
    let all: [(Int, UInt8)] = good.indices.flatMap { index in [1, 0x80, 0xFF].map { (index, $0) } }
    let chosen: [(Int, UInt8)]? = count.map { number in
      (0..<number).map { _ in (random.below(good.count), UInt8(1) << UInt8(random.below(8))) }
    }
    var silent = 0
    for (index, mask) in chosen ?? all {
      var bad = good
      bad[index] ^= mask
      try put(bad)
      guard let found = try contents(schema) else { continue }
      if found.lines == expected { continue }
      silent += 1
      if !mayChange { expect(false, "byte \(index) with \(mask): other data without an error") }
    }
    expect(true, "\(silent) changes of data without an error")
    try clear()
  }
}
