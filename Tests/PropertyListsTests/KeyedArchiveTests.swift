import Foundation
import PropertyLists
import Testing

@Suite struct KeyedArchiveTests {
  @Test func `Foundation values come back`() throws {
    var writer = KeyedArchiveWriter()
    let uuid = UUID()
    let numbers = ["0", "1", "-1", "0.1", "99999999999999999999999999999999999999", "-1e-100", "3E127"]
      .compactMap { Decimal(string: $0) }
    let decimals = numbers.map { writer.add($0) }
    let fields: [String: KeyedArchiveWriter.Reference] = [
      "list": writer.add(array: [writer.add(.string("a")), .null, writer.add(.integer(2))]),
      "set": writer.add(set: [writer.add(.string("a"))]),
      "uuid": writer.add(uuid), "url": writer.add(url: "https://example.org/a"), "date": writer.add(date: 12.5),
      "decimals": writer.add(array: decimals), "nothing": .null,
    ]
    let root = writer.add(classes: ["Thing", "NSObject"], values: fields.mapValues(\.value))
    let archive = try KeyedArchiveReader(writer.archive(root: root))
    let object = try #require(archive.root())
    #expect(object.className == "Thing")
    #expect(object.isKind(of: "NSObject"))
    #expect(object["nothing"] == nil)
    #expect(object["absent"] == nil)
    #expect(object["list"]?.array?.map(\.value) == [.string("a"), .integer(2)])
    #expect(object["set"]?.array?.compactMap(\.string) == ["a"])
    #expect(object["uuid"]?.uuid == uuid)
    #expect(object["url"]?.urlString == "https://example.org/a")
    #expect(object["date"]?.date == 12.5)
    #expect(object["decimals"]?.array?.compactMap(\.decimal) == numbers)
  }

  @Test func `a cyclic graph is written and read without end`() throws {
    var writer = KeyedArchiveWriter()
    let (one, two) = (writer.reserve(), writer.reserve())
    let names = [writer.add(.string("1")), writer.add(.string("2"))]
    writer.fill(one, classes: ["Node", "NSObject"], values: ["next": two.value, "name": names[0].value])
    writer.fill(two, classes: ["Node", "NSObject"], values: ["next": one.value, "name": names[1].value])
    let root = try #require(try KeyedArchiveReader(writer.archive(root: one)).root())
    #expect(root["next"]?["next"]?["next"]?["name"]?.string == "2")
    #expect(root["next"]?["next"]?.uid == root.uid)
  }

  @Test func `a collection that contains itself has no property list`() throws {
    var writer = KeyedArchiveWriter()
    let list = writer.reserve()
    writer.fill(list, classes: ["NSArray", "NSObject"], values: ["NS.objects": .array([list.value, list.value])])
    #expect(try KeyedArchiveReader(writer.archive(root: list)).root()?.propertyList() == nil)
  }

  @Test func `property lists pass through Foundation objects`() throws {
    let value = PropertyList.dictionary([
      "a": .array([.integer(1), .bool(true), .string("x")]), "b": .dictionary(["d": .date(1), "e": .data(Data([1]))]),
    ])
    var writer = KeyedArchiveWriter()
    let root = writer.add(value, depth: 8)
    #expect(try KeyedArchiveReader(writer.archive(root: root)).root()?.propertyList() == value)
  }

  @Test func `a dictionary with known keys leaves its empty slots out`() throws {
    var writer = KeyedArchiveWriter()
    let token = writer.add(.string("__empty_slot_token_4c24_98dc_ac1e_b773__"))
    let keys = writer.add(array: [writer.add(.string("a")), writer.add(.string("b"))])
    let mapping = writer.add(
      classes: ["NSKnownKeysMappingStrategy1", "NSObject"], values: ["keys": keys.value, "length": .integer(2)])
    let values = writer.add(array: [token, writer.add(.integer(5))])
    let root = writer.add(
      classes: ["NSKnownKeysDictionary1", "NSObject"],
      values: ["searchMapping": mapping.value, "values": values.value, "emptyToken": token.value])
    let entries = try KeyedArchiveReader(writer.archive(root: root)).root()?.stringEntries
    #expect(entries?.mapValues(\.integer) == ["b": 5])
  }

  @Test func `NSKeyedUnarchiver reads what is written`() throws {
    var writer = KeyedArchiveWriter()
    let root = writer.add(.dictionary(["a": .array([.string("x"), .integer(2)])]), depth: 4)
    let unarchiver = try NSKeyedUnarchiver(forReadingFrom: writer.archive(root: root))
    unarchiver.requiresSecureCoding = false
    let object = unarchiver.decodeObject(forKey: NSKeyedArchiveRootObjectKey)
    let dictionary = try #require(object as? NSDictionary)
    #expect((dictionary["a"] as? NSArray)?.count == 2)
  }

  @Test func `what is no archive is refused`() {
    #expect(throws: PropertyListError.self) {
      try KeyedArchiveReader(BinaryPropertyListWriter.write(.dictionary(["$top": .dictionary([:])])))
    }
  }
}
