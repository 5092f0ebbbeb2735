import CoreData
import Foundation

extension GraphSuite {
  static let inheritance: [GraphCase] = [
    GraphCase(
      "INH-001/graph", "a fetch of each level includes its subentities, or excludes them on request",
      { Models.inheritance }
    ) {
      g in
      try g.write { c in
        c.insert("File", ["name": "file"])
        for level in 1...15 { c.insert("Folder\(level)", ["name": "f\(level)"]) }
      }
      try g.read { c in
        g.equal(try c.number(of: "Node"), 16)
        for level in 1...15 {
          let request = NSFetchRequest<NSManagedObject>(entityName: "Folder\(level)")
          g.equal(try c.count(for: request), 16 - level, "Folder\(level)")
          request.includesSubentities = false
          g.equal(try c.fetch(request).map { $0.text("name") }, ["f\(level)"])
        }
        let nodes = NSFetchRequest<NSManagedObject>(entityName: "Node")
        nodes.includesSubentities = false
        g.equal(try c.fetch(nodes).count, 0)
      }
    },
    GraphCase("INH-003/graph", "each level stores its own and its inherited attributes", { Models.inheritance }) { g in
      try g.write { c in
        let deepest = c.insert("Folder15", ["name": "deep", "kind1": 1])
        for level in 1...15 { deepest.setValue(level * 10, forKey: "level\(level)") }
      }
      try g.read { c in
        let deepest = try c.one("Node", "name", "deep")
        g.equal((1...15).map { deepest.number("level\($0)") }, (1...15).map { $0 * 10 })
        g.equal(deepest.number("kind1"), 1)
        let found = try c.objects("Folder7", NSPredicate(format: "level3 == 30"), by: "level7")
        g.equal(found.map { $0.text("name") }, ["deep"])
      }
    },
    GraphCase("INH-004/graph", "one name in two subentities may have two types", { Models.inheritance }) { g in
      try g.write { c in
        c.insert("File", ["name": "f", "kind": "text"])
        c.insert("Drawer", ["name": "d", "kind": 7])
      }
      try g.read { c in
        let nodes = try c.objects("Node", by: "name")
        g.equal(nodes.map(\.entity.name), ["Drawer", "File"])
        g.equal(nodes.first?.number("kind"), 7)
        g.equal(nodes.last?.text("kind"), "text")
        g.equal(try c.objects("File", by: "kind").count, 1)
        g.equal(try c.objects("Drawer", NSPredicate(format: "kind == 7")).count, 1)
      }
    },
    GraphCase(
      "INH-005/graph", "the destinations of a relationship to a parent entity have their own entities",
      { Models.inheritance }
    ) { g in
      try g.write { c in
        let top = c.insert("Folder1", ["name": "top"])
        for (name, entity) in [("a", "File"), ("b", "Drawer"), ("c", "Folder9")] {
          c.insert(entity, ["name": name, "parent": top])
        }
      }
      try g.read { c in
        let children = try c.one("Folder1", "name", "top").many("children")
        let byName = Dictionary(
          children.map { ($0.text("name") ?? "", $0.entity.name ?? "") }, uniquingKeysWith: { a, _ in a })
        g.equal(byName, ["a": "File", "b": "Drawer", "c": "Folder9"])
      }
    },
    GraphCase(
      "INH-008/graph", "a uniqueness constraint of a parent entity also applies to its subentities",
      { Models.inheritance },
      needs: .uniqueness, ways: .own
    ) { g in
      try g.inWriting { c in
        c.insert("File", ["code": "x"])
        try c.save()
        let second = c.insert("Folder2", ["code": "x"])
        try g.fails(133021) { try c.save() }
        second.setValue("y", forKey: "code")
        try c.save()
        g.equal(try g.countElsewhere("Node"), 2)
      }
    },
    GraphCase("INH-009", "a delete rule is inherited, and a subentity may have its own", ways: .own) { g in
      let model = Models.model(
        ["Base", "Plain", "Taking", "Part"].map { Models.entity($0, [Models.attribute("name", .stringAttributeType)]) }
      ) { all in
        Models.link(all, Models.many("Base", "parts"), Models.one("Part", "base"))
        Models.link(all, Models.many("Taking", "own", .cascadeDeleteRule), Models.one("Part", "taker"))
        for entity in ["Plain", "Taking"] { all[entity]?.properties.removeAll { $0.name == "name" } }
        all["Base"]?.subentities = ["Plain", "Taking"].compactMap { all[$0] }
      }
      let c = try g.newContext(try g.newCoordinator(model))
      try c.performAndWait {
        for (entity, left) in [("Plain", ["base"]), ("Taking", ["base"])] {
          let owner = c.insert(entity, ["name": entity])
          c.insert("Part", ["name": "base", "base": owner])
          if entity == "Taking" { c.insert("Part", ["name": "own", "taker": owner]) }
          try c.save()
          c.delete(owner)
          try c.save()
          g.equal(try c.objects("Part", by: "name").compactMap { $0.text("name") }, left, entity)
          g.expect(try c.objects("Part").allSatisfy { $0.one("base") == nil }, "a part leads to what is gone")
          for part in try c.objects("Part") { c.delete(part) }
          try c.save()
        }
      }
    },
    GraphCase("INH-011", "an entity whose class does not exist has plain managed objects", ways: .own) { g in
      let entity = Models.entity("Thing", [Models.attribute("name", .stringAttributeType)])
      entity.managedObjectClassName = "NoSuchClassAnywhere"
      let c = try g.newContext(try g.newCoordinator(Models.model([entity])))
      try c.performAndWait {
        let thing = c.insert("Thing", ["name": "a"])
        g.expect(type(of: thing) == NSManagedObject.self, "its class is \(type(of: thing))")
        try c.save()
        g.equal(try c.one("Thing", "name", "a").text("name"), "a")
      }
    },
  ]
}
