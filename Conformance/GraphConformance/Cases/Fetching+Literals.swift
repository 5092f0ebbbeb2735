import CoreData
import Foundation

/// The statements of Apple's "Predicate Format String Syntax" about each operator, for each type and nil, with literal
/// lists of the expected objects.
///
/// Missing values compare as in memory: nil equals nil, differs from every value, and is neither less nor greater than
/// any value.
extension GraphSuite {
  static let literals: [GraphCase] = [
    GraphCase(
      "FET-001/table", "every operator selects the documented objects, for each type and nil", { Models.allTypes },
      requirements: ["FET-002", "FET-003", "FET-004", "FET-005", "FET-006", "FET-027", "FET-029"], ways: .own
    ) { g in
      try g.inWriting { c in
        let types = types
        for index in 0..<4 {
          var values: [String: Any] = ["number": index + 1]
          if index < 3 { for type in types { values[type.name] = type.values[index] } }
          if index < 2 { values["bool"] = index == 1 }
          c.insert("AllTypes", values)
        }
        var cases = booleans + ranges
        for type in types { cases += table(type) }
        for isSaved in [false, true] {
          if isSaved { try c.save() }
          try check(g, c, cases, isSaved)
        }
      }
    },
    GraphCase(
      "FET-007/table", "string operators select the documented objects, with each option and nil",
      { Models.allTypes },
      requirements: ["FET-008", "FET-009", "FET-010", "FET-011", "FET-012", "FET-014"], ways: .own
    ) { g in
      try g.inWriting { c in
        let texts: [String?] = ["\u{c9}cole", "ecole", "ECOLE", "e\u{301}cole", "a*b", "", nil]
        for (index, text) in texts.enumerated() {
          c.insert("AllTypes", ["number": index + 1, "string": text ?? NSNull()])
        }
        for isSaved in [false, true] {
          if isSaved { try c.save() }
          try check(g, c, textCases, isSaved)
        }
      }
    },
  ]

  private static func check(
    _ g: Graph, _ c: NSManagedObjectContext, _ cases: [(format: String, expected: [Int])], _ isSaved: Bool
  ) throws {
    let all = try c.objects("AllTypes")
    for (format, expected) in cases {
      let predicate = NSPredicate(format: format)
      func numbers(_ objects: [NSManagedObject]) -> [Int] {
        objects.compactMap { ($0.value(forKey: "number") as? NSNumber)?.intValue }.sorted()
      }
      g.equal(numbers(try c.objects("AllTypes", predicate)), expected, "\(format), \(isSaved ? "saved" : "new")")
      g.equal(numbers(all.filter { predicate.evaluate(with: $0) }), expected, "\(format) in memory")
    }
  }

  /// If an operation combines a decimal with a number outside the range of decimals, the result is a double; it equals
  /// a double of the same value.
  private static let ranges: [(format: String, expected: [Int])] = [
    ("double * 1e-45 + CAST('-9223372036854775808.5', 'NSDecimalNumber') == -9.223372036854775808e18", [1, 2]),
    ("double * 1e-20 + CAST('-9223372036854775808.5', 'NSDecimalNumber') == -9.223372036854775808e18", []),
  ]

  // MARK: Types

  /// Three values in ascending order, with their literals in a format. The fourth object has no value.
  private struct TypeRow {
    let name: String
    let values: [Any]
    let literals: [String]
    var isOrdered = true
  }

