import CoreData
import Foundation
import Testing

/// Predicates and expressions that contain fetches, blocks, entities and dictionaries.
@Suite struct NestedFetchTests {
  private let context: NSManagedObjectContext

  init() throws {
    let (name, age) = (NSAttributeDescription(), NSAttributeDescription())
    (name.name, name.attributeType, age.name, age.attributeType) = (
      "name", .stringAttributeType, "age", .integer64AttributeType
    )
    let (person, pupil) = (NSEntityDescription(), NSEntityDescription())
    (person.name, person.properties, pupil.name) = ("Person", [name, age], "Pupil")
    person.subentities = [pupil]
    let model = NSManagedObjectModel()
    model.entities = [person, pupil]
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait { () throws in
      for (index, name) in ["Ada", "Bob", "Eve"].enumerated() {
        let object = NSEntityDescription.insertNewObject(forEntityName: index == 2 ? "Pupil" : "Person", into: context)
        object.setValue(name, forKey: "name")
        object.setValue(Int64(index), forKey: "age")
      }
      try context.save()
    }
  }

  private func names(_ predicate: NSPredicate) throws -> [String] {
    try context.performAndWait { () throws in
      let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      let all = try context.fetch(request)
      request.predicate = predicate
      let found = try context.fetch(request).compactMap { $0.value(forKey: "name") as? String }
      #expect(all.filter { predicate.evaluate(with: $0) }.compactMap { $0.value(forKey: "name") as? String } == found)
      return found
    }
  }

  private func fetch(
    _ request: NSFetchRequest<some NSFetchRequestResult>, countOnly: Bool = false
  ) -> NSExpression {
    NSFetchRequestExpression.expression(
      forFetch: NSExpression(forConstantValue: request), context: NSExpression(forConstantValue: context),
      countOnly: countOnly)
  }

  @Test func aFetchStandsForWhatItFinds() throws {
    let old = NSFetchRequest<NSManagedObject>(entityName: "Person")
    old.predicate = NSPredicate(format: "age > 0")
    let isOld = NSComparisonPredicate(
      leftExpression: NSExpression.expressionForEvaluatedObject(), rightExpression: fetch(old), modifier: .direct,
      type: .in)
    #expect(try names(isOld) == ["Bob", "Eve"])
    #expect(try names(NSPredicate(format: "SELF IN FETCH(%@, %@, NO)", old, context)) == ["Bob", "Eve"])
    #expect(try names(NSPredicate(format: "age == %@", fetch(old, countOnly: true))) == ["Eve"])
    let ids = NSFetchRequest<NSManagedObjectID>(entityName: "Pupil")
    ids.resultType = .managedObjectIDResultType
    #expect(try names(NSPredicate(format: "NOT SELF IN %@", fetch(ids))) == ["Ada", "Bob"])
    let values = NSFetchRequest<NSDictionary>(entityName: "Pupil")
    (values.resultType, values.propertiesToFetch) = (.dictionaryResultType, ["age"])
    #expect(try names(NSPredicate(format: "age IN %@", fetch(values))) == ["Eve"])
    let number = context.performAndWait { fetch(old, countOnly: true).expressionValue(with: nil, context: nil) as? Int }
    #expect(number == 2)
  }

  @Test func aFetchThatFailsIsAnErrorOfTheOuterOne() throws {
    let wrong = NSFetchRequest<NSManagedObject>(entityName: "Person")
    wrong.predicate = NSPredicate(format: "colour == 1")
    try context.performAndWait { () throws in
      let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
      for predicate in [
        NSPredicate(format: "SELF IN %@", fetch(wrong)), NSPredicate(format: "SELF IN FETCH(1, 2, NO)"),
      ] {
        request.predicate = predicate
        let error = #expect(throws: CocoaError.self) { try context.fetch(request) }
        #expect(error?.localizedDescription.contains("within the predicate") == true)
      }
      request.predicate = nil
      #expect(try context.count(for: request) == 3)
    }
  }

  @Test func entitiesAndDictionariesAreConstants() throws {
    let pupil = try #require(context.persistentStoreCoordinator?.managedObjectModel.entitiesByName["Pupil"])
    #expect(try names(NSPredicate(format: "entity == %@", pupil)) == ["Eve"])
    #expect(try names(NSPredicate(format: "entity.name != 'Pupil'")) == ["Ada", "Bob"])
    #expect(try names(NSPredicate(format: "entity != %@", pupil)) == ["Ada", "Bob"])
    #expect(try names(NSPredicate(format: "entity IN %@", [pupil])) == ["Eve"])
    #expect(try names(NSPredicate(format: "name IN %@", ["x": "Ada", "y": "Eve"])) == ["Ada", "Eve"])
    #expect(try names(NSPredicate(format: "name IN %@", ["x": "Bob"] as NSDictionary)) == ["Bob"])
  }

  @Test func aBlockIsAnExpressionInMemory() throws {
    let sum = NSExpression(
      forBlock: { object, arguments, _ in
        let name = (object as? NSManagedObject)?.value(forKey: "name") as? String
        return (name?.count ?? 0) + (arguments.first as? Int ?? 0)
      }, arguments: [NSExpression(forConstantValue: 4)])
    #expect(sum.expressionType == .block)
    #expect(sum.arguments?.count == 1)
    let isSeven = NSComparisonPredicate(
      leftExpression: sum, rightExpression: NSExpression(forConstantValue: 7), modifier: .direct, type: .equalTo)
    try context.performAndWait { () throws in
      let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
      #expect(try context.fetch(request).allSatisfy { isSeven.evaluate(with: $0) })
      #expect(sum.expressionBlock(nil, [3], nil) as? Int == 3)
      request.predicate = isSeven
      #expect(throws: CocoaError.self) { try context.fetch(request) }
    }
  }
}
