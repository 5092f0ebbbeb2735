import Foundation
import Testing

@testable import CoreData

/// Former defects of predicates, one test each.
@Suite struct PredicateRegressionTests {
  // MARK: Variables

  @Test func variablesInsideAConditionalAreReplaced() {
    let predicate = NSPredicate(format: "TERNARY(name == $n, $yes, $no) == 1")
    let bound = predicate.withSubstitutionVariables(["n": "Ada", "yes": 1, "no": 0])
    #expect(!bound.predicateFormat.contains("$"))
    #expect(bound.evaluate(with: ["name": "Ada"]))
    #expect(!bound.evaluate(with: ["name": "Bob"]))
  }

  @Test func variablesInsideASubqueryAreReplacedButNotItsOwn() {
    let predicate = NSPredicate(format: "SUBQUERY(people, $p, $p.age > $limit).@count > 0")
    let text = predicate.withSubstitutionVariables(["limit": 3, "p": 4]).predicateFormat
    #expect(!text.contains("$limit"), "\(text)")
    #expect(text.contains("$p.age"), "\(text)")
  }

  @Test(arguments: ["$a UNION $b", "$a INTERSECT $b", "$a MINUS $b", "CAST($a, 'NSNumber')", "FETCH($a, $b, NO)"])
  func variablesInsideSetsAndCastsAreReplaced(format: String) {
    let predicate = NSPredicate(format: "name IN \(format)")
    #expect(!predicate.withSubstitutionVariables(["a": ["x"], "b": ["y"]]).predicateFormat.contains("$"))
  }

  // MARK: Arguments

  private final class Unknown: NSObject {}

  @Test func aConstantOfAnUnknownClassIsNotTakenForNil() throws {
    let constant = NSExpression(forConstantValue: Unknown())
    let predicate = NSComparisonPredicate(
      leftExpression: NSExpression(forKeyPath: "name"), rightExpression: constant, modifier: .direct, type: .equalTo)
    #expect(!predicate.evaluate(with: ["other": 1]))
    #expect(predicate.rightExpression.constantValue is Unknown)
    let company = try CompanyStore()
    try company.run { (context) throws in
      _ = Person(context: context)
      try context.save()
      let request = NSFetchRequest<Person>(entityName: "Person")
      request.predicate = predicate
      #expect(try context.fetch(request).isEmpty)
    }
  }

  @Test func aBlockAsAnArgumentStopsTheProgram() async {
    await #expect(processExitsWith: .failure) {
      _ = NSPredicate(format: "name == 'x' AND %@", NSPredicate { _, _ in true })
    }
  }

  @Test func argumentsOfEveryKnownClassAreTaken() {
    let known: [Any] = [
      "a", NSString(string: "a"), 1, UInt8(1), NSNumber(value: 1), true, 1.5, Float(1), CGFloat(1), Decimal(1),
      NSDecimalNumber(value: 1), Date(), NSDate(), Data([1]), NSData(data: Data([1])), UUID(), NSUUID(), Character("a"),
      URL(fileURLWithPath: "/"), NSURL(fileURLWithPath: "/"), AnyHashable(1), Substring("a"),
    ]
    for value in known {
      #expect(!NSPredicate(format: "name == %@", value).evaluate(with: ["other": 1]), "\(value)")
      #expect(NSPredicate(format: "%@ IN %@", value, [value]).evaluate(with: nil), "\(value)")
    }
    for collection: Any in [["a"], NSArray(array: ["a"]), Set(["a"]), NSSet(array: ["a"]), NSOrderedSet(object: "a")] {
      #expect(NSPredicate(format: "'a' IN %@", collection).evaluate(with: nil), "\(collection)")
    }
    #expect(NSPredicate(format: "name == %@", NSNull()).evaluate(with: ["other": 1]))
  }

  @Test func largeUnsignedNumbersStayPositive() {
    for value: Any in [UInt.max, UInt64.max, NSNumber(value: UInt64.max)] {
      #expect(NSPredicate(format: "%@ > 0", value).evaluate(with: nil))
    }
  }

  // MARK: Equality

  @Test func equalCompoundsHaveEqualHashes() {
    let (a, b) = (NSPredicate(format: "x == 1"), NSPredicate(format: "y == 2"))
    let made = NSCompoundPredicate(andPredicateWithSubpredicates: [a, b])
    let parsed = NSPredicate(format: "x == 1 AND y == 2")
    #expect(made == parsed)
    #expect(made.hash == parsed.hash)
    #expect(Set([made as NSPredicate, parsed]).count == 1)
  }

  // MARK: New objects

  @Test func aPredicateOnANewObjectStillMeansItAfterItsSave() throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      let department = Department(context: context)
      let person = Person(context: context)
      (person.name, person.department) = ("Ada", department)
      _ = Person(context: context)
      let known: [NSPredicate] = [
        NSPredicate(format: "department == %@", department), NSPredicate(format: "department IN %@", [department]),
        NSPredicate(format: "department == $d").withSubstitutionVariables(["d": department]),
        NSComparisonPredicate(
          leftExpression: NSExpression(forKeyPath: "department"),
          rightExpression: NSExpression(forConstantValue: department), modifier: .direct, type: .equalTo),
      ]
      for _ in 0..<2 {
        for predicate in known {
          let request = NSFetchRequest<Person>(entityName: "Person")
          request.predicate = predicate
          #expect(try context.fetch(request) == [person], "\(predicate)")
          #expect(predicate.evaluate(with: person), "\(predicate)")
        }
        try context.save()
      }
    }
  }

  @Test(.ofRootContexts) func aTemporaryIDMeansItsObjectUntilTheSave() throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      let department = Department(context: context)
      _ = Department(context: context)
      let predicate = NSPredicate(format: "SELF == %@", department.objectID)
      let request = NSFetchRequest<Department>(entityName: "Department")
      request.predicate = predicate
      #expect(try context.fetch(request) == [department])
      #expect(predicate.evaluate(with: department))
      try context.obtainPermanentIDs(for: [department])
      #expect(try context.fetch(request) == [department])
      try context.save()
      #expect(try context.fetch(request).isEmpty)
    }
  }

  @Test func aPredicateOfANewObjectDoesNotMatchAnotherContextsNewObject() throws {
    let company = try CompanyStore()
    let (one, two) = (company.context(), company.context())
    let foreign = one.performAndWait { Department(context: one).objectID }
    try two.performAndWait {
      let own = Department(context: two)
      #expect(own.objectID.uriRepresentation() == foreign.uriRepresentation())
      let request = NSFetchRequest<Department>(entityName: "Department")
      for (format, count) in [("SELF == %@", 0), ("SELF IN {%@}", 0), ("SELF != %@", 1)] {
        let predicate = NSPredicate(format: format, foreign)
        request.predicate = predicate
        #expect(try two.fetch(request).count == count, "\(format)")
        #expect(predicate.evaluate(with: own) == (count == 1), "\(format)")
      }
      try two.save()
      request.predicate = NSPredicate(format: "SELF == %@", foreign)
      #expect(try two.fetch(request).isEmpty)
    }
  }

  @Test func predicatesOnTheSameNewObjectAreEqual() throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      let (one, two) = (Department(context: context), Department(context: context))
      func predicate(_ object: NSManagedObject) -> NSPredicate { NSPredicate(format: "department == %@", object) }
      #expect(predicate(one) == predicate(one))
      #expect(predicate(one).hash == predicate(one).hash)
      #expect(predicate(one) != predicate(two))
      #expect(NSExpression(forConstantValue: one).constantValue as? Department === one)
      #expect(predicate(one).predicateFormat.contains(one.objectID.description))
    }
  }
}
