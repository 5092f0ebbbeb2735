import CoreData
import Foundation

extension GraphCase {
  /// People of the given names and ages, saved; of nil there is no age.
  private static func people(
    _ ages: KeyValuePairs<String, Int?>, type: String = NSSQLiteStoreType
  ) throws -> World {
    let world = try World(type: type)
    for (name, age) in ages {
      world.insert("Person", name).setValue(age.map { NSNumber(value: $0) }, forKey: "age")
    }
    try world.context.save()
    return world
  }

  private static func names(_ texts: [String], type: String = NSSQLiteStoreType) throws -> World {
    let world = try World(type: type)
    for text in texts { world.insert("Tag", text) }
    try world.context.save()
    return world
  }

  /// What predicates find among ages 1, 3 and nil.
  private static func ages(_ type: String) throws -> String {
    let world = try people(["one": 1, "three": 3, "none": nil], type: type)
    let formats = ["age == 3", "age != 3", "NOT (age == 3)", "age < 3", "NOT (age < 3)", "age == nil", "age != nil"]
    return try formats.map { "\($0): \(try world.names("Person", $0))" }.joined(separator: "; ")
  }

  /// How often each predicate finds a composed and a decomposed é, and letters of other cases.
  private static func texts(_ type: String) throws -> String {
    let world = try names(["\u{E9}", "e\u{301}", "E", "e", "ß", "ss"], type: type)
    let formats = [
      "name == %@", "name ==[c] %@", "name ==[cd] %@", "name BEGINSWITH %@", "name CONTAINS[cd] %@", "name LIKE %@",
    ]
    let found = try ["\u{E9}", "e", "ss"].flatMap { text in
      try formats.map { format in
        let request = NSFetchRequest<NSManagedObject>(entityName: "Tag")
        request.predicate = NSPredicate(format: format, argumentArray: [text])
        return "\(format) \(text == "\u{E9}" ? "composed" : text): \(try world.context.count(for: request))"
      }
    }
    return found.joined(separator: "; ").replacingOccurrences(of: " %@", with: "")
  }

  /// Teams of none, of one aged 1, and of two aged 1 and 9.
  private static func teams(_ type: String) throws -> String {
    let world = try World(type: type)
    func person(_ age: Int) -> NSManagedObject { world.insert("Person", "p", ["age": NSNumber(value: age)]) }
    world.insert("Team", "empty")
    world.insert("Team", "young", ["members": Set([person(1)])])
    world.insert("Team", "mixed", ["members": Set([person(1), person(9)])])
    try world.context.save()
    let formats = [
      "ANY members.age > 5", "ALL members.age > 5", "NONE members.age > 5", "members.@count == 0",
      "members.@max.age > 5", "members.@sum.age == 0", "SUBQUERY(members, $m, $m.age > 5).@count > 0",
    ]
    return formats.map { format in "\(format): " + Text.of(trying: { try world.names("Team", format) }) }
      .joined(separator: "; ")
  }

