import CoreData
import Foundation

extension GraphSuite {
  static let identity: [GraphCase] = [
    GraphCase("IDN-001", "a new object has a temporary ID of its own", ways: .own) { g in
      try g.inWriting { c in
        let objects = (0..<2000).map { _ in c.insert("Tag") }
        g.expect(objects.allSatisfy { $0.objectID.isTemporaryID }, "an ID is not temporary")
        g.equal(Set(objects.map(\.objectID)).count, 2000)
        g.equal(c.insertedObjects.count, 2000)
      }
    },
    GraphCase(
      "IDN-001/million", "a million new objects have a million temporary IDs", ways: .own, size: .tenth
    ) { g in
      var ids: Set<NSManagedObjectID> = []
      try g.inWriting { c in
        for _ in stride(from: 0, to: 1_000_000, by: 10_000) {
          for _ in 0..<10_000 { ids.insert(c.insert("Tag").objectID) }
          c.reset()
        }
      }
      g.equal(ids.count, 1_000_000)
    },
    GraphCase("IDN-002/graph", "a saved object keeps its pointer and gets a permanent ID", ways: .own) { g in
      try g.inWriting { c in
        let tag = c.insert("Tag", ["label": "a"])
        let person = c.insert("Person", ["tags": NSSet(object: tag)])
        let temporary = tag.objectID
        try c.save()
        g.expect(!tag.objectID.isTemporaryID && !person.objectID.isTemporaryID, "an ID is still temporary")
        g.expect(tag.objectID != temporary, "the permanent ID equals the temporary one")
        g.equal(tag.objectID.entity.name, "Tag")
        g.expect(c.object(with: tag.objectID) === tag, "the permanent ID leads to another object")
        g.expect(person.many("tags").first === tag, "the relationship leads to another object")
      }
    },
    GraphCase(
      "IDN-003/graph", "a permanent ID can be obtained before the save without publishing the object", ways: .own
    ) {
      g in
      let other = try g.newContext()
      try g.inWriting { c in
        let tag = c.insert("Tag", ["label": "a"])
        try c.obtainPermanentIDs(for: [tag])
        let id = tag.objectID
        g.expect(!id.isTemporaryID, "the ID is temporary")
        g.expect(tag.isInserted && c.hasChanges, "the object is not inserted any more")
        g.equal(try other.performAndWait { try other.number(of: "Tag") }, 0)
        try c.save()
        g.equal(tag.objectID, id)
        g.equal(try other.performAndWait { try other.number(of: "Tag") }, 1)
      }
    },
    GraphCase(
      "IDN-004/graph", "a permanent ID that was obtained but not saved is never given to another object", ways: .own
    ) {
      g in
      try g.inWriting { c in
        let given = c.insert("Tag")
        try c.obtainPermanentIDs(for: [given])
        let id = given.objectID
        c.rollback()
        let next = c.insert("Tag")
        try c.save()
        g.expect(next.objectID != id, "the ID was given again")
        g.expect(next.objectID.uriRepresentation() != id.uriRepresentation(), "the URI was given again")
        try g.fails(133000) { _ = try c.existingObject(with: id) }
      }
    },
    GraphCase("IDN-005", "a permanent ID survives conversion to its URI and back, also after reopening") {
      g in
      var uris: [URL] = []
      try g.write { c in
        let tags = ["a", "b"].map { c.insert("Tag", ["label": $0]) }
        try c.obtainPermanentIDs(for: tags)
        uris = tags.map { $0.objectID.uriRepresentation() }
      }
      let store = try g.coordinator.persistentStores.first
      for uri in uris {
        g.equal(uri.scheme, "x-coredata")
        g.equal(uri.host, store?.identifier)
        g.equal(uri.pathComponents.dropFirst().first, "Tag")
      }
      try g.read { c in
        for (uri, label) in zip(uris, ["a", "b"]) {
          guard let id = c.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: uri) else {
            try g.fail("\(uri) leads to nothing")
          }
          g.equal(id.uriRepresentation(), uri)
          g.equal(try c.existingObject(with: id).text("label"), label)
        }
      }
    },
    GraphCase(
      "IDN-006", "the URI of a temporary ID identifies it as temporary and resolves to nil after the save", ways: .own
    ) { g in
      try g.inWriting { c in
        let tag = c.insert("Tag")
        let id = tag.objectID
        let uri = id.uriRepresentation()
        g.expect(id.isTemporaryID, "the ID is not temporary")
        g.equal(uri.scheme, "x-coredata")
        try c.save()
        g.expect(id.isTemporaryID, "a held ID has changed")
        g.expect(try g.coordinator.managedObjectID(forURIRepresentation: uri) == nil, "the old URI leads somewhere")
      }
    },
    GraphCase("IDN-007", "the URI of an unknown store resolves to nil") { g in
      try g.write { $0.insert("Tag") }
      let unknown = URL(string: "x-coredata://\(UUID().uuidString)/Tag/p1")
      try g.read { c in
        for uri in [unknown].compactMap({ $0 }) {
          g.expect(
            c.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: uri) == nil, "it leads somewhere")
        }
      }
    },
    GraphCase("IDN-008/graph", "malformed URIs resolve to nil", ways: .own) { g in
      try g.leadNowhere { host in
        [
          "http://\(host)/Tag/p1", "x-coredata://\(host)", "x-coredata://\(host)/", "x-coredata://\(host)/Tag",
          "x-coredata://\(host)/Tag/p", "x-coredata://\(host)/Tag/1", "x-coredata://\(host)//p1",
          "x-coredata:///Tag/p1",
          "x-coredata://\(host)/" + String(repeating: "T", count: 1_000_000) + "/p1",
        ]
      }
    },
    // A store that a client implements chooses the names of its objects itself.
    GraphCase("IDN-008/graph/numbers", "URIs with malformed numbers resolve to nil", ways: .own, needsBackend: true) {
      g in
      try g.leadNowhere { host in
        [
          "-1", "0", "18446744073709551616", "1/../p2", "1/p2", "%31x", "1x", "9223372036854775808", "+1", "01",
        ].map { "x-coredata://\(host)/Tag/p\($0)" }
      }
    },
    GraphCase("IDN-009", "the URI of an unknown entity resolves to nil", ways: .own) { g in
      try g.write { $0.insert("Tag") }
      let coordinator = try g.coordinator
      let host = coordinator.persistentStores.first?.identifier ?? ""
      for entity in ["List", "tag", "Tags", "Person%20"] {
        guard let uri = URL(string: "x-coredata://\(host)/\(entity)/p1") else { continue }
        g.expect(coordinator.managedObjectID(forURIRepresentation: uri) == nil, "\(entity) leads somewhere")
      }
      g.expect(
        URL(string: "x-coredata://\(host)/Tag/p1").flatMap(coordinator.managedObjectID(forURIRepresentation:)) != nil,
        "the URI of the object leads nowhere")
    },
    GraphCase("IDN-012", "a row is one object in a context, however it is found") { g in
      try g.write { c in
        c.insert("Person", ["name": "p", "team": c.insert("Team", ["title": "t"])])
      }
      try g.read { c in
        let team = try c.one("Team", "title", "t")
        let id = team.objectID
        let byURI = c.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: id.uriRepresentation())
        g.expect(c.object(with: id) === team, "object(with:) gives another")
        g.expect(try c.existingObject(with: id) === team, "existingObject(with:) gives another")
        g.expect(c.registeredObject(for: id) === team, "registeredObject(for:) gives another")
        g.expect(try c.one("Person", "name", "p").one("team") === team, "the relationship gives another")
        g.expect(byURI.map { c.object(with: $0) === team } ?? false, "the URI gives another")
        g.expect(try c.one("Team", "title", "t") === team, "a second fetch gives another")
      }
    },
    GraphCase("IDN-013", "a row is two objects with equal IDs in two contexts", ways: .own) { g in
      try g.write { $0.insert("Tag", ["label": "a"]) }
      let (first, second) = (try g.newContext(), try g.newContext())
      let a = try first.performAndWait { try first.one("Tag", "label", "a") }
      let b = try second.performAndWait { try second.one("Tag", "label", "a") }
      g.expect(a !== b, "the contexts share an object")
      first.performAndWait {
        second.performAndWait {
          g.equal(a.objectID, b.objectID)
          g.equal(a.objectID.hash, b.objectID.hash)
          g.equal(Set([a.objectID, b.objectID]).count, 1)
        }
      }
    },
    GraphCase(
      "IDN-014", "object(with:) returns a fault for a deleted row, which is marked as deleted on use",
      ways: .own
    ) { g in
      let id = try g.deletedID()
      let other = try g.newContext()
      other.performAndWait {
        let object = other.object(with: id)
        g.expect(object.isFault, "it is no fault")
        g.equal(object.text("label"), nil)
        g.expect(object.isDeleted, "it does not count as deleted")
        g.expect(!other.hasChanges || other.deletedObjects.contains(object), "the context has other changes")
      }
    },
    GraphCase("IDN-015/graph", "existingObject(with:) throws 133000 for a deleted row", ways: .own) { g in
      let id = try g.deletedID()
      let other = try g.newContext()
      try other.performAndWait {
        try g.fails(133000) { _ = try other.existingObject(with: id) }
        try g.fails(133000, what: "a second call") { _ = try other.existingObject(with: id) }
      }
    },
    GraphCase("IDN-016", "registeredObject(for:) returns only registered objects", ways: .own) { g in
      try g.write { $0.insert("Tag", ["label": "a"]) }
      let id = try g.inWriting { try $0.one("Tag", "label", "a").objectID }
      let other = try g.newContext()
      try other.performAndWait {
        g.expect(other.registeredObject(for: id) == nil, "there is an object before anything was read")
        let object = try other.existingObject(with: id)
        g.expect(other.registeredObject(for: id) === object, "the object is not registered")
      }
    },
    GraphCase(
      "IDN-017/graph", "the ID of an object fetched by a parent entity has its own entity", { Models.inheritance }
    ) { g in
      try g.write { $0.insert("Folder3", ["name": "x"]) }
      try g.read { c in
        for entity in ["Node", "Folder1", "Folder2", "Folder3"] {
          let found = try c.one(entity, "name", "x")
          g.equal(found.objectID.entity.name, "Folder3", entity)
          g.equal(found.entity.name, "Folder3", entity)
        }
      }
    },
    GraphCase(
      "IDN-018", "old URIs resolve to the right store, in whatever order the stores were added", needs: .persistent,
      ways: .own,
      sites: 2
    ) { g in
      var uris: [URL] = []
      for site in 0...1 {
        let coordinator = try g.newCoordinator(site: site)
        let c = try g.newContext(coordinator)
        uris.append(
          try c.performAndWait {
            let tag = c.insert("Tag", ["label": "of \(site)"])
            try c.save()
            return tag.objectID.uriRepresentation()
          })
        try g.close(coordinator)
      }
      for order in [[0, 1], [1, 0]] {
        let coordinator = g.emptyCoordinator()
        for site in order { try g.add(site, to: coordinator) }
        let c = try g.newContext(coordinator)
        try c.performAndWait {
          for (site, uri) in uris.enumerated() {
            guard let id = coordinator.managedObjectID(forURIRepresentation: uri) else {
              try g.fail("the URI of store \(site) leads nowhere")
            }
            g.equal(id.persistentStore?.url, g.url(site))
            g.equal(try c.existingObject(with: id).text("label"), "of \(site)")
          }
        }
        try g.close(coordinator)
      }
    },
    GraphCase("IDN-022", "a temporary ID finds its object after the save", ways: .own) { g in
      try g.inWriting { c in
        let tag = c.insert("Tag", ["label": "a"])
        let old = tag.objectID
        let held: Set = [old]
        try c.save()
        g.expect(
          !tag.objectID.isTemporaryID && old.isTemporaryID, "the ID from before is changed, or the new one is not")
        g.expect(held.contains(old), "the set has lost what it holds")
        g.expect(!held.contains(tag.objectID), "the set has what it does not hold")
        g.expect(c.object(with: old) === tag, "object(with:)")
        g.expect(try c.existingObject(with: old) === tag, "existingObject(with:)")
        g.expect(c.registeredObject(for: old) === tag, "registeredObject(for:)")
        let id = tag.objectID
        c.reset()
        g.expect(c.registeredObject(for: old) == nil, "an object that is not there is registered")
        g.equal(c.object(with: old).objectID, id)
        g.equal(try c.existingObject(with: old).text("label"), "a")
        c.delete(try c.existingObject(with: id))
        try c.save()
        g.expect((try? c.existingObject(with: old)) == nil, "the ID from before leads to an object that was deleted")
      }
    },
  ]
}

extension Graph {
  /// Runs `body` on the writing context.
  func inWriting<R>(_ body: (NSManagedObjectContext) throws -> R) throws -> R { try run(body, writing) }

  /// The ID of a tag that was saved and then deleted.
  func deletedID() throws -> NSManagedObjectID {
    try inWriting { c in
      let tag = c.insert("Tag", ["label": "a"])
      try c.save()
      let id = tag.objectID
      c.delete(tag)
      try c.save()
      return id
    }
  }
}

extension Graph {
  /// Expects that URIs with the store's UUID identify no object.
  fileprivate func leadNowhere(_ uris: (_ host: String) -> [String]) throws {
    try write { $0.insert("Tag") }
    let coordinator = try coordinator
    for text in uris(coordinator.persistentStores.first?.identifier ?? "") {
      guard let uri = URL(string: text) else { continue }
      expect(coordinator.managedObjectID(forURIRepresentation: uri) == nil, "\(text.prefix(80)) leads somewhere")
    }
  }
}
