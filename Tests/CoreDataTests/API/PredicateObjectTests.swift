import CoreData
import Foundation
import Testing

/// Predicates and expressions as objects of Foundation's classes. Both modules are imported, as clients do.
@Suite struct PredicateObjectTests {
  private let old = NSPredicate(format: "age > 6")
  private let named = NSPredicate(format: "name BEGINSWITH %@", "A")

  @Test func aCompoundOfFoundationsClassPrintsItself() {
    let both = NSCompoundPredicate(andPredicateWithSubpredicates: [old, named])
    #expect(type(of: both) == NSCompoundPredicate.self)
    #expect(both.predicateFormat == "age > 6 AND name BEGINSWITH \"A\"")
    #expect((both as NSPredicate).predicateFormat == both.predicateFormat)
    #expect("\(both)" == both.predicateFormat)
    let either = NSCompoundPredicate(orPredicateWithSubpredicates: [both, NSPredicate(value: true)])
    #expect(either.predicateFormat == "(age > 6 AND name BEGINSWITH \"A\") OR TRUEPREDICATE")
    #expect(NSCompoundPredicate(notPredicateWithSubpredicate: old).predicateFormat == "NOT age > 6")
    let block = NSPredicate { _, _ in true }
    #expect(NSCompoundPredicate(andPredicateWithSubpredicates: [old, block]).predicateFormat.hasPrefix("age > 6 AND "))
  }

  @Test func compoundsAreEqualByWhatTheySay() {
    let both = NSCompoundPredicate(andPredicateWithSubpredicates: [old, named])
    let same = NSCompoundPredicate(andPredicateWithSubpredicates: [NSPredicate(format: "age > 6"), named])
    #expect(both == same)
    #expect(both.hash == same.hash)
    #expect(both == NSPredicate(format: "age > 6 AND name BEGINSWITH 'A'"))
    #expect(NSPredicate(format: "age > 6 AND name BEGINSWITH 'A'") == both)
    #expect(both != NSCompoundPredicate(andPredicateWithSubpredicates: [named, old]))
    #expect(both != NSCompoundPredicate(orPredicateWithSubpredicates: [old, named]))
  }

  @Test func formatsGiveObjectsOfTheExpectedClasses() throws {
    let compound = try #require(NSPredicate(format: "NOT (age > 6 OR name == nil)") as? NSCompoundPredicate)
    #expect(compound.compoundPredicateType == .not)
    let inner = try #require(compound.subpredicates.first as? NSCompoundPredicate)
    #expect(inner.compoundPredicateType == .or)
    let first = inner.subpredicates.first as? NSComparisonPredicate
    let comparison = try #require(first)
    #expect(comparison.leftExpression.keyPath == "age")
    #expect(comparison.rightExpression.constantValue as? Int == 6)
    #expect(comparison.predicateOperatorType == .greaterThan)
    #expect(comparison.comparisonPredicateModifier == .direct)
    #expect(!(old == named))
  }

  /// As Apple's framework prints it, by the tests of QueryKit.
  @Test func aNullObjectIsNilAndPrintsAsItself() throws {
    let made = NSComparisonPredicate(
      leftExpression: NSExpression(forKeyPath: "name"), rightExpression: NSExpression(forConstantValue: NSNull()),
      modifier: .direct, type: .equalTo)
    #expect(made.predicateFormat == "name == <null>")
    #expect(made == NSPredicate(format: "name == %@", NSNull()))
    #expect(made == NSPredicate(format: made.predicateFormat))
    #expect(made != NSPredicate(format: "name == nil"))
    #expect(made.rightExpression.constantValue is NSNull)
    let nothing: String? = nil
    #expect(NSExpression(forConstantValue: .some(nothing as Any)) == NSExpression(forConstantValue: NSNull()))
    #expect(NSExpression(forConstantValue: nothing).description == "nil")
    for predicate in [made, NSPredicate(format: "%@ == name", NSNull()), NSPredicate(format: "name IN {<null>, 1}")] {
      #expect(predicate.evaluate(with: ["other": 1]))
      #expect(!predicate.evaluate(with: ["name": "a"]))
    }
  }

