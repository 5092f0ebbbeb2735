import CoreData
import Foundation

extension GraphSuite {
  static let copies: [GraphCase] = [
    copying("S2S-001", "people", { Models.people }) { c in
      let teams = ["a", "b"].map { c.insert("Team", ["title": $0]) }
      let tags = ["x", "y", "z"].map { c.insert("Tag", ["label": $0]) }
      var boss: NSManagedObject?
      for number in 0..<60 {
        let person = c.insert("Person", ["name": "p\(number)", "age": number, "team": teams[number % 2]])
        if number % 3 > 0 { person.setValue(boss, forKey: "boss") }
        if number % 4 == 0 { person.setValue("\(number)@example.org", forKey: "email") }
        if number % 5 == 0 { person.setValue(Data([UInt8(number)]), forKey: "photo") }
        person.setValue(NSSet(array: tags.filter { _ in number % 7 > 2 }), forKey: "tags")
        boss = person
      }
    },
    copying("S2S-001/inheritance", "an entity hierarchy", { Models.inheritance }) { c in
      var parent: NSManagedObject?
      for level in 1...15 {
        let folder = c.insert("Folder\(level)", ["name": "f\(level)", "code": "c\(level)", "level\(level)": level])
        folder.setValue(parent, forKey: "parent")
        c.insert("File", ["name": "x\(level)", "kind": "k", "parent": folder])
        c.insert("Drawer", ["name": "d\(level)", "kind": level])
        parent = folder
      }
    },
    copying("S2S-001/ordered", "orders", { Models.ordered }) { c in
      let songs = (0..<9).map { c.insert("Song", ["name": "s\($0)"]) }
      for number in 0..<3 {
        let turned = (0..<9).map { songs[($0 * 2 + number) % 9] }
        c.insert("Playlist", ["name": "p\(number)", "songs": NSOrderedSet(array: turned)])
        let items = (0..<5).map { c.insert("Item", ["name": "i\(number)\(($0 * 3) % 5)"]) }
        c.insert("List", ["name": "l\(number)", "items": NSOrderedSet(array: items)])
      }
    },
    copying("S2S-003", "the limits of all types", { Models.allTypes }) { c in
      c.insert("AllTypes", ["number": 0])
      let edges: [[String: Any]] = [
        [
          "int16": -32768, "int32": -2_147_483_648, "int64": Int64.min, "double": Double.leastNonzeroMagnitude,
          "float": -Float.greatestFiniteMagnitude,
        ],
        ["int16": 32767, "int32": 2_147_483_647, "int64": Int64.max, "double": Double.infinity, "float": Float(0.1)],
        ["string": "", "data": Data(), "bool": false],
        ["string": "a\0b\u{1}\r\n\u{FFFE} ", "data": Data((0...255).map { UInt8($0) }), "bool": true],
        ["decimal": NSDecimalNumber(string: "12345678901234567890123456789012345678")],
        ["decimal": NSDecimalNumber(string: "-0.000000000000000000000000000000001")],
        ["date": Date.distantPast], ["date": Date(timeIntervalSinceReferenceDate: 0.000_000_1)],
        ["uuid": UUID(uuidString: "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF") ?? UUID()],
        ["place": ["city": "x"] as [String: Any]], ["transformable": NSArray(array: ["t", 1])],
      ]
      for (number, values) in edges.enumerated() { c.insert("AllTypes", values).setValue(number + 1, forKey: "number") }
    },
    copying("S2S-009", "large data, wherever it is stored", { Models.allTypes }) { c in
      for (number, size) in [0, 100, 300_000].enumerated() {
        c.insert("AllTypes", ["number": number, "large": Data(repeating: UInt8(number), count: size)])
      }
    },
    GraphCase(
      "S2S-002", "a store converted to another type and back has the same contents", needs: .copies, ways: .own,
      sites: 2
    ) { g in
      try g.fillWithPeople()
      let expected = try g.elsewhere { try Dump.lines($0) }
      try g.withPeers { _, type, url, isPersistent in
        let coordinator = try g.newCoordinator()
        let there = try coordinator.migratePersistentStore(
          try g.onlyStore(of: coordinator), to: url, options: nil, withType: type)
        let home = try coordinator.migratePersistentStore(there, to: g.url(1), options: nil, withType: g.storeType)
        let c = try g.newContext(coordinator)
        g.equal(try c.performAndWait { try Dump.lines(c) }, expected)
        try g.close(coordinator)
        g.expect(home.type == g.storeType, "it has the type \(home.type)")
        try g.emptyCoordinator().destroyPersistentStore(at: g.url(1), ofType: g.storeType, options: nil)
        if isPersistent { try g.emptyCoordinator().destroyPersistentStore(at: url, ofType: type, options: nil) }
      }
    },
    GraphCase(
      "S2S-004", "a copy has the application's metadata, its own type and a new UUID", ways: .own
    ) { g in
      try g.withPeers { name, type, url, isPersistent in
        let coordinator = try g.newCoordinator()
        let old = try g.onlyStore(of: coordinator)
        try g.run(
          { c in
            c.insert("Tag", ["label": "t"])
            coordinator.setMetadata(coordinator.metadata(for: old).merging(["own": "value"]) { $1 }, for: old)
            try c.save()
          }, try g.newContext(coordinator))
        let identifier = old.identifier
        let new = try coordinator.migratePersistentStore(old, to: url, options: nil, withType: type)
        g.equal(new.metadata["own"] as? String, "value")
        g.equal(new.metadata[NSStoreTypeKey] as? String, type)
        g.equal(new.metadata[NSStoreUUIDKey] as? String, new.identifier)
        g.expect(new.identifier != identifier, "it has the old UUID")
        g.equal(new.metadata[NSStoreModelVersionHashesKey] as? [String: Data] ?? [:], g.model.entityVersionHashesByName)
        try g.close(coordinator)
        if isPersistent { try g.emptyCoordinator().destroyPersistentStore(at: url, ofType: type, options: nil) }
      }
    },
    GraphCase("S2S-005", "copying a store leaves the original unchanged", needs: .persistent, ways: .own) { g in
      try g.fillWithPeople()
      try g.closeAll()
      // Opens the store once, because opening may change its files.
      try g.reopen()
      try g.closeAll()
      let before = try g.fileState()
      try g.withPeers { _, type, url, isPersistent in
        let coordinator = try g.newCoordinator()
        try coordinator.migratePersistentStore(try g.onlyStore(of: coordinator), to: url, options: nil, withType: type)
        try g.close(coordinator)
        g.equal(try g.fileState(), before)
        if isPersistent { try g.emptyCoordinator().destroyPersistentStore(at: url, ofType: type, options: nil) }
      }
    },
    GraphCase(
      "S2S-006", "a copy to the URL of another store is refused, and both stay unchanged", needs: .fileCopies,
      ways: .own,
      sites: 2
    ) { g in
      try g.write { $0.insert("Tag", ["label": "first"]) }
      let other = try g.newCoordinator(site: 1)
      let c = try g.newContext(other)
      try c.performAndWait {
        c.insert("Tag", ["label": "second"])
        try c.save()
      }
      try g.close(other)
      let before = try g.fileState(1)
      try g.inWriting { c in
        let coordinator = try g.coordinator
        let store = try g.onlyStore(of: coordinator)
        try g.fails(516) {
          try coordinator.migratePersistentStore(store, to: g.url(1), options: nil, withType: g.storeType)
        }
        g.expect(coordinator.persistentStores == [store], "the coordinator has another store")
        c.insert("Tag", ["label": "third"])
        try c.save()
        g.equal(try c.objects("Tag", by: "label").map { $0.text("label") }, ["first", "third"])
      }
      g.equal(try g.fileState(1), before)
    },
    GraphCase("S2S-008", "existing objects and IDs continue to work with the new store", ways: .own) { g in
      try g.withPeers { _, type, url, isPersistent in
        try g.inWriting { c in
          let tag = c.insert("Tag", ["label": "a"])
          try c.save()
          let id = tag.objectID
          let coordinator = try g.coordinator
          let new = try coordinator.migratePersistentStore(
            try g.onlyStore(of: coordinator), to: url, options: nil, withType: type)
          g.equal(tag.text("label"), "a")
          g.expect(try c.existingObject(with: id) === tag, "the ID leads to another object")
          tag.setValue("b", forKey: "label")
          try c.save()
          g.expect(tag.objectID.persistentStore === new, "it is in the old store")
          g.equal(try g.elsewhere { try $0.objects("Tag").filter { $0.text("label") == "b" }.count }, 1)
        }
        try g.closeAll()
        if isPersistent { try g.emptyCoordinator().destroyPersistentStore(at: url, ofType: type, options: nil) }
      }
    },
    randomCopies("S2S-012", seeds: 2, .small), randomCopies("S2S-012/thousand", seeds: 1000, .million),
  ]

