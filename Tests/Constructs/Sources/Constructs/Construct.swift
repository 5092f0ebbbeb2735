import CoreData

/// What a construct is one of. `Scripts/constructs` requires a number of each.
enum Category: String, CaseIterable {
  case attributes, managedTypes, managedFunctions, keyPaths, selectors, conditions, comments, extensions, bundles
  case imports
}

/// A construct: its sources are in its file of the folder Layer, and its check runs them.
struct Construct {
  let category: Category
  let name: String
  let check: () throws -> Void
}

/// The constructs and what became of their checks.
enum Registry {
  nonisolated(unsafe) static var constructs: [Construct] = []
  /// What the check that runs did not find as it should be.
  nonisolated(unsafe) static var failures: [String] = []
}

/// Adds a construct.
func construct(_ category: Category, _ name: String, _ check: @escaping () throws -> Void) {
  Registry.constructs.append(Construct(category: category, name: name, check: check))
}

/// Fails the check that runs where the condition is false.
func expect(_ condition: Bool, _ note: @autoclosure () -> String = "", file: String = #fileID, line: Int = #line) {
  if !condition { Registry.failures.append("\(file):\(line) \(note())") }
}

/// Fails the check that runs where two values differ.
func expect<Value: Equatable>(_ found: Value, is expected: Value, file: String = #fileID, line: Int = #line) {
  expect(found == expected, "found \(found), expected \(expected)", file: file, line: line)
}