  @Test func comparisonsMadeOfExpressionsAreThoseOfFormats() {
    let made = NSComparisonPredicate(
      leftExpression: NSExpression(forKeyPath: "name"), rightExpression: NSExpression(forConstantValue: "ada"),
      modifier: .direct, type: .beginsWith, options: [.caseInsensitive, .diacriticInsensitive])
    #expect(made == NSPredicate(format: "name BEGINSWITH[cd] 'ada'"))
    #expect(made.predicateFormat == "name BEGINSWITH[cd] \"ada\"")
    #expect(made.evaluate(with: ["name": "Äda"]))
    #expect(!made.evaluate(with: ["name": "Dada"]))
    let between = NSComparisonPredicate(
      leftExpression: NSExpression(forKeyPath: "age"), rightExpression: NSExpression(forConstantValue: [5, 10]),
      modifier: .direct, type: .between)
    #expect(between == NSPredicate(format: "age BETWEEN %@", [5, 10]))
    let any = NSComparisonPredicate(
      leftExpression: NSExpression(forKeyPath: "ages"), rightExpression: NSExpression(forConstantValue: 5),
      modifier: .any, type: .equalTo)
    #expect(any.evaluate(with: ["ages": [1, 5]]))
    #expect(!any.evaluate(with: ["ages": [1, 2]]))
  }

  @Test func madePredicatesFilterInTheStore() throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      for age in 0..<10 {
        let person = Person(context: context)
        person.age = Int16(age)
        person.name = age % 2 == 0 ? "A\(age)" : nil
      }
      try context.save()
    }
    try company.reopened().run { (context) throws in
      let request = NSFetchRequest<Person>(entityName: "Person")
      request.sortDescriptors = [NSSortDescriptor(keyPath: \Person.age, ascending: false)]
      request.predicate = NSCompoundPredicate(andPredicateWithSubpredicates: [
        old,
        NSCompoundPredicate(notPredicateWithSubpredicate: NSPredicate(format: "name == nil")),
        NSPredicate(value: true),
      ])
      #expect(try context.fetch(request).map(\.age) == [8])
      request.predicate = NSComparisonPredicate(
        leftExpression: NSExpression(forKeyPath: \Person.age), rightExpression: NSExpression(forAggregate: [3, 8]),
        modifier: .direct, type: .in)
      #expect(try context.fetch(request).map(\.age) == [8, 3])
    }
  }

  @Test func variablesAreBoundInEveryClassOfPredicate() {
    let template = NSPredicate(format: "age > $limit OR NOT name == $name")
    let bound = template.withSubstitutionVariables(["limit": 5, "name": "Ada"])
    #expect(bound == NSPredicate(format: "age > 5 OR NOT name == 'Ada'"))
    let values: [String: Any] = ["age": 6, "name": "Ada"]
    #expect(bound.evaluate(with: values))
    #expect(template.evaluate(with: values, substitutionVariables: ["limit": 7, "name": "Ada"]) == false)
  }
}

@Suite struct ExpressionTests {
  private func value(_ format: String, _ object: Any? = nil, _ arguments: Any?...) -> Any? {
    NSExpression(format: format, argumentArray: arguments).expressionValue(with: object, context: nil)
  }

  @Test func partsAreThoseThatWereGiven() {
    let constant = NSExpression(forConstantValue: "ada")
    #expect(constant.expressionType == .constantValue)
    #expect(constant.constantValue as? String == "ada")
    #expect(NSExpression(forKeyPath: "a.b").keyPath == "a.b")
    #expect(NSExpression(forKeyPath: "a.b").expressionType == .keyPath)
    #expect(NSExpression(forVariable: "x").variable == "x")
    let sum = NSExpression(forFunction: "sum:", arguments: [NSExpression(forKeyPath: "age")])
    #expect(sum.expressionType == .function)
    #expect(sum.function == "sum:")
    #expect(sum.arguments?.map(\.keyPath) == ["age"])
    #expect(NSExpression.expressionForEvaluatedObject().expressionType == .evaluatedObject)
    #expect(NSExpression(forAggregate: [constant]).expressionType == .aggregate)
    let union = NSExpression(forUnionSet: constant, with: sum)
    #expect(union.expressionType == .unionSet)
    #expect(union.left == constant)
    #expect(union.right == sum)
    let choice = NSExpression(
      forConditional: NSPredicate(format: "a == 1"), trueExpression: constant, falseExpression: sum)
    #expect(choice.predicate == NSPredicate(format: "a == 1"))
    #expect(choice.true == constant)
    #expect(choice.false == sum)
  }

