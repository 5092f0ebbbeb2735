import Foundation
import StoreProtocol
import StoreQuery
import StoreSchema

extension ConformanceSuite {
  static let sorting: [ConformanceCase] = [
    sorted("FET-050", "nil is first upwards and last downwards") { c, s in
      let o = try s.commit { for age: Cell in [5, nil, -1, 7, nil] { try $0.insert("Person", ["age": age]) } }
      c.equal(try s.fetch("Person", sort: ["age"]), [o[1], o[4], o[2], o[0], o[3]])
      c.equal(try s.fetch("Person", sort: ["-age"]), [o[3], o[0], o[2], o[1], o[4]])
    },
    sorted("FET-051", "equal keys are in the order of the objects, on every page") { c, s in
      let o = try s.commit { for number in 0..<30 { try $0.insert("Person", ["age": .int(Int64(number % 3))]) } }
      let all = try s.fetch("Person", sort: ["age"])
      c.equal(all, (0..<3).flatMap { age in o.enumerated().filter { $0.offset % 3 == age }.map(\.element) })
      c.equal(try s.fetch("Person", sort: ["-age"]).prefix(10), all[20...], "downwards")
      var pages: [ObjectReference] = []
      for offset in stride(from: 0, to: 30, by: 7) {
        pages += try s.fetch("Person", sort: ["age"], offset: offset, limit: 7)
      }
      c.equal(pages, all)
    },
    sorted("FET-052", "several keys") { c, s in
      let people: [(Cell, Cell)] = [("b", 1), ("a", 2), ("b", 0), (nil, 1), ("a", nil)]
      let o = try s.commit { for (name, age) in people { try $0.insert("Person", ["name": name, "age": age]) } }
      c.equal(try s.fetch("Person", sort: ["name", "age"]), [o[3], o[4], o[1], o[2], o[0]])
      c.equal(try s.fetch("Person", sort: ["-name", "age"]), [o[2], o[0], o[4], o[1], o[3]])
      c.equal(try s.fetch("Person", sort: ["age", "-name"]), [o[4], o[2], o[0], o[3], o[1]])
    },
    textOrders("FET-054", 400, .small), textOrders("FET-054/many", 5000, .medium),
    ConformanceCase(
      "FET-056", "doubles and decimals are sorted as numbers", level: .queryable, profiles: Profile.fetching
    ) { c in
      let s = try c.open(Fixtures.allTypes())
      let numbers: [Double] = [10, 9, -1, .infinity, 0.5, -.infinity, 0]
      let o = try s.commit {
        for number in numbers {
          try $0.insert(
            "AllTypes", ["double": .double(number), "decimal": number.isInfinite ? nil : .decimal("\(number)")])
        }
      }
      c.equal(try s.fetch("AllTypes", sort: ["double"]), [o[5], o[2], o[6], o[4], o[1], o[0], o[3]])
      c.equal(try s.fetch("AllTypes", sort: ["decimal"]), [o[3], o[5], o[2], o[6], o[4], o[1], o[0]])
    },
    sorted("FET-014/sort", "text is sorted by its scalars") { c, s in
      let names = ["b", "a", "B", "é", "e\u{301}", "😀", "\u{E000}", "", "10", "9"]
      let o = try s.commit { for name in names { try $0.insert("Person", ["name": .text(name)]) } }
      let found = try s.fetch("Person", sort: ["name"]).compactMap { o.firstIndex(of: $0) }
      c.equal(found, [7, 8, 9, 2, 1, 0, 4, 3, 6, 5])
    },
    sorted("FET-057", "no limit, and one above all there is") { c, s in
      let o = try s.commit { for _ in 0..<3 { try $0.insert("Person") } }
      c.equal(try s.fetch("Person", limit: nil), o)
      c.equal(try s.fetch("Person", limit: 100), o)
      c.equal(try s.fetch("Person", limit: 0), [])
    },
    sorted("FET-058", "offsets and limits cut what is sorted") { c, s in
      let o = try s.commit { for age in 0..<10 { try $0.insert("Person", ["age": .int(Int64(9 - age))]) } }
      let sorted = Array(o.reversed())
      c.equal(try s.fetch("Person", sort: ["age"], offset: 2, limit: 3), Array(sorted[2..<5]))
      c.equal(try s.fetch("Person", sort: ["age"], offset: 8, limit: 5), Array(sorted[8...]))
      c.equal(try s.fetch("Person", sort: ["age"], offset: 10, limit: 5), [])
      c.equal(try s.fetch("Person", sort: ["age"], offset: 1000), [])
      c.equal(try s.fetch("Person", "age > 4", sort: ["age"], offset: 1, limit: 2), Array(sorted[6..<8]))
    },
    sorted("FET-066", "the count is that of what is fetched") { c, s in
      try s.commit { for age in 0..<10 { try $0.insert("Person", ["age": .int(Int64(age))]) } }
      c.equal(try s.count("Person"), 10)
      c.equal(try s.count("Person", "age > 6"), 3)
      c.equal(try s.count("Person", "age > 6", offset: 1), 2)
      c.equal(try s.count("Person", offset: 8, limit: 5), 2)
      c.equal(try s.count("Person", limit: 4), 4)
      c.equal(try s.count("Person", "age > 100"), 0)
    },
    sorted("FET-064", "references come in the order of the rows") { c, s in
      let o = try s.commit { for age: Cell in [3, 1, 2] { try $0.insert("Person", ["age": age]) } }
      c.equal(try s.references("Person", sort: ["-age"]), [o[0], o[2], o[1]])
      c.equal(try s.references("Person", "age > 1", sort: ["age"]), [o[2], o[0]])
    },
  ]

