import CoreData
import Foundation
import TestSupport
import Testing

/// `$name := value` binds a variable. The language defines it
/// (https://developer.apple.com/library/archive/documentation/Cocoa/Conceptual/Predicates/Articles/pBNF.html). Where
/// the value is known is the rule of decision 064, because no page states it.
@Suite struct AssignmentTests {
  private let context: NSManagedObjectContext

  init() throws {
    let team = Describing.entity("Team", [Describing.attribute("name"), Describing.attribute("size", .integer64)])
    let member = Describing.entity("Member", [Describing.attribute("name"), Describing.attribute("age", .integer64)])
    Describing.relate(team, "members", toMany: true, member, "team", toManyBack: false)
    context = try Describing.context(Describing.model([team, member]))
    try context.performAndWait { [context] in
      for (name, size, ages) in [("red", 2, [2, 9]), ("blue", 7, [7]), ("none", 0, [])] as [(String, Int, [Int])] {
        let team = NSEntityDescription.insertNewObject(forEntityName: "Team", into: context)
        team.setValuesForKeys(["name": name, "size": size])
        for age in ages {
          let member = NSEntityDescription.insertNewObject(forEntityName: "Member", into: context)
          member.setValuesForKeys(["name": "\(name)\(age)", "age": age, "team": team])
        }
      }
      try context.save()
    }
  }

  /// The names of the teams that a fetch finds. They must be those for which the predicate is true in memory.
  private func teams(_ predicate: NSPredicate) throws -> [String] {
    try context.performAndWait { [context] in
      let request = NSFetchRequest<NSManagedObject>(entityName: "Team")
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      func names(_ objects: [NSManagedObject]) -> [String] {
        objects.compactMap { $0.value(forKey: "name") as? String }
      }
      let all = try context.fetch(request)
      request.predicate = predicate
      let found = names(try context.fetch(request))
      #expect(names(all.filter { predicate.evaluate(with: $0) }) == found, "\(predicate)")
      return found
    }
  }

  private func teams(_ format: String) throws -> [String] { try teams(NSPredicate(format: format)) }

  @Test func whatIsAssignedIsKnownToTheRight() throws {
    #expect(try teams("($x := size) > 1 AND $x < 5") == ["red"])
    #expect(try teams("($x := size) == $x") == ["blue", "none", "red"])
    #expect(try teams("($x := size + 1) == 3 OR $x == 8") == ["blue", "red"])
    #expect(try teams("NOT (($x := size) == 2) AND $x == 7") == ["blue"])
    // A variable can be assigned again, also from its own value.
    #expect(try teams("($x := size) >= 0 AND ($x := $x + 1) >= 0 AND $x == 8") == ["blue"])
    #expect(try teams("($m := members) != nil AND $m.@count == 2") == ["red"])
    #expect(try teams("($m := members) != nil AND ANY $m.age > 8") == ["red"])
    #expect(try teams("TERNARY(($x := size) > 5, $x, 0 - $x) == 7") == ["blue"])
    #expect(try teams("{($x := size), $x + 5} == nil OR $x == 2") == ["red"])
  }

  @Test func beforeItIsAssignedAVariableIsNil() throws {
    #expect(try teams("$x == nil AND ($x := size) == 2 AND $x == 2") == ["red"])
    #expect(try teams("$x == ($x := size)") == [])
  }

  @Test func aSubqueryAssignsForEachOfItsElements() throws {
    let same = "SUBQUERY(members, $m, ($a := $m.age) == size AND $a > 2).@count == 1"
    #expect(try teams(same) == ["blue"])
    #expect(try teams("($s := size) >= 0 AND SUBQUERY(members, $m, $m.age == $s).@count == 1") == ["blue", "red"])
    // The assignment ends with the element.
    #expect(try teams("SUBQUERY(members, $m, ($a := $m.age) > 0).@count > 0 AND $a == nil") == ["blue", "red"])
    #expect(try teams("SUBQUERY(members, $m, ($m := $m.age) > 0 AND $m == 9).@count == 1") == ["red"])
  }

