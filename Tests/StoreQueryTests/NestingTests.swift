import Foundation
import StoreQuery
import Testing

@Suite struct NestingTests {
  /// One level of each kind of nesting: the text before and the text after the nested part.
  static let levels: [(open: String, close: String)] = [
    ("(", ")"), ("NOT ", ""), ("!(", ")"), ("-", ""), ("~(", ")"), ("{", "}"), ("sum(", ")"), ("a[", "]"),
    ("1 ** ", ""), ("1 + (", ")"), ("FUNCTION(a, 'b:', ", ")"), ("SUBQUERY(a, $x, 1 == ", ").@count"), ("$x := ", ""),
    ("TERNARY(1 == ", ", 2, 3)"), ("TERNARY(NOT (a AND ", " == 1), 2, 3)"), ("CAST(", ", 'NSString')"),
    ("FETCH(", ", a, NO)"), ("SUBQUERY(", ", $x, TRUEPREDICATE)[FIRST].b"), ("NOT (a == 1 OR ", ")"),
  ]

  @Test(arguments: levels.indices)
  func `the deepest nesting and anything deeper stay within a stack of half a megabyte`(level: Int) {
    let (open, close) = Self.levels[level]
    for depth in [10, 50, 64, 65, 66, 98, 99, 100, 197, 198, 199, 200, 5000] {
      for core in ["a", "a == 1", "$x"] {
        onSmallStack {
          let format =
            String(repeating: open, count: depth) + core + String(repeating: close, count: depth)
          exercise(format)
        }
      }
    }
  }

  @Test func `long chains are refused where they make a deep tree and read where they make a flat one`() {
    onSmallStack {
      #expect(throws: FormatError.self) {
        try StoreQuery.Expression(format: Array(repeating: "1", count: 10_000).joined(separator: " + "))
      }
      #expect(throws: FormatError.self) {
        try StoreQuery.Expression(format: "a" + String(repeating: "[0].b", count: 10_000))
      }
      exercise(Array(repeating: "1", count: 200).joined(separator: " + "))
      exercise(Array(repeating: "a", count: 10_000).joined(separator: "."))
      exercise(Array(repeating: "a == 1", count: 5_000).joined(separator: " OR "))
    }
  }
}

/// Parses, prints, compares, hashes and releases.
private func exercise(_ format: String) {
  if let predicate = try? StoreQuery.Predicate(format: format) {
    #expect((try? StoreQuery.Predicate(format: predicate.format)) == predicate)
    #expect(Set([predicate]).contains(predicate))
  }
  if let expression = try? StoreQuery.Expression(format: format) {
    #expect((try? StoreQuery.Expression(format: expression.format)) == expression)
    #expect(Set([expression]).contains(expression))
  }
}

private func onSmallStack(_ body: @escaping @Sendable () -> Void) {
  let done = DispatchSemaphore(value: 0)
  let thread = Thread {
    body()
    done.signal()
  }
  thread.stackSize = 512 * 1024
  thread.start()
  done.wait()
}
