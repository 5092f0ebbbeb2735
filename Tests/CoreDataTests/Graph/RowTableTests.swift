import StoreSchema
import Testing

@testable import CoreData

/// The table of rows behaves like a dictionary, for all distributions of keys.
@Suite struct RowTableTests {
  private let builder = RowBuilder()

  private func row(_ key: Int64, _ version: Int64 = 1) -> Row {
    builder.begin(slots: 1)
    builder.setInt(0, key &* 7 &+ version)
    return builder.finish(key: key, entity: 0, version: version)
  }

  @Test(arguments: [1, 31, 1 << 20, 0x1_0000_0001])
  func itAgreesWithADictionary(distance: Int64) {
    var table = RowTable()
    var known: [Int64: Int64] = [:]
    var random = SystemRandomNumberGenerator()
    for _ in 0..<20_000 {
      let key = 1 + Int64.random(in: 0..<1500, using: &random) * distance
      switch Int.random(in: 0..<5, using: &random) {
      case 0:
        table.remove(key)
        known[key] = nil
      case 1:
        let version = Int64.random(in: 1..<4, using: &random)
        table.put(row(key, version))
        known[key] = max(version, known[key] ?? 0)
      case 2:
        let given = table.merge(row(key, 2), isCurrent: true)
        #expect(given.version == 2)
        known[key] = max(2, known[key] ?? 0)
      case 3:
        _ = table.merge(row(key, 3), isCurrent: false)
        if known[key] != nil { known[key] = 3 }
      default:
        #expect(table.row(key)?.version == known[key])
      }
      #expect(table.count == known.count)
    }
    for position in 0..<Int64(1500) {
      let key = 1 + position * distance
      #expect(table.row(key)?.version == known[key])
      if let row = table.row(key) { #expect(row.key == key) }
    }
    for key in known.keys { table.remove(key) }
    #expect(table.count == 0)
  }

  @Test func manyRowsAreMergedAtOnce() {
    var table = RowTable()
    table.put(row(5, 2))
    let first = row(3)
    table.put(first)
    let rows = UnsafeMutableBufferPointer<Row?>.allocate(capacity: 100)
    defer {
      rows.deinitialize()
      rows.deallocate()
    }
    rows.initialize(repeating: nil)
    for index in 0..<100 { rows[index] = row(Int64(index) + 1) }
    table.merge(RowChunk(rows: rows), isCurrent: true)
    #expect(table.count == 100)
    // The older row is returned and not kept; the equal row is shared.
    #expect(rows[4]?.version == 1)
    #expect(table.row(5)?.version == 2)
    #expect(rows[2]?.isIdentical(to: first) == true)
  }

  @Test func rowsThatNobodyHoldsAreSwept() {
    var table = RowTable()
    let held = row(40)
    table.put(held)
    for key in Int64(1000)..<1200 { table.put(row(key)) }
    table.sweep(keeping: 0)
    #expect(table.count == 1)
    #expect(table.row(40)?.isIdentical(to: held) == true)
    #expect(table.row(1000) == nil)
  }
}
