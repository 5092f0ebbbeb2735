import Foundation
import StoreQuery
import StoreSchema
import Synchronization

/// The program of a predicate for objects in memory. It is made at the first evaluation and kept.
final class ObjectProgram: Sendable {
  private struct Compiled: Sendable {
    let predicate: CompiledPredicate<ObjectSource>
    /// The variables that the predicate assigns.
    let assigned: Set<String>
  }

  private let program = Mutex<Compiled?>(nil)

  /// The compiled form of `tree`. The caller passes the same tree at each call.
  private func compiled(_ tree: StoreQuery.Predicate) -> Compiled {
    if let known = program.withLock({ $0 }) { return known }
    if TreeHeight.isExceeded(by: tree) {
      misuse("A predicate that is evaluated in memory is nested deeper than \(TreeHeight.limit) levels.")
    }
    let made = Compiled(
      predicate: CompiledPredicate(DynamicResolver.resolve(tree)), assigned: tree.assignedVariables)
    program.withLock { $0 = made }
    return made
  }

  /// Whether the predicate holds for an object.
  func evaluate(_ tree: StoreQuery.Predicate, _ object: Any?) -> Bool {
    let compiled = compiled(tree)
    return compiled.predicate(object, in: ObjectSource(assigned: compiled.assigned))
  }

  /// Evaluates a part of a compound. `variables` are those that the parts before it have assigned, and `elsewhere`
  /// names those that any part assigns.
  func evaluate(
    _ tree: StoreQuery.Predicate, _ object: Any?, _ variables: inout ObjectSource.Variables,
    elsewhere: @escaping () -> Set<String>
  ) -> Bool {
    let compiled = compiled(tree)
    let source = ObjectSource(variables, assigned: compiled.assigned, elsewhere: elsewhere)
    defer { variables = source.variables }
    return compiled.predicate(object, in: source)
  }
}

/// The program of an expression for objects in memory. It is made at the first evaluation and kept.
final class ObjectExpression: Sendable {
  private struct Compiled: Sendable {
    let expression: DynamicExpression<ObjectSource>
    /// The variables that the expression assigns.
    let assigned: Set<String>
  }

  private let program = Mutex<Compiled?>(nil)

  /// The value of the expression as an object, and the variables that it has assigned. The caller passes the same tree
  /// at each call.
  func value(_ tree: StoreQuery.Expression, _ object: Any?) -> (value: Any?, assigned: [String: Any]) {
    let compiled = program.withLock { $0 } ?? compile(tree)
    let source = ObjectSource(assigned: compiled.assigned)
    let value = compiled.expression(object, in: source)
    return (ObjectSource.plain(value), source.variables.mapValues { ObjectSource.plain($0) ?? NSNull() })
  }

  private func compile(_ tree: StoreQuery.Expression) -> Compiled {
    if TreeHeight.isExceeded(by: tree) {
      misuse("An expression that is evaluated is nested deeper than \(TreeHeight.limit) levels.")
    }
    let made = Compiled(
      expression: DynamicExpression(DynamicResolver.resolve(tree)), assigned: tree.assignedVariables)
    program.withLock { $0 = made }
    return made
  }
}
