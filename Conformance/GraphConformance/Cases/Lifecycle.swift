import CoreData
import Foundation

extension GraphSuite {
  static let lifecycle: [GraphCase] = [
    GraphCase(
      "LIF-001/graph", "a new store is empty, and its metadata have its type, UUID and version hashes", ways: .own
    ) { g in
      let coordinator = try g.coordinator
      guard let store = coordinator.persistentStores.first else { try g.fail("there is no store") }
      let metadata = coordinator.metadata(for: store)
      g.equal(metadata[NSStoreTypeKey] as? String, g.storeType)
      g.equal(metadata[NSStoreUUIDKey] as? String, store.identifier)
      g.expect(UUID(uuidString: store.identifier) != nil, "\(store.identifier ?? "") is no UUID")
      let hashes = metadata[NSStoreModelVersionHashesKey] as? [String: Data]
      g.equal(hashes ?? [:], g.model.entityVersionHashesByName)
      try g.inWriting { c in for entity in ["Person", "Team", "Tag"] { g.equal(try c.number(of: entity), 0) } }
    },
    GraphCase("LIF-002/graph", "a reopened store has the same contents", needs: .persistent, ways: .own) { g in
      try g.write { $0.insert("Tag", ["label": "a"]) }
      let identifier = try g.coordinator.persistentStores.first?.identifier
      try g.reopen()
      g.equal(try g.coordinator.persistentStores.first?.identifier, identifier)
      g.equal(try g.elsewhere { try $0.objects("Tag").map { $0.text("label") } }, ["a"])
    },
    GraphCase("LIF-004/graph", "metadata are read without a coordinator", needs: .persistent, ways: .own) { g in
      try g.write { $0.insert("Tag") }
      let identifier = try g.coordinator.persistentStores.first?.identifier
      try g.closeAll()
      let before = try g.fileState()
      let found = try NSPersistentStoreCoordinator.metadataForPersistentStore(
        ofType: g.storeType, at: g.url(), options: nil)
      g.equal(found[NSStoreUUIDKey] as? String, identifier)
      g.equal(found[NSStoreTypeKey] as? String, g.storeType)
      g.expect(g.model.isConfiguration(withName: nil, compatibleWithStoreMetadata: found), "the model does not fit")
      g.equal(try g.fileState(), before)
    },
    GraphCase(
      "LIF-005/graph", "metadata set without a coordinator are present when the store is opened", needs: .persistent,
      ways: .own
    ) { g in
      try g.write { $0.insert("Tag") }
      let identifier = try g.coordinator.persistentStores.first?.identifier
      try g.closeAll()
      var metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
        ofType: g.storeType, at: g.url(), options: nil)
      metadata["own"] = "value"
      try NSPersistentStoreCoordinator.setMetadata(
        metadata, forPersistentStoreOfType: g.storeType, at: g.url(), options: nil)
      guard let store = try g.coordinator.persistentStores.first else { try g.fail("there is no store") }
      g.equal(store.metadata["own"] as? String, "value")
      g.equal(store.identifier, identifier)
      g.equal(try g.elsewhere { try $0.number(of: "Tag") }, 1)
    },
    GraphCase("LIF-006", "metadata that are set but not saved are lost", needs: .persistent, ways: .own) { g in
      try g.write { $0.insert("Tag") }
      try g.setMetadata(["own": "value"])
      g.equal(try g.coordinator.persistentStores.first?.metadata["own"] as? String, "value")
      try g.reopen()
      g.expect(try g.coordinator.persistentStores.first?.metadata["own"] == nil, "they are there")
    },
    GraphCase("LIF-007/graph", "metadata that are saved keep their types", needs: .persistent, ways: .own) { g in
      let date = Date(timeIntervalSinceReferenceDate: 12345)
      let values: [String: Any] = [
        "text": "a", "number": 7, "date": date, "data": Data([1, 2]),
        "nested": ["list": [1, 2], "flag": true] as [String: Any],
      ]
      for isAlone in [true, false] {
        try g.setMetadata(values)
        try g.inWriting { c in
          if !isAlone { c.insert("Tag") }
          try c.save()
        }
        try g.reopen()
        guard let found = try g.coordinator.persistentStores.first?.metadata else { try g.fail("there are none") }
        g.equal(found["text"] as? String, "a")
        g.equal((found["number"] as? NSNumber)?.intValue, 7)
        g.equal(found["date"] as? Date, date)
        g.equal(found["data"] as? Data, Data([1, 2]))
        let nested = found["nested"] as? [String: Any]
        g.equal((nested?["list"] as? [Any])?.compactMap { ($0 as? NSNumber)?.intValue }, [1, 2])
        g.equal((nested?["flag"] as? NSNumber)?.boolValue, true)
      }
    },
    GraphCase("LIF-008", "metadata that are not a property list fail the save, and the store is unchanged", ways: .own)
    {
      g in
      try g.write { $0.insert("Tag", ["label": "a"]) }
      let before = try g.fileState()
      try g.setMetadata(["own": NSObject()])
      try g.inWriting { c in
        let tag = c.insert("Tag", ["label": "b"])
        try g.fails(134030, 134060) { try c.save() }
        g.equal(try g.fileState(), before)
        g.equal(try g.countElsewhere("Tag"), 1)
        try g.setMetadata([:])
        try c.save()
        g.expect(!tag.objectID.isTemporaryID, "the tag is not saved")
      }
    },
    GraphCase(
      "LIF-010/graph", "a store of another model is refused, and its files stay unchanged", needs: .persistent,
      ways: .own
    ) { g in
      try g.write { $0.insert("Tag") }
      try g.closeAll()
      let before = try g.fileState()
      try g.fails(134100) { try g.newCoordinator(Models.otherPeople) }
      try g.closeAll()
      g.equal(try g.fileState(), before)
      g.equal(try g.elsewhere { try $0.number(of: "Tag") }, 1)
    },
    GraphCase(
      "LIF-018/graph", "a store that was opened read-only can be read and reports that it is read-only",
      needs: .readOnly, ways: .own
    ) { g in
      try g.write { $0.insert("Tag", ["label": "a"]) }
      try g.reopen(options: [NSReadOnlyPersistentStoreOption: true])
      g.equal(try g.coordinator.persistentStores.first?.isReadOnly, true)
      g.equal(try g.elsewhere { try $0.objects("Tag").map { $0.text("label") } }, ["a"])
    },
    GraphCase(
      "LIF-021/graph", "removing a store with unsaved changes in a context causes only typed errors", ways: .own
    ) { g in
      try g.inWriting { c in
        let tag = c.insert("Tag", ["label": "a"])
        try c.save()
        let id = tag.objectID
        tag.setValue("b", forKey: "label")
        try g.close(g.coordinator)
        try g.fails(134030, 134070, 134080) { try c.save() }
        c.reset()
        try g.fails(133000, 134070, what: "existingObject(with:)") { _ = try c.existingObject(with: id) }
      }
    },
    GraphCase("LIF-022", "a store that was added already is refused", needs: .persistent, ways: .own) { g in
      let coordinator = try g.coordinator
      try g.fails(134070) { try g.add(0, to: coordinator) }
      g.equal(coordinator.persistentStores.count, 1)
      try g.write { $0.insert("Tag") }
      g.equal(try g.countElsewhere("Tag"), 1)
    },
    GraphCase(
      "LIF-023", "two stores of one UUID are not added to one coordinator", needs: .files, ways: .own, sites: 2
    ) { g in
      try g.write { $0.insert("Tag") }
      try g.closeAll()
      try FileManager.default.copyItem(at: g.url(0), to: g.url(1))
      let coordinator = try g.coordinator
      try g.fails(134070) { try g.add(1, to: coordinator) }
      g.equal(coordinator.persistentStores.count, 1)
      g.equal(try g.countElsewhere("Tag"), 1)
      try g.closeAll()
      // On its own it is a store like any other.
      let other = try g.newContext(try g.newCoordinator(site: 1))
      g.equal(try other.performAndWait { try other.number(of: "Tag") }, 1)
    },
    GraphCase(
      "LIF-024/graph", "destroying a store leaves nothing, or an empty file", needs: .files, ways: .own
    ) { g in
      try g.write { c in for _ in 0..<3 { c.insert("Tag") } }
      try g.closeAll()
      try g.emptyCoordinator().destroyPersistentStore(at: g.url(), ofType: g.storeType, options: nil)
      g.isReplaced()
      let left = try g.fileState()
      g.expect(left.count <= 1 && left.allSatisfy { $0.value.isEmpty }, "it leaves \(left.keys)")
      g.equal(try g.elsewhere { try $0.number(of: "Tag") }, 0)
    },
    GraphCase(
      "LIF-025/graph", "a store that replaces another has the other's URL and its own objects", needs: .files,
      ways: .own, sites: 2
    ) { g in
      for site in 0...1 {
        let coordinator = try g.newCoordinator(site: site)
        let c = try g.newContext(coordinator)
        try c.performAndWait {
          c.insert("Tag", ["label": "of \(site)"])
          try c.save()
        }
        try g.close(coordinator)
      }
      g.isReplaced()
      try g.emptyCoordinator().replacePersistentStore(
        at: g.url(0), destinationOptions: nil, withPersistentStoreFrom: g.url(1), sourceOptions: nil,
        ofType: g.storeType)
      g.equal(try g.elsewhere { try $0.objects("Tag").map { $0.text("label") } }, ["of 1"])
    },
    GraphCase(
      "LIF-027", "new objects are saved to the store of their configuration or to their assigned store",
      { Models.configured }, ways: .own, sites: 3
    ) { g in
      let coordinator = g.emptyCoordinator()
      let stores = [
        try g.add(0, to: coordinator, configuration: "A"), try g.add(1, to: coordinator, configuration: "B"),
        try g.add(2, to: coordinator, configuration: "B"),
      ]
      let c = try g.newContext(coordinator)
      try c.performAndWait {
        let objects = ["First", "Second", "Both"].map { c.insert($0, ["name": "x"]) }
        let assigned = c.insert("Both", ["name": "y"])
        c.assign(assigned, to: stores[2])
        try c.save()
        g.equal(objects.map { $0.objectID.persistentStore.flatMap(stores.firstIndex(of:)) }, [0, 1, 0])
        g.expect(assigned.objectID.persistentStore === stores[2], "it is in another store")
        let wrong = c.insert("First", ["name": "z"])
        c.assign(wrong, to: stores[1])
        try g.fails(134030, 134060, what: "a store without the entity") { try c.save() }
        c.delete(wrong)
        try c.save()
        g.equal(try c.number(of: "First"), 1)
      }
    },
    GraphCase("LIF-028", "a coordinator without a store fails the save, and the changes are kept", ways: .own) { g in
      let coordinator = g.emptyCoordinator()
      let c = try g.newContext(coordinator)
      try c.performAndWait {
        let tag = c.insert("Tag", ["label": "a"])
        try g.fails(134080) { try c.save() }
        g.expect(c.hasChanges && tag.isInserted, "the change is gone")
        let named = c.insert("Tag", ["label": "b"])
        try g.add(0, to: coordinator)
        try c.obtainPermanentIDs(for: [named])
        g.expect(!named.objectID.isTemporaryID, "it has no permanent ID")
        try c.save()
        g.expect(!tag.objectID.isTemporaryID, "it is not saved")
      }
      let other = try g.newContext(coordinator)
      g.equal(try other.performAndWait { try other.number(of: "Tag") }, 2)
    },
    GraphCase("LIF-029", "the handler for a store that is added later is called once, also after an error", ways: .own)
    { g in
      let types = [g.storeType, "NoSuchStore"]
      for (type, isGood) in zip(types, [true, false]) {
        let coordinator = g.emptyCoordinator()
        let description = NSPersistentStoreDescription(url: g.url())
        description.type = type
        description.shouldAddStoreAsynchronously = true
        let calls = Recorder()
        let done = DispatchSemaphore(value: 0)
        coordinator.addPersistentStore(with: description) { found, error in
          calls.note("\(found.type) \(error.map { ($0 as NSError).code } ?? 0)")
          done.signal()
        }
        done.wait()
        Thread.sleep(forTimeInterval: 0.02)
        g.equal(calls.take(), ["\(type) \(isGood ? 0 : 134000)"])
        g.equal(coordinator.persistentStores.count, isGood ? 1 : 0)
        try g.close(coordinator)
      }
      try g.reopen()
    },
    GraphCase("LIF-032", "a container whose second store fails can use the first", ways: .own, sites: 2) { g in
      let container = NSPersistentContainer(name: "graph", managedObjectModel: g.model)
      container.persistentStoreDescriptions = [g.storeType, "NoSuchStore"].enumerated().map { site, type in
        let description = NSPersistentStoreDescription(url: g.url(site))
        description.type = type
        return description
      }
      let calls = Recorder()
      container.loadPersistentStores { description, error in
        calls.note("\(description.url == g.url(0) ? 0 : 1) \(error.map { ($0 as NSError).code } ?? 0)")
      }
      g.equal(calls.take().sorted(), ["0 0", "1 134000"])
      let c = container.newBackgroundContext()
      try c.performAndWait {
        c.insert("Tag", ["label": "a"])
        try c.save()
        g.equal(try c.number(of: "Tag"), 1)
        c.reset()
      }
      try g.close(container.persistentStoreCoordinator)
    },
    GraphCase(
      "LIF-034", "moving a store keeps the unsaved changes of its contexts", needs: .copies, ways: .own,
      sites: 2
    ) { g in
      try g.inWriting { c in
        let tag = c.insert("Tag", ["label": "a"])
        try c.save()
        tag.setValue("b", forKey: "label")
        let new = c.insert("Tag", ["label": "new"])
        guard let store = try g.coordinator.persistentStores.first else { try g.fail("there is no store") }
        try g.coordinator.migratePersistentStore(store, to: g.url(1), options: nil, withType: g.storeType)
        g.expect(tag.hasChanges && new.isInserted, "a change is gone")
        try c.save()
        g.equal(try c.objects("Tag", by: "label").map { $0.text("label") }, ["b", "new"])
        g.equal(tag.objectID.persistentStore?.url, g.url(1))
      }
      try g.closeAll()
      let moved = try g.newContext(try g.newCoordinator(site: 1))
      g.equal(
        try moved.performAndWait { try moved.objects("Tag", by: "label").map { $0.text("label") } }, ["b", "new"])
    },
  ]
}

extension Graph {
  /// Sets the application's entries of the store's metadata without saving.
  func setMetadata(_ own: [String: Any]) throws {
    let coordinator = try self.coordinator
    guard let store = coordinator.persistentStores.first else { try fail("there is no store") }
    var metadata = coordinator.metadata(for: store)
    metadata["own"] = nil
    for (key, value) in own { metadata[key] = value }
    coordinator.setMetadata(metadata, for: store)
  }
}
