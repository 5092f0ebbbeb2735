import CoreData
import Foundation

extension GraphSuite {
  static let damage: [GraphCase] = [
    GraphCase(
      "COR-003/graph", "a file that is not a store is refused with a typed error and stays unchanged", needs: .files,
      ways: .own
    ) { g in
      let contents: [Data] = [
        Data("hello".utf8), Data("<html><body>no</body></html>".utf8),
        Data((0..<4096).map { UInt8(truncatingIfNeeded: $0 &* 151) }),
      ]
      for content in contents {
        try content.write(to: g.url())
        for _ in 0..<2 {
          do {
            try g.newCoordinator()
            g.expect(false, "it was opened")
          } catch { g.expect(Graph.isThrownByUse(error), "threw \(Graph.text(of: error))") }
        }
        g.equal(try Data(contentsOf: g.url()), content)
      }
      try FileManager.default.removeItem(at: g.url())
      try g.write { $0.insert("Tag") }
    },
    GraphCase("COR-001/graph", "a truncated store gives a typed error or its contents", needs: .files, ways: .own) {
      g in
      try g.write { c in for number in 0..<50 { c.insert("Tag", ["label": "\(number)"]) } }
      try g.closeAll()
      let whole = try Data(contentsOf: g.url())
      for length in [1, 10, 100, whole.count / 2, whole.count - 1] where length < whole.count {
        try whole.prefix(length).write(to: g.url())
        do {
          let found = try g.elsewhere { try $0.objects("Tag").compactMap { $0.text("label") } }
          g.equal(Set(found), Set((0..<50).map { "\($0)" }), "cut at \(length)")
        } catch { g.expect(Graph.isThrownByUse(error), "cut at \(length): threw \(Graph.text(of: error))") }
        try g.closeAll()
      }
      try whole.write(to: g.url())
      g.equal(try g.countElsewhere("Tag"), 50)
      g.leavesDamage()
    },
    GraphCase(
      "COR-016/graph", "a damaged store is not migrated", needs: .files, ways: .own
    ) { g in
      try g.write { c in for number in 0..<50 { c.insert("Tag", ["label": "\(number)"]) } }
      try g.closeAll()
      g.leavesDamage()
      let whole = try Data(contentsOf: g.url())
      let noise = Data((0..<whole.count).map { UInt8(truncatingIfNeeded: $0 &* 151) })
      for damaged in [whole.prefix(whole.count / 2), whole.prefix(40) + noise.dropFirst(40)] {
        try damaged.write(to: g.url())
        let coordinator = g.emptyCoordinator(Models.otherPeople)
        do {
          try coordinator.addPersistentStore(
            ofType: g.storeType, configurationName: nil, at: g.url(),
            options: [
              NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
            ])
          g.expect(false, "it was opened")
        } catch { g.expect(Graph.isThrownByUse(error), "threw \(Graph.text(of: error))") }
        g.equal(try Data(contentsOf: g.url()), damaged)
      }
    },
    GraphCase(
      "LIF-012/graph", "a URL where no store can be is refused, and nothing is created", needs: .files, ways: .own
    ) { g in
      let folder = g.url().deletingLastPathComponent()
      let sites = [folder, folder.appendingPathComponent("none/store"), URL(string: "https://example.org/store")]
      for site in sites.compactMap({ $0 }) {
        do {
          try g.emptyCoordinator().addPersistentStore(
            ofType: g.storeType, configurationName: nil, at: site, options: nil)
          g.expect(false, "\(site) was opened")
        } catch { g.expect(Graph.isThrownByUse(error), "\(site) threw \(Graph.text(of: error))") }
      }
      g.equal(try FileManager.default.contentsOfDirectory(atPath: folder.path), [])
    },
    GraphCase("LIF-011/graph", "a store is refused if another type is requested", needs: .files, ways: .own) { g in
      try g.write { $0.insert("Tag") }
      try g.closeAll()
      let before = try g.fileState()
      try g.withPeers { _, type, _, isPersistent in
        if type == g.storeType || !isPersistent { return }
        do {
          try g.emptyCoordinator().addPersistentStore(ofType: type, configurationName: nil, at: g.url(), options: nil)
          g.expect(false, "it was opened")
        } catch {
          let code = (error as NSError).code
          g.expect([134000, 134010, 259].contains(code), "threw \(Graph.text(of: error))")
        }
        g.equal(try g.fileState(), before)
      }
    },
  ]
}
