import CoreData
import Foundation
import Testing

/// The meaning of values, objects and key paths for predicates in memory, and the properties of predicates.
@Suite struct PredicateValueTests {
  private func isTrue(_ format: String, _ object: Any?, _ arguments: Any?...) -> Bool {
    NSPredicate(format: format, argumentArray: arguments).evaluate(with: object)
  }

  private func value(_ format: String, _ object: Any? = nil, _ arguments: Any?...) -> Any? {
    NSExpression(format: format, argumentArray: arguments).expressionValue(with: object, context: nil)
  }

  private final class Colour: NSObject {
    let name: String
    let shade: Int
    init(_ name: String, _ shade: Int = 0) { (self.name, self.shade) = (name, shade) }
    override func isEqual(_ object: Any?) -> Bool { (object as? Colour)?.name == name }
    override var hash: Int { name.hashValue }
  }

  private struct Plain { let number = 1 }

  // MARK: Values of classes that no attribute has

  @Test func aValueOfAnyClassIsNotNil() {
    let row: [String: Any] = ["a": Colour("red"), "b": Colour("red"), "c": Colour("blue"), "p": Plain(), "q": Plain()]
    #expect(isTrue("a != nil AND NOT a == nil", row))
    #expect(isTrue("a == b AND a != c", row))
    // Values that cannot be compared all differ.
    #expect(isTrue("p != q AND p != nil", row))
    #expect(!isTrue("a < c OR a > 3 OR a == 3", row))
    #expect(isTrue("a IN {b, c} AND NOT a IN {c}", row))
    #expect((value("{a, b, c} UNION {a}", row) as? [Any])?.count == 2)
    #expect((value("distinct({a, b, c})", row) as? [Any])?.count == 2)
  }

  @Test func objectsOfAnyClassHaveTheirStoredPropertiesAsKeys() {
    let colours = [Colour("red", 1), Colour("blue", 7)]
    let isDark = NSPredicate(format: "shade > 3 AND name BEGINSWITH 'b'")
    #expect(colours.filter(isDark.evaluate).map(\.name) == ["blue"])
    #expect(NSArray(array: colours).filtered(using: isDark).count == 1)
    #expect(isTrue("number == 1 AND other == nil", Plain()))
    #expect(isTrue("a.name == 'x'", ["a": ["name": "x", 1: 2] as [AnyHashable: Any]]))
  }

  @Test func whatIsInADictionaryAreItsValues() {
    #expect(isTrue("'x' IN info AND NOT 'a' IN info", ["info": ["a": "x"] as NSDictionary]))
  }

  // MARK: Key paths

  @Test func valuesThatAreNoObjectsHaveKeys() {
    #expect(isTrue("'abc'.length == 3 AND uppercase(name).length == 2", ["name": "ab"]))
    #expect(isTrue("self.name == 'ab' AND name.self == 'ab'", ["name": "ab"]))
    #expect(value("name.self", ["name": "ab"]) as? String == "ab")
    #expect(isTrue("SUBQUERY(%@, $p, $p.age > 3).@count == 1", nil, [["age": 2], ["age": 4]] as [Any]))
  }

  @Test func allCollectionOperatorsAreKnown() {
    let row: [String: Any] = [
      "ages": [3, 5, 3], "lists": [[1, 2], [2, 3]], "orders": [["items": ["a", "b"]], ["items": ["c"]]],
    ]
    #expect(value("ages.@max.self", row) as? Int == 5)
    #expect(value("ages.@sum.self", row) as? Int == 11)
    #expect(value("ages.@distinctUnionOfObjects.self", row) as? [Int] == [3, 5])
    #expect(value("lists.@unionOfArrays.self", row) as? [Int] == [1, 2, 2, 3])
    #expect(value("lists.@distinctUnionOfArrays.self", row) as? [Int] == [1, 2, 3])
    #expect(value("lists.@distinctUnionOfSets.self", row) as? [Int] == [1, 2, 3])
    #expect(value("orders.@sum.items.@count", row) as? Int == 3)
    #expect(value("orders.items.@count", row) as? Int == 3)
    #expect(value("orders.@unionOfObjects.items.@count", row) as? Int == 3)
    #expect(value("({1, %@, 2} UNION {3}).@count", nil, nil) as? Int == 3)
  }

  @Test func anIndexOfNothingIsNil() {
    for format in [
      "tags[SIZE] == nil", "tags[FIRST] == nil", "name[LAST] == nil", "name[SIZE] == nil", "tags[0] == nil",
    ] {
      #expect(isTrue(format, ["name": "x"]), "\(format)")
    }
  }

  @Test func pathsOfVeryManyKeysAreReported() throws {
    let path = Array(repeating: "a", count: 201).joined(separator: ".")
    #expect(try NSPredicate.parse(path + " == 1", []).unevaluablePart == path)
    #expect(try NSPredicate.parse(path.dropFirst(2) + " == 1", []).unevaluablePart == nil)
  }

