import StoreSchema

/// Writes resolved predicates for people, in the format language: with names of the model, and long lists cut. The
/// result cannot always be parsed.
struct ResolvedFormat {
  let schema: Schema
  /// Whether values are written. They may be confidential.
  let showsValues: Bool

  private static let longestList = 8

  func predicate(_ predicate: ResolvedPredicate) -> Predicate {
    switch predicate {
    case .constant(let value): .value(value)
    case .and(let parts): .and(parts.map { self.predicate($0) })
    case .or(let parts): .or(parts.map { self.predicate($0) })
    case .not(let inner): .not(self.predicate(inner))
    case .comparison(let left, let op, let right, let options):
      .comparison(.init(expression(left), op, expression(right), options: options))
    case .dynamic(let comparison, let left, let right):
      .comparison(
        .init(
          expression(left), comparison.op, expression(right), modifier: comparison.modifier,
          options: comparison.options))
    case .between(let value, let low, let high, let options):
      .comparison(
        .init(expression(value), .between, .aggregate([expression(low), expression(high)]), options: options))
    case .member(let value, of: let items, let options):
      .comparison(.init(expression(value), .in, collection(items), options: options))
    case .exists(let items, variable: let variable, let inner):
      .comparison(
        .init(
          .keyPathOf(.subquery(collection(items), variable: name(variable), self.predicate(inner)), "@count"),
          .greaterThan, .constant(.int(0))))
    }
  }

  private func expression(_ expression: ResolvedExpression) -> Expression {
    switch expression {
    case .constant(let value): constant(value)
    case .path(let path): self.path(path)
    case .function(let function, let operands): self.function(function, operands.map { self.expression($0) })
    case .dynamic(let form, let operands): .function("\(form)", operands.map { self.expression($0) }, target: nil)
    case .collection(let items): collection(items)
    case .conditional(let condition, let yes, let no):
      .conditional(predicate(condition), self.expression(yes), self.expression(no))
    case .aggregate(.size, let items): .keyPathOf(collection(items), "@count")
    case .aggregate(.aggregate(let aggregate), let items):
      .function(aggregate.rawValue, [collection(items)], target: nil)
    case .aggregate(.function(let function), let items):
      .function(function.selector, [collection(items)], target: nil)
    case .element(let items, let index):
      .function("objectFrom:withIndex:", [collection(items), self.expression(index)], target: nil)
    case .end(let items, let isLast):
      .function("objectFrom:withIndex:", [collection(items), isLast ? .lastIndex : .firstIndex], target: nil)
    }
  }

  private func function(_ function: Function, _ operands: [Expression]) -> Expression {
    if let castClass = function.castClass { return .cast(operands.first ?? .constant(.null), castClass) }
    var (arguments, rest) = ([Expression](), operands[...])
    for parameter in function.parameters {
      if case .location = parameter {
        arguments.append(.aggregate(Array(rest.prefix(2))))
        rest = rest.dropFirst(2)
      } else if let operand = rest.popFirst() {
        arguments.append(operand)
      }
    }
    return .function(function.selector, arguments, target: nil)
  }

  private func collection(_ collection: ResolvedCollection) -> Expression {
    switch collection {
    case .constants(let values): list(values.prefix(Self.longestList).map(constant), of: values.count)
    case .list(let elements): list(elements.prefix(Self.longestList).map(expression), of: elements.count)
    case .members(let variable, let hops): keys(hops.map(\.name), from: start(variable))
    case .following(let base, let hops): keys(hops.map(\.name), from: self.collection(base))
    case .values(let base, let path): keys(path.hops.map(\.name) + leaf(path.leaf), from: self.collection(base))
    case .filtered(let base, variable: let variable, let condition):
      .subquery(self.collection(base), variable: name(variable), predicate(condition))
    case .set(let operation, let left, let right): .set(operation, self.collection(left), self.collection(right))
    case .elements(of: let operand, _): expression(operand)
    case .distinct(let base): .function("distinct:", [self.collection(base)], target: nil)
    }
  }

  private func list(_ shown: [Expression], of count: Int) -> Expression {
    .aggregate(shown.count == count ? shown : shown + [.variable("and_\(count - shown.count)_more")])
  }

  private func constant(_ value: Value) -> Expression {
    switch value {
    case .null: .constant(.null)
    case .reference(let reference):
      .variable("\(schema.entities[reference.entity].name)_\(showsValues ? "p\(reference.key)" : "p")")
    default: showsValues ? .constant(value) : .variable("value")
    }
  }

  // MARK: Names

  private func name(_ variable: Int) -> String { "x\(variable)" }

  private func start(_ variable: Int) -> Expression {
    variable == 0 ? .evaluatedObject : .variable(name(variable))
  }

  private func path(_ path: SlotPath) -> Expression {
    keys(path.hops.map(\.name) + leaf(path.leaf), from: start(path.variable))
  }

  private func keys(_ keys: [String], from base: Expression) -> Expression {
    if keys.isEmpty { return base }
    let text = keys.joined(separator: ".")
    switch base {
    case .evaluatedObject: return .keyPath(text)
    case .keyPath(let first): return .keyPath(first + "." + text)
    case .keyPathOf(let origin, let first): return .keyPathOf(origin, first + "." + text)
    default: return .keyPathOf(base, text)
    }
  }

  private func leaf(_ leaf: SlotPath.Leaf) -> [String] {
    switch leaf {
    case .attribute(let slot, _, let declaring): [attribute(slot, of: schema.entities[declaring])]
    case .toOne(let relationship): [relationship.name]
    case .object: []
    case .entity: ["entity"]
    case .column(let number): ["column\(number)"]
    }
  }

  private func attribute(_ slot: Int, of entity: Entity) -> String {
    for attribute in entity.attributes {
      if attribute.elements.isEmpty && attribute.slot == slot { return attribute.name }
      if let element = attribute.elements.first(where: { $0.slot == slot }) {
        return attribute.name + "." + element.name
      }
    }
    return "?"
  }
}

extension ResolvedPredicate {
  /// The predicate for people, with the names of its schema. Without values they are written as `$value`.
  public func text(_ schema: Schema, showsValues: Bool) -> String {
    ResolvedFormat(schema: schema, showsValues: showsValues).predicate(self).format
  }
}
