import Foundation
import StoreProtocol
import StoreSchema
import TestSupport
import Testing

/// Files that are larger than every buffer in use.
@Suite struct LargeWholeFileTests {
  @Test(arguments: Format.allCases) func everythingComesBack(_ format: Format) throws {
    let folder = try StoreFolder(format.rawValue)
    defer { folder.remove() }
    let store = try format.backend.open(at: folder.url, schema: LargeGraph.schema(), options: StoreOptions())
    try LargeGraph.fill(store)
    let again = try format.backend.open(at: folder.url, schema: LargeGraph.schema(), options: StoreOptions())
    let (written, read) = (try LargeGraph.facts(store), try LargeGraph.facts(again))
    #expect(written.count == 3010 + 12000)
    #expect(written == read)
    let file = try Data(contentsOf: folder.url)
    #expect(file.count > 1 << 19)
    #expect(try Self.statedSum(file, isLast: format == .binary) == Self.sum(file, isLast: format == .binary))
  }

  // MARK: The checksum, bit by bit

  private static let prefix = Data("crc64-of-all-other-bytes:".utf8)

  private static func location(_ file: Data, isLast: Bool) throws -> Range<Int> {
    let found = try #require(file.range(of: prefix, options: isLast ? .backwards : []))
    return found.upperBound..<found.upperBound + 16
  }

  private static func statedSum(_ file: Data, isLast: Bool) throws -> UInt64 {
    try #require(UInt64(String(decoding: file[location(file, isLast: isLast)], as: UTF8.self), radix: 16))
  }

  private static func sum(_ file: Data, isLast: Bool) throws -> UInt64 {
    let location = try location(file, isLast: isLast)
    var bytes = [UInt8](file)
    for index in location { bytes[index] = UInt8(ascii: "0") }
    var state = UInt64.max
    for byte in bytes {
      state ^= UInt64(byte)
      for _ in 0..<8 { state = state & 1 == 1 ? state >> 1 ^ 0xC96C_5795_D787_0F42 : state >> 1 }
    }
    return ~state
  }
}
