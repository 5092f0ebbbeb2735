import Foundation
import StoreQuery
import StoreSchema
import Synchronization

/// The program of a predicate for objects in memory, made when it is first evaluated and then kept.
final class ObjectProgram: Sendable {
  private let program = Mutex<CompiledPredicate<ObjectSource>?>(nil)

  /// `tree` is always the same for a program.
  private func compiled(_ tree: StoreQuery.Predicate) -> CompiledPredicate<ObjectSource> {
    if let known = program.withLock({ $0 }) { return known }
    let made = CompiledPredicate<ObjectSource>(DynamicResolver.resolve(tree))
    program.withLock { $0 = made }
    return made
  }

  /// Whether an object meets the predicate of the tree.
  func evaluate(_ tree: StoreQuery.Predicate, _ object: Any?) -> Bool {
    compiled(tree)(object, in: ObjectSource { tree.assignedVariables })
  }

  /// Evaluates a part of a compound. `variables` are those that the parts before it have assigned, and `assigned` those
  /// that any part assigns.
  func evaluate(
    _ tree: StoreQuery.Predicate, _ object: Any?, _ variables: inout ObjectSource.Variables,
    assigned: @escaping () -> Set<String>
  ) -> Bool {
    let source = ObjectSource(variables, assigned: assigned)
    defer { variables = source.variables }
    return compiled(tree)(object, in: source)
  }

  /// The value of an expression as an object, and the variables that it has assigned.
  static func value(
    of expression: StoreQuery.Expression, _ object: Any?
  ) -> (value: Any?, assigned: [String: Any]) {
    let source = ObjectSource { expression.assignedVariables }
    let value = DynamicExpression<ObjectSource>(DynamicResolver.resolve(expression))(object, in: source)
    return (ObjectSource.plain(value), source.variables.mapValues { ObjectSource.plain($0) ?? NSNull() })
  }
}
