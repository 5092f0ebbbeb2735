import StoreProtocol
import StoreSchema

extension ConformanceSuite {
  static let orders: [ConformanceCase] = [
    ConformanceCase("REL-008", "an order is kept, whatever is done to it", profiles: Profile.reading) { c in
      let s = try c.open(Fixtures.ordered())
      let o = try s.commit {
        let list = try $0.insert("List")
        let items = try $0.insert(4, "Item", ["list": .to(list)])
        try $0.link(list, "items", order: [items[2], items[0], items[3], items[1]])
      }
      let (list, a, b, d, e) = (o[0], o[1], o[2], o[3], o[4])
      c.equal(try s.links(list, "items"), [d, a, e, b])
      func reorder(_ order: [ObjectReference], _ what: String) throws {
        try s.commit {
          try $0.update(list, ["name": .text(what)])
          try $0.link(list, "items", order: order)
        }
        c.equal(try s.links(list, "items"), order, what)
      }
      try reorder([b, e, a, d], "reversed")
      try reorder([b, d, e, a], "moved")
      let f = try s.commit {
        let new = try $0.insert("Item", ["list": .to(list)])
        try $0.link(list, "items", order: [b, new, d, e, a])
      }[0]
      c.equal(try s.links(list, "items"), [b, f, d, e, a], "inserted")
      try s.commit {
        try $0.update(d, ["list": nil])
        try $0.link(list, "items", remove: [d], order: [b, f, e, a])
      }
      c.equal(try s.links(list, "items"), [b, f, e, a], "removed")
      try s.commit {
        try $0.delete(b)
        try $0.link(list, "items", order: [a, e, f])
      }
      c.equal(try s.links(list, "items"), [a, e, f], "deleted")
    },
    ConformanceCase("REL-009", "an object that is added twice is there once", profiles: Profile.reading) { c in
      let s = try c.open(Fixtures.ordered())
      let o = try s.commit {
        let playlist = try $0.insert("Playlist")
        let songs = try $0.insert(3, "Song")
        try $0.link(playlist, "songs", add: songs, order: songs)
      }
      try s.commit { try $0.link(o[0], "songs", add: [o[1]], order: [o[2], o[3], o[1]]) }
      c.equal(try s.links(o[0], "songs"), [o[2], o[3], o[1]])
    },
    ConformanceCase("REL-010", "random moves end where a list says", profiles: [.plain, .reopen]) { c in
      let s = try c.open(Fixtures.ordered())
      let o = try s.commit {
        let list = try $0.insert("List")
        let items = try $0.insert(12, "Item", ["list": .to(list)])
        try $0.link(list, "items", order: items)
      }
      var expected = Array(o.dropFirst())
      for round in 0..<40 {
        let item = expected.remove(at: c.random.below(expected.count))
        expected.insert(item, at: c.random.below(expected.count + 1))
        try s.commit { try $0.link(o[0], "items", order: expected) }
        if round % 8 == 0 { c.equal(try s.links(o[0], "items"), expected, "round \(round)") }
      }
      c.equal(try s.links(o[0], "items"), expected, "at the end")
    },
    ConformanceCase("REL-011", "both sides of an ordered pair have orders of their own", profiles: Profile.reading) {
      c in
      let s = try c.open(Fixtures.ordered())
      let o = try s.commit {
        let lists = try $0.insert(2, "Playlist")
        let songs = try $0.insert(3, "Song")
        for list in lists { try $0.pair(list, "songs", "playlists", add: songs) }
        try $0.link(lists[0], "songs", order: [songs[2], songs[0], songs[1]])
        try $0.link(lists[1], "songs", order: [songs[0], songs[1], songs[2]])
        try $0.link(songs[0], "playlists", order: [lists[1], lists[0]])
        try $0.link(songs[1], "playlists", order: [lists[0], lists[1]])
      }
      c.equal(try s.links(o[0], "songs"), [o[4], o[2], o[3]])
      c.equal(try s.links(o[1], "songs"), [o[2], o[3], o[4]])
      c.equal(try s.links(o[2], "playlists"), [o[1], o[0]])
      c.equal(try s.links(o[3], "playlists"), [o[0], o[1]])
      try s.commit { try $0.link(o[2], "playlists", order: [o[0], o[1]]) }
      c.equal(try s.links(o[0], "songs"), [o[4], o[2], o[3]], "the other side")
      c.equal(try s.links(o[2], "playlists"), [o[0], o[1]])
    },
    ConformanceCase("REL-012", "what an order does not name is still there", profiles: Profile.reading) { c in
      let s = try c.open(Fixtures.ordered())
      let o = try s.commit {
        let list = try $0.insert("List")
        let items = try $0.insert(2, "Item", ["list": .to(list)])
        try $0.link(list, "items", order: items)
      }
      let new = try s.insert("Item", ["list": .to(o[0])])
      let found = try s.links(o[0], "items")
      c.equal(Set(found), [o[1], o[2], new])
      c.equal(found.count, 3)
      c.equal(found.filter { $0 != new }, [o[1], o[2]], "those in order")
    },
    // A merge may decide an object's owner and the owner's order differently.
    ConformanceCase(
      "REL-012/owner", "the owner that an object names counts, whatever orders say", profiles: Profile.reading
    ) { c in
      let s = try c.open(Fixtures.ordered())
      let o = try s.commit {
        for _ in 0..<2 {
          let list = try $0.insert("List")
          try $0.link(list, "items", order: $0.insert(2, "Item", ["list": .to(list)]))
        }
      }
      let (first, second) = (o[0], o[3])
      func expect(_ firsts: [ObjectReference], _ seconds: [ObjectReference], _ what: String) throws {
        c.equal(try s.links(first, "items"), firsts, "\(what): first")
        c.equal(try s.links(second, "items"), seconds, "\(what): second")
        c.equal(try StoreContents(s.store).problems.map(\.text), [], what)
      }
      try s.commit { try $0.update(o[1], ["list": .to(second)]) }
      try expect([o[2]], [o[4], o[5], o[1]], "moved without an order")
      try s.commit { try $0.link(first, "items", order: [o[1], o[2]]) }
      try expect([o[2]], [o[4], o[5], o[1]], "ordered by its former owner")
      try s.commit {
        try $0.update(o[4], ["list": nil])
        try $0.link(second, "items", order: [o[5], o[4], o[1]])
      }
      try expect([o[2]], [o[5], o[1]], "ordered by an owner that it leaves")
      try s.commit {
        try $0.update(o[4], ["list": .to(second)])
        try $0.link(first, "items", remove: [o[4]])
      }
      let found = try s.links(second, "items")
      c.equal(Set(found), [o[5], o[1], o[4]], "removed from a list that it was not in")
      // Where it stands is the store's to say: no order has named it since it came back.
      c.equal(found.filter { $0 != o[4] }, [o[5], o[1]], "removed from a list that it was not in: the others")
    },
  ]

