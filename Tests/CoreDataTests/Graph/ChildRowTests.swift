import CoreData
import Foundation
import Testing

/// What a parent context gives its children, and takes from them, object by object.
@Suite struct ChildRowTests {
  /// A person whose age is 1, saved by the root.
  private func saved(_ name: String, _ family: ContextChain) throws -> Person {
    try family.root.performAndWait {
      let person = Person(context: family.root)
      (person.name, person.age) = (name, 1)
      try family.root.save()
      return person
    }
  }

  /// With `shouldRefreshRefetchedObjects` unchanged objects get the parent's present values; changed ones stay.
  @Test(arguments: [true, false]) func aRefreshingFetchShowsTheParentsValues(readsRows: Bool) throws {
    let family = try ContextChain()
    let (ada, bob) = (try saved("Ada", family), try saved("Bob", family))
    try family.child.performAndWait {
      let seen = try family.child.fetch(ContextChain.people())
      #expect(seen.map(\.age) == [1, 1])
      seen[1].salary = 3
      family.root.performAndWait { (ada.age, bob.age) = (9, 9) }
      let request = ContextChain.people()
      (request.shouldRefreshRefetchedObjects, request.includesPropertyValues) = (true, readsRows)
      #expect(try family.child.fetch(request) == seen)
      #expect(seen[0].age == 9 && !seen[0].hasChanges)
      #expect(seen[1].salary == 3 && seen[1].isUpdated)
    }
  }

