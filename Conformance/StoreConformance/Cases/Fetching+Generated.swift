import Foundation
import StoreProtocol
import StoreQuery
import StoreSchema

/// Predicates that nobody has written.
extension ConformanceSuite {
  static let generatedPredicates: [ConformanceCase] = [
    ConformanceCase(
      "FET-035", "a format is refused with the place that is wrong, or reads back as it is printed", level: .queryable,
      profiles: Profile.plainOnly
    ) { c in
      let s = try c.open(Fixtures.people())
      try s.insert("Person", ["name": "a", "age": 5])
      var (refused, read, fetched) = (0, 0, 0)
      for number in 0..<4000 {
        let format = number % 2 == 0 ? c.soup() : c.changed(Self.formats[number / 2 % Self.formats.count])
        let predicate: StoreQuery.Predicate
        do throws(FormatError) { predicate = try Predicate(format: format, arguments: []) } catch {
          refused += 1
          c.expect(0...format.utf8.count ~= error.position, "\(format.debugDescription): at \(error.position)")
          c.expect(!error.message.isEmpty, "\(format.debugDescription): an error without a sentence")
          continue
        }
        read += 1
        do throws(FormatError) {
          let again = try Predicate(format: predicate.format, arguments: [])
          c.expect(again == predicate, "\(format.debugDescription) reads back as \(again.format)")
        } catch {
          c.expect(false, "\(format.debugDescription) is printed as \(predicate.format), which is refused: \(error)")
        }
        if try fetches(format, s) { fetched += 1 }
      }
      c.expect(refused > 500 && read > 200 && fetched > 20, "\(refused) refused, \(read) read, \(fetched) fetched")
    },
    generated("FET-038", count: 300, .small), generated("FET-038/all", count: 100_000, .large),
  ]

  private static let formats = [
    "age == 5 AND name == 'a'", "NOT (age < 5 OR age BETWEEN {7, 9})", "ANY tags.label LIKE[cd] 'a*'",
    "name IN {'a', 'b'} OR name BEGINSWITH[c] \"x\"", "SUBQUERY(tags, $t, $t.label == 'a').@count > 0",
    "age + 1 == 2 * (3 - age) / 4", "TERNARY(age > 1, 'a', 'b') == name", "name MATCHES '[a-z]+'",
    "boss.boss.age >= -1.5e3",
    "team.members.@avg.age > 0x1F", "FALSEPREDICATE", "CAST(name, 'NSNumber') == 5", "SELF == nil", "tags.@count != 0",
    "lowercase(name) CONTAINS 'b'", "born > now()", "%K == nil", "age == $x",
  ]

  /// Whether a store can run the fetch. An unknown key and the like are typed errors, too.
  private static func fetches(_ format: String, _ s: Session) throws -> Bool {
    do {
      _ = try s.fetch("Person", format)
      return true
    } catch is StoreError { return false } catch is ResolutionError { return false }
  }

  private static func generated(_ id: String, count: Int, _ size: Size) -> ConformanceCase {
    ConformanceCase(
      id, "what a store selects by random predicates is what plain dictionaries select", level: .queryable, size: size,
      profiles: Profile.plainOnly
    ) { c in
      // Each thousand has objects of its own.
      for start in stride(from: 0, to: count, by: 1000) {
        let report = try PredicateRun(c.harness).run(count: min(1000, count - start), seed: c.seed &+ UInt64(start))
        for divergence in report.divergences { c.expect(false, divergence) }
        c.expect(
          report.telling > report.count / 20, "\(report.telling) of \(report.count) select some objects, not all")
      }
    }
  }
}

extension CaseContext {
  /// Words of the language in any order.
  fileprivate func soup() -> String {
    let words = [
      "age", "name", "tags.label", "$x", "1", "-", "2.5", "'s'", "\"t\"", "(", ")", "{", "}", "[", "]", ",", "==", "<",
      "!",
      "NOT ", " AND ", " OR ", " IN ", " LIKE[c] ", "ANY ", "ALL ", "SELF", "nil", "sum(", "now()", "SUBQUERY(",
      "TERNARY(",
      "CAST(", "FUNCTION(", "@count", "#q", "%@", "%K", "%%", "**", "+", ":=", "TRUEPREDICATE", "FIRST", "\\", "é",
      "\0", "0x",
      "1e", "\u{2028}", "🙂", "'",
    ]
    return (0...random.below(9)).map { _ in words[random.below(words.count)] }.joined(separator: " ")
  }

  /// A format in which some scalars are gone, doubled or others.
  fileprivate func changed(_ format: String) -> String {
    var scalars = Array(format.unicodeScalars)
    for _ in 0...random.below(3) where !scalars.isEmpty {
      let index = random.below(scalars.count)
      switch random.below(3) {
      case 0: scalars.remove(at: index)
      case 1: scalars.insert(scalars[random.below(scalars.count)], at: index)
      default: scalars[index] = Unicode.Scalar(UInt8(random.below(128)))
      }
    }
    var result = String.UnicodeScalarView()
    result.append(contentsOf: scalars)
    return String(result)
  }
}