  /// DEL-020: each shape of a relationship, and each of its ends deleted.
  static let deletions: [ConformanceCase] =
    [
      ConformanceCase("DEL-001", "a nullified reference and its destination's version", profiles: Profile.oneOpening) {
        c in
        let s = try c.open(Fixtures.people())
        let o = try s.commit {
          let team = try $0.insert("Team")
          try $0.insert("Person", ["team": .to(team)])
        }
        try s.commit {
          try $0.delete(o[0])
          try $0.update(o[1], ["team": nil])
        }
        c.equal(try s.value(o[1], "team"), nil)
        c.equal(try s.row(o[1])?.version, 2)
        c.equal(try s.objects("Team"), [])
      },
      ConformanceCase("DEL-003", "three levels go in one commit", profiles: Profile.reading) { c in
        let s = try c.open(Fixtures.inheritance())
        let o = try s.commit {
          let top = try $0.insert("Folder1")
          let middle = try $0.insert(3, "Folder2", ["parent": .to(top)])
          for folder in middle { for _ in 0..<3 { try $0.insert("File", ["parent": .to(folder)]) } }
          try $0.insert("File", ["name": "stays"])
        }
        try s.commit { for object in o.dropLast() { try $0.delete(object) } }
        c.equal(try s.objects("Node"), [o[13]])
        c.equal(try s.links(o[0], "children"), [])
      },
      ConformanceCase("DEL-004", "a circle goes in one commit", profiles: Profile.reading) { c in
        let s = try c.open(Fixtures.people())
        let o = try s.commit { for _ in 0..<2 { try $0.insert("Person") } }
        try s.commit {
          try $0.update(o[0], ["boss": .to(o[1])])
          try $0.update(o[1], ["boss": .to(o[0])])
        }
        try s.commit { for object in o { try $0.delete(object) } }
        c.equal(try s.objects("Person"), [])
      },
      ConformanceCase("DEL-014", "what is deleted already is a conflict", profiles: Profile.oneOpening) { c in
        let s = try c.open(Fixtures.people())
        let object = try s.insert("Person")
        try s.delete(object)
        let found = try s.conflicts { try $0.delete(object, version: 1) }
        c.equal(found.map(\.reference), [object])
        guard case .version(nil)? = found.first?.kind else {
          try c.fail("no conflict that says that it is gone")
        }
      },
      ConformanceCase("DEL-017", "the pairs of a deleted object go with it", profiles: Profile.reading) { c in
        let s = try c.open(Fixtures.people())
        let o = try s.commit {
          let people = try $0.insert(2, "Person")
          let tags = try $0.insert(2, "Tag")
          for person in people { try $0.tag(person, add: tags) }
        }
        try s.delete(o[0])
        try s.delete(o[3])
        c.equal(try s.links(o[1], "tags"), [o[2]])
        c.equal(try s.links(o[2], "people"), [o[1]])
        c.equal(try s.links(o[0], "tags"), [])
      },
    ] + shapes

