import Foundation
import StoreQuery
import StoreSchema
import TestSupport
import Testing

private func decimal(_ text: String) -> Value { .decimal(Decimal(string: text) ?? .nan) }
private func uuid(_ last: UInt8) -> Value {
  .uuid(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last)))
}
private func object(_ entity: Int, _ key: Int64) -> Value { .reference(ObjectReference(entity: entity, key: key)) }

@Suite struct ValueComparisonTests {
  @Test(
    arguments: [
      (.int(1), .int(2), .ascending), (.int(1), .double(1), .same), (.bool(true), .int(1), .same),
      (.bool(false), .double(0.5), .ascending), (.int(.min), .int(.max), .ascending), (.double(-0.0), .int(0), .same),
      (.int(9_007_199_254_740_993), .double(9_007_199_254_740_992), .descending),
      (.int(9_007_199_254_740_993), .double(9_007_199_254_740_994), .ascending),
      (.int(.max), .double(0x1p63), .ascending), (.int(.min), .double(-0x1p63), .same),
      (.int(.min), .double(-.infinity), .descending), (.int(.max), .double(.infinity), .ascending),
      (.int(-1), .double(-1.5), .descending), (.int(-2), .double(-1.5), .ascending),
      (.int(0), .double(5e-300), .ascending),
      (decimal("0.1"), .double(0.1), .same), (decimal("0.1"), .double(0.10000000000000002), .ascending),
      (decimal("9007199254740993"), .int(9_007_199_254_740_993), .same),
      (decimal("9223372036854775808"), .double(0x1p63), .same),
      (decimal("9223372036854775808"), .int(.max), .descending),
      (decimal("1152921504606846990"), .double(1_152_921_504_606_846_976), .descending),
      (decimal("99999999999999999999999999999999999999"), .double(1e38), .ascending),
      (decimal("1e127"), .double(1e127), .same), (decimal("1e127"), .double(1e200), .ascending),
      (decimal("-1e127"), .double(-.infinity), .descending), (decimal("1e-128"), .double(0), .descending),
      (decimal("1e-100"), .double(1e-100), .same), (decimal("1e-100"), .double(-1e-300), .descending),
      (decimal("1.0000000000000000000000000000000000001"), .int(1), .descending),
      (decimal("2"), .bool(true), .descending),
      (.date(5), .date(6), .ascending), (.date(5), .int(5), .same), (.double(4.5), .date(5), .ascending),
      (.date(5), decimal("5"), .same),
      (.string("a"), .string("b"), .ascending), (.uri("a:b"), .string("a:b"), .same),
      (.uri("b:"), .uri("a:"), .descending),
      (.string("e\u{301}"), .string("\u{E9}"), .ascending),
      (uuid(1), uuid(2), .ascending), (uuid(200), uuid(200), .same),
      (.data(Data([1])), .data(Data([1, 0])), .ascending), (.data(Data([255])), .data(Data([1, 0])), .descending),
      (.data(Data()), .data(Data()), .same),
      (object(1, 5), object(1, 6), .ascending), (object(2, 1), object(1, 6), .descending),
      (object(1, 5), object(1, 5), .same),
    ] as [(Value, Value, Ordering)])
  func `values are ordered exactly, both ways round`(a: Value, b: Value, expected: Ordering) {
    #expect(ValueComparison.compare(a, b) == expected)
    #expect(ValueComparison.compare(b, a) == expected.reversed)
    #expect(ValueComparison.areEqual(a, b) == (expected == .same))
    #expect(SortComparison.compare(a, b) == expected)
  }

  static let samples: [[Value]] = [
    [.null], [.double(.nan), .decimal(.nan)], [.int(.min)], [.int(-1)],
    [.int(0), .bool(false), .double(-0.0), .date(0)],
    [.double(0.1), decimal("0.1")], [.int(1), .bool(true), .date(1)], [.double(1e300)], [.string("")],
    [.string("a"), .uri("a")], [.string("b")], [uuid(0)], [uuid(1)], [.data(Data())], [.data(Data([0]))],
    [object(0, 9)],
    [object(1, 1)],
  ]

