import StoreQuery
import StoreSchema
import TestSupport
import Testing

@Suite struct RoundTripTests {
  @Test(arguments: [1, 2, 3, 4, 5] as [UInt64])
  func `reading a printed tree gives the tree back`(seed: UInt64) throws {
    var trees = RandomTrees(random: SeededGenerator(seed: seed))
    for number in 0..<1000 {
      let predicate = trees.predicate(number % 6)
      let format = predicate.format
      let read = Result { () throws(FormatError) in try Predicate(format: format) }
      guard case .success(predicate) = read else {
        Issue.record("seed \(seed), tree \(number): \(format) of \(predicate) reads as \(read)")
        return
      }
      let expression = trees.expression(number % 6)
      #expect(try Expression(format: expression.format) == expression, "seed \(seed): \(expression.format)")
    }
  }
}

@Suite struct HostileFormatTests {
  static let words = [
    "a", "b.c", "$x", "1", "-", "2.5", "'s'", "\"t\"", "(", ")", "(", ")", "{", "}", "[", "]", ",", ".", "==", "<", "!",
    "NOT ", " AND ", " OR ", " IN ", " LIKE[c] ", "[cd]", "ANY ", "ALL ", "NONE ", "SELF", "nil", "YES", "sum(",
    "now()",
    "SUBQUERY(", "TERNARY(", "CAST(", "FUNCTION(", "FETCH(", "@count", "#in", "#'q'", "%@", "%K", "%d", "%%", "%", "**",
    "+", "*", "/", "&", "|", "^", "~", "<<", ":=", " UNION ", "TRUEPREDICATE", "FIRST", "\\", "é", "“", "\0", "0x",
    "1e", "add:to:(",
    "\u{2028}", "🙂", "'NSDate'", "$", "#", "@", "'",
  ]

  @Test(arguments: [11, 12, 13, 14] as [UInt64])
  func `a soup of words is refused or reads back as printed`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var trees = RandomTrees(random: SeededGenerator(seed: seed))
    let arguments: [FormatArgument] = [
      .value(.int(1)), .keyPath("k.l"), .expression(.aggregate([])), .predicate(.value(true)), .value(.string("")),
    ]
    var accepted = 0
    for number in 0..<5_000 {
      let format =
        number % 2 == 0 ? soup(&random) : mutated(Array(trees.predicate(number % 4).format.unicodeScalars), &random)
      let count = number % 2 == 0 ? Int.random(in: 0...2, using: &random) : 0
      let given = (0..<count).compactMap { _ in arguments.randomElement(using: &random) }
      if let expression = try? Expression(format: format, arguments: given) {
        accepted += 1
        #expect(try Expression(format: expression.format) == expression, "seed \(seed), \(number): \(format)")
      }
      if let predicate = try? Predicate(format: format, arguments: given) {
        accepted += 1
        #expect(try Predicate(format: predicate.format) == predicate, "seed \(seed), \(number): \(format)")
      }
    }
    #expect(accepted > 100)
  }

  private func soup(_ random: inout SeededGenerator) -> String {
    (0...Int.random(in: 0...11, using: &random)).map { _ in Self.words.randomElement(using: &random) ?? "" }.joined()
  }

  /// Replaces a few scalars of the format by a word.
  private func mutated(_ scalars: [Unicode.Scalar], _ random: inout SeededGenerator) -> String {
    let start = Int.random(in: 0...scalars.count, using: &random)
    let end = min(scalars.count, start + Int.random(in: 0...3, using: &random))
    let word = Self.words.randomElement(using: &random) ?? ""
    let result = Array(scalars[..<start]) + Array(word.unicodeScalars) + Array(scalars[end...])
    return String(String.UnicodeScalarView(result))
  }

  @Test func `every cut of a long format is refused or read, never a stop`() throws {
    let format =
      #"NOT (ANY a.b ==[cd] 'x\u00e9' AND SUBQUERY(c, $x, $x.d[FIRST] > -2 ** 0x1F).@count IN {1, %K.e}) OR $p"#
    for end in format.indices {
      for start in [format.startIndex, end] {
        _ = try? Predicate(format: String(format[start..<end]), arguments: [.keyPath("k")])
        _ = try? Predicate(format: String(format[end...]), arguments: [.keyPath("k")])
      }
    }
    _ = try Predicate(format: format, arguments: [.keyPath("k")])
  }
}
