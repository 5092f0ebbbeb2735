import CoreData
import Foundation

/// Opens stores with another version of their model, without requesting a migration.
extension GraphSuite {
  static let versions: [GraphCase] = [
    GraphCase(
      "MIG-019", "another delete rule, other bounds and another default are the same version, and the data stays",
      needs: .persistent, ways: .own
    ) { g in
      try g.write { c in
        let team = c.insert("Team", ["title": "t"])
        c.insert("Person", ["name": "p", "age": 30, "team": team])
      }
      let other = Models.changed(Models.people) { entities in
        let team = entities["Person"]?.relationshipsByName["team"]
        let members = entities["Team"]?.relationshipsByName["members"]
        team?.deleteRule = .cascadeDeleteRule
        members?.deleteRule = .denyDeleteRule
        let age = entities["Person"]?.attributesByName["age"]
        age?.setValidationPredicates([NSPredicate(format: "SELF < 100")], withValidationWarnings: ["1620"])
        age?.defaultValue = 7
      }
      g.equal(other.entityVersionHashesByName, g.model.entityVersionHashesByName)
      try g.reopen(other)
      try g.inWriting { c in
        let team = try c.one("Team", "title", "t")
        let person = try c.one("Person", "name", "p")
        g.equal(person.number("age"), 30)
        g.equal(team.texts("members", "name"), ["p"])
        // The new rules apply from here on.
        g.equal(c.insert("Person", ["name": "q"]).number("age"), 7)
        person.setValue(100, forKey: "age")
        try g.fails(1610, 1620, what: "an age out of bounds") { try c.save() }
        person.setValue(31, forKey: "age")
        try c.save()
        c.delete(team)
        try g.fails(1600, what: "a team with members") { try c.save() }
        c.rollback()
        c.delete(person)
        try c.save()
        g.equal(try c.number(of: "Team"), 0)
      }
    },
    GraphCase(
      "MIG-020", "another hash modifier is another version, of an entity and of a property", needs: .persistent,
      ways: .own
    ) { g in
      try g.write { $0.insert("Tag", ["label": "a"]) }
      try g.closeAll()
      let before = try g.fileState()
      let changes: [@Sendable ([String: NSEntityDescription]) -> Void] = [
        { $0["Tag"]?.versionHashModifier = "2" },
        { $0["Tag"]?.attributesByName["label"]?.versionHashModifier = "2" },
        { $0["Tag"]?.relationshipsByName["people"]?.versionHashModifier = "2" },
      ]
      for (number, change) in changes.enumerated() {
        try g.label("\(number)") {
          let other = Models.changed(g.model, change)
          let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
            ofType: g.storeType, at: g.url(), options: nil)
          g.expect(
            !other.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata), "the versions are the same")
          g.expect(
            g.model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata), "the store's own differs")
          try g.fails(134100) { try g.newCoordinator(other) }
          try g.closeAll()
          g.equal(try g.fileState(), before)
        }
      }
      g.equal(try g.elsewhere { try $0.objects("Tag").map { $0.text("label") } }, ["a"])
    },
    GraphCase(
      "MIG-025", "a store newer than every model is refused, and its files stay unchanged", { Models.otherPeople },
      needs: .persistent, ways: .own
    ) { g in
      try g.write { $0.insert("Person", ["name": "p", "nickname": "n"]) }
      try g.closeAll()
      let before = try g.fileState()
      let older = Models.changed(Models.people) { entities in
        entities["Tag"]?.properties.removeAll { $0 is NSAttributeDescription }
      }
      for model in [Models.people, older] {
        let error = try g.fails(134100) { try g.newCoordinator(model) }
        g.expect(error?.userInfo.isEmpty == false, "the error does not say what differs")
        try g.closeAll()
        g.equal(try g.fileState(), before)
      }
      g.equal(try g.elsewhere { try $0.objects("Person").map { $0.text("nickname") } }, ["n"])
    },
  ]
}

extension Models {
  /// A changed copy of a model.
  static func changed(
    _ model: NSManagedObjectModel, _ change: ([String: NSEntityDescription]) -> Void
  ) -> NSManagedObjectModel {
    guard let copy = model.copy() as? NSManagedObjectModel else { return model }
    change(copy.entitiesByName)
    return copy
  }
}
