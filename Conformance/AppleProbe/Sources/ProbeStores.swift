import CoreData
import Foundation

/// A store of the probe: how it is opened, what it has, and what it has after the check has changed it.
struct ProbeStore: Codable {
  var file: String
  /// A type as of `NSPersistentStore.type`: SQLite, XML or Binary.
  var type: String
  var model: String
  var configuration: String?
  var tracksHistory = false
  var written: State
  var changed: State

  var options: [AnyHashable: Any]? {
    tracksHistory ? [NSPersistentHistoryTrackingKey: NSNumber(value: true)] : nil
  }
}

/// Every store that the probe writes.
enum ProbeStores {
  static var all: [ProbeStore] {
    var stores: [ProbeStore] = []
    for (type, suffix) in [(NSSQLiteStoreType, "sqlite"), (NSXMLStoreType, "xml"), (NSBinaryStoreType, "binary")] {
      stores.append(store("types.\(suffix)", type, "Types", TypeRows.written, TypeRows.changed))
      stores.append(store("links.\(suffix)", type, "Links", LinkRows.written, LinkRows.changed))
    }
    let sqlite = NSSQLiteStoreType
    stores.append(store("large.sqlite", sqlite, "Large", large(first: 1), large(first: 9)))
    var history = store("history.sqlite", sqlite, "Links", LinkRows.written, LinkRows.changed)
    history.tracksHistory = true
    stores.append(history)
    stores.append(store("derived.sqlite", sqlite, "Derived", derived(["1", "2"]), derived(["1", "2", "7"])))
    stores.append(store("composite.sqlite", sqlite, "Composite", houses("Zürich", 3), houses("Basel", -1)))
    stores.append(store("indexed.sqlite", sqlite, "Indexed", items(from: 1), items(from: 50)))
    let inside = [Row(entity: "Inside", name: "a"), Row(entity: "Inside", name: "b")]
    var part = store("configured.sqlite", sqlite, "Configured", inside, Array(inside.dropFirst()))
    part.configuration = "Part"
    stores.append(part)
    return stores
  }

  private static func store(
    _ file: String, _ type: String, _ model: String, _ written: [Row], _ changed: [Row]
  ) -> ProbeStore {
    ProbeStore(file: file, type: type, model: model, written: State(rows: written), changed: State(rows: changed))
  }

  private static func large(first: Int) -> [Row] {
    [0, 1, 1000, 102_400, 300_000, 2_000_000].map { count in
      let text =
        count <= 64
        ? "data " + ValueText.pattern(count, from: 1).base64EncodedString()
        : "bytes \(count) from \(first)"
      return Row(entity: "Photo", name: "photo of \(count)", values: ["photo": text])
    } + [Row(entity: "Photo", name: "no photo")]
  }

  private static func derived(_ sizes: [String]) -> [Row] {
    let files = sizes.map {
      Row(entity: "File", name: "file \($0)", values: ["size": "integer " + $0], links: ["folder": ["Été"]])
    }
    let total = sizes.compactMap { Int($0) }.reduce(0, +)
    let values = ["folded": "string ete", "number": "integer \(sizes.count)", "total": "integer \(total)"]
    let empty = ["folded": "string empty", "number": "integer 0", "total": "integer 0"]
    return files + [
      Row(entity: "Folder", name: "Été", values: values, links: ["files": files.map(\.name)]),
      Row(entity: "Folder", name: "Empty", values: empty),
    ]
  }

