import Foundation
import PropertyLists
import Testing

/// Archives that are written and read one object at a time.
@Suite struct KeyedArchiveStreamTests {
  /// An archive of a list of values, returned in pieces.
  private static func archive(_ add: (KeyedArchiveStream) -> [KeyedArchiveStream.Reference]) -> Data {
    let stream = KeyedArchiveStream()
    let elements = add(stream)
    let root = stream.add(list: elements, of: stream.addClass(["NSArray", "NSObject"]))
    var data = Data()
    stream.takeBytes { data.append(contentsOf: $0) }
    stream.finish("root", root) { data.append(contentsOf: $0) }
    return data
  }

  private static let texts = ["", "plain", "é 😀", String(repeating: "long ", count: 100)].map { Array($0.utf8) }

  @Test func aReaderOfTreesAndFoundationReadWhatWasWritten() throws {
    let uuid = UUID()
    let texts = Self.texts
    let data = Self.archive { stream in
      var all = texts.map { text in text.withUnsafeBytes { stream.add(text: UnsafeRawBufferPointer($0)) } }
      all += [0, 255, 256, 65535, 65536, 1 << 32, -1, .min, .max].map { stream.add(Int64($0)) }
      all += [stream.add(true), stream.add(false), stream.add(0.1), stream.add(-Double.infinity)]
      all.append(stream.add(date: 1.5, of: stream.addClass(["NSDate", "NSObject"])))
      withUnsafeBytes(of: uuid.uuid) { all.append(stream.add(uuid: $0, of: stream.addClass(["NSUUID", "NSObject"]))) }
      all.append(
        stream.add(
          Decimal(string: "-12.5") ?? 0,
          of: stream.addClass(["NSDecimalNumberPlaceholder", "NSDecimalNumber", "NSNumber", "NSValue", "NSObject"])))
      return all
    }
    let list = try #require(try KeyedArchiveReader(data).root()?.array)
    #expect(list.prefix(4).map(\.string) == texts.map { String(decoding: $0, as: UTF8.self) })
    #expect(list[4..<13].map(\.integer) == [0, 255, 256, 65535, 65536, 1 << 32, -1, .min, .max])
    #expect(list[13].value == .bool(true) && list[14].value == .bool(false))
    #expect(list[15].double == 0.1 && list[16].double == -.infinity)
    #expect(list[17].date == 1.5 && list[18].uuid == uuid && list[19].decimal == Decimal(string: "-12.5"))
    _ = try PropertyListSerialization.propertyList(from: data, format: nil)
  }

  @Test func equalValuesAreWrittenOnce() throws {
    let text = Array("the same".utf8)
    let data = Self.archive { stream in
      text.withUnsafeBytes { bytes in
        let bytes = UnsafeRawBufferPointer(bytes)
        return [stream.add(text: bytes), stream.add(data: bytes), stream.add(Int64(7)), stream.add(0.5)]
          + [stream.add(text: bytes), stream.add(data: bytes), stream.add(Int64(7)), stream.add(0.5)]
      }
    }
    let list = try #require(try KeyedArchiveReader(data).root()?.array)
    #expect(list.prefix(4).map(\.uid) == list.suffix(4).map(\.uid))
    #expect(Set(list.map(\.uid)).count == 4)
  }

  @Test func manyObjectsOutgrowEveryBuffer() throws {
    let texts = (0..<50_000).map { Array("number \($0 % 40_000)".utf8) }
    let joined = texts.flatMap { $0 }
    let data = joined.withUnsafeBytes { bytes in
      Self.archive { stream in
        var start = 0
        return texts.map { text in
          defer { start += text.count }
          return stream.add(text: UnsafeRawBufferPointer(rebasing: bytes[start..<start + text.count]))
        }
      }
    }
    let list = try #require(try KeyedArchiveReader(data).root()?.array)
    #expect(list.map(\.string) == texts.map { String(decoding: $0, as: UTF8.self) })
  }

