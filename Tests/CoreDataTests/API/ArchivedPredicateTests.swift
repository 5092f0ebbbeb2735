import CoreData
import Foundation
import PropertyLists
import TestSupport
import Testing

/// Predicates, expressions and sort descriptors in archives.
///
/// "evaluation is disabled because it is potentially unsafe to evaluate predicates you get out of an archive":
/// https://developer.apple.com/documentation/foundation/nspredicate/allowevaluation()
@Suite struct ArchivedPredicateTests {
  private static let formats = [
    "name == 'x'", "name != nil AND age > 5", "NOT (age < 5 OR age BETWEEN {7, 9})", "ANY tags.name LIKE[cd] 'a*'",
    "ALL scores >= 1.5", "name IN {'a', 'b'}", "'a' IN tags.name", "name BEGINSWITH[c] 'a' OR name ENDSWITH 'z'",
    "name MATCHES '[a-z]+'", "name CONTAINS[l] 'b'", "SUBQUERY(tags, $t, $t.name == 'a' AND $t.age > 1).@count > 0",
    "age + 1 == $other * 2", "TERNARY(age > 1, 'a', 'b') == name", "TRUEPREDICATE", "FALSEPREDICATE",
    "(tags UNION others).@count == 2", "CAST(name, 'NSNumber') == 5", "now() > date", "tags[FIRST].name == 'a'",
    "($x := age) > 1 AND $x < 5", "SELF == nil", "name == NULL", "@count == 1", "FUNCTION(name, 'length') > 2",
  ]

  private func archive(_ predicate: NSPredicate) throws -> Data {
    try NSKeyedArchiver.archivedData(withRootObject: predicate, requiringSecureCoding: true)
  }

  private func decoded(_ data: Data) throws -> NSPredicate {
    let predicate = try NSKeyedUnarchiver.unarchivedObject(ofClass: NSPredicate.self, from: data)
    return try #require(predicate)
  }

  private func decodedExpression(_ data: Data) throws -> NSExpression {
    let expression = try NSKeyedUnarchiver.unarchivedObject(ofClass: NSExpression.self, from: data)
    return try #require(expression)
  }

  @Test(arguments: formats) func aPredicateComesBackAsItWas(_ format: String) throws {
    let predicate = NSPredicate(format: format)
    let back = try decoded(archive(predicate))
    #expect(back == predicate && back.predicateFormat == predicate.predicateFormat)
    #expect(back is NSComparisonPredicate == predicate is NSComparisonPredicate)
    #expect(back is NSCompoundPredicate == predicate is NSCompoundPredicate)
    #expect(try archive(back) == archive(predicate))
  }

  @Test func constantsOfEveryKindComeBack() throws {
    let values: [Any?] = [
      "a", 5, true, 1.5, Decimal(string: "1.25"), Date(timeIntervalSinceReferenceDate: 5), Data([1, 2]), UUID(),
      URL(string: "https://example.org/a"), nil, NSNull(), [1, 2], NSSet(array: ["a"]),
    ]
    for value in values {
      let predicate = NSPredicate(format: "x == %@", value)
      #expect(try decoded(archive(predicate)) == predicate, "\(predicate)")
    }
  }

  @Test func compoundsOfFoundationsClassAreArchivedToo() throws {
    let parts = [NSPredicate(value: true), NSPredicate(format: "a == 1")]
    for type in [NSCompoundPredicate.LogicalType.and, .or] {
      let compound = NSCompoundPredicate(type: type, subpredicates: parts)
      let back = try NSKeyedUnarchiver.unarchivedObject(ofClass: NSCompoundPredicate.self, from: archive(compound))
      #expect(back == compound && back?.compoundPredicateType == type && back?.subpredicates.count == 2)
    }
    #expect(try decoded(archive(NSPredicate(value: false))) == NSPredicate(value: false))
  }

  // MARK: Evaluation