  @Test func `the sort order is total over mixed types, null first`() {
    for (i, lower) in Self.samples.enumerated() {
      for (j, upper) in Self.samples.enumerated() {
        let expected: Ordering = i < j ? .ascending : i == j ? .same : .descending
        for a in lower { for b in upper { #expect(SortComparison.compare(a, b) == expected, "\(a) \(b)") } }
      }
    }
  }

  @Test(
    arguments: [
      (.null, .int(0)), (.null, .string("")), (.string("1"), .int(1)), (.double(.nan), .double(.nan)), (.null, .null),
      (uuid(1), .string("00000000-0000-0000-0000-000000000001")), (.data(Data([97])), .string("a")),
      (.decimal(.nan), .int(0)),
    ] as [(Value, Value)])
  func `what cannot be compared has no order`(a: Value, b: Value) {
    #expect(ValueComparison.compare(a, b) == nil)
    #expect(ValueComparison.areEqual(a, b) == (a.isNull && b.isNull))
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func `numbers of three kinds near the limits of doubles have one order`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let near: [Int64] = [1 << 53, 1 << 60, .max - 2000, 0, -(1 << 53)]
    let numbers: [Value] = (0..<60).map { _ in
      let integer = (near.randomElement(using: &random) ?? 0) + Int64.random(in: -1500...1500, using: &random)
      return switch Int.random(in: 0..<4, using: &random) {
      case 0: .int(integer)
      case 1: .double(Double(integer))
      case 2: .double(Double(integer) / 7)
      default: .decimal(Decimal(integer) / (Bool.random(using: &random) ? 1 : 7))
      }
    }
    let sorted = numbers.sorted { SortComparison.compare($0, $1) == .ascending }
    for (i, a) in sorted.enumerated() {
      for b in sorted[i...] { #expect(SortComparison.compare(a, b) != .descending, "seed \(seed): \(a) \(b)") }
    }
  }

  @Test func `texts sort by the selector requested for`() {
    let (a, b) = (Value.string("B10"), Value.string("b9"))
    #expect(SortComparison.compare(a, b, .literal) == .ascending)
    #expect(SortComparison.compare(a, b, .caseInsensitive) == .ascending)
    #expect(SortComparison.compare(a, b, .localizedStandard) == .descending)
    #expect(SortComparison.compare(.string("a"), .string("B"), .localized) == .ascending)
    #expect(SortComparison.compare(.string("A"), .string("a"), .localizedCaseInsensitive) == .same)
    #expect(SortComparison.compare(.null, .string(""), .localized) == .ascending)
  }

  /// Strings for which Foundation's comparison is inconsistent: characters without weight at the end, ß beside ss,
  /// composed and decomposed letters. Without a total order the result of a sort depends on its algorithm.
  @Test(arguments: SortComparison.TextOrder.allCases)
  func `an order of texts does not contradict itself`(_ order: SortComparison.TextOrder) {
    let pieces = [
      "ア", "あ", "ß", "ss", "s", "é", "e", "\u{301}", "\u{327}", "E", "1", "01", "\u{0}", "\u{AD}", "\u{200D}", " ",
    ]
    var texts = pieces + [""]
    for a in pieces { for b in pieces { texts.append(a + b) } }
    func compare(_ a: String, _ b: String) -> Ordering { SortComparison.compare(.string(a), .string(b), order) }
    let sorted = texts.sorted { compare($0, $1) == .ascending }
    var wrong = 0
    for (position, a) in sorted.enumerated() {
      for b in sorted[position...] {
        if compare(a, b) == .descending || compare(b, a) != compare(a, b).reversed { wrong += 1 }
      }
    }
    #expect(wrong == 0, "of \(sorted.count * sorted.count / 2) pairs")
  }

  /// The order of `localizedStandardCompare(_:)`:
  /// https://developer.apple.com/documentation/foundation/nsstring/localizedstandardcompare(_:) "like the Finder".
  @Test func `texts are in the order of the Finder`() {
    let sorted = ["a", "A", "b", "file1", "file01", "file2", "file10", "z"]
    for (position, a) in sorted.enumerated() {
      for b in sorted[(position + 1)...] {
        #expect(SortComparison.compare(.string(a), .string(b), .localizedStandard) == .ascending, "\(a) \(b)")
        #expect(a.localizedStandardCompare(b) == .orderedAscending, "\(a) \(b), by Foundation")
      }
    }
  }
}
