import Foundation
import StoreProtocol
import StoreSchema

extension ConformanceSuite {
  /// Attributes that the store computes from other objects.
  static let derivedAttributes: [ConformanceCase] = [
    ConformanceCase(
      "ATT-035", "derived attributes have their values after the commit", requires: .derivedAttributes,
      profiles: Profile.reading
    ) { c in
      let s = try c.open(Fixtures.derived())
      let o = try s.commit {
        let shelf = try $0.insert("Shelf", ["name": "a"])
        for _ in 0..<3 { try $0.insert("Book", ["shelf": .to(shelf)]) }
      }
      c.equal(try s.value(o[0], "count"), 3)
      c.equal(try s.value(o[1], "shelfName"), "a")
      try s.commit {
        try $0.update(o[0], ["name": "b"])
        try $0.delete(o[3])
      }
      c.equal(try s.value(o[0], "count"), 2, "after a deletion")
      c.equal(try s.value(o[1], "shelfName"), "b", "after a change")
    },
    ConformanceCase(
      "ATT-035/pairs", "links of many to many are counted, from both sides", requires: .derivedAttributes,
      profiles: Profile.reading
    ) { c in
      let s = try c.open(Fixtures.derived())
      let books = try s.commit { for _ in 0..<3 { try $0.insert("Book") } }
      let authors = try s.commit { for _ in 0..<3 { try $0.insert("Author") } }
      func counts(_ name: String) throws -> [Value] { try books.map { try s.value($0, name) } }
      c.equal(try counts("authorCount"), [.int(0), .int(0), .int(0)], "before there are any")
      try s.commit {
        try $0.link(books[0], "authors", add: authors)
        try $0.link(books[1], "authors", add: [authors[0]])
        try $0.link(books[0], "likes", add: [books[1], books[2]])
      }
      c.equal(try counts("authorCount"), [.int(3), .int(1), .int(0)])
      c.equal(try counts("likeCount"), [.int(2), .int(1), .int(1)])
      try s.commit {
        try $0.link(books[0], "authors", remove: [authors[1]])
        try $0.link(books[2], "authors", add: [authors[2]])
        try $0.link(books[0], "likes", remove: [books[2]])
      }
      c.equal(try counts("authorCount"), [.int(2), .int(1), .int(1)], "after a removal")
      c.equal(try counts("likeCount"), [.int(1), .int(1), .int(0)], "after a removal")
      try s.delete(authors[0])
      c.equal(try counts("authorCount"), [.int(1), .int(0), .int(1)], "after a deletion")
      let new = try s.commit {
        let author = try $0.insert("Author")
        let book = try $0.insert("Book")
        try $0.link(book, "authors", add: [author])
      }
      c.equal(try s.value(new[1], "authorCount"), 1, "of a new book")
    },
    ConformanceCase(
      "ATT-035/aggregates", "sums, averages and ends of all types follow inserts, changes, moves and deletions",
      requires: .derivedAttributes, profiles: Profile.reading
    ) { c in
      let s = try c.open(Fixtures.aggregates())
      let isSum = Fixtures.isSum
      let empty = try s.insert("Box")
      for name in Fixtures.aggregateNames {
        let value = try s.value(empty, name)
        c.expect(isSum(name) ? value.isZero : value.isNull, "\(name) of nothing is \(value)")
      }
      let o = try s.commit {
        let box = try $0.insert("Box")
        try $0.insert(
          "Item",
          [
            "int": 40, "double": 0.5, "decimal": .decimal("0.1"), "text": "b", "date": .date(100), "flag": true,
            "box": .to(box),
          ])
        try $0.insert(
          "Item",
          [
            "int": -7, "double": 2.25, "decimal": .decimal("0.2"), "text": "ä", "date": .date(-50), "flag": false,
            "box": .to(box),
          ])
        try $0.insert("Item", ["box": .to(box)])
      }
      func check(_ expected: [String: Cell], _ what: String) throws {
        for (name, value) in expected.sorted(by: { $0.key < $1.key }) {
          c.equal(try s.value(o[0], name), value.value, "\(name) \(what)")
        }
      }
      try check(
        [
          "sumInt": 33, "averageInt": 16.5, "minInt": -7, "maxInt": 40, "sumSmall": 33, "sumDouble": 2.75,
          "averageDouble": 1.375, "minDouble": 0.5, "maxDouble": 2.25, "sumDecimal": .decimal("0.3"),
          "minDecimal": .decimal("0.1"), "maxDecimal": .decimal("0.2"), "minText": "b", "maxText": "ä",
          "minDate": .date(-50), "maxDate": .date(100), "sumFlag": 1, "wholeDouble": 2, "doubleInt": 33.0,
        ], "of new items")
      try s.commit {
        try $0.update(o[1], ["int": 100, "double": 8.0, "text": "c", "date": .date(-100)])
        try $0.update(o[3], ["int": 1, "decimal": .decimal("12.5"), "flag": true])
      }
      try check(
        [
          "sumInt": 94, "minInt": -7, "maxInt": 100, "sumDouble": 10.25, "minDouble": 2.25, "maxDouble": 8.0,
          "sumDecimal": .decimal("12.8"), "maxDecimal": .decimal("12.5"), "minText": "c", "minDate": .date(-100),
          "maxDate": .date(-50), "sumFlag": 2, "averageInt": .double(94.0 / 3),
        ], "after changes")
      try s.update(o[1], ["box": .to(empty)])
      c.equal(try s.value(empty, "sumInt"), 100, "of the new owner")
      c.equal(try s.value(empty, "maxText"), "c", "of the new owner")
      try check(["sumInt": -6, "maxInt": 1, "sumDouble": 2.25, "minText": "ä", "minDate": .date(-50)], "after a move")
      try s.delete(o[2])
      try check(["sumInt": 1, "minInt": 1, "sumDouble": 0.0, "minDouble": nil, "maxText": nil], "after a deletion")
      try s.update(o[3], ["box": nil])
      try check(["sumInt": 0, "minInt": nil, "averageInt": nil, "sumDecimal": .decimal("0")], "after the last went")
    },
    ConformanceCase(
      "ATT-035/aggregates/bounds", "sums that do not fit are nil, and exact where they do",
      requires: .derivedAttributes,
      profiles: Profile.reading
    ) { c in
      let s = try c.open(Fixtures.aggregates())
      let box = try s.insert("Box")
      let items = try s.commit {
        for value in [Int64.max, .max, -(.max)] { try $0.insert("Item", ["int": .int(value), "box": .to(box)]) }
      }
      c.equal(try s.value(box, "sumInt"), .int(.max), "of three")
      c.equal(try s.value(box, "sumSmall"), nil, "in 16 bits")
      try s.delete(items[2])
      c.equal(try s.value(box, "sumInt"), nil, "beyond 64 bits")
      c.equal(try s.value(box, "doubleInt"), .double(0x1p64), "as a double")
      try s.update(items[0], ["int": .int(.min)])
      c.equal(try s.value(box, "sumInt"), -1, "of both ends")
      c.equal(try s.value(box, "sumSmall"), -1, "of both ends, in 16 bits")
      try s.insert("Item", ["int": 1, "box": .to(box)])
      c.equal(try s.value(box, "sumInt"), 0, "one more")
      try s.commit { for _ in 0..<2 { try $0.insert("Item", ["double": .double(1e308), "box": .to(box)]) } }
      c.equal(try s.value(box, "sumDouble"), nil, "infinite")
    },
    ConformanceCase(
      "ATT-035/aggregates/links", "sums over pairs, one-way links and an entity's own kind, and sums of sums",
      requires: .derivedAttributes, profiles: Profile.reading
    ) { c in
      let s = try c.open(Fixtures.aggregates())
      let boxes = try s.commit { for _ in 0..<2 { try $0.insert("Box") } }
      let items = try s.commit { for value in [1, 10, 100] { try $0.insert("Item", ["int": .int(Int64(value))]) } }
      func values(_ name: String) throws -> [Value] { try boxes.map { try s.value($0, name) } }
      try s.commit {
        try $0.link(boxes[0], "marked", add: [items[0], items[1]])
        try $0.link(boxes[1], "marked", add: [items[1]])
        try $0.link(boxes[0], "loose", add: [items[0], items[2]])
      }
      c.equal(try values("sumMarked"), [.int(11), .int(10)])
      c.equal(try values("sumLoose"), [.int(101), .int(0)])
      c.equal(try values("looseCount"), [.int(2), .int(0)])
      try s.update(items[1], ["int": 20])
      try s.update(items[2], ["int": 200])
      c.equal(try values("sumMarked"), [.int(21), .int(20)], "after changes")
      c.equal(try values("sumLoose"), [.int(201), .int(0)], "after changes")
      try s.commit {
        try $0.link(boxes[0], "marked", remove: [items[1]])
        try $0.link(boxes[1], "loose", add: [items[2]])
      }
      c.equal(try values("sumMarked"), [.int(1), .int(20)], "after a removal")
      c.equal(try values("sumLoose"), [.int(1), .int(200)], "after a one-way link went over")
      c.equal(try values("looseCount"), [.int(1), .int(1)], "after a one-way link went over")
      try s.delete(items[2])
      c.equal(try values("sumLoose"), [.int(1), .int(0)], "after a deletion")

      let nodes = try s.commit {
        let root = try $0.insert("Node", ["size": 1])
        let child = try $0.insert("Node", ["size": 2, "parent": .to(root)])
        for size in [4, 8] { try $0.insert("Node", ["size": .int(Int64(size)), "parent": .to(child)]) }
        try $0.link(child, "friends", add: [root, child])
      }
      c.equal(try nodes.map { try s.value($0, "total") }, [.int(2), .int(12), .int(0), .int(0)])
      c.equal(try s.value(nodes[0], "grand"), 12, "a sum of sums")
      c.equal(try s.value(nodes[0], "friendly"), 2, "of a link that is its own inverse")
      c.equal(try s.value(nodes[1], "friendly"), 3, "of a link to itself")
      try s.update(nodes[3], ["size": 16])
      c.equal(try s.value(nodes[0], "grand"), 20, "after a change two levels below")
    },
  ]
}

extension Value {
  fileprivate var isZero: Bool { self == .int(0) || self == .double(0) || self == .decimal(0) }
}
