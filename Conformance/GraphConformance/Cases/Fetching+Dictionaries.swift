import CoreData
import Foundation

/// Results of type dictionary, whose values come directly from the stores.
extension GraphSuite {
  static let dictionaries: [GraphCase] = [
    GraphCase("FET-065", "dictionaries have the requested keys and values", ways: .own) { g in
      try g.inWriting { c in
        company(c)
        let request = newRequest("Person", ["email", "age", "team.title"], sort: "email")
        g.equal(try c.fetch(request).count, 0, "what is not saved is not seen")
        try c.save()
        c.insert("Person", ["email": "z"])
        try c.one("Person", "email", "a").setValue(99, forKey: "age")
        let rows = try c.fetch(request)
        g.equal(rows.map { $0["email"] as? String }, ["a", "b", "e", "n"])
        g.equal(rows.map { $0["age"] as? Int }, [5, nil, -1, 7])
        g.equal(rows.map { $0["team.title"] as? String }, ["core", "core", nil, "web"])
        // A nil value has no entry.
        g.equal(rows.map(\.count), [3, 2, 2, 3])
        g.equal(try c.count(for: request), 4)
        request.predicate = NSPredicate(format: "team != nil")
        (request.fetchOffset, request.fetchLimit) = (1, 5)
        g.equal(try c.fetch(request).map { $0["email"] as? String }, ["b", "n"])
        g.equal(try c.count(for: request), 2)
      }
    },
    GraphCase("FET-065/types", "values have the types of key-value coding", { Models.allTypes }, ways: .own) { g in
      try g.inWriting { c in
        let large = Data(repeating: 2, count: 300_000)
        let values: [String: Any] = [
          "int16": Int16(-5), "int32": Int32(70_000), "int64": Int64.max, "double": 0.5, "float": Float(0.25),
          "decimal": NSDecimalNumber(string: "1.10"), "bool": true, "string": "\u{e9}", "data": Data([0, 1]),
          "date": Date(timeIntervalSinceReferenceDate: 0.25), "uuid": UUID(),
          "uri": URL(string: "https://a.example/b")!,
          "transformable": ["a", "b"] as NSArray, "place": ["city": "Oslo", "floor": Int16(3)], "large": large,
        ]
        let object = c.insert("AllTypes", values)
        let small = c.insert("AllTypes", ["large": Data([2, 7]), "number": 1])
        try c.save()
        let request = newRequest("AllTypes", nil, sort: "number")
        let rows = try c.fetch(request)
        g.equal(rows.count, 2)
        guard rows.count == 2 else { return }
        for (key, value) in values {
          g.expect(rows[0][key].map { [$0] as NSArray == [value] as NSArray } ?? false, key)
        }
        g.equal(rows[0].count, values.count)
        g.equal(rows[1]["large"] as? Data, Data([2, 7]))
        g.equal(rows[1].count, 2)
        request.propertiesToFetch = ["place.city", "objectID", small.entity.attributesByName["number"] as Any]
        let chosen = try c.fetch(request)
        g.equal(chosen.first?["place.city"] as? String, "Oslo")
        g.equal(chosen.map { $0["objectID"] as? NSManagedObjectID }, [object.objectID, small.objectID])
        g.equal(chosen.last?["number"] as? Int, 1)
      }
    },
    GraphCase(
      "FET-065/expressions", "expressions are computed for each object, and aggregates over all objects", ways: .own
    ) {
      g in
      try g.inWriting { c in
        company(c)
        try c.save()
        let age = NSExpression(forKeyPath: "age")
        let all: [(String, String, NSExpression, NSAttributeType)] = [
          ("sum", "sum:", age, .integer64AttributeType), ("least", "min:", age, .integer16AttributeType),
          ("greatest", "max:", age, .integer16AttributeType), ("mean", "average:", age, .doubleAttributeType),
          ("ages", "count:", age, .integer64AttributeType),
          ("last", "max:", .init(forKeyPath: "name"), .stringAttributeType),
          ("people", "count:", .expressionForEvaluatedObject(), .integer64AttributeType),
          ("middle", "median:", age, .doubleAttributeType),
        ]
        let request = newRequest("Person", all.map { function($0.0, $0.1, $0.2, $0.3) })
        let row = try c.fetch(request).first
        g.equal(row?["sum"] as? Int, 11)
        g.equal(row?["least"] as? Int, -1)
        g.equal(row?["greatest"] as? Int, 7)
        g.equal((row?["mean"] as? Double).map { ($0 * 3).rounded() }, 11)
        g.equal(row?["ages"] as? Int, 3)
        g.equal(row?["people"] as? Int, 4)
        g.equal(row?["last"] as? String, "Eve")
        g.equal(row?["middle"] as? Double, 5)
        // Functions over a relationship are evaluated for each object.
        request.propertiesToFetch = [
          "email", function("tags", "count:", .init(forKeyPath: "tags"), .integer64AttributeType),
          description("next", NSExpression(format: "age + 1"), .integer64AttributeType),
          description("boss", NSExpression(forKeyPath: "boss"), .objectIDAttributeType),
          description("me", .expressionForEvaluatedObject(), .objectIDAttributeType),
        ]
        request.sortDescriptors = [NSSortDescriptor(key: "email", ascending: false)]
        let rows = try c.fetch(request)
        g.equal(rows.map { $0["tags"] as? Int }, [0, 2, 1, 2])
        g.equal(rows.map { $0["next"] as? Int }, [8, 0, nil, 6])
        let (ada, nameless) = (try c.one("Person", "email", "a"), try c.one("Person", "email", "n"))
        g.equal(rows.map { $0["boss"] as? NSManagedObjectID }, [ada.objectID, nameless.objectID, ada.objectID, nil])
        g.equal(rows.last?["me"] as? NSManagedObjectID, ada.objectID)
      }
    },
    GraphCase(
      "FET-068/graph", "grouping, having predicates and distinct results", requirements: ["FET-067"], ways: .own
    ) {
      g in
      try g.inWriting { c in
        company(c)
        c.insert("Person", ["name": "Ada", "age": 5, "email": "x"])
        try c.save()
        let count = function("count", "count:", .init(forKeyPath: "email"), .integer64AttributeType)
        let request = newRequest("Person", ["team.title", count])
        request.propertiesToGroupBy = ["team.title"]
        g.equal(try c.fetch(request).map { $0["team.title"] as? String }, [nil, "core", "web"])
        g.equal(try c.fetch(request).map { $0["count"] as? Int }, [2, 2, 1])
        g.equal(try c.count(for: request), 3)
        request.havingPredicate = NSPredicate(format: "%@ > 1", NSExpression(forVariable: "count"))
        g.equal(try c.fetch(request).map { $0["team.title"] as? String }, [nil, "core"])
        request.havingPredicate = NSPredicate(format: "$count > 1 AND team.title != nil")
        g.equal(try c.fetch(request).map { $0["count"] as? Int }, [2])
        request.havingPredicate = nil
        (request.propertiesToFetch, request.propertiesToGroupBy) = (["team", count], ["team"])
        request.predicate = NSPredicate(format: "team.title == 'core'")
        let team = try c.one("Team", "title", "core")
        g.equal(try c.fetch(request).map { $0["team"] as? NSManagedObjectID }, [team.objectID])
        let names = newRequest("Person", ["name", "age"])
        names.returnsDistinctResults = true
        g.equal(try c.fetch(names).map { $0["name"] as? String }, [nil, "Ada", "Bob", "Eve"])
        g.equal(try c.count(for: names), 4)
      }
    },
    GraphCase(
      "FET-073/dictionaries", "dictionaries of two stores are sorted, grouped and limited as one", ways: .own, sites: 2
    ) { g in
      let (c, _) = try g.twoStores()
      try c.performAndWait {
        let ages = newRequest("Person", ["age"])
        ages.sortDescriptors = [NSSortDescriptor(key: "age", ascending: false)]
        (ages.fetchOffset, ages.fetchLimit) = (1, 3)
        g.equal(try c.fetch(ages).map { $0["age"] as? Int }, [6, 5, 4])
        let rest = description("rest", NSExpression(format: "modulus:by:(age, 3)"), .integer64AttributeType)
        let sum = function("sum", "sum:", .init(forKeyPath: "age"), .integer64AttributeType)
        let sums = newRequest("Person", [rest, sum])
        sums.propertiesToGroupBy = [rest]
        g.equal(try c.fetch(sums).map { $0["sum"] as? Int }, [9, 12, 7])
        // Objects of different stores are distinct, even if their keys are equal.
        let objects = newRequest("Person", ["objectID"])
        objects.returnsDistinctResults = true
        g.equal(try c.count(for: objects), 8)
      }
    },
    GraphCase("FET-065/refused", "requests that make no sense for dictionaries are refused", ways: .own) { g in
      try g.inWriting { c in
        company(c)
        try c.save()
        let sum = function("sum", "sum:", .init(forKeyPath: "age"), .integer64AttributeType)
        let refused: [(NSFetchRequest<NSDictionary>) -> Void] = [
          { $0.propertiesToFetch = ["tags"] }, { $0.propertiesToFetch = ["nothing"] }, { $0.propertiesToFetch = [3] },
          { $0.propertiesToFetch = [sum, "name"] }, { $0.propertiesToGroupBy = [sum] },
          { $0.havingPredicate = NSPredicate(format: "name == 'Ada'") },
          { $0.predicate = NSPredicate { _, _ in true } },
          { $0.propertiesToFetch = [description("none", nil, .integer64AttributeType)] },
          {
            $0.propertiesToFetch = [sum]
            $0.propertiesToGroupBy = ["name"]
            $0.sortDescriptors = [NSSortDescriptor(key: "age", ascending: true)]
          },
        ]
        for (number, change) in refused.enumerated() {
          let request = newRequest("Person", ["name"])
          change(request)
          _ = try g.fails(134060, what: "refusal \(number)") { _ = try c.fetch(request) }
        }
      }
    },
  ]

