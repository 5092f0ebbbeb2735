import CoreData
import Foundation

extension GraphSuite {
  static let deletions: [GraphCase] = [
    GraphCase("DEL-001/graph", "nullify empties the inverse and keeps the destination") { g in
      try g.write { c in
        let boss = c.insert("Person", ["name": "boss"])
        c.insert("Person", ["name": "p", "boss": boss, "tags": NSSet(object: c.insert("Tag", ["label": "t"]))])
      }
      try g.write { c in c.delete(try c.one("Person", "name", "boss")) }
      try g.read { c in
        g.expect(try c.one("Person", "name", "p").one("boss") == nil, "the boss is still there")
        g.equal(try c.one("Tag", "label", "t").texts("people", "name"), ["p"])
      }
      try g.write { c in c.delete(try c.one("Person", "name", "p")) }
      try g.read { c in
        g.equal(try c.one("Tag", "label", "t").texts("people", "name"), [])
        g.equal(try c.number(of: "Person"), 0)
      }
    },
    GraphCase(
      "DEL-002", "nullify of a mandatory inverse fails the save, and nothing is deleted", { Models.deletion },
      ways: .own
    ) { g in
      try g.inWriting { c in
        let parent = c.insert("Parent", ["name": "p"])
        let child = c.insert("Child", ["name": "c", "parent": parent])
        try c.save()
        c.delete(parent)
        let error = try g.fails(1570) { try c.save() }
        g.expect(error?.userInfo[NSValidationObjectErrorKey] as? NSManagedObject === child, "not the child")
        g.equal(try g.countElsewhere("Parent"), 1)
        c.rollback()
        g.expect(child.one("parent") === parent, "the rollback does not bring the parent back")
        c.delete(child)
        c.delete(parent)
        try c.save()
        g.equal(try g.countElsewhere("Parent"), 0)
      }
    },
    GraphCase("DEL-003/graph", "cascade deletes a hierarchy of three levels", { Models.deletion }) { g in
      try g.write { c in
        for root in ["a", "b"] {
          let top = c.insert("Root", ["name": root])
          for branch in 0..<3 {
            let middle = c.insert("Branch", ["name": "\(root)\(branch)", "root": top])
            for leaf in 0..<2 { c.insert("Leaf", ["name": "\(root)\(branch)\(leaf)", "branch": middle]) }
          }
        }
      }
      try g.write { c in
        let root = try c.one("Root", "name", "a")
        c.delete(root)
        c.processPendingChanges()
        g.equal(c.deletedObjects.count, 10)
      }
      try g.read { c in
        g.equal(try c.number(of: "Root"), 1)
        g.equal(try c.number(of: "Branch"), 3)
        g.equal(try c.number(of: "Leaf"), 6)
        g.equal(try c.one("Branch", "name", "b1").texts("leaves", "name"), ["b10", "b11"])
      }
    },
    GraphCase("DEL-004/graph", "cascade terminates for a ring and for an object related to itself", { Models.deletion })
    {
      g in
      try g.write { c in
        let a = c.insert("Root", ["name": "a"])
        let b = c.insert("Root", ["name": "b", "twin": a])
        a.setValue(b, forKey: "twin")
        let own = c.insert("Root", ["name": "own"])
        own.setValue(own, forKey: "twin")
        c.insert("Root", ["name": "stays"])
      }
      try g.write { c in
        c.delete(try c.one("Root", "name", "a"))
        c.delete(try c.one("Root", "name", "own"))
      }
      try g.read { c in g.equal(try c.objects("Root").map { $0.text("name") }, ["stays"]) }
    },
    cascade("DEL-005", 10_000, .small), cascade("DEL-005/long", 100_000, .tenth),
    GraphCase("DEL-006", "an object that a cascade reaches twice is deleted once", { Models.deletion }, ways: .own) {
      g in
      try g.inWriting { c in
        let leaf = c.insert("Leaf", ["name": "l"])
        let root = c.insert("Root", ["name": "r"])
        let branch = c.insert("Branch", ["name": "b", "root": root, "main": leaf])
        leaf.setValue(branch, forKey: "branch")
        try c.save()
        let recorder = Recorder(c)
        c.delete(root)
        c.processPendingChanges()
        g.equal(recorder.take(), ["didChange deleted 3"])
        try c.save()
        g.equal(recorder.take(), ["willSave", "didSave deleted 3"])
      }
      for entity in ["Root", "Branch", "Leaf"] { g.equal(try g.countElsewhere(entity), 0, entity) }
    },
    GraphCase(
      "DEL-007", "deny with a destination fails the save; a rollback restores the object", { Models.deletion },
      ways: .own
    ) { g in
      try g.inWriting { c in
        let keeper = c.insert("Keeper", ["name": "k"])
        c.insert("Kept", ["name": "x", "keeper": keeper])
        try c.save()
        c.delete(keeper)
        let error = try g.fails(1600) { try c.save() }
        g.equal(error?.userInfo[NSValidationKeyErrorKey] as? String, "kept")
        g.expect(error?.userInfo[NSValidationObjectErrorKey] as? NSManagedObject === keeper, "not the keeper")
        g.expect(keeper.isDeleted && c.deletedObjects.contains(keeper), "the context does not have it as deleted")
        g.equal(try g.countElsewhere("Keeper"), 1)
        c.rollback()
        g.expect(!keeper.isDeleted && !c.hasChanges, "the rollback left a change")
        g.equal(keeper.texts("kept", "name"), ["x"])
      }
    },
    GraphCase("DEL-008", "deny allows the deletion if the destination is deleted in the same save", { Models.deletion })
    { g in
      try g.write { c in
        c.insert("Kept", ["name": "x", "keeper": c.insert("Keeper", ["name": "k"])])
      }
      try g.write { c in
        c.delete(try c.one("Keeper", "name", "k"))
        c.delete(try c.one("Kept", "name", "x"))
      }
      try g.read { c in
        g.equal(try c.number(of: "Keeper"), 0)
        g.equal(try c.number(of: "Kept"), 0)
      }
    },
    GraphCase("DEL-009", "deny in the middle of a cascade refuses the whole save", { Models.deletion }, ways: .own) {
      g in
      try g.inWriting { c in
        let root = c.insert("Root", ["name": "r"])
        c.insert("Branch", ["name": "b", "root": root])
        let keeper = c.insert("Keeper", ["name": "k", "root": root])
        c.insert("Kept", ["name": "x", "keeper": keeper])
        try c.save()
        c.delete(root)
        let error = try g.fails(1600) { try c.save() }
        g.expect(error?.userInfo[NSValidationObjectErrorKey] as? NSManagedObject === keeper, "not the keeper")
        for entity in ["Root", "Branch", "Keeper", "Kept"] { g.equal(try g.countElsewhere(entity), 1, entity) }
        c.rollback()
        g.equal(root.texts("branches", "name"), ["b"])
      }
    },
    GraphCase(
      "DEL-010", "no action leaves the destination unchanged, and it can still be read", { Models.deletion },
      ways: .own
    ) { g in
      try g.inWriting { c in
        let target = c.insert("Target", ["name": "t"])
        let loose = c.insert("Loose", ["name": "l", "target": target])
        try c.save()
        c.delete(target)
        c.processPendingChanges()
        g.expect(loose.one("target") === target, "the link is gone")
        g.expect(!loose.hasChanges, "the destination has changed")
        loose.setValue(nil, forKey: "target")
        try c.save()
        g.equal(try g.countElsewhere("Target"), 0)
        g.equal(try g.countElsewhere("Loose"), 1)
      }
    },
    GraphCase(
      "DEL-011", "each relationship follows its own delete rule, in any order of declaration", ways: .own
    ) { g in
      let rules: [(String, NSDeleteRule)] = [
        ("nullified", .nullifyDeleteRule), ("taken", .cascadeDeleteRule), ("left", .noActionDeleteRule),
      ]
      for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let model = Models.model(
          ["Owner", "Part"].map { Models.entity($0, [Models.attribute("name", .stringAttributeType)]) }
        ) { all in
          for index in order {
            let (name, rule) = rules[index]
            Models.link(all, Models.many("Owner", name, rule), Models.one("Part", name + "Of"))
          }
        }
        // The order of properties does not affect a model's version.
        let coordinator = try g.newCoordinator(model)
        let c = try g.newContext(coordinator)
        try g.label("\(order)") {
          try c.performAndWait {
            let owner = c.insert("Owner", ["name": "o"])
            for (name, _) in rules { c.insert("Part", ["name": name, name + "Of": owner]) }
            try c.save()
            c.delete(owner)
            c.processPendingChanges()
            let parts = try c.objects("Part", by: "name")
            g.equal(parts.compactMap { $0.text("name") }, ["left", "nullified"])
            g.expect(parts.last?.one("nullifiedOf") == nil, "nullify left the link")
            g.expect(parts.first?.one("leftOf") === owner, "no action changed the link")
            c.rollback()
            for object in try c.objects("Part") + c.objects("Owner") { c.delete(object) }
            try c.save()
          }
        }
        try g.close(coordinator)
      }
    },
    GraphCase("DEL-013", "a new object that is deleted leaves nothing", ways: .own) { g in
      try g.inWriting { c in
        let tag = c.insert("Tag", ["label": "a"])
        let kept = c.insert("Tag", ["label": "b"])
        c.delete(tag)
        try c.save()
        g.equal(try c.objects("Tag").map { $0.text("label") }, ["b"])
        g.expect(tag.managedObjectContext == nil, "the object still has a context")
        g.expect(!kept.objectID.isTemporaryID, "the other object is not saved")
        let other = c.insert("Tag")
        c.delete(other)
        g.expect(!c.deletedObjects.contains(other), "a new object is among the deleted ones")
        try c.save()
        g.expect(!c.hasChanges, "there are changes after the save")
      }
      g.equal(try g.countElsewhere("Tag"), 1)
    },
    GraphCase("DEL-014/graph", "deleting a deleted object does nothing", ways: .own) { g in
      try g.inWriting { c in
        let tag = c.insert("Tag", ["label": "a"])
        try c.save()
        c.delete(tag)
        c.delete(tag)
        g.equal(c.deletedObjects.count, 1)
        try c.save()
        c.delete(tag)
        g.expect(!c.hasChanges, "deleting a deleted object is a change")
        try c.save()
      }
      g.equal(try g.countElsewhere("Tag"), 0)
    },
    GraphCase("DEL-016", "an object that another context has deleted is marked as deleted on first use", ways: .own) {
      g in
      try g.write { $0.insert("Tag", ["label": "a"]) }
      let other = try g.newContext()
      let tag = try other.performAndWait { () -> NSManagedObject in
        let request = NSFetchRequest<NSManagedObject>(entityName: "Tag")
        request.includesPropertyValues = false
        return try other.fetch(request)[0]
      }
      try g.write { c in c.delete(try c.one("Tag", "label", "a")) }
      try other.performAndWait {
        other.refresh(tag, mergeChanges: false)
        g.expect(other.shouldDeleteInaccessibleFaults, "faults that are gone are not deleted by default")
        g.equal(tag.text("label"), nil)
        g.expect(tag.isDeleted, "it does not count as deleted")
        try other.save()
      }
    },
    GraphCase("DEL-017/graph", "the pairs of a deleted object go with it") { g in
      try g.write { c in
        let tags = ["x", "y"].map { c.insert("Tag", ["label": $0]) }
        for name in ["a", "b"] { c.insert("Person", ["name": name, "tags": NSSet(array: tags)]) }
      }
      try g.write { c in c.delete(try c.one("Tag", "label", "x")) }
      try g.read { c in
        for name in ["a", "b"] { g.equal(try c.one("Person", "name", name).texts("tags", "label"), ["y"]) }
        g.equal(try c.one("Tag", "label", "y").texts("people", "name"), ["a", "b"])
      }
    },
    GraphCase(
      "DEL-019", "deletions are propagated at the end of the event, or at the save if configured so",
      { Models.deletion },
      ways: .own
    ) { g in
      for isLate in [true, false] {
        try g.inWriting { c in
          c.propagatesDeletesAtEndOfEvent = isLate
          let root = c.insert("Root", ["name": "r"])
          let branch = c.insert("Branch", ["name": "b", "root": root])
          try c.save()
          c.delete(root)
          g.expect(!branch.isDeleted, "the branch is deleted before the end of the event")
          c.processPendingChanges()
          g.equal(branch.isDeleted, isLate, "after the event")
          g.equal(try c.count(for: NSFetchRequest<NSManagedObject>(entityName: "Branch")), isLate ? 0 : 1)
          try c.save()
          g.equal(try c.count(for: NSFetchRequest<NSManagedObject>(entityName: "Branch")), 0)
        }
      }
      g.equal(try g.countElsewhere("Branch"), 0)
    },
  ]

  private static func cascade(_ id: String, _ count: Int, _ size: Load) -> GraphCase {
    GraphCase(
      id, "a cascade of \(count) objects in a row works on a small stack", { Models.chain }, ways: .own, size: size
    ) { g in
      let c = try g.newContext()
      let thread = SmallThread {
        try c.performAndWait {
          var last: NSManagedObject?
          var first: NSManagedObject?
          for number in 0..<count {
            let link = c.insert("Link", ["number": number])
            if let last { last.setValue(link, forKey: "next") } else { first = link }
            last = link
          }
          try c.save()
          if let first { c.delete(first) }
          try c.save()
        }
      }
      try thread.run()
      g.equal(try g.countElsewhere("Link"), 0)
    }
  }
}