  /// A parent shows what it has read, even where the store has another value by now.
  @Test func aChildSeesWhatItsParentHasRead() throws {
    let family = try ContextChain()
    let ada = try saved("Ada", family)
    let id = ada.objectID
    try family.company.run { other in
      (try other.existingObject(with: id) as? Person)?.age = 2
      try other.save()
    }
    family.child.performAndWait {
      #expect((family.child.object(with: id) as? Person)?.age == 1)
    }
    family.root.performAndWait { #expect(ada.age == 1) }
  }

  /// Outside of blocks a fault takes the parent's present row when it fires.
  @Test func aFaultTakesTheParentsPresentRow() throws {
    let family = try ContextChain()
    try family.root.performAndWait {
      Person(context: family.root).name = "Ada"
      try family.root.save()
    }
    let child = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
    child.parent = family.root
    let found = try child.fetch(ContextChain.people())
    try family.root.performAndWait { try family.root.fetch(ContextChain.people()).first?.age = 9 }
    #expect(found.first?.isFault == true && found.first?.age == 9)
  }

  /// Within a block faults keep the rows of a fetch, so that its results agree with each other.
  @Test func theResultsOfAFetchAgreeWithinABlock() throws {
    let family = try ContextChain()
    let ada = try saved("Ada", family)
    let found = try family.child.performAndWait {
      let found = try family.child.fetch(ContextChain.people())
      family.root.performAndWait { ada.age = 9 }
      #expect(found.first?.isFault == true && found.first?.age == 1)
      family.child.refreshAllObjects()
      return found
    }
    family.child.performAndWait { #expect(found.first?.age == 9) }
  }

  /// A link to an object that the parent has deleted is still there, as in the parent, where no rule ends it.
  @Test func anUnchangedLinkToADeletedObjectStays() throws {
    let stack = try UndoStack(levels: 2)
    let (parent, child) = (stack.contexts[0], stack.contexts[1])
    let (a, b) = stack.event { context in
      let (a, b) = (UndoStack.insert("a", context), UndoStack.insert("b", context))
      a["seen"] = b
      return (a, b)
    }
    try stack.saveAll()
    let gone = b.objectID
    child.performAndWait { child.refreshAllObjects() }
    try parent.performAndWait {
      for item in try UndoStack.items(parent) {
        // A value of variable length makes the parent pack the whole row.
        if item["name"] as? String == "a" { item["address"] = ["city": "Bern"] } else { parent.delete(item) }
      }
      parent.processPendingChanges()
    }
    child.performAndWait {
      #expect((a["address"] as? [String: Any])?["city"] as? String == "Bern")
      #expect((a["seen"] as? NSManagedObject)?.objectID == gone)
    }
  }

  /// A new link to an object that the parent has deleted will not be saved, so the child does not see it.
  @Test func aNewLinkToADeletedObjectIsNone() throws {
    let stack = try UndoStack(levels: 2)
    let (parent, child) = (stack.contexts[0], stack.contexts[1])
    let a = stack.event { UndoStack.insert("a", $0) }
    stack.event { _ = UndoStack.insert("b", $0) }
    try stack.saveAll()
    child.performAndWait { child.refreshAllObjects() }
    try parent.performAndWait {
      let items = try UndoStack.items(parent)
      let b = try #require(items.first { $0["name"] as? String == "b" })
      items.first { $0["name"] as? String == "a" }?["seen"] = b
      parent.processPendingChanges()
      parent.delete(b)
      parent.processPendingChanges()
    }
    child.performAndWait { #expect(a["seen"] == nil) }
    try stack.saveAll()
    let seen = try stack.elsewhere { other in try UndoStack.items(other).map { $0["seen"] == nil } }
    #expect(seen == [true])
  }

  /// A fault that has its members, because a fetch has prefetched them, reads them again where its row is another one.
  @Test func membersFollowTheRowOfAFault() throws {
    let stack = try UndoStack(levels: 2)
    let (parent, child) = (stack.contexts[0], stack.contexts[1])
    let (a, b) = stack.event { (UndoStack.insert("a", $0), UndoStack.insert("b", $0)) }
    try stack.saveAll()
    try child.performAndWait {
      child.refreshAllObjects()
      let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
      request.relationshipKeyPathsForPrefetching = ["friends"]
      let found = try child.fetch(request)
      #expect(found.count == 2 && a.isFault && !a.hasFault(forRelationshipNamed: "friends"))
    }
    try parent.performAndWait {
      let items = try UndoStack.items(parent)
      let own = items.first { $0["name"] as? String == "a" }
      own?["number"] = 5
      own?["friends"] = NSSet(array: items)
      parent.processPendingChanges()
    }
    try child.performAndWait {
      _ = try UndoStack.items(child)
      #expect(Set(UndoStack.linked(a, "friends")) == [a, b] && a["number"] as? Int == 5)
    }
  }

  /// Objects of one batch are read together, also where the parent has deleted the first and changed the second.
  @Test func aBatchHasTheParentsRows() throws {
    let family = try ContextChain()
    let (ada, bob, eve) = (try saved("Ada", family), try saved("Bob", family), try saved("Eve", family))
    try family.child.performAndWait {
      let request = ContextChain.people()
      request.fetchBatchSize = 3
      let found = try family.child.fetch(request)
      family.root.performAndWait {
        family.root.delete(ada)
        (bob.age, eve.age) = (5, 6)
        family.root.processPendingChanges()
      }
      #expect(found.map(\.age) == [0, 5, 6])
    }
  }

  /// A link that the child does not know of lets a delete rule reach an object that the child has changed. The child's
  /// change is later, so the object stays.
  @Test func whatTheChildHasChangedOutlivesDeleteRules() throws {
    let stack = try UndoStack(levels: 2)
    let (parent, child) = (stack.contexts[0], stack.contexts[1])
    let (owner, member) = stack.event { (UndoStack.insert("owner", $0), UndoStack.insert("member", $0)) }
    try stack.saveAll()
    child.performAndWait {
      #expect(UndoStack.linked(owner, "children") == [])
      member["number"] = 5
    }
    try parent.performAndWait {
      let items = try UndoStack.items(parent)
      let (above, below) = (
        items.first { $0["name"] as? String == "owner" }, items.first { $0["name"] as? String == "member" }
      )
      below?["parent"] = above
      parent.processPendingChanges()
    }
    try child.performAndWait {
      child.delete(owner)
      try child.save()
    }
    try parent.performAndWait {
      let items = try UndoStack.items(parent)
      #expect(items.map { $0["name"] as? String } == ["member"])
      #expect(items.first?["number"] as? Int == 5)
      #expect(items.flatMap { UndoStack.linked($0, "parent") } == [])
      try parent.save()
      #expect(try UndoStack.items(parent).count == 1)
    }
  }

  /// What comes back has no link that the other side has not, and none to what stays deleted.
  @Test(arguments: ["owner", "member"]) func whatComesBackIsLinkedOnBothSidesOrNot(changed: String) throws {
    let stack = try UndoStack(levels: 2)
    let (parent, child) = (stack.contexts[0], stack.contexts[1])
    let keys = [("children", "parent"), ("queue", "line"), ("friends", "friendsOf")]
    let (owner, member) = stack.event { context in
      let (owner, member) = (UndoStack.insert("owner", context), UndoStack.insert("member", context))
      owner.mutableSetValue(forKey: "children").add(member)
      owner.mutableOrderedSetValue(forKey: "queue").add(member)
      owner.mutableSetValue(forKey: "friends").add(member)
      return (owner, member)
    }
    try stack.saveAll()
    try parent.performAndWait {
      let items = try UndoStack.items(parent)
      for item in items { for key in keys.flatMap({ [$0.0, $0.1] }) { _ = UndoStack.linked(item, key) } }
      // The owner's deletion takes its children with it.
      let gone = changed == "owner" ? items : items.filter { $0["name"] as? String == "member" }
      for item in gone where item["name"] as? String == changed { parent.delete(item) }
      parent.processPendingChanges()
    }
    try child.performAndWait {
      (changed == "owner" ? owner : member)["number"] = 5
      try child.save()
    }
    func links(_ context: NSManagedObjectContext) throws -> [String] {
      try UndoStack.items(context).flatMap { item in
        keys.flatMap { [$0.0, $0.1] }.map { "\(item["name"] ?? "") \($0) \(UndoStack.linked(item, $0).count)" }
      }.sorted()
    }
    let shown = try parent.performAndWait {
      let shown = try links(parent)
      #expect(try UndoStack.items(parent).count == (changed == "owner" ? 1 : 2))
      try parent.save()
      #expect(try links(parent) == shown)
      return shown
    }
    #expect(shown.allSatisfy { $0.hasSuffix(" 0") })
    #expect(try stack.elsewhere(links) == shown)
  }

  /// A rule without action ends no link, also where both objects were deleted.
  @Test func aRuleWithoutActionEndsNoLinkOfWhatComesBack() throws {
    let (one, many) = (NSEntityDescription(), NSEntityDescription())
    (one.name, many.name) = ("One", "Many")
    let (owner, members) = (NSRelationshipDescription(), NSRelationshipDescription())
    (owner.name, owner.destinationEntity, owner.maxCount) = ("owner", one, 1)
    (members.name, members.destinationEntity, members.maxCount) = ("members", many, 0)
    (owner.deleteRule, members.deleteRule) = (.noActionDeleteRule, .noActionDeleteRule)
    (owner.inverseRelationship, members.inverseRelationship) = (members, owner)
    let name = NSAttributeDescription()
    (name.name, name.type) = ("name", .string)
    (one.properties, many.properties) = ([members], [owner, name])
    let model = NSManagedObjectModel()
    model.entities = [one, many]
    let stack = try UndoStack(levels: 2, model: model)
    let (parent, child) = (stack.contexts[0], stack.contexts[1])
    let member = stack.event { context in
      let member = NSEntityDescription.insertNewObject(forEntityName: "Many", into: context)
      member["owner"] = NSEntityDescription.insertNewObject(forEntityName: "One", into: context)
      return member
    }
    try stack.saveAll()
    let held = try parent.performAndWait {
      let one = try parent.fetch(NSFetchRequest<NSManagedObject>(entityName: "One"))
      let many = try parent.fetch(NSFetchRequest<NSManagedObject>(entityName: "Many"))
      for object in one + many { parent.delete(object) }
      parent.processPendingChanges()
      return (one, many)
    }
    try child.performAndWait {
      member["name"] = "m"
      try child.save()
    }
    parent.performAndWait {
      #expect(held.0[0].isDeleted && !held.1[0].isDeleted)
      #expect(held.1[0]["owner"] as? NSManagedObject === held.0[0])
    }
  }

  /// Transformed values that a child has read are saved with the parent's object.
  @Test(arguments: [true, false]) func transformedValuesThatAChildHasReadAreSaved(inMemory: Bool) throws {
    try Errand.inContext(inMemory ? .inMemory : .sqlite) { parent in
      let errand = Errand(context: parent)
      errand.setValue(["a", "b"], of: Errand.words)
      errand.setValue(["c": 1], of: Errand.counts)
      let child = NSManagedObjectContext(.privateQueue)
      child.parent = parent
      try child.performAndWait {
        let seen = try #require(try child.fetch(NSFetchRequest<Errand>(entityName: "Errand")).first)
        #expect(seen.value(of: Errand.words) == ["a", "b"] && seen.value(of: Errand.counts) == ["c": 1])
      }
      try parent.save()
      parent.refresh(errand, mergeChanges: false)
      #expect(errand.value(of: Errand.words) == ["a", "b"] && errand.value(of: Errand.counts) == ["c": 1])
      let other = NSManagedObjectContext(.privateQueue)
      other.persistentStoreCoordinator = parent.persistentStoreCoordinator
      try other.performAndWait {
        let saved = try #require(try other.fetch(NSFetchRequest<Errand>(entityName: "Errand")).first)
        #expect(saved.value(of: Errand.words) == ["a", "b"] && saved.value(of: Errand.counts) == ["c": 1])
      }
    }
  }

  /// A sub-entity's attributes come after the relationships of its super-entity.
  @Test func attributesAfterARelationshipReachTheParent() throws {
    let (above, below) = (NSEntityDescription(), NSEntityDescription())
    (above.name, below.name) = ("Above", "Below")
    let (next, extra) = (NSRelationshipDescription(), NSAttributeDescription())
    (next.name, next.destinationEntity, next.maxCount) = ("next", above, 1)
    (extra.name, extra.type) = ("extra", .string)
    (above.properties, below.properties, above.subentities) = ([next], [extra], [below])
    let model = NSManagedObjectModel()
    model.entities = [above, below]
    let stack = try UndoStack(levels: 2, model: model)
    let made = stack.event { NSEntityDescription.insertNewObject(forEntityName: "Below", into: $0) }
    try stack.saveAll()
    stack.event { _ in
      made["next"] = made
      made["extra"] = "text"
    }
    try stack.saveAll()
    try stack.elsewhere { other in
      let saved = try other.fetch(NSFetchRequest<NSManagedObject>(entityName: "Below")).first
      #expect(saved?["extra"] as? String == "text" && saved?["next"] as? NSManagedObject === saved)
    }
  }

  /// After the save to the parent the child's object has been saved, also without any value.
  @Test func anObjectWithoutValuesIsSavedToTheParent() throws {
    let family = try ContextChain()
    try family.child.performAndWait {
      let badge = Badge(context: family.child)
      let person = Person(context: family.child)
      #expect(person.committedValues(forKeys: ["name"]).isEmpty)
      try family.child.save()
      #expect(person.committedValues(forKeys: ["name"])["name"] is NSNull)
      #expect(!badge.isFault && !badge.hasChanges)
      person.name = "Ada"
      try family.child.save()
    }
    try family.root.performAndWait { try family.root.save() }
    #expect(try family.stored() == ["Ada"])
  }

  /// The parent has deleted the object itself meanwhile: it is deleted once.
  @Test func whatTheParentHasDeletedIsDeletedOnce() throws {
    try Leavers.with(1) { parent, objects in
      let child = NSManagedObjectContext(.privateQueue)
      child.parent = parent
      var deletions = 0
      objects[0].leaves = { _ in deletions += 1 }
      try child.performAndWait {
        let seen = try child.fetch(NSFetchRequest<NSManagedObject>(entityName: "Leaver"))
        parent.performAndWait { parent.delete(objects[0]) }
        child.delete(seen[0])
        try child.save()
      }
      #expect(deletions == 1)
      try parent.save()
      #expect(try Leavers.stored(parent) == 0)
    }
  }
}
