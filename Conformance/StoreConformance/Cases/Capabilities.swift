import Foundation
import StoreProtocol
import StoreQuery
import StoreSchema
import StoreSupport

/// What is declared is there, and what is not is refused.
extension ConformanceSuite {
  static let capabilities: [ConformanceCase] = [
    ConformanceCase(
      "CAP-002/derived", "derived attributes are refused", requirements: ["ATT-035"], absent: .derivedAttributes,
      profiles: Profile.plainOnly
    ) { c in
      let error = try c.refuses(.unsupported) { _ = try c.openRaw(c.url, Fixtures.derived()) }
      c.expect(error?.context["attribute"] != nil, "the error names no attribute")
      if c.location.folder != nil { c.equal(try c.files(), []) }
    },
    ConformanceCase("CAP-002/history", "history is refused", absent: .history, profiles: Profile.plainOnly) { c in
      var options = StoreOptions()
      options.tracksHistory = true
      try c.refuses(.unsupported) { _ = try c.openRaw(c.url, Fixtures.people(), options) }
      if c.location.folder != nil { c.equal(try c.files(), []) }
    },
    ConformanceCase(
      "CAP-002/readOnlyOpen", "opening read-only is refused", requirements: ["LIF-018"], absent: .readOnlyOpen,
      profiles: Profile.plainOnly
    ) { c in
      var options = StoreOptions()
      options.isReadOnly = true
      try c.refuses(.unsupported) { _ = try c.openRaw(c.url, Fixtures.people(), options) }
    },
    ConformanceCase(
      "CAP-002/unique", "uniqueness constraints are refused", absent: .uniqueness, profiles: Profile.plainOnly
    ) { c in
      try c.refuses(.unsupported) { _ = try c.openRaw(c.url, Fixtures.people()) }
    },
    ConformanceCase(
      "CAP-002/replace", "a store of no file cannot take another's place", absent: .localFiles,
      profiles: Profile.plainOnly, sites: 2
    ) { c in
      try c.refuses(.unsupported) { try c.backend.replace(at: c.url(1), with: c.url(0), options: StoreOptions()) }
    },
    ConformanceCase(
      "CAP-002/salvage", "salvage is refused", absent: .salvage, profiles: Profile.plainOnly
    ) { c in
      try c.open(Fixtures.people()).close()
      try c.refuses(.unsupported) {
        try Salvage(Fixtures.people()) { _ in }.read(c.url, of: c.backend, options: StoreOptions())
      }
    },
    ConformanceCase(
      "CAP-002/extBlob", "large data stays in the row", absent: .externalData, profiles: Profile.plainOnly
    ) { c in
      let s = try c.open(Fixtures.allTypes())
      c.expect(try s.store.externalDataStore?.keepExternalData(Data(count: 1 << 20)) == nil, "the data got a name")
      c.refuses("a name that was never given leads to data") { _ = try s.store.externalData(Data([2, 65, 0])) }
    },
    ConformanceCase(
      "CAP-001/history", "history is recorded beside the data", requires: .history, level: .historical,
      profiles: [.plain, .reopen]
    ) { c in
      var options = StoreOptions()
      options.tracksHistory = true
      let s = try c.open(Fixtures.people(), options)
      let object = try s.insert("Person", ["name": "a"])
      try s.update(object, ["name": "b"])
      try s.insert("Tag")
      try s.delete(object)
      c.equal(try s.objects("Person"), [])
      c.equal(try s.objects("Tag").count, 1)
    },
    ConformanceCase(
      "CAP-001/migrateCopy", "a store of another model takes the place of this one, or leaves it as it is",
      requires: [.persistent, .localFiles, .migrationByCopy], level: .durable, profiles: Profile.plainOnly, sites: 2
    ) { c in
      let old = try c.open(Fixtures.people(), in: 1)
      try old.insert("Person", ["name": "a"])
      try old.close()
      c.refuses("a store that is not there took the place") {
        try c.backend.replace(at: c.url(1), with: c.url(0), options: StoreOptions())
      }
      try old.reopen()
      c.equal(try old.values("Person", "name"), [.string("a")])
      try old.close()
      let new = try c.open(Fixtures.allTypes(), in: 0)
      let data = Data(repeating: 7, count: 300_000)
      let object = try new.insert("AllTypes", ["string": "b", "large": .data(data)])
      try new.close()
      c.isReplaced()
      try c.backend.replace(at: c.url(1), with: c.url(0), options: StoreOptions())
      try c.refuses(.modelMismatch) { try old.reopen() }
      let there = try c.open(Fixtures.allTypes(), in: 1)
      c.equal(try there.value(object, "string"), .string("b"))
      c.expect(try there.value(object, "large") == .data(data), "the large data is another")
    },
    ConformanceCase("CAP-001/same", "an open store declares no more than its kind", profiles: Profile.plainOnly) { c in
      let s = try c.open(Fixtures.people())
      let more = s.store.capabilities.subtracting(c.capabilities)
      c.expect(more.isEmpty, "the open store declares \(more) as well")
    },
    ConformanceCase("CAP-007", "who evaluates fetches can be told", level: .queryable, profiles: Profile.plainOnly) {
      c in
      let s = try c.open(Fixtures.people())
      let plan = try s.plan("Person", "age > 5", [], sort: ["name"], offset: 0, limit: nil, exactly: false)
      // A store may count and cut without being able to compare.
      let compares = try s.store.snapshot().fetching.map { $0.prepare(plan).residual.predicate == nil } ?? false
      c.equal(compares, c.capabilities.contains(.pushDown))
    },
    ConformanceCase(
      "CAP-007/pushes", "a plain comparison is evaluated by the store", requires: .pushDown, level: .queryable,
      profiles: Profile.plainOnly
    ) { c in
      let s = try c.open(Fixtures.people())
      let plan = try s.plan("Person", "age > 5", [], sort: ["name"], offset: 0, limit: nil, exactly: false)
      guard let fetching = try s.store.snapshot().fetching else {
        try c.fail("nothing is evaluated by the store")
      }
      let residual = fetching.prepare(plan).residual
      c.expect(residual.predicate == nil, "age > 5 is not evaluated by the store")
      c.expect(residual.sort.isEmpty, "the sort is not the store's")
    },
  ]
}
