import Testing

/// The rule about marks finds what it is made for.
@Suite struct PlantedMarkTests {
  private static let file = SourceFile(
    path: "Sources/CoreData/Row.swift",
    text: "struct Row: @unchecked Sendable {}\n// not @unchecked Sendable\nlet a = unsafeBitCast(b, to: C.self)\n")
  private static let sound = """
    file\tmark\tcount\treason
    Sources/CoreData/Row.swift\t@unchecked Sendable\t1\tNothing writes to a row.
    Sources/CoreData/Row.swift\tunsafeBitCast\t1\tA row is one reference.
    """

  private func breaches(_ table: String) -> [String] { MarkRules.breaches([Self.file], table: table) }

  @Test func aSoundTableHasNoBreach() { #expect(breaches(Self.sound) == []) }

  @Test func aMarkWithoutAnEntryIsFound() {
    let table = Self.sound.split(separator: "\n").dropLast().joined(separator: "\n")
    #expect(breaches(table) == ["Sources/CoreData/Row.swift has 1 of unsafeBitCast, the table of marks 0"])
  }

  @Test func anotherNumberIsFound() {
    #expect(breaches(Self.sound.replacing("Sendable\t1", with: "Sendable\t2")).count == 1)
  }

  @Test func anEntryWithoutAMarkIsFound() {
    #expect(breaches(Self.sound + "\nSources/A.swift\tunsafeBitCast\t1\tA row is one reference.").count == 1)
  }

  @Test(arguments: ["\t1\tNothing", "\tone\tNothing writes to a row.", "\t0\tNothing writes to a row."])
  func aLineThatIsNotUnderstoodIsFound(_ part: String) {
    #expect(breaches(Self.sound.replacing("\t1\tNothing writes to a row.", with: part)).count == 2)
  }
}