  private static func newRequest(
    _ entity: String, _ properties: [Any]?, sort: String? = nil
  ) -> NSFetchRequest<NSDictionary> {
    let request = NSFetchRequest<NSDictionary>(entityName: entity)
    request.resultType = .dictionaryResultType
    request.propertiesToFetch = properties
    request.sortDescriptors = sort.map { [NSSortDescriptor(key: $0, ascending: true)] }
    return request
  }

  private static func description(
    _ name: String, _ expression: NSExpression?, _ type: NSAttributeType
  ) -> NSExpressionDescription {
    let description = NSExpressionDescription()
    description.name = name
    description.expression = expression
    description.expressionResultType = type
    return description
  }

  private static func function(
    _ name: String, _ function: String, _ argument: NSExpression, _ type: NSAttributeType
  ) -> NSExpressionDescription {
    description(name, NSExpression(forFunction: function, arguments: [argument]), type)
  }

  /// Four people, named by their e-mail addresses: `a` is Ada, 5, and `b` is Bob without an age, both in team core; `n`
  /// has no name, 7, in team web; `e` is Eve, -1, without a team. Ada is the boss of b and n, and n is the boss of e. a
  /// and e have two tags each, b has one.
  private static func company(_ c: NSManagedObjectContext) {
    let (core, web) = (c.insert("Team", ["title": "core"]), c.insert("Team", ["title": "web"]))
    let (red, blue) = (c.insert("Tag", ["label": "red"]), c.insert("Tag", ["label": "blue"]))
    let ada = c.insert("Person", ["name": "Ada", "age": 5, "email": "a", "team": core])
    let bob = c.insert("Person", ["name": "Bob", "email": "b", "team": core, "boss": ada])
    let nameless = c.insert("Person", ["age": 7, "email": "n", "team": web, "boss": ada])
    let eve = c.insert("Person", ["name": "Eve", "age": -1, "email": "e", "boss": nameless])
    for (person, tags) in [(ada, [red, blue]), (bob, [red]), (eve, [blue, red])] {
      for tag in tags { person.add(tag, to: "tags") }
    }
  }
}