  @Test func equalityAndTextFollowTheTree() {
    #expect(NSExpression(forKeyPath: "age") == NSExpression(format: "age"))
    #expect(NSExpression(forKeyPath: "age") != NSExpression(forKeyPath: "name"))
    #expect(NSExpression(forConstantValue: 10) == NSExpression(format: "10"))
    #expect("\(NSExpression(forFunction: "add:to:", arguments: [1, 2]))" == "1 + 2")
    #expect(NSExpression(forFunction: "add:to:", arguments: [1, 2]) == NSExpression(format: "1 + 2"))
  }

  @Test func keyPathsOfClassesWithoutAModelHaveNames() {
    final class Loose: NSManagedObject {
      var stored = 1
      static let title = ManagedProperty<String?>("title")
      var title: String? { value(of: Self.title) }
      static let count = ManagedProperty<Int64>("count")
      var count: Int64 { value(of: Self.count) }
      static let data = ManagedProperty<Data?>("data")
      var data: Data? { value(of: Self.data) }
      static let next = ManagedProperty<Loose?>("next")
      var next: Loose? { value(of: Self.next) }
      static let others = ManagedProperty<Set<Loose>>("others")
      var others: Set<Loose> { value(of: Self.others) }
    }
    #expect(NSExpression(forKeyPath: \Loose.title).keyPath == "title")
    #expect(NSExpression(forKeyPath: \Loose.count).keyPath == "count")
    #expect(NSExpression(forKeyPath: \Loose.data).keyPath == "data")
    #expect(NSExpression(forKeyPath: \Loose.next).keyPath == "next")
    #expect(NSExpression(forKeyPath: \Loose.others).keyPath == "others")
    #expect(NSExpression(forKeyPath: \Loose.stored).keyPath == "stored")
  }

  @Test func functionsAreEvaluated() {
    #expect(value("1 + 2 * 3") as? Int == 7)
    #expect(value("age + 1", ["age": 41]) as? Int == 42)
    #expect(value("sum({1, 2, 3})") as? Int == 6)
    #expect(value("average({1, 2})") as? Double == 1.5)
    #expect(value("max(%@)", nil, [3, 9, 4]) as? Int == 9)
    #expect(value("min(ages)", ["ages": [3, 9, 4]]) as? Int == 3)
    #expect(value("count(ages)", ["ages": [3, 9, 4]]) as? Int == 3)
    #expect(value("uppercase(name)", ["name": "ada"]) as? String == "ADA")
    #expect(value("sqrt(16)") as? Double == 4)
    #expect(value("-(3)") as? Int == -3)
    #expect(value("TERNARY(age > 18, 'adult', 'child')", ["age": 12]) as? String == "child")
    #expect(value("max({})") == nil)
  }

  @Test func variablesComeFromTheContext() {
    let expression = NSExpression(format: "$x + 1")
    #expect(expression.expressionValue(with: nil, context: ["x": 4]) as? Int == 5)
  }

  @Test func numbersKeepTheirKind() {
    #expect(NSExpression(forConstantValue: NSNumber(value: false)) == NSExpression(format: "NO"))
    #expect(NSExpression(forConstantValue: NSNumber(value: 0)) == NSExpression(format: "0"))
    #expect(NSExpression(forConstantValue: NSNumber(value: 1.5)) == NSExpression(format: "1.5"))
  }

  @Test func aConstantOfAnyClassComesBackAsItWas() {
    let object = NSObject()
    #expect(NSExpression(forConstantValue: object).constantValue as? NSObject === object)
    #expect(NSExpression(forConstantValue: [1, 2]).constantValue as? [Int] == [1, 2])
    #expect(NSExpression(forConstantValue: nil).constantValue == nil)
    #expect(NSExpression(forConstantValue: [1, 2]).expressionType == .constantValue)
  }

  /// The objects are allocated manually: a wrong layout appears as a crash or a leak.
  @Test func handMadeObjectsAreReleased() {
    weak var predicate: NSPredicate?
    weak var expression: NSExpression?
    do {
      let made = NSExpression(forKeyPath: "a")
      let comparison = NSComparisonPredicate(
        leftExpression: made, rightExpression: made, modifier: .direct, type: .equalTo)
      (expression, predicate) = (made, comparison)
      #expect(expression != nil && predicate != nil)
    }
    #expect(expression == nil)
    #expect(predicate == nil)
  }
}
