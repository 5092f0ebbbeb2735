import StoreQuery
import Testing

@Suite struct StringComparisonTests {
  static let composed = "\u{E9}"
  static let decomposed = "e\u{301}"
  static let c: Predicate.Options = .caseInsensitive
  static let d: Predicate.Options = .diacriticInsensitive
  static let cd: Predicate.Options = [.caseInsensitive, .diacriticInsensitive]
  static let n: Predicate.Options = [.normalized, .caseInsensitive, .diacriticInsensitive]

  @Test(
    arguments: [
      ("a", "a", [], true), ("a", "A", [], false), ("a", "A", c, true), ("a", "A", d, false), ("", "", cd, true),
      (composed, decomposed, [], false), (composed, decomposed, c, false), (composed, decomposed, d, true),
      (composed, "e", d, true), (composed, "E", d, false), (composed, "E", cd, true), ("É", decomposed, cd, true),
      ("straße", "STRASSE", c, true), ("straße", "STRASSE", [], false), ("ẞ", "ß", c, true), ("ß", "s", cd, false),
      ("Σ", "ς", c, true), ("İ", "i", c, false), ("İ", "i", cd, true), ("ı", "i", cd, false), ("I", "ı", c, false),
      ("ø", "o", cd, false), ("か", "が", cd, false), ("ﬁ", "FI", c, true), ("a\0b", "A\0B", c, true),
      ("a\0b", "a\0c", c, false),
      ("A", "a", n, false), (composed, decomposed, n, false), ("K", "\u{212A}", c, true),
    ] as [(String, String, Predicate.Options, Bool)])
  func `equality is literal and folds by the options`(a: String, b: String, options: Predicate.Options, expected: Bool)
  {
    #expect(StringComparison.areEqual(a, b, options: options) == expected)
    #expect(StringComparison.areEqual(b, a, options: options) == expected)
    #expect((StringComparison.compare(a, b, options: options) == .same) == expected)
  }

  @Test(
    arguments: [
      ("", "a", [], .ascending), ("a", "ab", [], .ascending), ("Z", "a", [], .ascending), ("Z", "a", c, .descending),
      ("z", composed, [], .ascending), ("z", composed, d, .descending), ("\u{FFFD}", "\u{10000}", [], .ascending),
      ("a", "a\0", [], .ascending),
    ] as [(String, String, Predicate.Options, Ordering)])
  func `the literal order is that of Unicode scalars`(
    a: String, b: String, options: Predicate.Options, expected: Ordering
  ) {
    #expect(StringComparison.compare(a, b, options: options) == expected)
    #expect(StringComparison.compare(b, a, options: options) == expected.reversed)
  }

  @Test func `the locale's order sets letters before their case`() {
    #expect(StringComparison.compare("a", "B", options: .localeSensitive) == .ascending)
    #expect(StringComparison.areEqual("a", "A", options: [.localeSensitive, .caseInsensitive]))
    #expect(StringComparison.compare("a", "B", options: [.localeSensitive, .normalized]) == .descending)
  }

  @Test(
    arguments: [
      ("abc", "b", [], true, false, false), ("abc", "a", [], true, true, false), ("abc", "c", [], true, false, true),
      ("abc", "abc", [], true, true, true), ("abc", "abcd", [], false, false, false),
      ("abc", "", [], false, false, false),
      ("", "", [], false, false, false), ("", "a", [], false, false, false), ("aab", "ab", [], true, false, true),
      ("ABC", "b", c, true, false, false), ("résumé", "RES", cd, true, true, false),
      ("résumé", "me", d, true, false, true),
      (decomposed, "e", [], true, true, false), (composed, "e", [], false, false, false),
      ("Straße", "SS", c, true, false, false),
      ("日本語", "本", [], true, false, false), ("a%_b", "%_", [], true, false, false),
    ] as [(String, String, Predicate.Options, Bool, Bool, Bool)])
  func `searches look for folded bytes, and the empty text is found nowhere`(
    text: String, part: String, options: Predicate.Options, contains: Bool, begins: Bool, ends: Bool
  ) throws {
    #expect(StringComparison.contains(text, part, options: options) == contains)
    #expect(StringComparison.beginsWith(text, part, options: options) == begins)
    #expect(StringComparison.endsWith(text, part, options: options) == ends)
    #expect(try TextMatcher(.contains, options, pattern: part)?.matches(text) == contains)
    #expect(try TextMatcher(.beginsWith, options, pattern: part)?.matches(text) == begins)
    #expect(try TextMatcher(.endsWith, options, pattern: part)?.matches(text) == ends)
  }

