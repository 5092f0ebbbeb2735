import Foundation
import PropertyLists
import TestSupport
import Testing

@Suite struct BinaryPropertyListTests {
  static let samples: [PropertyList] = [
    .null, .bool(true), .bool(false), .integer(0), .integer(255), .integer(256), .integer(65_536),
    .integer(4_294_967_296), .integer(-1), .integer(.min), .integer(.max), .unsigned(.max), .real(0.1), .real(-0.0),
    .real(.infinity), .date(-1.5), .data(Data()), .data(Data(repeating: 7, count: 70_000)), .string(""),
    .string("abcdefghijklmnopqrstuvwxyz"), .string("Übung 🎈\u{0}"), .uid(0), .uid(70_000), .uid(.max), .array([]),
    .dictionary([:]),
    .array((0..<300).map { .integer($0) }),
    .dictionary(["b": .array([.string("x"), .string("x")]), "a": .dictionary(["c": .uid(3)])]),
  ]

  @Test(arguments: samples)
  func `what is written is read back`(_ value: PropertyList) throws {
    #expect(try BinaryPropertyListReader.read(BinaryPropertyListWriter.write(value)) == value)
  }

  @Test func `negative zero keeps its sign beside zero`() throws {
    let value = PropertyList.array([.real(0), .real(-0.0)])
    let read = try BinaryPropertyListReader.read(BinaryPropertyListWriter.write(value)).arrayValue ?? []
    let signs = read.map { if case .real(let number) = $0 { number.sign == .minus } else { false } }
    #expect(signs == [false, true])
  }

  @Test func `canonically equivalent strings stay distinct`() throws {
    let value = PropertyList.array([.string("\u{E9}"), .string("e\u{301}")])
    #expect(try BinaryPropertyListReader.read(BinaryPropertyListWriter.write(value)) == value)
  }

  @Test func `equal dictionaries give equal bytes and equal strings are written once`() {
    let keys = (0..<100).map { "key\($0)" }
    let one = Dictionary(uniqueKeysWithValues: keys.map { ($0, PropertyList.string("shared text")) })
    let other = Dictionary(uniqueKeysWithValues: keys.reversed().map { ($0, PropertyList.string("shared text")) })
    let bytes = BinaryPropertyListWriter.write(.dictionary(one))
    #expect(bytes == BinaryPropertyListWriter.write(.dictionary(other)))
    #expect(bytes.count < 100 * 10 + 400)
  }

  @Test func `Foundation reads what is written`() throws {
    let value = PropertyList.dictionary([
      "text": .string("Ü"), "ascii": .string("abc"), "number": .integer(-5), "large": .integer(1 << 40),
      "flag": .bool(true), "real": .real(2.5), "data": .data(Data([1, 2])), "date": .date(100),
      "list": .array((0..<20).map { .integer($0) }),
    ])
    let object = try PropertyListSerialization.propertyList(from: BinaryPropertyListWriter.write(value), format: nil)
    let read = try #require(object as? [String: Any])
    #expect(read["text"] as? String == "Ü")
    #expect(read["ascii"] as? String == "abc")
    #expect(read["number"] as? Int == -5)
    #expect(read["large"] as? Int == 1 << 40)
    #expect(read["flag"] as? Bool == true)
    #expect(read["real"] as? Double == 2.5)
    #expect(read["data"] as? Data == Data([1, 2]))
    #expect(read["date"] as? Date == Date(timeIntervalSinceReferenceDate: 100))
    #expect(read["list"] as? [Int] == Array(0..<20))
  }

  @Test func `what Foundation writes is read`() throws {
    let date = Date(timeIntervalSinceReferenceDate: 5)
    let object: [String: Any] = ["a": [1, 2, 300], "b": "text", "c": Data([9]), "d": date]
    let data = try PropertyListSerialization.data(fromPropertyList: object, format: .binary, options: 0)
    let expected = PropertyList.dictionary([
      "a": .array([.integer(1), .integer(2), .integer(300)]), "b": .string("text"), "c": .data(Data([9])),
      "d": .date(5),
    ])
    #expect(try PropertyList(contents: data) == expected)
  }

  @Test(Corpus.condition)
  func `files by Apple survive reading and writing`() throws {
    let files = Corpus.files(under: "") { ["mom", "cdm", "plist"].contains($0.pathExtension) }
    #expect(files.count > 25)
    for file in files {
      let value = try PropertyList(contents: Data(contentsOf: file))
      let written = BinaryPropertyListWriter.write(value)
      #expect(try BinaryPropertyListReader.read(written) == value, "\(file.lastPathComponent)")
    }
  }
}
