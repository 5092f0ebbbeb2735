import CoreData
import Foundation
import Testing

/// Programs that predicates have in memory: their size, their scopes, and the threads that share one.
@Suite struct ObjectProgramTests {
  private func isTrue(_ format: String, _ object: Any?, _ arguments: [Any]? = nil) -> Bool {
    NSPredicate(format: format, argumentArray: arguments).evaluate(with: object)
  }

  /// Each level that assigns to its own variable is resolved once.
  @Test(.timeLimit(.minutes(1))) func nestedSubqueriesThatAssignAreAsLargeAsTheirText() {
    let depth = 60
    let format =
      String(repeating: "SUBQUERY(a, $x, ", count: depth) + "($x := 1) == 1"
      + String(repeating: ").@count >= 0", count: depth)
    #expect(isTrue(format, ["a": []]))
  }

  @Test(.timeLimit(.minutes(1))) func nestedLocationsAreAsLargeAsTheirText() {
    let depth = 40
    let format =
      String(repeating: "distanceToLocation({0, ", count: depth) + "0"
      + String(repeating: "}, {0, 0})", count: depth) + " == 0"
    #expect(isTrue(format, NSDictionary()))
  }

  /// Both coordinates are of one evaluation of the location.
  @Test func aLocationIsEvaluatedOnce() {
    let format = "distanceToLocation(($n := $n), {0, 0}) == nil AND $n == nil"
    #expect(isTrue(format, NSDictionary()))
    let positions: [[Double]] = [[10, 20], [30, 40]]
    let near = "distanceToLocation(places[random(2)], places[0]) < 1 OR distanceToLocation(places[1], places[0]) > 1"
    for _ in 0..<50 { #expect(isTrue(near, ["places": positions])) }
    var distances: Set<Double> = []
    let expression = NSExpression(format: "distanceToLocation(places[random(2)], {0, 0})")
    for _ in 0..<200 {
      if let found = expression.expressionValue(with: ["places": positions], context: nil) as? Double {
        distances.insert(found.rounded())
      }
    }
    #expect(distances.count == 2)
  }

  /// In a compound with a block, too, whose variables nobody can list.
  @Test func whatASubqueryAssignsEndsWithItsElement() {
    let parts = [
      NSPredicate { _, _ in true },
      NSPredicate(format: "($y := 1) == 1 AND SUBQUERY(items, $x, ($y := $x) > 0).@count == 1"),
      NSPredicate(format: "SUBQUERY(items, $x, ($y := $x) > 0).@count == 1 AND items.@count == 1"),
    ]
    #expect(NSCompoundPredicate(andPredicateWithSubpredicates: parts).evaluate(with: ["items": [5]]))
    let whole = "($y := 1) == 1 AND SUBQUERY(items, $x, ($y := $x) > 0).@count == 1 AND $y == 1"
    #expect(
      NSCompoundPredicate(andPredicateWithSubpredicates: [parts[0], NSPredicate(format: whole)])
        .evaluate(with: ["items": [5]]))
  }

  @Test func aBlockOfAnotherObjectIsNil() {
    final class Other: NSObject {}
    #expect(isTrue("FUNCTION(%@, 'block') == nil", NSDictionary(), [Other()]))
  }

  @Test func membersAreCountedWithoutTheirValues() {
    let object = ["members": [NSObject(), NSObject(), NSNull()] as [Any]]
    #expect(isTrue("count(members) == 3", object))
    #expect(isTrue("members.@count == 2", object) || isTrue("members.@count == 3", object))
  }

  @Test func threadsShareAProgram() async {
    let predicate = NSPredicate(
      format: "SUBQUERY(items, $x, ($y := $x) > limit).@count == 2 AND name BEGINSWITH[c] 'a'")
    nonisolated(unsafe) let shared = predicate
    await withTaskGroup(of: Bool.self) { group in
      for task in 0..<8 {
        group.addTask {
          (0..<500).allSatisfy { round in
            let isMet = (round + task) % 2 == 0
            return shared.evaluate(with: ["items": [1, 5, 9], "limit": isMet ? 4 : 8, "name": "Anna"]) == isMet
          }
        }
      }
      for await result in group { #expect(result) }
    }
  }
}
