import CoreData
import Foundation

extension GraphSuite {
  static let saves: [GraphCase] = [
    GraphCase("SAV-001", "a save without changes notifies its observers and does nothing else", ways: .own) { g in
      try g.inWriting { c in
        let person = c.insert("Person", ["name": "a"])
        try c.save()
        let before = try g.fileState()
        let recorder = Recorder(c)
        try c.save()
        g.equal(recorder.take(), ["willSave", "didSave"])
        g.equal(try g.fileState(), before)
        _ = person.text("name")
        try c.save()
        g.equal(recorder.take(), ["willSave", "didSave"])
      }
    },
    GraphCase("SAV-002/graph", "insertions, updates and deletions of one save are all stored") { g in
      try g.write { c in for name in ["a", "b", "c"] { c.insert("Person", ["name": name, "age": 1]) } }
      try g.write { c in
        c.delete(try c.one("Person", "name", "a"))
        try c.one("Person", "name", "b").setValue(2, forKey: "age")
        c.insert("Person", ["name": "d", "boss": try c.one("Person", "name", "c")])
      }
      try g.read { c in
        g.equal(try c.objects("Person", by: "name").compactMap { $0.text("name") }, ["b", "c", "d"])
        g.equal(try c.objects("Person", by: "name").map { $0.number("age") }, [2, 1, nil])
        g.equal(try c.one("Person", "name", "c").texts("reports", "name"), ["d"])
      }
    },
    GraphCase(
      "SAV-003", "a save calls validation, will-save and did-save in the documented order", { Models.recorded },
      ways: .own
    ) { g in
      try g.inWriting { c in
        let recorder = Recorder(c)
        c.userInfo["recorder"] = recorder
        let object = c.insert("Recorded", ["number": 1])
        c.processPendingChanges()
        g.equal(recorder.take(), ["awakeFromInsert", "didChange inserted 1"])
        try c.save()
        g.equal(
          recorder.take(),
          ["willSave", "willSave of temporary", "validateForInsert", "didSave of permanent", "didSave inserted 1"])
        object.setValue(2, forKey: "number")
        try c.save()
        g.equal(
          recorder.take(),
          [
            "didChange updated 1", "willSave", "willSave of permanent", "validateForUpdate", "didSave of permanent",
            "didSave updated 1",
          ])
        c.delete(object)
        try c.save()
        g.equal(
          recorder.take().filter { !$0.hasSuffix("TurnIntoFault") },
          [
            "prepareForDeletion", "didChange deleted 1", "willSave", "willSave of permanent", "validateForDelete",
            "didSave of permanent", "didSave deleted 1",
          ])
      }
    },
    GraphCase(
      "SAV-004", "changes in willSave are saved; willSave is called again until nothing changes", { Models.recorded }
    ) { g in
      try g.write { c in
        c.userInfo["counts"] = true
        c.insert("Recorded", ["number": 1])
      }
      try g.read { c in g.equal(try c.objects("Recorded").map { $0.number("number") }, [5]) }
    },
    GraphCase(
      "SAV-004/endless", "a willSave that changes objects endlessly is an error", { Models.recorded }, ways: .own
    ) {
      g in
      try g.inWriting { c in
        let object = c.insert("Recorded", ["number": 1])
        c.userInfo["never ends"] = true
        try g.fails(134030) { try c.save() }
        g.expect(object.isInserted, "the object is not inserted any more")
        g.equal(try g.countElsewhere("Recorded"), 0)
        c.userInfo.removeObject(forKey: "never ends")
        try c.save()
        g.equal(try g.countElsewhere("Recorded"), 1)
      }
    },
    GraphCase(
      "SAV-005/graph", "one invalid object of a thousand fails the save, and all changes are kept", { Models.rules },
      ways: .own
    ) { g in
      try g.inWriting { c in
        for number in 0..<999 { c.insert("Ruled", ["title": "\(number)"]) }
        let bad = c.insert("Ruled")
        let before = try g.fileState()
        try g.fails(1570) { try c.save() }
        g.equal(try g.fileState(), before)
        g.equal(c.insertedObjects.count, 1000)
        g.expect(c.insertedObjects.allSatisfy { !$0.isFault && $0.objectID.isTemporaryID }, "an object has changed")
        g.equal(try g.countElsewhere("Ruled"), 0)
        bad.setValue("fixed", forKey: "title")
        try c.save()
        g.equal(try g.countElsewhere("Ruled"), 1000)
      }
    },
    GraphCase("SAV-006", "three invalid objects cause one error with three details", { Models.rules }, ways: .own) {
      g in
      try g.inWriting { c in
        let bad = (0..<3).map { _ in c.insert("Ruled") }
        let error = try g.fails(1560) { try c.save() }
        let details = (error?.userInfo[NSDetailedErrorsKey] as? [any Error] ?? []).map { $0 as NSError }
        g.equal(details.map(\.code), [1570, 1570, 1570])
        g.equal(Set(details.compactMap { $0.userInfo[NSValidationObjectErrorKey] as? NSManagedObject }), Set(bad))
      }
    },
    GraphCase("SAV-007/graph", "a failed save can be repeated without duplicates", { Models.rules }) { g in
      try g.write { c in
        let bad = c.insert("Ruled", ["amount": 11, "title": "a"])
        c.insert("Ruled", ["title": "b"])
        for _ in 0..<3 { try g.fails(1610) { try c.save() } }
        bad.setValue(10, forKey: "amount")
      }
      try g.read { c in g.equal(try c.objects("Ruled", by: "title").map { $0.text("title") }, ["a", "b"]) }
    },
    GraphCase(
      "SAV-008/graph", "a save that failed after permanent IDs were assigned can be repeated", needs: .uniqueness,
      ways: .own
    ) {
      g in
      try g.inWriting { c in
        c.insert("Person", ["email": "x", "name": "old"])
        try c.save()
        let person = c.insert("Person", ["email": "x", "name": "new"])
        try c.obtainPermanentIDs(for: [person])
        let id = person.objectID
        for _ in 0..<2 { try g.fails(133021) { try c.save() } }
        g.expect(person.isInserted && c.insertedObjects.count == 1, "the object is not inserted any more")
        person.setValue("y", forKey: "email")
        try c.save()
        g.expect(id.isTemporaryID || person.objectID == id, "the permanent ID has changed")
        g.equal(try g.countElsewhere("Person"), 2)
      }
    },
    GraphCase("SAV-009", "an object inserted and deleted in one event is not written", ways: .own) { g in
      try g.inWriting { c in
        let recorder = Recorder(c)
        let tag = c.insert("Tag")
        let before = try g.fileState()
        c.delete(tag)
        try c.save()
        g.equal(recorder.take().filter { $0.hasPrefix("didSave") && $0 != "didSave" }, [])
        g.equal(try g.fileState(), before)
        g.equal(try g.countElsewhere("Tag"), 0)
      }
    },
    GraphCase("SAV-010", "a value that is changed and set back writes no row", ways: .own) { g in
      let other = try g.newContext()
      try g.inWriting { c in
        let person = c.insert("Person", ["name": "a"])
        try c.save()
        let elsewhere = try other.performAndWait { () -> NSManagedObject in
          let found = try other.one("Person", "name", "a")
          _ = found.text("name")
          return found
        }
        person.setValue("b", forKey: "name")
        person.setValue("a", forKey: "name")
        try c.save()
        try other.performAndWait {
          elsewhere.setValue("c", forKey: "name")
          try other.save()
        }
        c.refresh(person, mergeChanges: false)
        g.equal(person.text("name"), "c")
      }
    },
    GraphCase(
      "SAV-011/graph", "two objects of one save with the same unique value are refused", needs: .uniqueness, ways: .own
    ) { g in
      try g.inWriting { c in
        let people = (0..<2).map { c.insert("Person", ["email": "x", "name": "\($0)"]) }
        let error = try g.fails(133021) { try c.save() }
        let conflicts = error?.userInfo["conflictList"] as? [NSConstraintConflict] ?? []
        g.expect(!conflicts.isEmpty, "the error lists no conflict")
        g.equal(conflicts.first?.constraint, ["email"])
        g.equal(Set(conflicts.flatMap(\.conflictingObjects)), Set(people))
        g.expect(conflicts.allSatisfy { $0.databaseObject == nil }, "the store has none of the objects")
        g.equal(try g.countElsewhere("Person"), 0)
      }
    },
    GraphCase(
      "SAV-011/changed", "a conflict names the stored object only if that has the value in the store",
      needs: .uniqueness, ways: .own
    ) { g in
      try g.inWriting { c in
        let people = ["a", "b", "c"].map { c.insert("Person", ["email": $0, "name": $0]) }
        try c.save()
        func conflicts() throws -> [NSConstraintConflict] {
          let error = try g.fails(133021) { try c.save() }
          let found = error?.userInfo["conflictList"] as? [NSConstraintConflict] ?? []
          g.expect(!found.isEmpty, "the error lists no conflict")
          return found
        }
        for person in people[..<2] { person.setValue("x", forKey: "email") }
        let first = try conflicts()
        g.expect(first.allSatisfy { $0.databaseObject == nil && $0.databaseSnapshot == nil }, "both values are unsaved")
        g.equal(Set(first.flatMap(\.conflictingObjects)), Set(people[..<2]))
        c.rollback()
        people[0].setValue("c", forKey: "email")
        people[2].setValue("changed", forKey: "name")
        g.equal(Set(try conflicts().map(\.databaseObject)), [people[2]])
      }
    },
    GraphCase("SAV-010/links", "links that are added and removed again write no row", { Models.ordered }, ways: .own) {
      g in
      let other = try g.newContext()
      try g.inWriting { c in
        let songs = ["x", "y"].map { c.insert("Song", ["name": $0]) }
        let (playlist, empty) = (c.insert("Playlist", ["name": "p"]), c.insert("Playlist", ["name": "e"]))
        playlist.setValue(NSOrderedSet(array: songs), forKey: "songs")
        try c.save()
        let elsewhere = try other.performAndWait { () -> [NSManagedObject] in
          let found = try ["p", "e"].map { try other.one("Playlist", "name", $0) }
          for one in found { _ = one.text("name") }
          return found
        }
        playlist.setValue(NSOrderedSet(array: songs.reversed()), forKey: "songs")
        playlist.setValue(NSOrderedSet(array: songs), forKey: "songs")
        empty.setValue(NSOrderedSet(array: songs), forKey: "songs")
        empty.setValue(NSOrderedSet(), forKey: "songs")
        g.expect(!empty.hasPersistentChangedValues, "nothing has changed after all")
        try c.save()
        try other.performAndWait {
          for one in elsewhere { one.setValue("changed", forKey: "name") }
          try other.save()
        }
      }
      try g.elsewhere { c in
        let found = try c.objects("Playlist")
        g.equal(found.map { $0.text("name") }, ["changed", "changed"])
        g.equal(Set(found.map { $0.texts("songs", "name") }), [["x", "y"], []])
      }
    },
    GraphCase("SAV-013/graph", "two objects can swap their unique values in one save", needs: .uniqueness) { g in
      try g.write { c in for email in ["x", "y"] { c.insert("Person", ["email": email, "name": email]) } }
      try g.write { c in
        let (x, y) = (try c.one("Person", "name", "x"), try c.one("Person", "name", "y"))
        x.setValue("y", forKey: "email")
        y.setValue("x", forKey: "email")
      }
      try g.read { c in
        g.equal(try c.one("Person", "name", "x").text("email"), "y")
        g.equal(try c.one("Person", "name", "y").text("email"), "x")
      }
    },
    GraphCase(
      "SAV-016/graph", "a new object can take the unique value of an object deleted in the same save",
      needs: .uniqueness
    ) { g in
      try g.write { $0.insert("Person", ["email": "x", "name": "old"]) }
      try g.write { c in
        c.delete(try c.one("Person", "name", "old"))
        c.insert("Person", ["email": "x", "name": "new"])
      }
      try g.read { c in g.equal(try c.objects("Person").map { $0.text("name") }, ["new"]) }
    },
    GraphCase(
      "SAV-017/readOnly", "a save to two stores writes to neither if the second is read-only",
      { Models.configured },
      needs: .readOnly, ways: .own, sites: 2
    ) { g in
      // Created first, so that the second store can be opened read-only.
      let making = g.emptyCoordinator()
      try g.add(1, to: making, configuration: "B")
      try g.close(making)
      let coordinator = g.emptyCoordinator()
      try g.add(0, to: coordinator, configuration: "A")
      try g.add(1, to: coordinator, configuration: "B", options: [NSReadOnlyPersistentStoreOption: true])
      let c = try g.newContext(coordinator)
      try c.performAndWait {
        let first = c.insert("First", ["name": "a"])
        let refused = c.insert("Second", ["name": "b"])
        _ = try g.fails(513) { try c.save() }
        g.expect(first.isInserted, "the first store's object was saved")
        g.expect(refused.isInserted, "the second store's object is not inserted any more")
        c.delete(refused)
        try c.save()
        g.equal(try c.number(of: "First"), 1)
      }
    },
    GraphCase(
      "SAV-017", "if the second of two stores fails to commit, the error names that store",
      { Models.configured }, needs: .files, ways: .own, sites: 2, disturbsFiles: true
    ) { g in
      g.watchFiles(of: 1)
      let coordinator = g.emptyCoordinator()
      try g.add(0, to: coordinator, configuration: "A")
      let second = try g.add(1, to: coordinator, configuration: "B")
      let c = try g.newContext(coordinator)
      try c.performAndWait {
        let first = c.insert("First", ["name": "a"])
        let refused = c.insert("Second", ["name": "b"])
        let error = try g.whileFilesFail { try g.fails(134040) { try c.save() } }
        g.expect(
          (error?.userInfo[NSAffectedStoresErrorKey] as? [NSPersistentStore])?.contains { $0 === second } ?? false,
          "the error does not name the store")
        g.expect(!first.objectID.isTemporaryID && !first.hasChanges, "the first store's object is not saved")
        g.expect(refused.isInserted, "the second store's object is not inserted any more")
        try c.save()
        g.equal(try c.number(of: "First"), 1)
        g.equal(try c.number(of: "Second"), 1)
      }
    },
    GraphCase("SAV-034", "a rollback discards all changes", ways: .own) { g in
      try g.inWriting { c in
        let kept = c.insert("Person", ["name": "kept", "age": 1])
        let gone = c.insert("Person", ["name": "gone", "boss": kept])
        try c.save()
        let new = c.insert("Person", ["name": "new", "boss": kept])
        kept.setValue(2, forKey: "age")
        c.delete(gone)
        c.processPendingChanges()
        c.rollback()
        g.expect(!c.hasChanges, "there are changes left")
        g.equal(kept.number("age"), 1)
        g.expect(!gone.isDeleted, "the deletion is not taken back")
        g.equal(gone.one("boss")?.text("name"), "kept")
        g.equal(kept.texts("reports", "name"), ["gone"])
        g.expect(new.managedObjectContext == nil, "the new object still has a context")
        g.equal(try c.number(of: "Person"), 2)
        try c.save()
      }
      g.equal(try g.countElsewhere("Person"), 2)
    },
    GraphCase("SAV-035", "a reset forgets every object and every change", ways: .own) { g in
      try g.inWriting { c in
        let saved = c.insert("Tag", ["label": "a"])
        try c.save()
        let id = saved.objectID
        saved.setValue("b", forKey: "label")
        c.insert("Tag", ["label": "new"])
        c.reset()
        g.expect(!c.hasChanges && c.registeredObjects.isEmpty, "there is something left")
        g.expect(saved.managedObjectContext == nil, "an object still has a context")
        g.equal(try c.objects("Tag").map { $0.text("label") }, ["a"])
        g.expect(try c.existingObject(with: id) !== saved, "the old object is used again")
      }
    },
    GraphCase(
      "SAV-039/graph", "a save to a read-only store is refused", needs: .readOnly, ways: .own
    ) { g in
      try g.write { $0.insert("Tag", ["label": "a"]) }
      try g.reopen(options: [NSReadOnlyPersistentStoreOption: true])
      let before = try g.fileState()
      try g.inWriting { c in
        let tag = try c.one("Tag", "label", "a")
        tag.setValue("b", forKey: "label")
        try g.fails(513, 134030, 134070) { try c.save() }
        g.expect(tag.hasChanges, "the change is gone")
        c.rollback()
        c.insert("Tag")
        try g.fails(513, 134030, 134070, what: "saving a new object") { try c.save() }
      }
      g.equal(try g.fileState(), before)
    },
  ]
}

extension Graph {
  /// The contents of a store's files, without those with which processes coordinate.
  func fileState(_ site: Int = 0) throws -> [String: Data] {
    let folder = url(site).deletingLastPathComponent()
    if !isPersistent { return [:] }
    var found: [String: Data] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
      let url = folder.appendingPathComponent(name)
      if name.hasSuffix("-lock") || name.hasSuffix("-shm") { continue }
      if try url.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true {
        found[name] = try Data(contentsOf: url)
      }
    }
    return found
  }
}