  /// Fills a store with `fill`, copies it to every type, and compares the contents.
  private static func copying(
    _ id: String, _ what: String, _ model: @escaping @Sendable () -> NSManagedObjectModel,
    _ fill: @escaping @Sendable (NSManagedObjectContext) throws -> Void
  ) -> GraphCase {
    GraphCase(id, "\(what) are the same in a store of every type", model, ways: .own) { g in
      try g.copyToPeers(g.model, fill)
    }
  }

  /// Copies random objects of random models.
  private static func randomCopies(_ id: String, seeds: Int, _ size: Load) -> GraphCase {
    GraphCase(id, "random objects of random models are the same in a copy", ways: .own, size: size) { g in
      for number in 0..<seeds {
        var random = RandomGraph(seed: g.seed &+ UInt64(number))
        let model = random.model()
        try g.label("seed \(g.seed &+ UInt64(number))") {
          try g.copyToPeers(model) { random.fill($0) }
          try g.closeAll()
          if g.isPersistent {
            try g.emptyCoordinator(model).destroyPersistentStore(at: g.url(), ofType: g.storeType, options: nil)
          }
          g.isReplaced()
        }
      }
    }
  }
}

extension Graph {
  func onlyStore(of coordinator: NSPersistentStoreCoordinator) throws -> NSPersistentStore {
    guard let store = coordinator.persistentStores.first, coordinator.persistentStores.count == 1 else {
      try fail("there are \(coordinator.persistentStores.count) stores")
    }
    return store
  }

