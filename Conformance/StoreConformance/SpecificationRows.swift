/// Every row of the specification, so that none is forgotten: each has a case, or is listed in ``NotYet``.
public enum SpecificationRows {
  /// The ids of all rows.
  public static let all: [String] = areas.flatMap { area in
    area.numbers.flatMap { numbers in
      numbers.map { area.name + "-" + String(repeating: "0", count: 3 - String($0).count) + String($0) }
    }
  }

  private static let areas: [(name: String, numbers: [ClosedRange<Int>])] = [
    ("LIF", [1...35]),
    ("IDN", [1...22]),
    ("ATT", [1...45]),
    ("REL", [1...25]),
    ("DEL", [1...20]),
    ("INH", [1...12]),
    ("FET", [1...38, 50...78]),
    ("SAV", [1...42]),
    ("LCK", [1...24]),
    ("CTX", [1...25]),
    ("CON", [1...19]),
    ("DUR", [1...19]),
    ("MIG", [1...34]),
    ("BAT", [1...16]),
    ("HIS", [1...15]),
    ("GEN", [1...9]),
    ("S2S", [1...12]),
    ("COR", [1...16]),
    ("SEC", [1...22]),
    ("CAP", [1...7]),
  ]

  /// The rows that `cases` belong to or prove besides their own.
  public static func covered(by cases: [ConformanceCase]) -> Set<String> {
    Set(cases.flatMap { [$0.id.row] + $0.requirements })
  }

  /// The reason of each row without a case in `cases`, by its id.
  public static func open(of cases: [ConformanceCase]) -> [String: String] {
    let reasons = Dictionary(
      (NotYet.rows + NotYet.checks).map { ($0.id, $0.reason) }, uniquingKeysWith: { first, _ in first })
    let open = Set(all).subtracting(covered(by: cases))
    return Dictionary(
      open.map { ($0, reasons[$0] ?? "is a case of GraphConformance, which is not run here") },
      uniquingKeysWith: { first, _ in first })
  }
}
