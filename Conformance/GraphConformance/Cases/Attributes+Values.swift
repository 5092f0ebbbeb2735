import CoreData
import Foundation

extension GraphSuite {
  static let values: [GraphCase] = [
    roundTrip("ATT-001/graph", "int16", [-32768, -1, 0, 1, 32767] as [Int]),
    roundTrip("ATT-003/graph", "int32", [-2_147_483_648, 0, 2_147_483_647] as [Int]),
    roundTrip(
      "ATT-004/graph", "int64",
      [Int.min, -9_007_199_254_740_993, 0, 9_007_199_254_740_993, Int.max - 1, Int.max] as [Int]),
    roundTrip("ATT-005/graph", "bool", [false, true] as [Bool]),
    roundTrip(
      "ATT-006/graph", "double",
      [
        -Double.infinity, -1e22, 0, Double.leastNonzeroMagnitude, 0.1, 1.0 / 3, Double.pi, 9_007_199_254_740_992, 1e22,
        Double.greatestFiniteMagnitude, Double.infinity,
      ] as [Double]),
    roundTrip(
      "ATT-009/graph", "float",
      [-Float.greatestFiniteMagnitude, 0, Float.leastNormalMagnitude, 0.1, 16_777_216, Float.greatestFiniteMagnitude]
        as [Float]),
    roundTrip(
      "ATT-010/graph", "decimal",
      [
        "-1", "0", "1E-127", "0.1", "0.3", "9", "10", "12345678901234567890123456789012345677",
        "12345678901234567890123456789012345678", "1E+127",
      ].compactMap { Decimal(string: $0) }),
    roundTrip(
      "ATT-013/graph", "string",
      ["", "\t", "\n", "\r", "\r\n", " ", " a ", "a"] as [String]),
    roundTrip(
      "ATT-015/graph", "string",
      ["a", "a\0", "a\0b", "a\u{1}", "b"].sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }),
    roundTrip(
      "ATT-016/graph", "string",
      ["\u{1}\u{2}\u{8}\u{B}\u{C}\u{E}\u{1F}", "\u{7F}", "\u{85}", "\u{2028}", "\u{FEFF}x", "\u{FFFE}", "\u{FFFF}"]),
    roundTrip(
      "ATT-017/graph", "string",
      [
        "a" + String(repeating: "\u{301}", count: 1000), "שלום", "日本", "👨‍👩‍👧‍👦",
      ]),
    roundTrip("ATT-018/graph", "string", ["e\u{301}", "\u{E9}"]),
    roundTrip(
      "ATT-021/graph", "data",
      [Data(), Data((0...255).map { UInt8($0) }), Data([1]), Data(repeating: 7, count: 100_000)], isSorted: false),
    roundTrip(
      "ATT-024/graph", "date",
      [
        Date.distantPast, Date(timeIntervalSinceReferenceDate: -12_188_620_800.25), Date(timeIntervalSince1970: 0),
        Date(timeIntervalSinceReferenceDate: -0.000_000_001), Date(timeIntervalSinceReferenceDate: 0),
        Date(timeIntervalSinceReferenceDate: 0.1), Date(timeIntervalSinceReferenceDate: 700_000_000.123_456_789),
        Date.distantFuture,
      ]),
    roundTrip(
      "ATT-027/graph", "uuid",
      [
        "00000000-0000-0000-0000-000000000000", "6BA7B810-9DAD-11D1-80B4-00C04FD430C8",
        "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF",
      ].compactMap(UUID.init(uuidString:)), isSorted: false),
    roundTrip(
      "ATT-028/graph", "uri",
      ["a/b?c=d#e", "file:///tmp/x%20y", "https://example.org/" + String(repeating: "p", count: 8000)].compactMap(
        URL.init(string:)), isSorted: false),

    GraphCase("ATT-007/graph", "minus zero becomes zero", { Models.allTypes }) { g in
      try g.write { $0.insert("AllTypes", ["double": -0.0, "float": -Float(0), "string": "z"]) }
      try g.read { c in
        let object = try c.one("AllTypes", "string", "z")
        c.refresh(object, mergeChanges: false)
        g.equal((object.value(forKey: "double") as? NSNumber)?.doubleValue.sign, .plus)
        g.equal((object.value(forKey: "float") as? NSNumber)?.floatValue.sign, .plus)
      }
    },
    refused("ATT-008/graph", "NaN", "double", [Double.nan, -Double.nan, Double(nan: 1, signaling: false)]),
    refused("ATT-011", "a decimal NaN", "decimal", [NSDecimalNumber.notANumber]),
    refused("ATT-025/graph", "a date without a time", "date", [Date(timeIntervalSinceReferenceDate: .nan)]),