  /// One object refers to itself, and one contains containers that are nested too deeply.
  @Test func copiesKeepCyclesAndLeaveOutWhatIsTooDeep() throws {
    var writer = KeyedArchiveWriter()
    let (one, two) = (writer.reserve(), writer.reserve())
    writer.fill(one, classes: ["Node"], values: ["next": two.value, "x": .integer(1)])
    writer.fill(two, classes: ["Node"], values: ["next": one.value, "list": .array([one.value, .real(2)])])
    let original = try #require(try KeyedArchiveReader(writer.archive(root: one)).root())
    let stream = KeyedArchiveStream()
    let copy = try #require(stream.add(copyOf: original))
    var data = Data()
    stream.finish("root", copy) { data.append(contentsOf: $0) }
    let root = try #require(try KeyedArchiveReader(data).root())
    #expect(KeyedArchiveWriter.archive(copyOf: root) == KeyedArchiveWriter.archive(copyOf: original))
    let deep = writer.add(classes: ["Node"], values: ["list": .array([.array([.integer(1)])])])
    #expect(
      KeyedArchiveStream().add(copyOf: try #require(try KeyedArchiveReader(writer.archive(root: deep)).root())) == nil)
  }

  // MARK: Reading

  private static let values: [PropertyList] = [
    .string("plain"), .string("é 😀"), .integer(-1), .integer(300), .real(0.5), .bool(true), .data(Data([1, 2])),
    .date(7.5), .unsigned(.max), .array([.integer(1)]), .dictionary(["a": .integer(2)]),
  ]

  /// Reading a value directly from the archive gives the same result as decoding the whole archive.
  @Test(arguments: values) func valuesAreThoseOfTheTree(_ value: PropertyList) throws {
    var writer = KeyedArchiveWriter()
    let root = writer.add(value, depth: 8)
    let data = writer.archive(root: root)
    let object = try #require(try KeyedArchiveReader(data).root())
    try data.withUnsafeBytes { bytes in
      let archive = try KeyedArchiveBytes(bytes)
      let item = try #require(try archive.root("root"))
      #expect(try archive.integer(item) == object.integer)
      #expect(try archive.double(item) == object.double)
      #expect(try archive.string(item) == object.string)
      #expect(try archive.date(item) == object.date)
      #expect(try archive.elements(of: item)?.count == object.array?.count)
      #expect(try archive.entries(of: item)?.keys.count == object.entries?.count)
      #expect(try archive.takeOut(item)?.propertyList() == object.propertyList())
    }
  }

  /// Keys of related objects are integers. Other values must be detected, or a save would drop them.
  @Test func integersOfAListAreDistinguishedFromWhatIsNone() throws {
    for last in [PropertyList.integer(9), .uid(0), .uid(4), .string("9")] {
      let data = BinaryPropertyListWriter.write(
        .dictionary([
          "$archiver": .string("NSKeyedArchiver"), "$version": .integer(100_000),
          "$top": .dictionary(["root": .uid(1)]),
          "$objects": .array([
            .string("$null"), .dictionary(["$class": .uid(2), "NS.objects": .array([.uid(3), last, .uid(3)])]),
            .dictionary(["$classname": .string("NSArray"), "$classes": .array([.string("NSArray")])]), .integer(7),
          ]),
        ]))
      try data.withUnsafeBytes { bytes in
        let archive = try KeyedArchiveBytes(bytes)
        let root = try #require(try archive.root("root"))
        let elements = try #require(try archive.elements(of: root))
        var integers: [Int64] = []
        if last == .uid(4) {
          #expect(throws: PropertyListError.self) { try archive.append(integersOf: elements, to: &integers) }
          return
        }
        let areIntegers = try archive.append(integersOf: elements, to: &integers)
        #expect(areIntegers == (last == .integer(9)))
        #expect(integers == (last == .integer(9) ? [7, 9, 7] : [7, 7]))
      }
    }
  }

  @Test func damagedArchivesAreErrorsAndNeverStopTheProgram() throws {
    var writer = KeyedArchiveWriter()
    let root = writer.add(.array(Self.values), depth: 8)
    let sound = writer.archive(root: root)
    var generator = SystemRandomNumberGenerator()
    for round in 0..<20_000 {
      var bad = sound
      for _ in 0...round % 4 {
        bad[Int.random(in: bad.indices, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
      }
      if round % 5 == 0 { bad = bad.prefix(Int.random(in: 0...bad.count, using: &generator)) }
      bad.withUnsafeBytes { try? Self.visit($0) }
    }
  }

  private static func visit(_ bytes: UnsafeRawBufferPointer) throws {
    let archive = try KeyedArchiveBytes(bytes)
    guard let root = try archive.root("root"), let elements = try archive.elements(of: root) else { return }
    for index in 0..<elements.count {
      guard let item = try archive.item(at: archive.location(index, in: elements)) else { continue }
      _ = (try archive.integer(item), try archive.double(item), try archive.string(item), try archive.date(item))
      _ = (try archive.uuid(item), try archive.asciiURL(item), try archive.isNullObject(item))
      _ = (try archive.entries(of: item)?.keys.count, try archive.takeOut(item)?.propertyList())
    }
  }

  /// A list whose elements all refer to the same large list is expanded only up to a limit proportional to the file's
  /// size.
  @Test func sharedObjectsAreNotUnfoldedForEver() throws {
    var writer = KeyedArchiveWriter()
    let large = writer.add(array: (0..<10_000).map { writer.add(.integer($0)) })
    let root = writer.add(array: Array(repeating: large, count: 10_000))
    let data = writer.archive(root: root)
    #expect(throws: PropertyListError.self) {
      try data.withUnsafeBytes { try Self.visit($0) }
    }
  }

  /// Bytes that were released cannot be read any more and give an error; all others can be read.
  @Test func bytesCanGoWhileAnArchiveIsRead() throws {
    let datas = (0..<4000).map { Array("\($0)".utf8) + Array(repeating: UInt8(truncatingIfNeeded: $0), count: 1000) }
    let data = Self.archive { stream in datas.map { $0.withUnsafeBytes { stream.add(data: $0) } } }
    try data.withUnsafeBytes { bytes in
      var gone: [Range<Int>] = []
      let archive = try KeyedArchiveBytes(bytes) { gone.append($0) }
      let list = try #require(try archive.root("root"))
      let elements = try #require(try archive.elements(of: list))
      for index in (0..<elements.count).reversed() {
        let item = try #require(try archive.item(at: archive.location(index, in: elements)))
        #expect(try archive.plainData(item).map { Array($0) } == datas[index])
        archive.giveBack(from: item, but: [elements])
      }
      #expect(gone.count >= 2)
      #expect(gone.map(\.count).reduce(0, +) > 2_000_000)
      #expect(zip(gone, gone.dropFirst()).allSatisfy { $1.upperBound == $0.lowerBound })
      #expect(!archive.wasGivenBackTooEarly)
      #expect(throws: PropertyListError.self) {
        try archive.item(at: archive.location(elements.count - 1, in: elements))
      }
      #expect(archive.wasGivenBackTooEarly)
    }
  }
}
