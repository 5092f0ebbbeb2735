import Foundation
import StoreProtocol
import StoreSchema

extension ConformanceSuite {
  static let attributeRules: [ConformanceCase] = [
    ConformanceCase("ATT-007", "minus zero is stored as zero", profiles: [.plain, .reopen, .twoStores]) { c in
      let s = try c.open(Fixtures.allTypes())
      let object = try s.insert("AllTypes", ["double": .double(-0.0), "date": .date(-0.0), "float": .double(-0.0)])
      c.equal(try s.value(object, "double"), .double(0.0))
      c.equal(try s.value(object, "float"), .double(0.0))
      c.equal(try s.value(object, "date"), .date(0.0))
    },
    ConformanceCase("ATT-012", "decimals are compared and sorted as numbers", profiles: Profile.fetching) { c in
      let s = try c.open(Fixtures.allTypes())
      let digits = [
        "10", "9", "12345678901234567890123456789012345679", "12345678901234567890123456789012345678", "-1.5",
      ]
      let o = try s.commit { for text in digits { try $0.insert("AllTypes", ["decimal": .decimal(text)]) } }
      c.equal(try s.fetch("AllTypes", sort: ["decimal"]), [o[4], o[1], o[0], o[3], o[2]])
      c.equal(try s.fetch("AllTypes", "decimal < 10", sort: ["decimal"]), [o[4], o[1]])
      c.equal(try s.fetch("AllTypes", "decimal == %@", [.decimal("10.0")]), [o[0]])
    },
    ConformanceCase("ATT-014", "nil and the empty string are two values", profiles: Profile.fetching) { c in
      let s = try c.open(Fixtures.allTypes())
      let o = try s.commit { for text: Cell in ["", nil, "a"] { try $0.insert("AllTypes", ["string": text]) } }
      c.equal(try o.map { try s.value($0, "string") }, [.string(""), .null, .string("a")])
      c.equal(try s.fetch("AllTypes", "string == ''"), [o[0]])
      c.equal(try s.fetch("AllTypes", "string == nil"), [o[1]])
      c.equal(try s.fetch("AllTypes", sort: ["string"]), [o[1], o[0], o[2]])
    },
    ConformanceCase(
      "ATT-023", "binary data that may lie outside comes back, wherever it lies", profiles: Profile.reading
    ) {
      c in
      let s = try c.open(Fixtures.allTypes())
      for count in [0, 1, 99_999, 100_000, 100_001, 300_000] {
        let data = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let object = try s.insert("AllTypes", ["large": .data(data)])
        c.expect(try s.value(object, "large") == .data(data), "\(count) bytes came back as others")
      }
    },
    ConformanceCase(
      "ATT-023/files", "large data lies in a file that goes with its row, without a grace time",
      requires: [.externalData, .localFiles], level: .durable, profiles: [.plain, .reopen]
    ) { c in
      let s = try c.open(Fixtures.allTypes(), .withoutGrace)
      let small = try s.insert("AllTypes", ["large": .data(Data(repeating: 1, count: 100))])
      let large = try s.insert("AllTypes", ["large": .data(Data(repeating: 2, count: 5_000_000))])
      c.expect(try c.bytesOfFolder() > 5_000_000, "the data is nowhere in the folder")
      let name = try c.externalName(s, large, "large")
      try s.commit {
        try $0.delete(large)
        $0.set.obsoleteExternalData = [name]
      }
      c.refuses("the file of a deleted row is still there") { _ = try s.store.externalData(name) }
      c.equal(try s.value(small, "large"), .data(Data(repeating: 1, count: 100)))
    },
    ConformanceCase(
      "ATT-023/damage", "a changed byte in the file of large data is found", requirements: ["COR-002"],
      requires: [.externalData, .localFiles, .checksums], level: .durable, profiles: [.plain, .reopen]
    ) { c in
      let s = try c.open(Fixtures.allTypes())
      let data = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
      let object = try s.insert("AllTypes", ["large": .data(data)])
      let name = String(decoding: try c.externalName(s, object, "large").dropFirst().dropLast(), as: UTF8.self)
      guard let file = try c.pathsOfFolder().first(where: { $0.hasSuffix(name) }) else {
        try c.fail("there is no file \(name)")
      }
      let url = URL(filePath: file)
      for site in [0, 99_999, 199_999] {
        var damaged = data
        damaged[site] ^= 4
        try damaged.write(to: url)
        c.refuses("the byte \(site) was changed, which nobody noticed") { _ = try s.value(object, "large") }
      }
      try data.dropLast().write(to: url)
      c.refuses("the last byte is gone, which nobody noticed") { _ = try s.value(object, "large") }
      try data.write(to: url)
      c.expect(try s.value(object, "large") == .data(data), "the whole data is not read")
    },
    ConformanceCase("ATT-033", "composite attributes keep their elements, nil ones too", profiles: Profile.fetching) {
      c in
      let s = try c.open(Fixtures.allTypes())
      let full = try s.insert("AllTypes", ["place.city": "Kyoto", "place.floor": 3])
      let half = try s.insert("AllTypes", ["place.floor": 4])
      c.equal(try s.value(full, "place.city"), "Kyoto")
      c.equal(try s.value(full, "place.floor"), 3)
      c.equal(try s.value(half, "place.city"), nil)
      c.equal(try s.fetch("AllTypes", "place.city == 'Kyoto'"), [full])
      c.equal(try s.fetch("AllTypes", "place.floor > 3"), [half])
    },
    ConformanceCase("ATT-042", "a thousand attributes are stored, changed and sorted by", profiles: Profile.fetching) {
      c in
      let s = try c.open(Fixtures.wide())
      let a = try s.insert("Wide", ["a1": 1, "a999": 9, "a1000": "z"])
      let b = try s.insert("Wide", ["a999": 8, "a1000": "y"])
      c.equal(try s.fetch("Wide", sort: ["a1000"]), [b, a])
      try s.update(a, ["a1000": "x"])
      c.equal(try s.value(a, "a1000"), "x")
      c.equal(try s.value(a, "a999"), 9)
      c.equal(try s.value(b, "a2"), nil)
    },
    ConformanceCase("ATT-043", "names that mean something elsewhere are names", profiles: Profile.fetching) { c in
      let s = try c.open(Fixtures.names())
      var values: [String: Cell] = [:]
      for (number, name) in Fixtures.hostileNames.enumerated() { values[name] = .text("v\(number)") }
      let first = try s.insert("Order", values)
      let second = try s.insert("Order", ["select": "w", "from": .to(first)])
      for (number, name) in Fixtures.hostileNames.enumerated() {
        c.equal(try s.value(first, name), .text("v\(number)"), name)
      }
      c.equal(try s.links(first, "to"), [second])
      c.equal(try s.fetch("Order", "#select == 'w'"), [second])
      c.equal(try s.fetch("Order", "日本 == 'v3'", sort: ["group"]), [first])
      try s.update(first, ["group": "x"])
      c.equal(try s.value(first, "group"), "x")
    },
    ConformanceCase("ATT-043/columns", "names that a store has for itself are names", profiles: Profile.fetching) { c in
      let s = try c.open(Fixtures.columnNames())
      let data = try s.insert("_Metadata", ["_pk": 7])
      let values: [String: Cell] = ["_pk": "a", "_ent": "b", "_opt": "c", "_pk1": "d"]
      let first = try s.insert("_PrimaryKey", values.merging(["_Pk2": .to(data)]) { $1 })
      let second = try s.insert("_PrimaryKey", ["_pk": "e"])
      let third = try s.insert("_PrimaryKey1", ["_pk": "f"])
      for (name, value) in values { c.equal(try s.value(first, name), value.value, name) }
      c.equal(try s.links(data, "_opt"), [first])
      c.equal(try s.fetch("_PrimaryKey", "_pk == 'a' AND _Pk2._pk == 7"), [first])
      c.equal(try s.fetch("_PrimaryKey", sort: ["-_pk"]), [second, first])
      try s.update(second, ["_opt": "x", "_ent": "y"])
      c.equal(try s.value(second, "_ent"), "y")
      c.equal(try s.value(third, "_pk"), "f")
    },
    ConformanceCase("ATT-026", "a date is an instant, whatever the time zone", profiles: [.plain, .reopen]) { c in
      let s = try c.open(Fixtures.allTypes())
      let object = try s.insert("AllTypes", ["date": .date(1234.5)])
      setenv("TZ", "Pacific/Kiritimati", 1)
      tzset()
      defer {
        unsetenv("TZ")
        tzset()
      }
      c.equal(try s.value(object, "date"), .date(1234.5))
      try s.update(object, ["number": 1])
      c.equal(try s.value(object, "date"), .date(1234.5))
    },
    ConformanceCase("ATT-044", "only what changed is changed", profiles: Profile.reading) { c in
      let s = try c.open(Fixtures.allTypes())
      let object = try s.insert("AllTypes", ["string": "a", "int64": 1, "data": .data(Data([1]))])
      try s.update(object, ["int64": 2])
      c.equal(try s.value(object, "string"), "a")
      c.equal(try s.value(object, "int64"), 2)
      c.equal(try s.value(object, "data"), .data(Data([1])))
      try s.update(object, ["string": nil])
      c.equal(try s.value(object, "string"), nil)
      c.equal(try s.value(object, "int64"), 2)
    },
  ]
}

