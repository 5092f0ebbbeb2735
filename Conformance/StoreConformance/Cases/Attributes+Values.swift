import Foundation
import StoreProtocol
import StoreSchema

/// Attribute round trips: each value comes back to the last bit, also where the attribute is mandatory, and is found by
/// it.
extension ConformanceSuite {
  /// One value of a gibibyte.
  static let hugeValue = ConformanceCase(
    "ATT-022", "a gibibyte of data is kept, or refused before anything is written", size: .large,
    profiles: Profile.plainOnly
  ) { c in
    let s = try c.open(Fixtures.people())
    let person = try s.insert("Person", ["name": "a"])
    let data = Data(repeating: 0xA5, count: 1 << 30)
    do {
      try s.update(person, ["photo": .data(data)])
      c.expect(try s.value(person, "photo") == .data(data), "other data is read")
    } catch let error as StoreError {
      c.expect([.invalidArgument, .full, .unsupported].contains(error.code), "\(error)")
      c.expect(try s.value(person, "photo") == .null, "there is data though: \(error)")
    }
    c.equal(try s.value(person, "name"), "a")
  }

  static let largeValues: [ConformanceCase] = [
    largeValue("ATT-017/large", "string", .medium) { .text(String(repeating: "日本 a", count: 10_000_000 / 8)) },
    largeValue("ATT-021/hundred", "data", .large) { .data(Data(repeating: 0xA5, count: 100 << 20)) },
    largeValue("ATT-023/large", "large", .medium) { .data(Data(repeating: 0x5A, count: 10 << 20)) },
  ]

  private static func largeValue(
    _ id: String, _ attribute: String, _ size: Size, _ make: @escaping @Sendable () -> Cell
  ) -> ConformanceCase {
    ConformanceCase(id, "a large value comes back as it went in", size: size, profiles: Profile.plainOnly) { c in
      let s = try c.open(Fixtures.allTypes())
      let value = make()
      let object = try s.insert("AllTypes", [attribute: value])
      if c.capabilities.contains(.persistent) { try s.reopen() }
      c.expect(try s.value(object, attribute) == value.value, "another value is read")
    }
  }

  static let values: [ConformanceCase] = [
    numbers, texts, bytesAndTimes,
  ].flatMap { $0 }

  /// One case for each value.
  private static func values(
    _ row: String, _ attribute: String, _ values: [(String, Cell)], isCompared: Bool = true
  ) -> [ConformanceCase] {
    values.map { name, value in
      ConformanceCase(
        "\(row)/\(attribute)/\(name)", "\(attribute) \(value.value.brief) comes back as it went in",
        requirements: ["FET-001"], profiles: [.plain, .reopen, .noPushdown, .twoStores]
      ) { c in
        let s = try c.open(Fixtures.allTypes())
        let object = try s.insert("AllTypes", [attribute: value, attribute + "Mandatory": value])
        try s.insert("AllTypes", ["number": 1])
        c.equal(try s.value(object, attribute), value, attribute)
        c.equal(try s.value(object, attribute + "Mandatory"), value, "mandatory")
        if isCompared { c.equal(try s.fetch("AllTypes", "\(attribute) == %@", [value]), [object], "found by ==") }
      }
    }
  }