  @Test func aDecodedPredicateIsEvaluatedOnceThatIsAllowed() throws {
    for format in ["a == 1", "a == 1 AND b == 2", "TRUEPREDICATE"] {
      let predicate = try decoded(archive(NSPredicate(format: format)))
      predicate.allowEvaluation()
      #expect(predicate.evaluate(with: ["a": 1, "b": 2]))
    }
    let both = try decoded(archive(NSPredicate(format: "a == 1 AND b == 2")))
    let compound = try #require(both as? NSCompoundPredicate)
    let first = compound.subpredicates.first as? NSComparisonPredicate
    let part = try #require(first)
    let side = part.leftExpression
    compound.allowEvaluation()
    #expect(part.evaluate(with: ["a": 1]) && side.expressionValue(with: ["a": 1], context: nil) as? Int == 1)
    let whole = NSCompoundPredicate(andPredicateWithSubpredicates: [
      try decoded(archive(NSPredicate(format: "$v == 1"))), NSPredicate(value: true),
    ])
    whole.allowEvaluation()
    #expect(whole.evaluate(with: nil, substitutionVariables: ["v": 1]))
    #expect(whole.withSubstitutionVariables(["v": 1]).evaluate(with: nil))
  }

  @Test func beforeThatItStopsTheProgram() async {
    await #expect(processExitsWith: .failure) { try stop { _ = $0.evaluate(with: ["a": 1]) } }
    await #expect(processExitsWith: .failure) {
      try stop { _ = $0.evaluate(with: ["a": 1], substitutionVariables: [:]) }
    }
    await #expect(processExitsWith: .failure) {
      try stop { _ = ($0 as? NSCompoundPredicate)?.subpredicates[0].evaluate(with: ["a": 1]) }
    }
    await #expect(processExitsWith: .failure) {
      try stop { _ = NSCompoundPredicate(notPredicateWithSubpredicate: $0).evaluate(with: ["a": 1]) }
    }
    await #expect(processExitsWith: .failure) { try stop { _ = NSPredicate(format: "%@ OR a == 1", $0) } }
    await #expect(processExitsWith: .failure) {
      try stop { _ = $0.withSubstitutionVariables(["x": 1]).evaluate(with: ["a": 1]) }
    }
  }

  @Test func beforeThatAFetchIsAnError() throws {
    let context = try Describing.context(Describing.model([Describing.entity("A", [Describing.attribute("name")])]))
    try context.performAndWait {
      NSEntityDescription.insertNewObject(forEntityName: "A", into: context).setValue("x", forKey: "name")
      try context.save()
      let predicate = try decoded(archive(NSPredicate(format: "name == 'x'")))
      let request = NSFetchRequest<NSManagedObject>(entityName: "A")
      for predicate in [predicate, NSCompoundPredicate(andPredicateWithSubpredicates: [predicate])] {
        request.predicate = predicate
        let error = #expect(throws: CocoaError.self) { _ = try context.fetch(request) }
        #expect(error?.localizedDescription.contains("allowEvaluation") == true)
      }
      predicate.allowEvaluation()
      #expect(try context.count(for: request) == 1)
    }
  }

  // MARK: Expressions and sort descriptors

  @Test func expressionsComeBackAsTheyWere() throws {
    for format in ["a.b", "5", "a + 1", "sum:(scores)", "{1, a}", "$x.name", "SUBQUERY(a, $x, $x == 1)", "$y := 5"] {
      let expression = NSExpression(format: format)
      let data = try NSKeyedArchiver.archivedData(withRootObject: expression, requiringSecureCoding: true)
      let back = try decodedExpression(data)
      #expect(back == expression && back.expressionType == expression.expressionType, "\(format)")
    }
    let data = try NSKeyedArchiver.archivedData(
      withRootObject: NSExpression(format: "a + 1"), requiringSecureCoding: true)
    let back = try decodedExpression(data)
    back.allowEvaluation()
    #expect(back.expressionValue(with: ["a": 1], context: nil) as? Int == 2)
  }

  @Test func aDecodedExpressionStopsTheProgramToo() async {
    await #expect(processExitsWith: .failure) {
      let data = try NSKeyedArchiver.archivedData(
        withRootObject: NSExpression(forConstantValue: 5), requiringSecureCoding: true)
      _ = try NSKeyedUnarchiver.unarchivedObject(ofClass: NSExpression.self, from: data)?
        .expressionValue(with: nil, context: nil)
    }
  }

  @Test func sortDescriptorsComeBackAsTheyWere() throws {
    for descriptor in [
      NSSortDescriptor(key: "a.b", ascending: false),
      NSSortDescriptor(key: "name", ascending: true, selector: "localizedStandardCompare:"),
    ] {
      let data = try NSKeyedArchiver.archivedData(withRootObject: descriptor, requiringSecureCoding: true)
      #expect(try NSKeyedUnarchiver.unarchivedObject(ofClass: NSSortDescriptor.self, from: data) == descriptor)
    }
    let compared = NSSortDescriptor(key: "a", ascending: true, comparator: { _, _ in .orderedSame })
    #expect(throws: CocoaError.self) {
      _ = try NSKeyedArchiver.archivedData(withRootObject: compared, requiringSecureCoding: true)
    }
  }

  // MARK: Refused archives

  /// "block expressions are not encodable": the header's comment on `expressionForBlock:arguments:`.
  @Test func blocksAndObjectsAreRefused() throws {
    let context = try Describing.context(Describing.model([Describing.entity("A", [])]))
    let object = context.performAndWait { NSEntityDescription.insertNewObject(forEntityName: "A", into: context) }
    let block = NSPredicate { _, _ in true }
    let predicates = [
      block, NSCompoundPredicate(andPredicateWithSubpredicates: [NSPredicate(value: true), block]),
      NSPredicate(format: "SELF == %@", object), NSPredicate(format: "SELF == %@", object.objectID),
    ]
    for predicate in predicates {
      let error = #expect(throws: CocoaError.self) { _ = try archive(predicate) }
      #expect(error?.code == .coderInvalidValue)
    }
    let expression = NSExpression(forBlock: { _, _, _ in 1 }, arguments: nil)
    #expect(throws: CocoaError.self) {
      _ = try NSKeyedArchiver.archivedData(withRootObject: expression, requiringSecureCoding: true)
    }
  }

  @Test func anArchiveOfSomethingElseIsAnError() throws {
    func isRefused(_ data: Data) {
      let error = #expect(throws: CocoaError.self) { _ = try decoded(data) }
      #expect(error?.code == .coderReadCorrupt)
    }
    isRefused(Data())
    isRefused(Data("hello".utf8))
    isRefused(try NSKeyedArchiver.archivedData(withRootObject: "text" as NSString, requiringSecureCoding: true))
    isRefused(
      try NSKeyedArchiver.archivedData(withRootObject: NSExpression(format: "a"), requiringSecureCoding: true))
    let comparison = try archive(NSPredicate(format: "a == 1"))
    #expect(throws: CocoaError.self) {
      _ = try NSKeyedUnarchiver.unarchivedObject(ofClass: NSCompoundPredicate.self, from: comparison)
    }
  }

  @Test func damagedArchivesAreErrors() throws {
    let whole = try archive(
      NSPredicate(format: "SUBQUERY(tags, $t, $t.name LIKE 'a' AND NOT $t.age + 1 > 5).@count > 0"))
    for length in 0..<whole.count { _ = try? decoded(whole.prefix(length)) }
    // Every byte, with three changes each: the result is a value or an error.
    for position in whole.indices {
      for change: UInt8 in [0x01, 0x10, 0xFF] {
        var damaged = whole
        damaged[position] ^= change
        if let predicate = try? decoded(damaged) { _ = (predicate.predicateFormat, predicate.unevaluablePart) }
      }
    }
  }

  @Test func archivesWithoutEndAreErrors() {
    var writer = KeyedArchiveWriter()
    let root = writer.reserve()
    let list = writer.add(array: [root, root])
    writer.fill(
      root, classes: ["NSCompoundPredicate", "NSPredicate", "NSObject"],
      values: ["NSCompoundPredicateType": .integer(1), "NSSubpredicates": list.value])
    let cycle = writer.archive(root: root)
    #expect(throws: CocoaError.self) { _ = try decoded(cycle) }
    // Forty levels, each of which refers to the next one twice.
    writer = KeyedArchiveWriter()
    var part = writer.add(classes: ["NSTruePredicate", "NSPredicate", "NSObject"], values: [:])
    for _ in 0..<40 {
      let list = writer.add(array: [part, part])
      part = writer.add(
        classes: ["NSCompoundPredicate", "NSPredicate", "NSObject"],
        values: ["NSCompoundPredicateType": .integer(1), "NSSubpredicates": list.value])
    }
    let repeated = writer.archive(root: part)
    #expect(throws: CocoaError.self) { _ = try decoded(repeated) }
  }

  // MARK: Among other objects

  @Test func theyStandAmongOtherObjects() throws {
    let predicate = NSPredicate(format: "a == 1 AND b IN {1, 2}")
    let rule = Rule(predicate, NSExpression(format: "a.b"), [NSSortDescriptor(key: "a", ascending: false)])
    let data = try NSKeyedArchiver.archivedData(withRootObject: rule, requiringSecureCoding: true)
    let rules = try NSKeyedUnarchiver.unarchivedObject(ofClass: Rule.self, from: data)
    let back = try #require(rules)
    #expect(back.predicate == rule.predicate && back.expression == rule.expression && back.order == rule.order)
    back.predicate?.allowEvaluation()
    #expect(back.predicate?.evaluate(with: ["a": 1, "b": 2]) == true)
    let list = [predicate, NSPredicate(value: true), NSCompoundPredicate(notPredicateWithSubpredicate: predicate)]
    let archived = try NSKeyedArchiver.archivedData(withRootObject: list as NSArray, requiringSecureCoding: true)
    let all = try NSKeyedUnarchiver.unarchivedObject(ofClasses: [NSArray.self, NSPredicate.self], from: archived)
    #expect(all as? [NSPredicate] == list)
    // A predicate that Foundation archived as the root object.
    let alone = try NSKeyedArchiver.archivedData(withRootObject: predicate as Any, requiringSecureCoding: true)
    #expect(try decoded(alone) == predicate)
  }
}

