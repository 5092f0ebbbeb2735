import StoreProtocol
import StoreSchema

extension ConformanceSuite {
  static let identity: [ConformanceCase] = [
    ConformanceCase(
      "IDN-002", "a saved object has a positive key of its own, and its entity", profiles: Profile.reading
    ) {
      c in
      let s = try c.open(Fixtures.people())
      let objects = try s.commit { for _ in 0..<20 { try $0.insert("Tag", ["label": "t"]) } }
      c.equal(Set(objects.map(\.key)).count, 20)
      c.expect(objects.allSatisfy { $0.key > 0 }, "a key is not positive: \(objects.map(\.key))")
      c.equal(try s.objects("Tag"), objects.sorted { $0.key < $1.key })
    }
  ]
}