  fileprivate func fillWithPeople() throws {
    try write { c in
      let team = c.insert("Team", ["title": "t"])
      for number in 0..<20 {
        c.insert(
          "Person",
          ["name": "p\(number)", "team": team, "tags": NSSet(object: c.insert("Tag", ["label": "\(number)"]))])
      }
    }
  }

  /// Copies the case's store to one of every type and compares the contents. A store that keeps nothing after it is
  /// closed is filled again for each type.
  fileprivate func copyToPeers(
    _ model: NSManagedObjectModel, _ fill: (NSManagedObjectContext) throws -> Void
  ) throws {
    var isFilled = false
    try withPeers { _, type, url, isTargetPersistent in
      let coordinator = try newCoordinator(model)
      if !isPersistent || !isFilled {
        isFilled = true
        let filling = try newContext(coordinator)
        try filling.performAndWait {
          try fill(filling)
          try filling.save()
        }
      }
      let expected = try dump(coordinator)
      expect(!expected.isEmpty, "there is nothing to copy")
      let store = try onlyStore(of: coordinator)
      try coordinator.migratePersistentStore(store, to: url, options: nil, withType: type)
      equal(try dump(coordinator), expected)
      try close(coordinator)
      if !isTargetPersistent { return }
      let again = emptyCoordinator(model)
      try again.addPersistentStore(ofType: type, configurationName: nil, at: url, options: nil)
      equal(try dump(again), expected, "opened again")
      try close(again)
      try emptyCoordinator(model).destroyPersistentStore(at: url, ofType: type, options: nil)
    }
  }

  /// The contents of a coordinator's stores, read in a new context.
  private func dump(_ coordinator: NSPersistentStoreCoordinator) throws -> [String] {
    let context = try newContext(coordinator)
    return try context.performAndWait {
      let lines = try Dump.lines(context)
      context.reset()
      return lines
    }
  }
}

/// All fetched objects as lines of text. Equal graphs have equal lines.
enum Dump {
  static func lines(_ context: NSManagedObjectContext) throws -> [String] {
    guard let model = context.persistentStoreCoordinator?.managedObjectModel else { return [] }
    var lines: [String] = []
    for entity in model.entities where entity.superentity == nil {
      for object in try context.objects(entity.name ?? "") { lines.append(line(object)) }
    }
    return lines.sorted()
  }

  private static func line(_ object: NSManagedObject) -> String {
    let attributes = object.entity.attributesByName.keys.sorted().map { key in
      "\(key)=\(text(object.value(forKey: key)))"
    }
    let links = object.entity.relationshipsByName.sorted { $0.key < $1.key }.map { key, relationship in
      let members = relationship.isToMany ? object.many(key) : object.one(key).map { [$0] } ?? []
      let names = members.map(name)
      return "\(key)=[\((relationship.isOrdered ? names : names.sorted()).joined(separator: ","))]"
    }
    return "\(object.entity.name ?? "") \((attributes + links).joined(separator: " "))"
  }

  /// The name that distinguishes an object from the others of the case.
  private static func name(_ object: NSManagedObject) -> String {
    let key = ["name", "title", "label"].first { object.entity.attributesByName[$0] != nil }
    return key.flatMap(object.text) ?? "?"
  }

  private static func text(_ value: Any?) -> String {
    switch value {
    case nil: "nil"
    case let text as String: text.debugDescription
    case let data as Data: "\(data.count) bytes \(data.reduce(0) { ($0 &* 31) &+ Int($1) })"
    case let date as Date: "date \(date.timeIntervalSinceReferenceDate.bitPattern)"
    case let number as NSDecimalNumber: "decimal \(number)"
    case let dictionary as [String: Any]:
      dictionary.sorted { $0.key < $1.key }.map { "\($0.key):\(text($0.value))" }.joined(separator: ";")
    case let array as [Any]: array.map(text).joined(separator: ",")
    case let value?: "\(value)"
    }
  }
}