  @Test func listsOfConstantsAreAsGood() {
    #expect(isTrue("a IN {1, 'x', nil}", ["a": "x"]) && isTrue("a IN {1, nil}", [:] as [String: Any]))
    #expect(
      !isTrue("a IN {1, 'x'}", ["a": 2]) && isTrue("a == {1, 2}", ["a": [1, 2]]) && isTrue("a BETWEEN {1, 3}", ["a": 2])
    )
    #expect(isTrue("ANY a IN {1, 2}", ["a": [5, 2]]) && isTrue("a IN[c] {'X', 'Y'}", ["a": "y"]))
  }

  @Test func nilIsNoElementOfASetExpression() {
    #expect(value("missing UNION {1}", [String: Any]()) as? [Int] == [1])
  }

  @Test func nowIsOneMomentInAPredicate() {
    let isSame = NSPredicate(format: "now() == now()")
    for _ in 0..<1000 { #expect(isSame.evaluate(with: nil)) }
  }

  // MARK: Inspection

  @Test func constantsAreWhatWasGiven() throws {
    let parsed = NSPredicate(format: "id IN %@", [1, 2])
    let list = try #require(parsed as? Foundation.NSComparisonPredicate)
    #expect(list.rightExpression.expressionType == .constantValue)
    #expect(list.rightExpression.constantValue as? [Int] == [1, 2])
    let given = NSExpression(forConstantValue: NSSet(array: [1]))
    let made = NSComparisonPredicate(
      leftExpression: NSExpression(forKeyPath: "id"), rightExpression: given, modifier: .direct, type: .in)
    #expect(made.rightExpression === given && made.rightExpression.constantValue is NSSet)
    let parts = NSExpression(forAggregate: [NSExpression(forConstantValue: 1), NSExpression(forKeyPath: "a")])
    #expect(parts.expressionType == .aggregate && (parts.collection as? [Any])?.count == 2)
    #expect(NSExpression(format: "{1, a}").expressionType == .aggregate)
    #expect(NSExpression(forAggregate: [NSExpression(forConstantValue: 1)]).expressionType == .aggregate)
  }

  @Test func largeUnsignedNumbersAreExact() {
    #expect(!isTrue("a == %@", ["a": UInt64.max], UInt64.max - 1))
    #expect(isTrue("a > %@", ["a": UInt64.max], UInt64.max - 1))
    #expect(isTrue("a == %@ AND a != YES", ["a": NSNumber(value: Int8(5))], 5))
  }

  @Test func castsAreFunctionsOfTheirNameToo() throws {
    let cast = NSExpression(
      forFunction: "castObject:toType:",
      arguments: [NSExpression(forConstantValue: "42"), NSExpression(forConstantValue: "NSNumber")])
    #expect(cast.expressionValue(with: nil, context: nil) as? Int == 42)
    #expect(try NSExpression.parse("\(cast)", []) == cast)
    #expect(cast.expressionType == .function && cast.function == "castObject:toType:" && cast.arguments?.count == 2)
  }

  @Test func fetchExpressionsTellTheirParts() throws {
    let request = NSExpression(forConstantValue: NSFetchRequest<NSManagedObject>(entityName: "A"))
    let context = NSExpression(forVariable: "context")
    let fetch = NSFetchRequestExpression.expression(forFetch: request, context: context, countOnly: true)
    let known = try #require(fetch as? NSFetchRequestExpression)
    #expect(known.isCountOnlyRequest && known.requestExpression == request && known.contextExpression == context)
    let comparison = NSComparisonPredicate(
      leftExpression: NSExpression(forConstantValue: 1), rightExpression: fetch, modifier: .direct, type: .equalTo)
    #expect(comparison.rightExpression is NSFetchRequestExpression)
  }

  @Test(
    arguments: [
      ("a == 1", nil), ("foo(a) == 1", "foo(a)"), ("CAST(a, 'X') == 1", "CAST(a, \"X\")"), ("$x == 1", "$x"),
      ("a.@x == 1", "a.@x"), ("a.@unionOfArrays.b.@count == 1", nil), ("FUNCTION(a, 'x') == 1", "FUNCTION(a, \"x\")"),
      ("FUNCTION(a, 'length') == 1", nil),
    ] as [(String, String?)])
  func textsFromOutsideCanBeCheckedBeforehand(format: String, part: String?) throws {
    #expect(try NSPredicate.parse(format, []).unevaluablePart == part)
  }

  // MARK: Equality and substitution

  @Test func constantsAreNoCompounds() {
    let both = NSCompoundPredicate(andPredicateWithSubpredicates: [NSPredicate(format: "a == 1")])
    #expect(NSPredicate(value: false) != both && both != NSPredicate(value: false))
    #expect(NSPredicate(value: true) == NSPredicate(format: "TRUEPREDICATE"))
    #expect(NSPredicate(value: true).hash == NSPredicate(format: "TRUEPREDICATE").hash)
    #expect(NSPredicate(format: "a == 1") != NSPredicate(value: false))
    #expect(NSPredicate(value: false) != NSPredicate(format: "a == 1"))
    let block = NSPredicate { _, _ in true }
    #expect(block == block && block != NSPredicate(value: true))
  }

  @Test func variablesMayStandForPredicatesAndBesideBlocks() {
    let isOne = NSPredicate(format: "$p").withSubstitutionVariables(["p": NSPredicate(format: "a == 1")])
    #expect(isOne.evaluate(with: ["a": 1]) && !isOne.evaluate(with: ["a": 2]))
    let both = NSCompoundPredicate(andPredicateWithSubpredicates: [
      NSPredicate { _, _ in true }, NSPredicate(format: "a == $x"),
    ])
    #expect(both.withSubstitutionVariables(["x": 2]).evaluate(with: ["a": 2]))
    #expect(!both.withSubstitutionVariables(["x": 2]).evaluate(with: ["a": 1]))
  }

  // MARK: Depth

  @Test func predicatesThatWereFoldedOneByOneAreEvaluatedAndPrinted() {
    var all = NSPredicate(format: "a == 0")
    for number in 1..<3_000 {
      all = NSCompoundPredicate(orPredicateWithSubpredicates: [all, NSPredicate(format: "a == %d", number)])
    }
    #expect(all.evaluate(with: ["a": 0]) && all.evaluate(with: ["a": 2_999]) && !all.evaluate(with: ["a": 3_000]))
    #expect(all.predicateFormat.hasSuffix("OR a == 2999"))
    #expect(all == all && all.hash == all.hash)
    var mixed = NSPredicate(format: "a == 0")
    for number in 1..<3_000 {
      mixed = NSCompoundPredicate(
        type: number % 2 == 0 ? .or : .and, subpredicates: [NSCompoundPredicate(notPredicateWithSubpredicate: mixed)])
    }
    #expect(mixed.evaluate(with: ["a": 1]) && !mixed.evaluate(with: ["a": 0]))
    #expect(mixed.predicateFormat == "(nested deeper than 200 levels)")
  }

  @Test func expressionsThatAreTooDeepAreNotLookedInto() {
    var sum = NSExpression(forKeyPath: "a")
    let one = NSExpression(forConstantValue: 1)
    for _ in 0..<3_000 { sum = NSExpression(forFunction: "add:to:", arguments: [sum, one]) }
    #expect("\(sum)" == "(nested deeper than 200 levels)" && sum == sum && sum.hash == sum.hash && sum != one)
    let deep = NSComparisonPredicate(leftExpression: sum, rightExpression: one, modifier: .direct, type: .equalTo)
    let both = NSCompoundPredicate(andPredicateWithSubpredicates: [deep, NSPredicate(format: "a == 1")])
    #expect(deep.predicateFormat == "(nested deeper than 200 levels)" && deep == deep && both == both)
    #expect(deep != both && both.predicateFormat == "(nested deeper than 200 levels)")
    #expect(deep.leftExpression === sum)
  }

  @Test func predicatesThatAreFoldedByFormatsStayFlat() throws {
    var all = NSPredicate(format: "a == 0")
    for number in 1..<1_000 { all = NSPredicate(format: "%@ OR %@", all, NSPredicate(format: "a == %d", number)) }
    #expect(all.evaluate(with: ["a": 999]) && !all.evaluate(with: ["a": 1_000]))
    #expect(try NSPredicate.parse(all.predicateFormat, []).evaluate(with: ["a": 500]))
    var deep = NSPredicate(format: "a == 0")
    #expect(throws: (any Error).self) {
      for _ in 0..<300 { deep = try NSPredicate.parse("NOT (%@ AND b == 1)", [deep]) }
    }
  }

  /// `%@` stands for any object (Predicate Format String Syntax), which is compared by identity or equality.
  @Test func anArgumentMayBeOfAnyClass() throws {
    final class Own: NSObject {}
    let (one, other) = (Own(), Own())
    let objects = NSArray(array: [one, other])
    for argument in [one, [one]] as [Any] {
      let format = argument is Own ? "SELF == %@" : "SELF IN %@"
      #expect(objects.filtered(using: NSPredicate(format: format, argumentArray: [argument])) as? [Own] == [one])
    }
    let variable = NSPredicate(format: "SELF == $own")
    #expect(variable.evaluate(with: one, substitutionVariables: ["own": one]))
    #expect(!variable.withSubstitutionVariables(["own": other]).evaluate(with: one))
    // No store contains such a value.
    let company = try CompanyStore()
    try company.run { context in
      Person(context: context).name = "a"
      try context.save()
      #expect(try context.all(Person.self, "name == %@", one).isEmpty)
    }
  }
}