  private static var types: [TypeRow] {
    [
      TypeRow(name: "int16", values: [-3, 0, 300], literals: ["-3", "0", "300"]),
      TypeRow(name: "int32", values: [-70_000, 5, 70_000], literals: ["-70000", "5", "0x11170"]),
      TypeRow(
        name: "int64", values: [-5_000_000_000, 7, 5_000_000_000], literals: ["-5000000000", "7", "5000000000"]),
      TypeRow(name: "double", values: [-1.5, 0.25, 1e10], literals: ["-1.5", "0.25", "1e10"]),
      TypeRow(name: "float", values: [Float(-2.5), Float(0.5), Float(8.25)], literals: ["-2.5", "0.5", "8.25"]),
      TypeRow(
        name: "decimal", values: ["-1.25", "0.5", "99.75"].map { NSDecimalNumber(string: $0) },
        literals: ["-1.25", "0.5", "CAST('99.75', 'NSDecimalNumber')"]),
      TypeRow(name: "string", values: ["Apfel", "Birne", "birne"], literals: ["'Apfel'", "\"Birne\"", "'birne'"]),
      TypeRow(
        name: "date", values: [-100, 0.125, 600_000_000.5].map { Date(timeIntervalSinceReferenceDate: $0) },
        literals: ["CAST(-100, 'NSDate')", "CAST(0.125, 'NSDate')", "CAST(600000000.5, 'NSDate')"]),
      TypeRow(
        name: "uuid", values: [1, 2, 3].compactMap { UUID(uuidString: uuid($0)) },
        literals: [1, 2, 3].map { "CAST('\(uuid($0))', 'NSUUID')" }, isOrdered: false),
      TypeRow(
        name: "uri", values: ["a:1", "a:2", "b:1"].compactMap { URL(string: $0) },
        literals: ["CAST('a:1', 'NSURL')", "CAST('a:2', 'NSURL')", "CAST('b:1', 'NSURL')"], isOrdered: false),
      TypeRow(
        name: "data", values: [Data([1]), Data([2]), Data([3, 4])],
        literals: ["CAST('AQ==', 'NSData')", "CAST('Ag==', 'NSData')", "CAST('AwQ=', 'NSData')"], isOrdered: false),
    ]
  }

  private static func uuid(_ last: Int) -> String { "00000000-0000-0000-0000-00000000000\(last)" }

  private static func table(_ type: TypeRow) -> [(format: String, expected: [Int])] {
    (equality + (type.isOrdered ? order : [])).map { format, expected in
      let named = zip(["LOW", "MID", "TOP"], type.literals).reduce(format) { $0.replacing($1.0, with: $1.1) }
      return (named.replacing("KEY", with: type.name), expected)
    }
  }

  private static let equality: [(String, [Int])] = [
    ("KEY == MID", [2]), ("KEY = TOP", [3]), ("MID == KEY", [2]), ("KEY != MID", [1, 3, 4]), ("KEY <> LOW", [2, 3, 4]),
    ("KEY == nil", [4]), ("KEY = NULL", [4]), ("nil == KEY", [4]), ("KEY != nil", [1, 2, 3]),
    ("nil != KEY", [1, 2, 3]),
    ("NOT (KEY == MID)", [1, 3, 4]), ("! KEY == nil", [1, 2, 3]), ("KEY == KEY", [1, 2, 3, 4]), ("KEY != KEY", []),
    ("KEY IN {LOW, TOP}", [1, 3]), ("NOT KEY IN {LOW, TOP}", [2, 4]), ("KEY IN {}", []), ("KEY IN {MID, MID}", [2]),
    ("{LOW, MID} CONTAINS KEY", [1, 2]), ("KEY == MID OR KEY == nil", [2, 4]), ("KEY == MID && KEY == TOP", []),
  ]

  private static let order: [(String, [Int])] = [
    ("KEY < MID", [1]), ("KEY <= MID", [1, 2]), ("KEY =< MID", [1, 2]), ("KEY > MID", [3]), ("KEY >= MID", [2, 3]),
    ("KEY => MID", [2, 3]), ("MID < KEY", [3]), ("MID >= KEY", [1, 2]), ("KEY < LOW", []), ("KEY <= LOW", [1]),
    ("KEY > TOP", []), ("KEY >= TOP", [3]), ("NOT (KEY < MID)", [2, 3, 4]), ("NOT (KEY > MID)", [1, 2, 4]),
    ("KEY < nil", []), ("KEY >= nil", []), ("nil <= KEY", []), ("KEY BETWEEN {LOW, MID}", [1, 2]),
    ("KEY BETWEEN {MID, MID}", [2]), ("KEY BETWEEN {TOP, LOW}", []), ("NOT KEY BETWEEN {LOW, MID}", [3, 4]),
    ("KEY > LOW AND KEY < TOP", [2]),
  ]