extension CaseContext {
  /// How many bytes the files of the case's folder have, those in hidden folders too.
  func bytesOfFolder() throws -> Int {
    try pathsOfFolder().reduce(0) { sum, path in
      let attributes = try? FileManager.default.attributesOfItem(atPath: path)
      return sum + ((attributes?[.size] as? NSNumber)?.intValue ?? 0)
    }
  }

  /// Where everything in the case's folder is, what is in hidden folders too.
  func pathsOfFolder() throws -> [String] {
    guard let folder = location.folder else { throw HarnessProblem("the store has no folder") }
    return try FileManager.default.subpathsOfDirectory(atPath: folder.path).map { folder.appending(path: $0).path }
  }

  /// The paths of the files that hold external data, named by a UUID each.
  func pathsOfExternalData() throws -> [String] {
    try pathsOfFolder().filter { UUID(uuidString: URL(filePath: $0).lastPathComponent) != nil }
  }

  /// The name of external data that a row holds.
  func externalName(_ session: Session, _ object: ObjectReference, _ attribute: String) throws -> Data {
    let entity = session.schema.entities[object.entity]
    guard let row = try session.row(object), let slot = entity.attribute(named: attribute)?.slot,
      case .data(let bytes) = row.value(slot, entity.slots[slot]), bytes.first == 2
    else { throw Failure("the data is in the row") }
    return bytes
  }

  /// Records a problem unless `body` throws a store's error of any code.
  func refuses(_ otherwise: String, _ body: () throws -> Void) {
    do { try body() } catch {
      expect(error is StoreError, "threw \(error), which is no error of a store")
      return
    }
    expect(false, otherwise)
  }
}