  private static let numbers: [ConformanceCase] = [
    values("ATT-001", "int16", [("min", .int(-32768)), ("minus", -1), ("zero", 0), ("one", 1), ("max", .int(32767))]),
    values("ATT-003", "int32", [("min", .int(Int64(Int32.min))), ("zero", 0), ("max", .int(Int64(Int32.max)))]),
    values(
      "ATT-004", "int64",
      [
        ("min", .int(.min)), ("max", .int(.max)), ("odd", .int(1 << 53 + 1)), ("minusOdd", .int(-(1 << 53) - 1)),
      ]),
    values("ATT-005", "bool", [("true", true), ("false", false)]),
    values(
      "ATT-006", "double",
      [
        ("zero", 0.0), ("tenth", 0.1), ("least", .double(.leastNonzeroMagnitude)),
        ("greatest", .double(.greatestFiniteMagnitude)), ("whole", .double(9_007_199_254_740_992)),
        ("large", 1e22), ("pi", .double(.pi)), ("third", .double(1.0 / 3)), ("nextToOne", .double(1.0.nextUp)),
      ]),
    values("ATT-008", "double", [("infinity", .double(.infinity)), ("minusInfinity", .double(-.infinity))]),
    values(
      "ATT-009", "float",
      [
        ("least", .double(Double(Float.leastNonzeroMagnitude))),
        ("greatest", .double(Double(Float.greatestFiniteMagnitude))), ("tenth", .double(Double(Float(0.1)))),
        ("odd", .double(Double(Float(16_777_217)))),
      ]),
    values(
      "ATT-010", "decimal",
      [
        ("digits38", .decimal("12345678901234567890123456789012345678")), ("least", .decimal("1e-127")),
        ("greatest", .decimal("1e127")), ("sum", .decimal("0.3")), ("minus", .decimal("-0.00000001")),
        ("trailing", .decimal("1.5000")), ("zero", .decimal("0")),
      ]),
  ].flatMap { $0 }

  private static let texts: [ConformanceCase] = [
    values(
      "ATT-013", "string",
      [
        ("empty", ""), ("space", " "), ("newline", "\n"), ("return", "\r"), ("both", "\r\n"), ("tab", "\t"),
        ("around", "  a  "), ("markup", "a & b <c> ]]> \"d\" 'e'"), ("escape", "\\u0041 \\ %41 &#65;"),
      ]),
    values("ATT-015", "string", [("inside", "a\u{0}b"), ("only", "\u{0}"), ("last", "a\u{0}")]),
    values(
      "ATT-016", "string",
      [
        ("controls", .text(String(String.UnicodeScalarView((1...0x1F).compactMap(Unicode.Scalar.init))))),
        ("noncharacters", "\u{FFFE}\u{FFFF}"), ("mark", "\u{FEFF}a"), ("separators", "\u{2028}\u{2029}\u{85}"),
        ("delete", "\u{7F}\u{9F}"),
      ]),
    values(
      "ATT-017", "string",
      [
        ("family", "👨‍👩‍👧‍👦🏳️‍🌈"), ("rightToLeft", "שלום \u{202E}abc"),
        ("stack", .text("e" + String(repeating: "\u{301}", count: 1000))),
        ("long", .text(String(repeating: "日本 ", count: 20_000))),
      ]),
    values("ATT-018", "string", [("composed", "\u{E9}"), ("decomposed", "e\u{301}")]),
  ].flatMap { $0 }

  private static let bytesAndTimes: [ConformanceCase] = [
    values(
      "ATT-021", "data",
      [
        ("empty", .data(Data())), ("one", .data(Data([0]))), ("all", .data(Data((0...255).map { UInt8($0) }))),
        ("large", .data(Data(repeating: 0xA5, count: 1 << 20))),
      ]),
    values(
      "ATT-024", "date",
      [
        ("reference", .date(0)), ("past", .date(-63_114_076_800)), ("future", .date(63_113_904_000)),
        ("unix", .date(-978_307_200)), ("gap", .date(-13_197_600_000.5)), ("year20000", .date(567_993_600_000)),
        ("fraction", .date(259_257_205.150_523_99)), ("tiny", .date(-1e-12)),
      ]),
    values("ATT-025", "date", [("infinity", .date(.infinity)), ("minusInfinity", .date(-.infinity))]),
    values(
      "ATT-027", "uuid",
      [
        ("zero", .uuid(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)))),
        ("ones", .uuid(UUID(uuid: (255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255)))),
        ("some", .uuid(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)))),
      ]),
    values(
      "ATT-028", "uri",
      [
        ("relative", .uri("a/b?c#d")), ("file", .uri("file:///a%20b")),
        ("long", .uri("http://x/" + String(repeating: "a", count: 8192))),
        ("markup", .uri("http://x/?a=1&b=<2>")), ("empty", .uri("")),
      ]),
    values(
      "ATT-029", "transformable", [("bytes", .data(Data([0x62, 0x70, 0x6C, 0x69, 0x73, 0x74, 0x30, 0x30, 0xFF])))],
      isCompared: false),
  ].flatMap { $0 }
}