  private static let shapes: [ConformanceCase] = [
    ("oneOne", "oneOneBack"), ("oneMany", "oneManyBack"), ("manyOne", "manyOneBack"), ("manyMany", "manyManyBack"),
    ("orderedOne", "orderedOneBack"), ("orderedMany", "orderedManyBack"), ("oneWay", nil), ("manyWay", nil),
  ].flatMap { (name: String, back: String?) in
    [true, false].map { deletesSource in
      ConformanceCase(
        "DEL-020/\(name)/\(deletesSource ? "source" : "target")",
        "of \(name), a deleted \(deletesSource ? "source" : "target") leaves no link", profiles: Profile.reading
      ) { c in
        let s = try c.open(Fixtures.shapes())
        let o = try s.commit {
          try $0.insert("Source")
          try $0.insert("Target")
          try $0.insert("Target")
        }
        try s.commit { try $0.connect(o[0], name, o[1], back) }
        c.equal(try s.links(o[0], name), [o[1]], "linked")
        if let back { c.equal(try s.links(o[1], back), [o[0]], "linked back") }
        let (gone, left) = deletesSource ? (o[0], o[1]) : (o[1], o[0])
        try s.commit {
          try $0.delete(gone)
          try $0.nullify(left, deletesSource ? back : name)
        }
        if let leftName = deletesSource ? back : name { c.equal(try s.links(left, leftName), [], "after the deletion") }
        c.equal(try s.objects("Source").count + s.objects("Target").count, 2)
      }
    }
  }
}

extension Changes {
  /// Links two objects as the layer above tells a store: rows for to-one sides, pairs from the primary side, orders.
  mutating func connect(
    _ source: ObjectReference, _ name: String, _ target: ObjectReference, _ back: String?
  ) throws {
    let ends = [(source, name, target, back)] + (back.map { [(target, $0, source, name)] } ?? [])
    for (owner, name, other, back) in ends {
      if try isToOne(owner, name) {
        try update(owner, [name: .to(other)])
      } else if try back == nil || isPrimary(owner, name) {
        try link(owner, name, add: [other], order: isOrdered(owner, name) ? [other] : nil)
      } else if try isOrdered(owner, name) {
        try link(owner, name, order: [other])
      }
    }
  }

  /// Empties a to-one side, which a store does not do by itself.
  mutating func nullify(_ object: ObjectReference, _ name: String?) throws {
    if let name, try isToOne(object, name) { try update(object, [name: nil]) }
  }
}