  @Test(
    arguments: [
      ("", "", [], true), ("a", "", [], false), ("", "*", [], true), ("", "?", [], false), ("abc", "abc", [], true),
      ("abc", "a?c", [], true), ("abc", "a*", [], true), ("abc", "*c", [], true), ("abc", "b", [], false),
      ("abc", "*b*", [], true), ("abc", "a?", [], false), ("abc", "????", [], false), ("abc", "**?**", [], true),
      ("a*c", #"a\*c"#, [], true), ("abc", #"a\*c"#, [], false), ("a?c", #"a\?c"#, [], true),
      (#"a\"#, #"a\\"#, [], true),
      (#"a\"#, #"a\"#, [], true), ("ab", #"\a\b"#, [], true), ("a\nb", "a*b", [], true), ("a\nb", "a?b", [], true),
      ("x🙂y", "x?y", [], true), (decomposed, "?", [], false), (decomposed, "??", [], true), (decomposed, "?", d, true),
      ("ABC", "a?C", c, true), ("Été", "e*E", cd, true), ("ß", "?", [], true), ("ß", "??", c, true),
      ("ß", "S*", c, true),
      ("aXbXc", "a*X?", [], true), ("abab", "*ab", [], true), ("a%b_", "a%b_", [], true), ("axb", "a%b", [], false),
      ("a\0b", "a?b", [], true), ("mississippi", "m*iss*iss*?pi", [], true), ("ABC", "abc", n, false),
    ] as [(String, String, Predicate.Options, Bool)])
  func `LIKE takes the whole text`(text: String, pattern: String, options: Predicate.Options, expected: Bool) throws {
    #expect(StringComparison.like(text, pattern, options: options) == expected)
    #expect(try TextMatcher(.like, options, pattern: pattern)?.matches(text) == expected)
  }

  /// With exponential time this would never finish. There is no time limit, because it would include the wait for other
  /// tests.
  @Test func `a hostile LIKE pattern takes no exponential time`() {
    let text = String(repeating: "a", count: 2_000)
    #expect(!StringComparison.like(text, String(repeating: "a*", count: 200) + "b"))
    #expect(!StringComparison.like(text, String(repeating: "*?", count: 200) + "b"))
  }

  /// As above. The second text is one to which an ordinary pattern may be applied.
  @Test func `a hostile MATCHES pattern takes no exponential time`() throws {
    #expect(try !StringComparison.matches(String(repeating: "a", count: 40), "(a+)+b"))
    #expect(try StringComparison.matches(String(repeating: "ab", count: 100_000) + "c", "(a|b)*c"))
  }

  @Test(
    arguments: [
      ("abc", "a.c", [], true), ("abc", "a", [], false), ("abc", "a|abc", [], true), ("abc", "ABC", c, true),
      ("abc", "ABC", [], false), ("é", "e", d, true), ("é", "E", cd, true), ("É", "é", [], false), ("", "", [], true),
      ("a1", #"\w\d"#, [], true), ("a\nb", "a.b", [], false), ("a\n", "a", [], false), ("ab", "(?x) a b ", [], true),
      ("🙂", ".", [], true), ("ABC", "abc", n, false),
    ] as [(String, String, Predicate.Options, Bool)])
  func `MATCHES takes the whole text`(text: String, pattern: String, options: Predicate.Options, expected: Bool) throws
  {
    #expect(try StringComparison.matches(text, pattern, options: options) == expected)
    #expect(try TextMatcher(.matches, options, pattern: pattern)?.matches(text) == expected)
  }

  @Test(arguments: ["(", "a)(b", "[", String(repeating: "a", count: 10_001)])
  func `a pattern that is none is an error`(pattern: String) {
    #expect(throws: PatternError.self) { try RegularExpression(pattern) }
    #expect(throws: PatternError.self) { try TextMatcher(.matches, pattern: pattern) }
  }

  @Test func `a matcher is equality's too, and none of orderings`() throws {
    #expect(try TextMatcher(.equalTo, Self.cd, pattern: "É")?.matches("e") == true)
    #expect(try TextMatcher(.equalTo, pattern: Self.composed)?.matches(Self.decomposed) == false)
    #expect(try TextMatcher(.lessThan, pattern: "a") == nil)
    #expect(try TextMatcher(.equalTo, .localeSensitive, pattern: "a") == nil)
  }
}
