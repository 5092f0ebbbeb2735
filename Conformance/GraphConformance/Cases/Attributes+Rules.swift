import CoreData
import Foundation

extension GraphSuite {
  static let attributeRules: [GraphCase] = [
    GraphCase(
      "ATT-032", "a transformer that is missing or returns nil only fails the save", without: .objects, ways: .own
    ) { g in
      let model = Models.model([
        Models.entity(
          "Thing", [Models.attribute("name", .stringAttributeType), transformed("value", "GraphNoSuchTransformer")])
      ])
      let c = try g.newContext(try g.newCoordinator(model))
      try c.performAndWait {
        let thing = c.insert("Thing", ["name": "a"])
        thing.setValue(NSArray(array: ["x"]), forKey: "value")
        try g.fails(134030, 1550) { try c.save() }
        g.expect(thing.isInserted, "the object is not inserted any more")
        g.equal(thing.text("name"), "a")
        thing.setValue(nil, forKey: "value")
        try c.save()
        g.equal(try c.number(of: "Thing"), 1)
      }
    },
    GraphCase(
      "ATT-032/objects", "in stores that keep objects, a missing transformer fails no save", needs: .objects
    ) { g in
      let model = Models.model([
        Models.entity(
          "Thing", [Models.attribute("name", .stringAttributeType), transformed("value", "GraphNoSuchTransformer")])
      ])
      let coordinator = try g.newCoordinator(model)
      let (c, other) = (try g.newContext(coordinator), try g.newContext(coordinator))
      let (list, none) = (NSArray(array: [10, 20]), NSObject())
      try c.performAndWait {
        c.insert("Thing", ["name": "list", "value": list])
        c.insert("Thing", ["name": "object", "value": none])
        try c.save()
      }
      try other.performAndWait {
        g.expect(try other.one("Thing", "name", "list").value(forKey: "value") as? NSArray === list, "another list")
        g.expect(
          try other.one("Thing", "name", "object").value(forKey: "value") as? NSObject === none, "another object")
        let request = NSFetchRequest<NSManagedObject>(entityName: "Thing")
        request.predicate = NSPredicate(format: "name == 'list' AND ANY value == 20")
        g.equal(try other.fetch(request).map { $0.text("name") }, ["list"])
        try other.one("Thing", "name", "list").setValue("renamed", forKey: "name")
        try other.one("Thing", "name", "object").setValue(NSArray(array: [1]), forKey: "value")
        try other.save()
      }
      try c.performAndWait {
        c.reset()
        g.expect(try c.one("Thing", "name", "renamed").value(forKey: "value") as? NSArray === list, "the list is lost")
        g.equal(try c.one("Thing", "name", "object").value(forKey: "value") as? [Int], [1])
      }
    },
    GraphCase("ATT-036", "a new object has its entity's default values", { Models.defaults }) { g in
      try g.write { c in
        g.hasDefaults(c.insert("Defaulted"))
        c.insert("Defaulted", ["string": "own", "int16": 1])
      }
      try g.read { c in
        g.hasDefaults(try c.one("Defaulted", "string", "new"))
        let own = try c.one("Defaulted", "string", "own")
        g.equal(own.number("int16"), 1)
        g.equal(own.number("int64"), -9)
      }
    },
    GraphCase(
      "ATT-037", "a mandatory value that is nil fails the save, and nothing is written", { Models.rules }, ways: .own
    ) { g in
      try g.inWriting { c in
        c.insert("Ruled", ["title": "good"])
        let bad = c.insert("Ruled")
        let error = try g.fails(1570) { try c.save() }
        g.equal(error?.userInfo[NSValidationKeyErrorKey] as? String, "title")
        g.expect(error?.userInfo[NSValidationObjectErrorKey] as? NSManagedObject === bad, "not the object")
        g.equal(try g.countElsewhere("Ruled"), 0)
        bad.setValue("", forKey: "title")
        try c.save()
        g.equal(try g.countElsewhere("Ruled"), 2)
        bad.setValue(nil, forKey: "title")
        try g.fails(1570, what: "the update") { try c.save() }
      }
    },
    GraphCase(
      "ATT-038", "values at the limits of bounds, lengths, dates and patterns are valid, beyond them invalid",
      { Models.rules }, ways: .own
    ) {
      g in
      let day = { (seconds: Double) in Date(timeIntervalSinceReferenceDate: seconds) }
      let values: [(key: String, value: Any, code: Int?)] = [
        ("amount", 0, 1620), ("amount", 1, nil), ("amount", 10, nil), ("amount", 11, 1610), ("amount", -5, 1620),
        ("short", "a", 1670), ("short", "ab", nil), ("short", "abcd", nil), ("short", "abcde", 1660),
        ("code", "ab1", nil), ("code", "ab", 1680), ("code", "xab1x", 1680), ("day", day(99), 1640),
        ("day", day(100), nil), ("day", day(200), nil), ("day", day(201), 1630),
      ]
      try g.inWriting { c in
        for (key, value, code) in values {
          let object = c.insert("Ruled", ["title": "t", key: value])
          if let code {
            let error = try g.fails(code, what: "\(key) \(value)") { try c.save() }
            g.equal(error?.userInfo[NSValidationKeyErrorKey] as? String, key)
            g.expect(error?.userInfo[NSValidationObjectErrorKey] as? NSManagedObject === object, "not the object")
          } else {
            try g.label("\(key) \(value)") { try c.save() }
          }
          c.rollback()
        }
        g.equal(try c.number(of: "Ruled"), values.count { $0.code == nil })
        c.insert("Ruled", ["amount": 11, "short": "a"])
        let error = try g.fails(1560) { try c.save() }
        let details = error?.userInfo[NSDetailedErrorsKey] as? [any Error] ?? []
        g.equal(details.map { ($0 as NSError).code }.sorted(), [1570, 1610, 1670])
      }
    },
    GraphCase("ATT-039", "the length of a text counts UTF-16 units", { Models.rules }, ways: .own) { g in
      try g.inWriting { c in
        for (text, code) in [
          ("😀😀", nil), ("😀😀a", 1660), ("e\u{301}e\u{301}", nil), ("e\u{301}e\u{301}e", 1660), ("é", 1670), ("😀", nil),
        ] as [(String, Int?)] {
          c.insert("Ruled", ["title": "t", "short": text])
          if let code { try g.fails(code, what: text) { try c.save() } } else { try g.label(text) { try c.save() } }
          c.rollback()
        }
        g.equal(try c.number(of: "Ruled"), 3)
      }
    },
    GraphCase("ATT-044/graph", "setting an equal value is not a change", ways: .own) { g in
      let other = try g.newContext()
      try g.inWriting { c in
        let person = c.insert("Person", ["name": "a", "age": 3, "born": Date(timeIntervalSinceReferenceDate: 1)])
        try c.save()
        let elsewhere = try other.performAndWait { () -> NSManagedObject in
          let found = try other.one("Person", "name", "a")
          _ = found.number("age")
          return found
        }
        person.setValue("a", forKey: "name")
        person.setValue(3, forKey: "age")
        person.setValue(Date(timeIntervalSinceReferenceDate: 1), forKey: "born")
        g.expect(!person.hasPersistentChangedValues, "it has changed values")
        g.expect(person.changedValues().isEmpty, "changed: \(person.changedValues().keys.sorted())")
        try c.save()
        // Nothing was written, so a context that read the object before has no conflict.
        try other.performAndWait {
          elsewhere.setValue("b", forKey: "name")
          try other.save()
        }
      }
    },
    GraphCase("ATT-045", "flags of attributes are kept in the model and do not affect data", ways: .own) { g in
      let flagged = Models.attribute("name", .stringAttributeType)
      flagged.preservesValueInHistoryOnDeletion = true
      flagged.allowsCloudEncryption = true
      flagged.userInfo = ["why": "because"]
      let model = Models.model([Models.entity("Thing", [flagged])])
      let c = try g.newContext(try g.newCoordinator(model))
      try c.performAndWait {
        let thing = c.insert("Thing", ["name": "a"])
        try c.save()
        c.refresh(thing, mergeChanges: false)
        g.equal(thing.text("name"), "a")
        let found = thing.entity.attributesByName["name"]
        g.equal(found?.preservesValueInHistoryOnDeletion, true)
        g.equal(found?.allowsCloudEncryption, true)
        g.equal(found?.userInfo?["why"] as? String, "because")
      }
    },
    GraphCase(
      "ATT-035/graph", "derived values are updated when their sources change", { Models.derived }, needs: .derivation
    ) {
      g in
      try g.write { c in
        let shelf = c.insert("Shelf", ["name": "Örtchen"])
        c.insert("Book", ["title": "a", "pages": 10, "shelf": shelf])
        c.insert("Book", ["title": "b", "pages": 5, "shelf": shelf])
      }
      try g.read { c in
        let shelf = try c.one("Shelf", "name", "Örtchen")
        c.refresh(shelf, mergeChanges: false)
        g.equal(shelf.number("count"), 2)
        g.equal(shelf.text("folded"), "ortchen")
        g.equal(try c.one("Book", "title", "a").text("shelfName"), "Örtchen")
      }
      try g.write { c in
        let shelf = try c.one("Shelf", "name", "Örtchen")
        shelf.setValue("new", forKey: "name")
        c.delete(try c.one("Book", "title", "b"))
      }
      try g.read { c in
        let shelf = try c.one("Shelf", "name", "new")
        c.refresh(shelf, mergeChanges: false)
        g.equal(shelf.number("count"), 1)
        g.equal(shelf.text("folded"), "new")
        let book = try c.one("Book", "title", "a")
        c.refresh(book, mergeChanges: false)
        g.equal(book.text("shelfName"), "new")
      }
    },
    GraphCase(
      "ATT-035/graph/sum", "derived sums are updated when their sources change", { Models.derived }, needs: .derivation
    ) { g in
      try g.write { c in
        let shelf = c.insert("Shelf", ["name": "a"])
        for pages in [10, 5] { c.insert("Book", ["title": "\(pages)", "pages": pages, "shelf": shelf]) }
      }
      try g.read { c in
        let shelf = try c.one("Shelf", "name", "a")
        c.refresh(shelf, mergeChanges: false)
        g.equal(shelf.number("pages"), 15)
      }
      try g.write { c in c.delete(try c.one("Book", "title", "5")) }
      try g.read { c in
        let shelf = try c.one("Shelf", "name", "a")
        c.refresh(shelf, mergeChanges: false)
        g.equal(shelf.number("pages"), 10)
      }
    },
  ]

  private static func transformed(_ name: String, _ transformer: String) -> NSAttributeDescription {
    let attribute = Models.attribute(name, .transformableAttributeType)
    attribute.valueTransformerName = transformer
    return attribute
  }
}

extension Graph {
  /// The number of objects of an entity, counted in a new context.
  func countElsewhere(_ entity: String) throws -> Int {
    let other = try newContext()
    return try other.performAndWait { try other.number(of: entity) }
  }

  fileprivate func hasDefaults(_ object: NSManagedObject) {
    for (name, _, value) in Models.defaultValues {
      let found = object.value(forKey: name)
      switch value {
      case let value as Int: equal((found as? NSNumber)?.intValue, value, name)
      case let value as Double: equal((found as? NSNumber)?.doubleValue, value, name)
      case let value as Bool: equal((found as? NSNumber)?.boolValue, value, name)
      case let value as Decimal: equal((found as? NSDecimalNumber)?.decimalValue, value, name)
      case let value as Date: equal(found as? Date, value, name)
      case let value as UUID: equal(found as? UUID, value, name)
      default: equal(found as? String, value as? String, name)
      }
    }
    equal(object.text("none"), nil)
  }
}