    GraphCase(
      "ATT-002", "a number that the type cannot hold is refused at save and never wraps", { Models.allTypes },
      ways: .own
    ) {
      g in
      try g.inWriting { c in
        for (key, number, code) in [
          ("int16", 32768, 1610), ("int16", -32769, 1620), ("int32", 2_147_483_648, 1610),
          ("int32", -2_147_483_649, 1620),
        ] {
          let object = c.insert("AllTypes", [key: NSNumber(value: number)])
          let error = try g.fails(code, what: "\(key) \(number)") { try c.save() }
          g.equal(error?.userInfo[NSValidationKeyErrorKey] as? String, key)
          g.expect(error?.userInfo[NSValidationObjectErrorKey] as? NSManagedObject === object, "not the object")
          c.rollback()
        }
        g.equal(try c.number(of: "AllTypes"), 0)
      }
    },
    GraphCase("ATT-014/graph", "an empty string is not nil", { Models.allTypes }) { g in
      try g.write { c in
        c.insert("AllTypes", ["string": "", "number": 1])
        c.insert("AllTypes", ["number": 2])
      }
      try g.read { c in
        let empty = try c.objects("AllTypes", NSPredicate(format: "string == %@", ""))
        let none = try c.objects("AllTypes", NSPredicate(format: "string == nil"))
        g.equal(empty.map { $0.number("number") }, [1])
        g.equal(none.map { $0.number("number") }, [2])
        g.equal(try c.objects("AllTypes", by: "string").map { $0.number("number") }, [2, 1])
        g.equal(try c.objects("AllTypes", by: "string", ascending: false).map { $0.number("number") }, [1, 2])
      }
    },
    GraphCase("ATT-019", "a lone surrogate becomes U+FFFD before the string reaches the store", { Models.allTypes }) {
      g in
      let text = String(decoding: [0x61, 0xD800, 0x62] as [UInt16], as: UTF16.self)
      try g.write { $0.insert("AllTypes", ["string": text]) }
      try g.read { c in
        g.equal(try c.objects("AllTypes").map { $0.text("string") }, ["a\u{FFFD}b"])
        g.equal(try c.objects("AllTypes", NSPredicate(format: "string == %@", "a\u{FFFD}b")).count, 1)
      }
    },
    GraphCase("ATT-023/graph", "large data is the same, wherever it is stored", { Models.allTypes }) { g in
      let sizes = [0, 1, 100, 100_000, 2_000_000]
      try g.write { c in
        for size in sizes { c.insert("AllTypes", ["number": size, "large": Data(repeating: 5, count: size)]) }
      }
      try g.read { c in
        for (size, object) in zip(sizes, try c.objects("AllTypes", by: "number")) {
          g.equal((object.value(forKey: "large") as? Data)?.count, size)
          g.expect((object.value(forKey: "large") as? Data)?.allSatisfy { $0 == 5 } ?? false, "other bytes")
        }
      }
    },
    GraphCase(
      "ATT-029/graph", "transformable values of the default allowed classes are equal after a round trip",
      { Models.allTypes }
    ) {
      g in
      let value: NSDictionary = ["a": [1, 2] as NSArray, "b": "text" as NSString, "c": Data([1, 2]) as NSData]
      try g.write { $0.insert("AllTypes", ["transformable": value, "string": "x"]) }
      try g.read { c in
        let found = try c.one("AllTypes", "string", "x").value(forKey: "transformable")
        g.expect(
          (found as? NSDictionary)?.isEqual(to: value as? [AnyHashable: Any] ?? [:]) ?? false, "found \(found ?? "nil")"
        )
      }
    },
    GraphCase("ATT-033/graph", "a composite value has all of its elements, including nil ones", { Models.allTypes }) {
      g in
      try g.write { c in
        c.insert("AllTypes", ["number": 1, "place": ["city": "Bonn", "floor": 3] as [String: Any]])
        c.insert("AllTypes", ["number": 2, "place": ["floor": 4] as [String: Any]])
        c.insert("AllTypes", ["number": 3])
      }
      try g.read { c in
        let found = try c.objects("AllTypes", by: "number")
        let sites = found.map { $0.value(forKey: "place") as? [String: Any] }
        g.equal(sites.first??["city"] as? String, "Bonn")
        g.equal((sites.first??["floor"] as? NSNumber)?.intValue, 3)
        g.expect(sites[1]?["city"] == nil || sites[1]?["city"] is NSNull, "a nil element has a value")
        g.equal((sites[1]?["floor"] as? NSNumber)?.intValue, 4)
        g.equal(
          try c.objects("AllTypes", NSPredicate(format: "place.city == %@", "Bonn")).map { $0.number("number") }, [1])
        g.equal(
          try c.objects("AllTypes", NSPredicate(format: "place.floor > 3")).map { $0.number("number") }, [2])
      }
    },
    GraphCase(
      "ATT-034", "a transient value is kept until the object becomes a fault, and is not saved", { Models.allTypes },
      ways: .own
    ) { g in
      try g.inWriting { c in
        let object = c.insert("AllTypes", ["string": "s", "transient": "t"])
        g.equal(object.text("transient"), "t")
        try c.save()
        g.equal(object.text("transient"), "t")
        c.refresh(object, mergeChanges: false)
        g.equal(object.text("transient"), nil)
        g.equal(object.text("string"), "s")
        let version = object.committedValues(forKeys: ["string"])
        g.equal(version["string"] as? String, "s")
      }
      let other = try g.newContext()
      try other.performAndWait { g.equal(try other.one("AllTypes", "string", "s").text("transient"), nil) }
    },
    GraphCase("ATT-042/graph", "an entity with a thousand attributes is saved, read and sorted", { Models.wide }) { g in
      try g.write { c in
        for number in [2, 1, 3] { c.insert("Wide", ["a1": number, "a999": number * 10, "a1000": "last \(number)"]) }
      }
      try g.read { c in
        let found = try c.objects("Wide", by: "a999")
        g.equal(found.map { $0.number("a1") }, [1, 2, 3])
        g.equal(found.map { $0.text("a1000") }, ["last 1", "last 2", "last 3"])
        g.equal(found.map { $0.text("a500") }, [nil, nil, nil])
      }
    },
    GraphCase("ATT-043/graph", "names that mean something elsewhere are names", { Models.names }) { g in
      try g.write { c in
        let first = c.insert("Order")
        for name in Models.hostileNames { first.setValue("x'; --\(name.prefix(4))", forKey: name) }
        c.insert("Order", ["from": first, "select": "second"])
      }
      try g.read { c in
        let first = try c.one("Order", "where", "x'; --wher")
        for name in Models.hostileNames {
          g.equal(first.text(name), "x'; --\(name.prefix(4))")
          g.equal(try c.objects("Order", NSPredicate(format: "%K == nil", name)).count, name == "select" ? 0 : 1, name)
          g.equal(try c.objects("Order", by: name).count, 2)
        }
        g.equal(first.texts("to", "select"), ["second"])
      }
    },
  ]

  /// Values of one attribute: as set, as saved, found by equality, and sorted.
  private static func roundTrip<T: Equatable & Sendable>(
    _ id: String, _ key: String, _ values: [T], isSorted: Bool = true
  ) -> GraphCase {
    GraphCase(id, "values of \(key) are the same wherever they are read", { Models.allTypes }) { g in
      try g.write { c in
        for (number, value) in values.enumerated().reversed() {
          let object = c.insert("AllTypes", ["number": number, key: value])
          g.expect(same(object.value(forKey: key), value), "set \(value), found \(object.value(forKey: key) ?? "nil")")
        }
        c.insert("AllTypes", ["number": -1])
      }
      try g.read { c in
        let found = try c.objects("AllTypes", by: "number")
        g.equal(found.count, values.count + 1)
        g.expect(found.first?.value(forKey: key) == nil, "nil has become \(found.first?.value(forKey: key) ?? "nil")")
        for (object, value) in zip(found.dropFirst(), values) {
          g.expect(
            same(object.value(forKey: key), value), "saved \(value), found \(object.value(forKey: key) ?? "nil")")
        }
        for (number, value) in values.enumerated() {
          let equal = try c.objects(
            "AllTypes", NSPredicate(format: "%K == %@", argumentArray: [key, value]), by: "number")
          g.equal(equal.map { $0.number("number") }, [number], "== \(value)")
        }
        if !isSorted { return }
        g.equal(try c.objects("AllTypes", by: key).map { $0.number("number") }, [-1] + values.indices.map { $0 })
      }
    }
  }

  private static func same<T: Equatable>(_ found: Any?, _ value: T) -> Bool {
    switch value {
    case let value as Bool: (found as? NSNumber)?.boolValue == value
    case let value as Int: (found as? NSNumber)?.int64Value == Int64(value)
    case let value as Double: (found as? NSNumber)?.doubleValue.bitPattern == value.bitPattern
    case let value as Float: (found as? NSNumber)?.floatValue.bitPattern == value.bitPattern
    case let value as Decimal: (found as? NSDecimalNumber)?.decimalValue == value
    case let value as String: (found as? String).map { Array($0.utf8) == Array(value.utf8) } ?? false
    case let value as Date:
      (found as? Date)?.timeIntervalSinceReferenceDate.bitPattern == value.timeIntervalSinceReferenceDate.bitPattern
    case let value as URL: (found as? URL)?.absoluteString == value.absoluteString
    default: (found as? T) == value
    }
  }

  /// Values that a save refuses with error 1550. The error names the object and the key.
  private static func refused(_ id: String, _ what: String, _ key: String, _ values: [any Sendable]) -> GraphCase {
    GraphCase(id, "\(what) is refused at save, and nothing is written", { Models.allTypes }, ways: .own) { g in
      try g.inWriting { c in
        for value in values {
          let object = c.insert("AllTypes", [key: value])
          c.insert("AllTypes")
          let error = try g.fails(1550, what: "saving \(what)") { try c.save() }
          g.equal(error?.userInfo[NSValidationKeyErrorKey] as? String, key)
          g.expect(error?.userInfo[NSValidationObjectErrorKey] as? NSManagedObject === object, "not the object")
          c.rollback()
        }
        g.equal(try c.number(of: "AllTypes"), 0)
      }
    }
  }
}