  static let predicates = [
    GraphCase("predicate/nil", "comparisons with values that are nil, SQLite") { try ages(NSSQLiteStoreType) },
    GraphCase("predicate/nil-in-memory", "the same in an in-memory store") { try ages(NSInMemoryStoreType) },
    GraphCase("predicate/text", "numbers of texts found: literal or canonical, SQLite") {
      try texts(NSSQLiteStoreType)
    },
    GraphCase("predicate/text-in-memory", "the same in an in-memory store") { try texts(NSInMemoryStoreType) },
    GraphCase("predicate/to-many", "quantifiers and operators of to-many relationships, SQLite") {
      try teams(NSSQLiteStoreType)
    },
    GraphCase("predicate/to-many-in-memory", "the same in an in-memory store") { try teams(NSInMemoryStoreType) },
    GraphCase("predicate/less", "which texts are less than b: by letters or by a locale") {
      try names(["a", "B", "ä", "Z", "c"]).names("Tag", "name < %@", ["b"])
    },
    GraphCase("predicate/in-empty", "IN with an empty list") {
      try names(["a"]).names("Tag", "name IN %@", [[String]()])
    },
    GraphCase("predicate/in-nil", "IN with a list that has NSNull, and a name that is nil") {
      let world = try names(["a"])
      world.insert("Tag", "b").setValue(nil, forKey: "name")
      try world.context.save()
      return try world.names("Tag", "name IN %@", [["a", NSNull()] as [Any]])
    },
    GraphCase("predicate/division", "whether 3 / 2 == 1 of an integer attribute, SQLite and in memory") {
      let ages: KeyValuePairs<String, Int?> = ["three": 3]
      let sqlite = try people(ages).names("Person", "age / 2 == 1")
      return "\(sqlite), \(try people(ages, type: NSInMemoryStoreType).names("Person", "age / 2 == 1"))"
    },
    GraphCase("predicate/between", "BETWEEN with the larger number first") {
      try people(["two": 2]).names("Person", "age BETWEEN %@", [[3, 1]])
    },
  ]

  private static func order(_ ascending: Bool) -> [NSSortDescriptor] {
    [NSSortDescriptor(key: "age", ascending: ascending), NSSortDescriptor(key: "name", ascending: true)]
  }

  /// An aggregate of the ages of no people, and of one without an age.
  private static func aggregate(_ function: String, _ type: NSAttributeType) throws -> String {
    func value(_ world: World) throws -> String {
      let column = NSExpressionDescription()
      column.name = "value"
      column.expression = NSExpression(
        forFunction: function, arguments: [NSExpression(forKeyPath: function == "count:" ? "name" : "age")])
      column.expressionResultType = type
      let request = NSFetchRequest<NSDictionary>(entityName: "Person")
      request.resultType = .dictionaryResultType
      request.propertiesToFetch = [column]
      let rows = try world.context.fetch(request).map { row in (row as? [String: Any]).map { Text.of($0) } ?? "?" }
      return "[" + rows.joined(separator: ", ") + "]"
    }
    return "\(Text.of(trying: { try value(people([:])) })), \(Text.of(trying: { try value(people(["a": nil])) }))"
  }

