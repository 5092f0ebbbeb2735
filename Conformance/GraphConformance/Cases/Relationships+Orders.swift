import CoreData
import Foundation

extension GraphSuite {
  static let orders: [GraphCase] = [
    GraphCase(
      "REL-008/graph", "an order is kept through insertions, moves, replacements and removals", { Models.ordered }
    ) {
      g in
      var expected = ["a", "b", "c", "d"]
      try g.write { c in
        let items = expected.map { c.insert("Item", ["name": $0]) }
        c.insert("List", ["name": "l", "items": NSOrderedSet(array: items)])
      }
      func check(_ c: NSManagedObjectContext) throws {
        g.equal(try c.one("List", "name", "l").texts("items", "name"), expected)
      }
      try g.read(check)
      let steps: [(NSManagedObjectContext, NSMutableOrderedSet) throws -> Void] = [
        { c, items in items.insert(c.insert("Item", ["name": "first"]), at: 0) },
        { c, items in items.insert(c.insert("Item", ["name": "middle"]), at: 2) },
        { c, items in items.add(c.insert("Item", ["name": "last"])) },
        { _, items in items.moveObjects(at: IndexSet(integer: 0), to: 3) },
        { c, items in items.replaceObject(at: 1, with: c.insert("Item", ["name": "new"])) },
        { _, items in items.removeObject(at: 0) },
        { _, items in
          for index in 0..<(items.count / 2) { items.exchangeObject(at: index, withObjectAt: items.count - 1 - index) }
        },
      ]
      let orders = [
        ["first", "a", "b", "c", "d"], ["first", "a", "middle", "b", "c", "d"],
        ["first", "a", "middle", "b", "c", "d", "last"], ["a", "middle", "b", "first", "c", "d", "last"],
        ["a", "new", "b", "first", "c", "d", "last"], ["new", "b", "first", "c", "d", "last"],
        ["last", "d", "c", "first", "b", "new"],
      ]
      for (number, step) in steps.enumerated() {
        try g.label("step \(number)") {
          try g.write { c in try step(c, try c.one("List", "name", "l").mutableOrderedSetValue(forKey: "items")) }
          expected = orders[number]
          try g.read(check)
        }
      }
    },
    GraphCase("REL-009/graph", "an object is in an order once", { Models.ordered }) { g in
      try g.write { c in
        let items = ["a", "b", "c"].map { c.insert("Item", ["name": $0]) }
        let list = c.insert("List", ["name": "l", "items": NSOrderedSet(array: items)])
        let set = list.mutableOrderedSetValue(forKey: "items")
        set.add(items[0])
        set.insert(items[2], at: 0)
        g.equal(set.count, 3)
      }
      try g.read { c in g.equal(try c.one("List", "name", "l").texts("items", "name"), ["a", "b", "c"]) }
    },
    GraphCase(
      "REL-011/graph", "both sides of an ordered many-to-many relationship have an order of their own",
      { Models.ordered }
    ) { g in
      try g.write { c in
        let songs = ["x", "y", "z"].map { c.insert("Song", ["name": $0]) }
        c.insert("Playlist", ["name": "p", "songs": NSOrderedSet(array: [songs[2], songs[0], songs[1]])])
        c.insert("Playlist", ["name": "q", "songs": NSOrderedSet(array: [songs[1], songs[2]])])
      }
      try g.write { c in
        let song = try c.one("Song", "name", "z")
        let (p, q) = (try c.one("Playlist", "name", "p"), try c.one("Playlist", "name", "q"))
        song.setValue(NSOrderedSet(array: [q, p]), forKey: "playlists")
      }
      try g.read { c in
        g.equal(try c.one("Playlist", "name", "p").texts("songs", "name"), ["z", "x", "y"])
        g.equal(try c.one("Playlist", "name", "q").texts("songs", "name"), ["y", "z"])
        g.equal(try c.one("Song", "name", "z").texts("playlists", "name"), ["q", "p"])
      }
    },
    moves("REL-010/graph", 1000, .small), moves("REL-010/graph/many", 10_000, .tenth),
  ]

  private static func moves(_ id: String, _ count: Int, _ size: Load) -> GraphCase {
    GraphCase(
      id, "an order is that of an array after \(count) random moves", { Models.ordered }, size: size
    ) { g in
      var random = NumberStream(seed: g.seed)
      var expected = (0..<40).map { "\($0)" }
      try g.write { c in
        let items = expected.map { c.insert("Item", ["name": $0]) }
        c.insert("List", ["name": "l", "items": NSOrderedSet(array: items)])
      }
      for _ in stride(from: 0, to: count, by: 250) {
        try g.write { c in
          let items = try c.one("List", "name", "l").mutableOrderedSetValue(forKey: "items")
          for _ in 0..<250 {
            let (from, to) = (random.next(below: 40), random.next(below: 40))
            items.moveObjects(at: IndexSet(integer: from), to: to)
            expected.insert(expected.remove(at: from), at: to)
          }
        }
        try g.read { c in g.equal(try c.one("List", "name", "l").texts("items", "name"), expected) }
      }
    }
  }
}

/// Pseudorandom numbers from a seed.
struct NumberStream {
  private var state: UInt64
  init(seed: UInt64) { state = seed }

  mutating func next(below bound: Int) -> Int {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Int((state >> 33) % UInt64(bound))
  }
}
