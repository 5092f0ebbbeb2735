import Foundation
import StoreProtocol
import StoreSchema

/// Stores that hold a part of a model; see ``Schema/part(storing:)``.
extension ConformanceSuite {
  static let parts: [ConformanceCase] = [
    ConformanceCase("LIF-027/part", "a store of a part of the model says so") { c in
      let whole = try Fixtures.parts()
      let s = try c.open(whole.part(storing: ["Leaf", "Member"]))
      let names: Set = ["Base", "Leaf", "Member"]
      c.equal(s.store.metadata.versionHashes, whole.versionHashes.filter { names.contains($0.key) })
      c.equal(s.store.schema.storedEntities.map(\.name), names.sorted())
      let leaf = try s.insert("Leaf", ["name": "a", "size": 1])
      let member = try s.insert("Member", ["name": "b", "base": .to(leaf)])
      // Rows mean what they mean in a store of the whole model.
      c.equal(leaf.entity, whole.entity(named: "Leaf")?.index ?? -1)
      c.equal(try s.links(leaf, "members"), [member])
      c.equal(try s.value(member, "base"), .to(leaf))
      c.equal(try s.objects("Base"), [leaf])
      c.equal(try s.fetch("Base", "name == 'a' AND ANY members.name == 'b'"), [leaf])
      try s.update(leaf, ["size": 2])
      c.equal(try s.value(leaf, "size"), 2)
      try s.update(member, ["base": nil])
      try s.delete(leaf)
      c.equal(try s.objects("Base"), [])
      c.equal(try s.objects("Member"), [member])
    },
    ConformanceCase("LIF-027/part/outside", "nothing is in a part of what the model has beside it") { c in
      let s = try c.open(try Fixtures.parts().part(storing: ["Leaf", "Member"]))
      let member = try s.insert("Member", ["name": "b"])
      for name in ["Aside", "Limb"] {
        c.equal(try s.objects(name, exactly: true), [], name)
        c.equal(try s.fetch(name), [], name)
        c.equal(try s.count(name), 0, name)
        let outside = ObjectReference(entity: try s.entity(name).index, key: member.key)
        c.expect(try !s.exists(outside), "there is a \(name)")
      }
      for relationship in ["aside", "asides", "oneWay"] { c.equal(try s.links(member, relationship), [], relationship) }
      for predicate in ["aside == nil", "aside.name == nil", "asides.@count == 0", "NOT ANY oneWay.name == 'x'"] {
        c.equal(try s.fetch("Member", predicate, sort: ["aside.name"]), [member], predicate)
        c.equal(try s.count("Member", "NOT (\(predicate))"), 0, predicate)
      }
      try s.delete(member)
      c.equal(try s.objects("Member"), [])
    },
    ConformanceCase("LIF-027/part/refused", "what a part does not hold is refused", profiles: Profile.oneOpening) { c in
      let s = try c.open(try Fixtures.parts().part(storing: ["Leaf", "Member"]))
      let member = try s.insert("Member", ["name": "b"])
      let outside = ObjectReference(entity: try s.entity("Aside").index, key: 1)
      try c.refuses(.invalidArgument, what: "an object of another entity") { try s.insert("Aside", ["name": "x"]) }
      try c.refuses(.invalidArgument, what: "an object beside a stored one") { try s.insert("Limb") }
      try c.refuses(.invalidArgument, what: "a reference") { try s.insert("Member", ["aside": .to(outside)]) }
      try c.refuses(.invalidArgument, what: "a link") { try s.commit { try $0.link(member, "asides", add: [outside]) } }
      try c.refuses(.invalidArgument, what: "keys") { _ = try s.store.allocateKeys(root: outside.entity, count: 1) }
      // What is empty and stays so is no change.
      try s.update(member, ["name": "c", "aside": nil])
      c.equal(try s.values("Member", "name"), ["c"].map(Value.string))
    },
    ConformanceCase(
      "LIF-027/part/model", "a store of a part is refused with the whole model, and the other way round",
      requires: .persistent, profiles: Profile.plainOnly, sites: 2
    ) { c in
      let whole = try Fixtures.parts()
      let part = whole.part(storing: ["Leaf", "Member"])
      for (site, (made, others)) in [
        (part, [whole, whole.part(storing: ["Leaf"]), whole.part(storing: ["Aside"])]), (whole, [part]),
      ].enumerated() {
        let s = try c.open(made, in: site)
        try s.insert("Member", ["name": "b"])
        try s.close()
        for other in others {
          let error = try c.refuses(.modelMismatch) { _ = try c.openRaw(c.url(of: site), other) }
          c.equal(error?.modelHashes?.store, made.versionHashes)
          c.equal(error?.modelHashes?.model, other.versionHashes)
        }
        try s.reopen()
        c.equal(try s.values("Member", "name"), [.string("b")])
      }
    },
  ]
}