/// A client's object with a predicate, for archives.
final class Rule: NSObject, NSSecureCoding {
  static var supportsSecureCoding: Bool { true }
  let predicate: NSPredicate?
  let expression: NSExpression?
  let order: [NSSortDescriptor]

  init(_ predicate: NSPredicate, _ expression: NSExpression, _ order: [NSSortDescriptor]) {
    (self.predicate, self.expression, self.order) = (predicate, expression, order)
  }

  init?(coder: NSCoder) {
    predicate = coder.decodeObject(of: NSPredicate.self, forKey: "predicate")
    expression = coder.decodeObject(of: NSExpression.self, forKey: "expression")
    order = coder.decodeObject(of: [NSArray.self, NSSortDescriptor.self], forKey: "order") as? [NSSortDescriptor] ?? []
  }

  func encode(with coder: NSCoder) {
    coder.encode(predicate, forKey: "predicate")
    coder.encode(expression, forKey: "expression")
    coder.encode(order as NSArray, forKey: "order")
  }
}

/// Calls `body` with a decoded predicate that must not be evaluated.
private func stop(_ body: (NSPredicate) -> Void) throws {
  let data = try NSKeyedArchiver.archivedData(
    withRootObject: NSPredicate(format: "a == 1 AND a == $x"), requiringSecureCoding: true)
  guard let predicate = try NSKeyedUnarchiver.unarchivedObject(ofClass: NSPredicate.self, from: data) else { return }
  body(predicate)
}