  private static func sorted(
    _ id: String, _ title: String, _ body: @escaping @Sendable (CaseContext, Session) throws -> Void
  ) -> ConformanceCase {
    ConformanceCase(id, title, level: .queryable, profiles: Profile.fetching) { c in
      try body(c, try c.open(Fixtures.people()))
    }
  }

  private static func textOrders(_ id: String, _ count: Int, _ size: Size) -> ConformanceCase {
    ConformanceCase(
      id, "each way to order text gives the order of its definition", level: .queryable, size: size,
      profiles: [.plain, .reopen, .noPushdown]
    ) { c in
      let s = try c.open(Fixtures.people())
      let texts = c.mixedTexts(count)
      let o = try s.commit { for text in texts { try $0.insert("Person", ["name": .text(text)]) } }
      for order in SortComparison.TextOrder.allCases {
        for isAscending in [true, false] {
          var plan = try s.plan(
            "Person", "TRUEPREDICATE", [], sort: ["name"], offset: 0, limit: nil, exactly: false)
          plan.sort[0].comparison = order
          plan.sort[0].isAscending = isAscending
          let expected = texts.indices.sorted { a, b in
            let found = SortComparison.compare(.string(texts[a]), .string(texts[b]), order)
            if found == .same { return a < b }
            return (found == .ascending) == isAscending
          }
          let found = try s.fetch(plan)
          c.expect(found == expected.map { o[$0] }, "\(order) \(isAscending ? "upwards" : "downwards")")
        }
      }
    }
  }
}

extension CaseContext {
  /// Texts of letters of several scripts, with and without case and marks, digits and punctuation, from the seed; some
  /// of them twice.
  fileprivate func mixedTexts(_ count: Int) -> [String] {
    let pieces = [
      "a", "A", "b", "B", "z", "ß", "ss", "é", "e\u{301}", "É", "ø", "ı", "I", "i", "Я", "я", "日", "本", "ア", "あ", "😀",
      "1", "02",
      "10", "9", "-", "_", " ", "!", "\u{E000}", "\u{0}",
      "\u{AD}", "\u{301}",
    ]
    return (0..<count).map { _ in
      (0..<random.below(4)).map { _ in pieces[random.below(pieces.count)] }.joined()
    }
  }
}
