import DictionaryStore
import StoreConformance
import StoreProtocol

/// Cases of what this store alone has.
enum DictionaryCases {
  static let all = [
    ConformanceCase(
      "DIC-001/capacity", "a store holds as many objects as its option allows", profiles: Profile.plainOnly
    ) { c in
      var options = StoreOptions()
      options[DictionaryBackend.capacity] = 2
      let s = try c.open(Fixtures.people(), options)
      let first = try s.insert("Tag")
      try s.insert("Tag")
      _ = try c.refuses(.full, what: "a third object") { try s.insert("Tag") }
      c.equal(try s.objects("Tag").count, 2)
      try s.delete(first)
      try s.insert("Tag")
      c.equal(try s.objects("Tag").count, 2)
    },
    ConformanceCase(
      "DIC-001/refused", "an option that the store does not know, or of another type, is refused",
      profiles: Profile.plainOnly
    ) { c in
      for (name, value) in [("capacity", StoreOptionValue.text("many")), ("capacities", .integer(2))] {
        var options = StoreOptions()
        options.own["Dictionary." + name] = value
        _ = try c.refuses(.invalidArgument, what: name) { _ = try c.open(Fixtures.people(), options) }
      }
    },
  ]
}