  private static func houses(_ city: String, _ floor: Int) -> [Row] {
    [
      Row(
        entity: "House", name: "all",
        values: ["address": #"composite {"city":"string \#(city)","floor":"integer \#(floor)"}"#]),
      Row(entity: "House", name: "city", values: ["address": #"composite {"city":"string \#(city)"}"#]),
      Row(entity: "House", name: "none"),
    ]
  }

  private static func items(from first: Int) -> [Row] {
    (first..<first + 20).map { number in
      Row(
        entity: "Item", name: "item \(number)", values: ["code": "string c\(number)", "age": "integer \(number / 3)"])
    } + [Row(entity: "Item", name: "no code"), Row(entity: "Item", name: "no code either")]
  }
}

/// The rows of the store with an attribute of each type.
enum TypeRows {
  static let texts: [(name: String, text: String)] = [
    ("empty", ""), ("spaces", "  two before, two after  "), ("lines", "tab\tline\nend"),
    ("quotes", "'a' \"b\" `c` ; --"),
    ("markup", "<a href=\"x\">&amp;</a> ]]> <!-- -->"), ("emoji", "👩‍👩‍👧‍👦🇨🇭👍🏽"),
    ("composed", "\u{E9}"), ("decomposed", "e\u{301}"),
    ("combining", "a\u{300}\u{301}\u{302}\u{323}"), ("right to left", "שלום العربية"), ("beyond", "𝒳𠀀"),
    ("separators", "a\u{2028}b\u{2029}c"), ("byte order", "\u{FEFF}bom"),
    ("long", String(repeating: "abcdefghij", count: 5000)),
  ]

  private static let low = [
    "int16": "integer -32768", "int32": "integer -2147483648", "int64": "integer -9223372036854775808",
    "decimal": "decimal -0.000000000000001", "double": "double -1.7976931348623157e+308",
    "float": "float -3.4028235e+38", "string": "string low", "bool": "boolean false", "date": "date -63114076800.0",
    "uuid": "uuid 00000000-0000-0000-0000-000000000000", "uri": "uri file:///dev/null", "data": "data ",
    "transformable": "transformable []",
  ]
  private static let high = [
    "int16": "integer 32767", "int32": "integer 2147483647", "int64": "integer 9223372036854775807",
    "decimal": "decimal 123456789012345", "double": "double 1.7976931348623157e+308",
    "float": "float 3.4028235e+38", "string": "string high", "bool": "boolean true", "date": "date 252423993600.0",
    "uuid": "uuid FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF",
    "uri": "uri https://example.org/a%20b?q=1&r=%C3%A9#part", "data": "data AAECA/8=",
    "transformable": #"transformable {"list":[1,2,"three"],"text":"é"}"#,
  ]
  private static let small = [
    "int16": "integer 0", "int32": "integer 1", "int64": "integer -1", "decimal": "decimal 0.1",
    "double": "double 5e-324", "float": "float 1e-45", "string": "string small", "bool": "boolean true",
    "date": "date 0.5", "uuid": "uuid 12345678-9ABC-DEF0-1234-56789ABCDEF0", "uri": "uri mailto:a@example.org",
    "data": "bytes 100000 from 3", "transformable": #"transformable ["one"]"#,
  ]
  private static let fine = [
    "decimal": "decimal 12345678901234567890.123456789", "double": "double 0.1", "float": "float 0.1",
    "date": "date 123456789.123456", "int64": "integer 9007199254740993",
  ]

  static var written: [Row] {
    [
      Row(entity: "Types", name: "low", values: low), Row(entity: "Types", name: "high", values: high),
      Row(entity: "Types", name: "small", values: small), Row(entity: "Types", name: "fine", values: fine),
      Row(entity: "Types", name: "nothing"),
    ]
      + texts.map { Row(entity: "Types", name: "text " + $0.name, values: ["string": "string " + $0.text]) }
  }

  /// Values trade rows, one row becomes nil, one is deleted, one is new.
  static var changed: [Row] {
    [
      Row(entity: "Types", name: "low", values: high), Row(entity: "Types", name: "high"),
      Row(entity: "Types", name: "nothing", values: low), Row(entity: "Types", name: "fine", values: fine),
      Row(entity: "Types", name: "new", values: small),
    ]
      + texts.map { Row(entity: "Types", name: "text " + $0.name, values: ["string": "string " + $0.text + "!"]) }
  }
}

/// The rows of the store with relationships.
enum LinkRows {
  static var written: [Row] {
    [
      row(
        "Person", "ann", ["age": "integer 50"], ["reports": ["bob", "cy"], "tags": ["blue", "red"], "badge": ["b1"]]),
      row(
        "Worker", "bob", ["salary": "double 10.5"],
        ["boss": ["ann"], "friends": ["bob", "cy"], "friendOf": ["bob"], "list": ["l"]]),
      row(
        "Manager", "cy", ["title": "string CEO", "salary": "double 1.0"],
        ["boss": ["ann"], "friendOf": ["bob"], "list": ["l"], "tags": ["red"]]),
      row("Person", "dan", [:], ["list": ["l"], "parent": ["l"]]),
      row("Badge", "b1", [:], ["owner": ["ann"]]), row("Badge", "b2"),
      row("Tag", "red", [:], ["people": ["ann", "cy"], "pickers": ["l", "m"]]),
      row("Tag", "blue", [:], ["people": ["ann"], "pickers": ["m"]]),
      row("List", "l", [:], ["items": ["dan", "bob", "cy"], "picks": ["red"], "children": ["dan", "m"]]),
      row("List", "m", [:], ["picks": ["blue", "red"], "parent": ["l"]]),
    ]
  }

  /// Every kind of relationship has members that stay, go, come and move.
  static var changed: [Row] {
    [
      row("Person", "ann", ["age": "integer 51"], ["boss": ["cy"], "friendOf": ["bob"], "tags": ["blue", "green"]]),
      row(
        "Worker", "bob", ["salary": "double 10.5"],
        ["boss": ["cy"], "friends": ["ann"], "list": ["l"], "badge": ["b1"]]),
      row(
        "Manager", "cy", ["title": "string Chair", "salary": "double 1.0"], ["reports": ["ann", "bob"], "list": ["l"]]),
      row("Worker", "eve", [:], ["list": ["l"], "badge": ["b2"], "parent": ["m"]]),
      row("Badge", "b1", [:], ["owner": ["bob"]]), row("Badge", "b2", [:], ["owner": ["eve"]]),
      row("Tag", "green", [:], ["people": ["ann"], "pickers": ["l"]]),
      row("Tag", "blue", [:], ["people": ["ann"], "pickers": ["l", "m"]]),
      row("List", "l", [:], ["items": ["cy", "eve", "bob"], "picks": ["blue", "green"]]),
      row("List", "m", [:], ["picks": ["blue"], "children": ["eve"]]),
    ]
  }

  private static func row(
    _ entity: String, _ name: String, _ values: [String: String] = [:], _ links: [String: [String]] = [:]
  ) -> Row {
    Row(entity: entity, name: name, values: values, links: links)
  }
}