  static let fetches = [
    GraphCase("fetch/sort-nil", "order of ages 1, nil, 2: ascending and descending, SQLite") {
      let world = try people(["one": 1, "none": nil, "two": 2])
      return "\(try world.names("Person", sort: order(true))), \(try world.names("Person", sort: order(false)))"
    },
    GraphCase("fetch/sort-nil-in-memory", "the same in an in-memory store") {
      let world = try people(["one": 1, "none": nil, "two": 2], type: NSInMemoryStoreType)
      return "\(try world.names("Person", sort: order(true))), \(try world.names("Person", sort: order(false)))"
    },
    GraphCase("fetch/sort-text", "order of a, B, ä, Z, z, é in SQLite and in memory") {
      let (texts, sort) = (["a", "B", "ä", "Z", "z", "\u{E9}"], [NSSortDescriptor(key: "name", ascending: true)])
      let sqlite = try names(texts).names("Tag", sort: sort)
      return "\(sqlite), \(try names(texts, type: NSInMemoryStoreType).names("Tag", sort: sort))"
    },
    GraphCase("fetch/sort-unsaved", "where an unsaved object stands in a sorted fetch") {
      let world = try people(["one": 1, "three": 3])
      world.insert("Person", "two", ["age": NSNumber(value: 2)])
      return try world.names("Person", sort: order(true))
    },
    GraphCase("fetch/limit-unsaved", "a fetch with limit 2 of two saved objects and one unsaved before them") {
      let world = try people(["two": 2, "three": 3])
      world.insert("Person", "one", ["age": NSNumber(value: 1)])
      let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
      request.sortDescriptors = order(true)
      request.fetchLimit = 2
      return Text.of(try world.context.fetch(request))
    },
    GraphCase("fetch/offset-beyond", "an offset beyond the end, objects and count") {
      let world = try people(["one": 1])
      let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
      request.fetchOffset = 5
      return "\(try world.context.fetch(request).count), \(try world.context.count(for: request))"
    },
    GraphCase("fetch/count-limit", "whether a count minds the limit") {
      let world = try people(["one": 1, "two": 2, "three": 3])
      let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
      request.fetchLimit = 2
      return "\(try world.context.count(for: request))"
    },
    GraphCase("fetch/dictionary-unsaved", "whether a dictionary fetch sees an unsaved object") {
      let world = try people(["one": 1])
      world.insert("Person", "two")
      let request = NSFetchRequest<NSDictionary>(entityName: "Person")
      request.resultType = .dictionaryResultType
      return Text.of(trying: { try world.context.fetch(request).count })
    },
    GraphCase("fetch/dictionary-nil", "a dictionary of a fetch where a value is nil: whether it has the key") {
      let world = try people(["one": nil])
      let request = NSFetchRequest<NSDictionary>(entityName: "Person")
      request.resultType = .dictionaryResultType
      request.propertiesToFetch = ["age", "name"]
      return try world.context.fetch(request).map { Text.of($0 as? [String: Any]) }.joined(separator: ", ")
    },
    GraphCase("fetch/sum", "sum of no rows and of a nil") { try aggregate("sum:", .integer64AttributeType) },
    GraphCase("fetch/average", "average of no rows and of a nil") { try aggregate("average:", .doubleAttributeType) },
    GraphCase("fetch/max", "maximum of no rows and of a nil") { try aggregate("max:", .integer64AttributeType) },
    GraphCase("fetch/count-function", "count of no rows and of one") {
      try aggregate("count:", .integer64AttributeType)
    },
    GraphCase("fetch/unknown-key", "a predicate with a key that the entity does not have") {
      try people(["one": 1]).names("Person", "nothing == 1")
    },
    GraphCase("fetch/unknown-entity", "a fetch of an entity that the model does not have") {
      try people(["one": 1]).names("Nobody")
    },
  ]

  private static func makeController(
    _ world: World, _ sort: [NSSortDescriptor]?, section: String? = nil
  ) -> NSFetchedResultsController<NSManagedObject> {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
    request.sortDescriptors = sort
    return NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: world.context, sectionNameKeyPath: section, cacheName: nil)
  }

  static let results = [
    GraphCase("results/before", "fetchedObjects and sections before performFetch") {
      let controller = makeController(try people(["one": 1]), order(true))
      return "\(controller.fetchedObjects.map { "\($0.count)" } ?? "nil"), "
        + "\(controller.sections.map { "\($0.count)" } ?? "nil")"
    },
    GraphCase("results/no-sort", "a controller with an empty list of sort descriptors") {
      let controller = makeController(try people(["one": 1]), [])
      try controller.performFetch()
      return "\(controller.fetchedObjects?.count ?? -1) objects"
    },
    GraphCase("results/nil-sort", "a controller without sort descriptors") {
      let controller = makeController(try people(["one": 1]), nil)
      try controller.performFetch()
      return "\(controller.fetchedObjects?.count ?? -1) objects"
    },
    GraphCase("results/nil-section", "the name of the section of objects whose value is nil") {
      let controller = makeController(try people(["none": nil, "one": 1]), order(true), section: "age")
      try controller.performFetch()
      return (controller.sections ?? []).map { "'\($0.name)' \($0.numberOfObjects)" }.joined(separator: ", ")
    },
    GraphCase("results/empty", "the number of sections of no objects, without and with section names") {
      let world = try people([:])
      let (plain, named) = (makeController(world, order(true)), makeController(world, order(true), section: "age"))
      try plain.performFetch()
      try named.performFetch()
      return "\(plain.sections?.count ?? -1), \(named.sections?.count ?? -1)"
    },
  ]
}