  /// "bindings" are values from outside: they replace variables that the predicate does not assign itself.
  @Test func aPredicatesOwnVariablesAreNotBoundFromOutside() throws {
    let predicate = NSPredicate(format: "($x := size) == $y AND $x == 2")
    #expect(try teams(predicate.withSubstitutionVariables(["x": 5, "y": 2])) == ["red"])
    let row = ["size": 2]
    #expect(predicate.evaluate(with: row, substitutionVariables: ["x": 5, "y": 2]))
    #expect(!predicate.evaluate(with: row, substitutionVariables: ["x": 2, "y": 5]))
  }

  @Test func thePartsOfACompoundAreOnePredicate() throws {
    let (first, second) = (NSPredicate(format: "($x := size) > 0"), NSPredicate(format: "$x == 7"))
    let compound = NSCompoundPredicate(andPredicateWithSubpredicates: [first, second])
    #expect(try teams(compound) == ["blue"])
    #expect(compound.evaluate(with: ["size": 7], substitutionVariables: ["x": 1]))
    let nested = NSCompoundPredicate(orPredicateWithSubpredicates: [
      NSCompoundPredicate(notPredicateWithSubpredicate: first), NSPredicate(format: "$x == 2"),
    ])
    #expect(try teams(nested) == ["none", "red"])
  }

  /// "can be used by expressions to store temporary state": the header's comment on the context
  /// (https://developer.apple.com/documentation/foundation/nsexpression/expressionvalue(with:context:)).
  @Test func anExpressionsContextIsGivenWhatItAssigns() {
    let context = NSMutableDictionary()
    let value = NSExpression(format: "$x := size + 1").expressionValue(with: ["size": 2], context: context)
    #expect(value as? Int == 3 && context["x"] as? Int == 3)
    let next = NSExpression(format: "$x * 2").expressionValue(with: nil, context: context)
    #expect(next as? Int == 6)
    _ = NSExpression(format: "$y := missing").expressionValue(with: ["size": 2], context: context)
    #expect(context["y"] is NSNull)
  }

  // MARK: Fetches

  private func message(_ format: String) -> String? {
    let predicate = NSPredicate(format: format)
    return context.performAndWait { [context] in
      let request = NSFetchRequest<NSManagedObject>(entityName: "Team")
      request.predicate = predicate
      do { _ = try context.fetch(request) } catch { return error.localizedDescription }
      return nil
    }
  }

  @Test func aFetchRefusesAVariableThatDependsOnTheObject() {
    let format = "(name == 'red' AND ($x := size) == 2) OR $x == 7"
    #expect(message(format)?.contains("$x") == true)
    // In memory it has the value of the latest assignment.
    #expect(!NSPredicate(format: format).evaluate(with: ["name": "blue", "size": 7]))
    #expect(NSPredicate(format: format).evaluate(with: ["name": "red", "size": 2]))
    #expect(message("TERNARY(size > 1, ($x := 1), 2) == 1 AND $x == 1")?.contains("$x") == true)
    #expect(message("TERNARY(size > 1, ($x := 1), ($x := 1)) == 1 AND $x == 1") == nil)
    let hidden =
      "SUBQUERY(members, $m, ($t := $m.age) > 0 AND SUBQUERY(members, $m, $m.age == $t).@count > 0).@count > 0"
    #expect(message(hidden)?.contains("$t") == true)
  }

  @Test func aShortTextMakesNoEnormousFetch() {
    let doublings = (0..<60).map { "($a\($0 + 1) := $a\($0) + $a\($0)) != nil" }
    let message = message((["($a0 := size) != nil"] + doublings).joined(separator: " AND "))
    #expect(message?.contains("too large") == true)
  }

  @Test func whatIsNeverAssignedHasNoValue() {
    #expect(message("($x := size) == 2 AND $y == 3")?.contains("$y") == true)
    #expect(NSPredicate(format: "($x := size) == 2 AND $y == 3").unevaluablePart == "$y")
    #expect(NSPredicate(format: "($x := size) == 2 AND $x == 2").unevaluablePart == nil)
  }
}
