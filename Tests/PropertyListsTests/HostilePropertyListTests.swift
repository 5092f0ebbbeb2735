import Foundation
import PropertyLists
import TestSupport
import Testing

/// Damaged and malicious data yields a value or a typed error, in time linear in the size of the data.
@Suite struct HostilePropertyListTests {
  static func file(_ objects: [[UInt8]], top: UInt8 = 0, count: UInt64? = nil) -> Data {
    var data = Data("bplist00".utf8)
    var offsets: [UInt8] = []
    for object in objects {
      offsets.append(UInt8(data.count))
      data.append(contentsOf: object)
    }
    let table = UInt8(data.count)
    data.append(contentsOf: offsets + [0, 0, 0, 0, 0, 0, 1, 1])
    let number = count ?? UInt64(objects.count)
    data.append(contentsOf: (0..<8).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) })
    data.append(contentsOf: [0, 0, 0, 0, 0, 0, 0, top, 0, 0, 0, 0, 0, 0, 0, table])
    return data
  }

  static func code(_ data: Data) -> PropertyListError.Code? {
    do {
      _ = try BinaryPropertyListReader.read(data)
      return nil
    } catch { return error.code }
  }

  static let sound = BinaryPropertyListWriter.write(
    .dictionary([
      "a": .array([.integer(1), .real(2), .string("ü"), .uid(4)]), "b": .dictionary(["c": .data(Data(count: 40))]),
      "d": .date(3), "e": .string(String(repeating: "x", count: 100)), "f": .unsigned(.max),
    ]))

  @Test func `a cycle is reported`() {
    #expect(Self.code(Self.file([[0xA1, 0x00]])) == .cyclic)
    #expect(Self.code(Self.file([[0xA1, 0x01], [0xA1, 0x00]])) == .cyclic)
    #expect(Self.code(Self.file([[0xD1, 0x01, 0x00], [0x51, 0x41]])) == .cyclic)
  }

  @Test func `a shared object is no cycle`() throws {
    let value = try BinaryPropertyListReader.read(Self.file([[0xA2, 0x01, 0x01], [0xA1, 0x02], [0x09]]))
    #expect(value == .array([.array([.bool(true)]), .array([.bool(true)])]))
  }

  @Test func `sharing that unfolds exponentially is refused`() {
    let levels = (0..<40).map { [0xA2, UInt8($0 + 1), UInt8($0 + 1)] as [UInt8] }
    #expect(Self.code(Self.file(levels + [[0x09]])) == .tooLarge)
  }

  @Test func `huge counts are refused before anything is allocated`() {
    #expect(Self.code(Self.file([[0x4F, 0x13, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]])) == .truncated)
    #expect(Self.code(Self.file([[0xAF, 0x13, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]])) == .truncated)
    #expect(Self.code(Self.file([[0xDF, 0x12, 0xFF, 0xFF, 0xFF, 0xFF]])) == .truncated)
    #expect(Self.code(Self.file([[0x09]], count: .max)) == .truncated)
    #expect(Self.code(Self.file([[0x09]], count: 0)) == .truncated)
    #expect(Self.code(Self.file([[0x09]], top: 5)) == .malformed)
  }

  @Test func `nesting beyond the limit is refused`() {
    var value = PropertyList.array([])
    for _ in 1..<PropertyListLimits.depth { value = .array([value]) }
    #expect(Self.code(BinaryPropertyListWriter.write(value)) == nil)
    #expect(Self.code(BinaryPropertyListWriter.write(.array([value]))) == .tooDeep)
  }

  @Test func `objects that overlap cannot multiply the file's size`() {
    // 8000 one-byte table entries all name one data object of 60 kB.
    var data = Data("bplist00".utf8)
    data.append(contentsOf: [0x4F, 0x11, 0xEA, 0x60] + [UInt8](repeating: 1, count: 60_000))
    let array = data.count
    data.append(contentsOf: [0xAF, 0x11, 0x1F, 0x40])
    for index in 1...8000 { data.append(contentsOf: [UInt8(index >> 8), UInt8(index & 0xFF)]) }
    let table = data.count
    for index in 0...8000 {
      let offset = index == 0 ? array : 8
      data.append(contentsOf: [UInt8(offset >> 16), UInt8(offset >> 8 & 0xFF), UInt8(offset & 0xFF)])
    }
    data.append(contentsOf: [0, 0, 0, 0, 0, 0, 3, 2])
    for number in [8001, 0, table] {
      data.append(contentsOf: (0..<8).reversed().map { UInt8(number >> ($0 * 8) & 0xFF) })
    }
    #expect(Self.code(data) == .tooLarge)
  }

  @Test func `every truncation gives an error`() {
    for length in 0..<Self.sound.count {
      #expect(Self.code(Self.sound.prefix(length)) != nil, "\(length) bytes")
    }
  }

  @Test(Corpus.condition) func `truncations of a real file give an error`() throws {
    let file = try #require(Corpus.files(under: "models/compiled") { $0.pathExtension == "mom" }.first)
    let data = try Data(contentsOf: file)
    for length in 0...300 {
      #expect(Self.code(data.prefix(length)) != nil, "\(length) bytes")
      // The trailer is intact, but the middle is missing.
      _ = Self.code(data.prefix(length) + data.suffix(32))
    }
  }

  @Test(arguments: [1, 2, 3, 4] as [UInt64])
  func `flipped bytes never crash`(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<3000 {
      var data = Self.sound
      for _ in 0..<Int.random(in: 1...4, using: &generator) {
        data[Int.random(in: 0..<data.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
      }
      _ = Self.code(data)
    }
  }

  @Test(Corpus.condition) func `flipped bytes of a real archive never crash`() throws {
    let file = try #require(Corpus.files(under: "models/compiled") { $0.pathExtension == "mom" }.first)
    let sound = try Data(contentsOf: file)
    var generator = SeededGenerator(seed: 11)
    for _ in 0..<300 {
      var data = sound
      for _ in 0..<3 {
        data[Int.random(in: 0..<data.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
      }
      guard let archive = try? KeyedArchiveReader(data) else { continue }
      for object in archive.objects.indices {
        let view = archive.root("root")?[archive.objects[object].stringValue ?? ""]
        _ = (view?.propertyList(), view?.decimal, view?.urlString, view?.entries?.count, view?.array?.count)
      }
    }
  }
}
