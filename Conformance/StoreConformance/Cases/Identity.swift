import Foundation
import StoreProtocol
import StoreSchema

extension ConformanceSuite {
  static let identity: [ConformanceCase] = [
    ConformanceCase(
      "IDN-002", "a saved object has a positive key of its own, and its entity", profiles: Profile.reading
    ) { c in
      let s = try c.open(Fixtures.people())
      let objects = try s.commit { for _ in 0..<20 { try $0.insert("Tag", ["label": "t"]) } }
      c.equal(Set(objects.map(\.key)).count, 20)
      c.expect(objects.allSatisfy { $0.key > 0 }, "a key is not positive: \(objects.map(\.key))")
      c.equal(try s.objects("Tag"), objects.sorted { $0.key < $1.key })
    },
    ConformanceCase(
      "IDN-002/links", "references within one commit lead to the permanent keys", profiles: Profile.reading
    ) { c in
      let s = try c.open(Fixtures.people())
      let o = try s.commit {
        let person = try $0.insert("Person", ["name": "a"])
        let team = try $0.insert("Team", ["title": "t"])
        let boss = try $0.insert("Person", ["team": .to(team)])
        try $0.link(person, "tags", add: [$0.insert("Tag")])
        try $0.insert("Person", ["boss": .to(boss)])
      }
      c.equal(try s.links(o[1], "members"), [o[2]])
      c.equal(try s.links(o[0], "tags"), [o[3]])
      c.equal(try s.value(o[4], "boss"), .to(o[2]))
      c.equal(try s.links(o[2], "reports"), [o[4]])
    },
    ConformanceCase(
      "IDN-003", "keys can be taken before the object is saved, and nobody sees it", profiles: Profile.reading
    ) { c in
      let s = try c.open(Fixtures.people())
      let root = try s.entity("Person").index
      let keys = try s.store.allocateKeys(root: root, count: 3)
      c.equal(keys.count, 3)
      c.expect(keys.lowerBound > 0, "a key is \(keys.lowerBound)")
      for _ in 0..<2 { c.equal(try s.store.allocateKeys(root: root, count: 0), keys.upperBound..<keys.upperBound) }
      let more = try s.store.allocateKeys(root: root, count: 2)
      c.expect(!more.overlaps(keys), "\(more) were taken before as \(keys)")
      c.equal(try s.objects("Person"), [])
      let object = try s.insert("Person")
      c.expect(!keys.contains(object.key), "a taken key was given to another object")
      let saved = try s.commit { changes in
        let person = try changes.insert("Person", ["name": "taken"])
        changes.set.insertions[0].setKey(keys.lowerBound)
        try changes.insert("Person", ["boss": .to(person)])
      }
      c.equal(saved[0].key, keys.lowerBound)
      c.equal(try s.value(saved[0], "name"), "taken")
      c.equal(try s.value(saved[1], "boss"), .to(saved[0]))
    },
    ConformanceCase(
      "IDN-004", "a key that was taken and not used is never given out", requires: .persistent, profiles: [.plain]
    ) { c in
      let s = try c.open(Fixtures.people())
      let keys = try s.store.allocateKeys(root: s.entity("Person").index, count: 5)
      try s.reopen()
      let again = try s.store.allocateKeys(root: s.entity("Person").index, count: 5)
      c.expect(!again.overlaps(keys), "\(again) were taken before as \(keys)")
      let object = try s.insert("Person")
      c.expect(!keys.contains(object.key) && !again.contains(object.key), "the key \(object.key) was taken before")
    },
    ConformanceCase("IDN-008", "a key that is no key of an object finds nothing", profiles: Profile.reading) { c in
      let s = try c.open(Fixtures.people())
      let object = try s.insert("Person")
      for key in [Int64.min, -1, 0, object.key + 1, .max] {
        c.expect(try !s.exists(ObjectReference(entity: object.entity, key: key)), "there is an object \(key)")
      }
      c.expect(try s.exists(object), "the object itself is not found")
    },
    ConformanceCase("IDN-010", "the key of the deleted last object is not used again", profiles: [.plain, .reopen]) {
      c in
      let s = try c.open(Fixtures.people())
      let objects = try s.commit { for _ in 0..<3 { try $0.insert("Person") } }
      let last = objects[2]
      try s.delete(last)
      if c.capabilities.contains(.persistent) { try s.reopen() }
      let new = try s.insert("Person")
      c.expect(new.key > last.key, "the new key is \(new.key), the last was \(last.key)")
    },
    ConformanceCase(
      "IDN-011", "no key is used again after everything was deleted", requires: .persistent,
      profiles: [.plain, .reopen]
    ) {
      c in
      let s = try c.open(Fixtures.people())
      let objects = try s.commit { for _ in 0..<10 { try $0.insert("Tag") } }
      try s.commit { for object in objects { try $0.delete(object) } }
      try s.reopen()
      let new = try s.insert("Tag")
      c.expect(new.key > objects[9].key, "the new key is \(new.key), the last was \(objects[9].key)")
      c.equal(try s.objects("Tag"), [new])
    },
    ConformanceCase("IDN-015", "a row that is not there is not found", profiles: Profile.reading) { c in
      let s = try c.open(Fixtures.people())
      let object = try s.insert("Person", ["name": "a"])
      try s.delete(object)
      c.expect(try !s.exists(object), "the deleted object is still there")
      let found = try s.read { view in
        var found: [Int64] = []
        try view.rows(of: object.entity, keys: [object.key, object.key, 99_999]) { found.append($0.key) }
        return found
      }
      c.equal(found, [])
    },
    ConformanceCase("IDN-017", "an object found by its parent's entity says its own", profiles: Profile.reading) { c in
      let s = try c.open(Fixtures.inheritance())
      let object = try s.insert("Folder3", ["name": "a", "level3": 3])
      for name in ["Node", "Folder1", "Folder2", "Folder3"] {
        let found = try s.row(ObjectReference(entity: try s.entity(name).index, key: object.key))
        c.equal(found?.entity, object.entity, name)
      }
    },
    ConformanceCase(
      "IDN-020", "two processes never give the same key", requires: [.persistent, .multiProcess], level: .concurrent,
      profiles: Profile.plainOnly,
      roles: [
        "insert": { r in
          let s = try r.open(Fixtures.people())
          r.say(try manyKeys(s).joined(separator: " "))
          try s.close()
        }
      ]
    ) { c in
      let s = try c.open(Fixtures.people())
      let children = try (0..<2).map { _ in try c.start("insert") }
      var keys = try manyKeys(s)
      for child in children {
        while let line = child.line() { keys += line.split(separator: " ").map(String.init) }
        c.equal(child.wait(), 0, "exit status")
      }
      c.equal(keys.count, 3 * 10_000)
      c.equal(Set(keys).count, 3 * 10_000, "different keys")
      c.equal(try s.objects("Person").count, 3 * 10_000)
    },
    ConformanceCase(
      "IDN-021", "a copied store has the same identifier", requires: [.persistent, .localFiles],
      profiles: Profile.plainOnly, sites: 2
    ) { c in
      let s = try c.open(Fixtures.people())
      try s.close()
      c.isReplaced()
      try c.backend.replace(at: c.url(1), with: c.url(0), options: StoreOptions())
      let metadata = try c.backend.metadata(at: c.url(1), options: StoreOptions())
      c.equal(metadata.identifier, s.store.identifier)
      try c.backend.destroy(at: c.url(1), options: StoreOptions())
    },
  ]

  /// The keys of ten thousand objects, which are inserted in a hundred commits.
  private static func manyKeys(_ s: Session) throws -> [String] {
    try stride(from: 0, to: 10_000, by: 100).flatMap { _ in
      try s.commit { _ = try $0.insert(100, "Person") }.map { "\($0.key)" }
    }
  }
}
