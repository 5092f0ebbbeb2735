import CoreData
import Foundation
import StoreQuery
import StoreSchema
import Testing

@testable import SQLEngine
@testable import StoreConformance

/// A function that is added to the registry works everywhere that functions are used.
@Suite struct AddedFunctionTests {
  /// The text reversed.
  private static let reversed = Function(
    "testReversed:", [.text], gives: .always(.text),
    .values { if case .string(let text) = $0[0] { .string(String(text.reversed())) } else { .null } })
  /// Twice the first operand plus the second, with an SQL expression.
  private static let twice = Function(
    "testTwice:plus:", shortName: "testTwice", [.number, .number], gives: .number,
    sql: [SQLPredicate.dialect: "(?1 + ?1 + ?2)"],
    .values { ArithmeticKernel.evaluate(.add, ArithmeticKernel.evaluate(.add, $0[0], $0[0]), $0[1]) })
  /// The difference of the greatest and the least value of a collection.
  private static let spread = Function(
    "testSpread:", [.collection], gives: .number,
    .collection { values in
      let numbers = values.compactMap { if case .int(let number) = $0 { number } else { nil } }
      guard let low = numbers.min(), let high = numbers.max() else { return .null }
      return .int(high - low)
    })

  private static let added: Void = { for function in [reversed, twice, spread] { Function.add(function) } }()

  init() { Self.added }

  @Test func formatsHaveIt() throws {
    for text in ["testReversed(name) == \"cba\"", "testTwice:plus:(a, 2) > 1", "testSpread(numbers) == 3"] {
      #expect(try StoreQuery.Predicate(format: text).format == text)
    }
    #expect(try StoreQuery.Predicate(format: "testTwice(a, 2) > 1").format == "testTwice:plus:(a, 2) > 1")
  }

  @Test func plainObjectsHaveIt() {
    let object: [String: Any] = ["name": "abc", "a": -1, "numbers": [4, 9, 7]]
    #expect(NSPredicate(format: "testReversed(name) == 'cba'").evaluate(with: object))
    #expect(NSPredicate(format: "testTwice(a, 5) == 3").evaluate(with: object))
    #expect(NSPredicate(format: "testSpread(numbers) == 5").evaluate(with: object))
    #expect(!NSPredicate(format: "testSpread(numbers) == 4").evaluate(with: object))
  }

  // MARK: Objects of a context and rows of stores

  private static func model() -> NSManagedObjectModel {
    let (team, member) = (NSEntityDescription(), NSEntityDescription())
    (team.name, member.name) = ("Team", "Member")
    func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
      let attribute = NSAttributeDescription()
      (attribute.name, attribute.attributeType) = (name, type)
      return attribute
    }
    let (members, own) = (NSRelationshipDescription(), NSRelationshipDescription())
    (members.name, members.destinationEntity, members.maxCount) = ("members", member, 0)
    (own.name, own.destinationEntity, own.maxCount) = ("team", team, 1)
    (members.inverseRelationship, own.inverseRelationship) = (own, members)
    team.properties = [attribute("name", .stringAttributeType), attribute("size", .integer32AttributeType), members]
    member.properties = [attribute("age", .integer16AttributeType), own]
    let model = NSManagedObjectModel()
    model.entities = [team, member]
    return model
  }

  @Test(arguments: [NSPersistentStore.StoreType.sqlite, .inMemory])
  func contextsAndStoresHaveIt(_ type: NSPersistentStore.StoreType) throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
    try coordinator.addPersistentStore(type: type, at: URL(filePath: "/dev/null"))
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      for (name, size, ages) in [("red", 3, [2, 9]), ("blue", -1, [7]), ("none", 8, [])] as [(String, Int, [Int])] {
        let team = NSEntityDescription.insertNewObject(forEntityName: "Team", into: context)
        team.setValuesForKeys(["name": name, "size": size])
        for age in ages {
          let member = NSEntityDescription.insertNewObject(forEntityName: "Member", into: context)
          member.setValuesForKeys(["age": age, "team": team])
        }
      }
      let request = NSFetchRequest<NSManagedObject>(entityName: "Team")
      func found(_ format: String) throws -> [String] {
        request.predicate = NSPredicate(format: format)
        return try context.fetch(request).compactMap { $0.value(forKey: "name") as? String }.sorted()
      }
      func check() throws {
        #expect(try found("testReversed(name) == 'der'") == ["red"])
        #expect(try found("testReversed(name) ENDSWITH 'n'") == ["none"])
        #expect(try found("testTwice(size, 5) < 12") == ["blue", "red"])
        #expect(try found("testSpread(members.age) == 7") == ["red"])
        #expect(try found("testSpread(members.age) == nil") == ["none"])
      }
      try check()
      try context.save()
      context.reset()
      try check()
    }
  }

  @Test func statementsHaveIt() throws {
    var (team, member) = (EntityDefinition(name: "Team"), EntityDefinition(name: "Member"))
    team.attributes = [AttributeDefinition(name: "name", type: .string), .init(name: "size", type: .integer32)]
    member.attributes = [AttributeDefinition(name: "age", type: .integer16)]
    var members = RelationshipDefinition(name: "members", destination: "Member")
    var own = RelationshipDefinition(name: "team", destination: "Team")
    (members.inverse, own.inverse) = ("team", "members")
    own.maxCount = 1
    (team.relationships, member.relationships) = ([members], [own])
    let layout = SQLLayout(schema: try Schema([team, member]))
    let entity = try #require(layout.schema.entity(named: "Team"))
    func text(_ format: String) throws -> String? {
      var translation = SQLPredicate(layout, entity: entity)
      let resolved = try PredicateResolver(layout.schema, entity).resolve(StoreQuery.Predicate(format: format))
      return translation.condition(resolved)?.statement.text
    }
    let number = try #require(Self.reversed.number)
    #expect(try text("testReversed(name) == 'cba'")?.contains("OCDFunction(\(number), 4, t0.ZNAME)") == true)
    #expect(try text("testTwice(size, 5) < 12")?.contains("(t0.ZSIZE + t0.ZSIZE + ?)") == true)
    #expect(try text("testSpread(members.age) == 7")?.contains("OCDTestspread(0, t1.ZAGE)") == true)
  }

  // MARK: Random predicates

  @Test func theGeneratorHasIt() throws {
    let model = try ModelSchema()
    var store = ReferenceStore()
    for operation in ModelOperation.stream(count: 100, seed: 3) {
      var plan = ModelPlan(model, store, operation)
      _ = store.apply(plan.changes(operation.kind))
    }
    var generator = PredicateGenerator(model, store, seed: 5, isForContexts: false) { _ in nil }
    var made: Set<String> = []
    for _ in 0..<4000 { made.formUnion(generator.fetch().operators) }
    #expect(made.contains("testReversed"))
  }

  /// The suite evaluates each built-in function independently, and compares stores with the result.
  @Test func builtInFunctionsHaveAnIndependentMeaning() {
    for function in Function.builtIn.compactMap(GeneratedFunction.init) {
      #expect(ReferenceValues.functions.contains(function.name), "\(function.name)")
    }
  }
}
