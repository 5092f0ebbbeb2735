import Foundation
import StoreProtocol
import StoreSchema
import Testing

/// Rows with more bytes than the row builder's buffer keeps.
@Suite struct LargeRowTests {
  /// The offsets and lengths of a row have 31 bits. A file can claim any size for its values, so a row is checked
  /// before it is complete. The test lowers the limit, so that it does not need 2 GiB.
  @Test func aRowIsCheckedBeforeItEnds() throws {
    let schema = try Schema([EntityDefinition(name: "Photo")])
    let builder = RowBuilder(limit: 1000)
    builder.begin(slots: 1)
    builder.setString(0, String(repeating: "x", count: 1000))
    #expect(builder.isTooLarge)
    let error = #expect(throws: StoreError.self) {
      try builder.finishChecked(key: 1, entity: schema.entities[0], version: 1)
    }
    #expect(error?.code == .invalidArgument)
    builder.begin(slots: 1)
    builder.setString(0, "short")
    #expect(try builder.finishChecked(key: 1, entity: schema.entities[0], version: 1).string(0) == "short")
  }

  /// A row that exceeds the bytes that the builder keeps takes over the buffer without a copy. The rows before and
  /// after it are separate.
  @Test func rowsOfManyBytesHaveWhatWasSet() {
    let builder = RowBuilder()
    let sizes = [[10, 20], [1 << 20, 1], [3 << 20, 2 << 20, 6 << 20], [5, (1 << 20) + 1], [7], [9 << 20]]
    let values = sizes.enumerated().map { row, sizes in
      sizes.enumerated().map { Data(repeating: UInt8(row * 8 + $0.offset), count: $0.element) }
    }
    let rows = values.enumerated().map { number, values in
      // A row that is never finished.
      builder.begin(slots: 70)
      builder.set(0, .data(Data(repeating: 0xFF, count: number << 20)))
      builder.begin(slots: values.count + 1)
      for (slot, value) in values.enumerated() { builder.set(slot, .data(value)) }
      return builder.finish(key: Int64(number), entity: number, version: 1)
    }
    for (number, row) in rows.enumerated() {
      #expect(row.key == Int64(number) && row.entity == number && row.isNull(values[number].count))
      for (slot, value) in values[number].enumerated() { #expect(row.withBytes(slot) { $0.elementsEqual(value) }) }
    }
  }
}