  private static let booleans: [(format: String, expected: [Int])] = [
    ("bool == YES", [2]), ("bool == true", [2]), ("bool == 1", [2]), ("bool == NO", [1]), ("bool == FALSE", [1]),
    ("bool == 0", [1]), ("bool != YES", [1, 3, 4]), ("bool == nil", [3, 4]), ("NOT bool == NO", [2, 3, 4]),
    ("bool IN {YES, NO}", [1, 2]), ("TRUEPREDICATE", [1, 2, 3, 4]), ("FALSEPREDICATE", []),
  ]

  // MARK: Texts

  private static let textCases: [(format: String, expected: [Int])] = [
    ("string == 'ecole'", [2]), ("string ==[c] 'ecole'", [2, 3]), ("string ==[cd] 'ecole'", [1, 2, 3, 4]),
    ("string != 'ecole'", [1, 3, 4, 5, 6, 7]), ("string !=[c] 'ecole'", [1, 4, 5, 6, 7]),
    ("string !=[cd] 'ecole'", [5, 6, 7]), ("string == ''", [6]), ("string == nil", [7]),
    ("string < 'a'", [3, 6]), ("string >= 'e'", [1, 2, 4]), ("string IN {'ecole', 'a*b'}", [2, 5]),
    ("string BEGINSWITH 'e'", [2, 4]), ("string BEGINSWITH 'E'", [3]), ("string BEGINSWITH[c] 'e'", [2, 3, 4]),
    ("string BEGINSWITH[cd] 'e'", [1, 2, 3, 4]), ("string BEGINSWITH 'a*'", [5]), ("string BEGINSWITH 'x'", []),
    ("string ENDSWITH 'cole'", [1, 2, 4]), ("string ENDSWITH[c] 'COLE'", [1, 2, 3, 4]), ("string ENDSWITH 'b'", [5]),
    ("string ENDSWITH[cd] 'cole'", [1, 2, 3, 4]), ("string ENDSWITH 'x'", []),
    ("string CONTAINS 'col'", [1, 2, 4]), ("string CONTAINS[c] 'col'", [1, 2, 3, 4]), ("string CONTAINS '*'", [5]),
    ("string CONTAINS[cd] 'ECO'", [1, 2, 3, 4]), ("string CONTAINS '%'", []), ("string CONTAINS '_'", []),
    ("NOT string CONTAINS 'col'", [3, 5, 6, 7]), ("'xecolex' CONTAINS string AND string != ''", [2]),
    ("string LIKE 'e*'", [2, 4]), ("string LIKE[c] 'E*'", [2, 3, 4]), ("string LIKE[cd] 'e*'", [1, 2, 3, 4]),
    ("string LIKE 'ecol?'", [2]), ("string LIKE '*'", [1, 2, 3, 4, 5, 6]), ("string LIKE ''", [6]),
    ("string LIKE 'a\\\\*b'", [5]), ("string LIKE 'a?b'", [5]), ("string LIKE 'e'", []),
    ("NOT string LIKE 'e*'", [1, 3, 5, 6, 7]),
    ("string MATCHES 'e.*'", [2, 4]), ("string MATCHES[c] 'E.*'", [2, 3, 4]), ("string MATCHES ''", [6]),
    ("string MATCHES '.*'", [1, 2, 3, 4, 5, 6]), ("string MATCHES 'cole'", []), ("string MATCHES 'a[*]b'", [5]),
    ("NOT string MATCHES 'e.*'", [1, 3, 5, 6, 7]), ("length(string) == 0", [6]),
    ("uppercase(string) == 'ECOLE'", [2, 3]), ("lowercase(string) == 'ecole'", [2, 3]),
  ]
}
