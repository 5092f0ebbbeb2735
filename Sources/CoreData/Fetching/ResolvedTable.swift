import Foundation
import StoreQuery
import StoreSchema

/// A fetch request for dictionaries with its names resolved: a table plan, and the entries that its columns become.
struct ResolvedTable {
  let plan: TablePlan
  let entries: [Entry]

  /// A key of the dictionaries.
  struct Entry {
    let name: String
    let form: Form
    /// The index of its column in the plan; for a composite attribute, of the first one.
    let column: Int
  }

  enum Form {
    case attribute(StoreSchema.AttributeType)
    case transformable(NSAttributeDescription)
    /// The bytes of external data, with the leading byte.
    case externalData
    /// A composite attribute. Each of its leaves has a column.
    case composite(Attribute)
    case expression(NSAttributeType)
  }

  init(_ fetch: ResolvedFetch, _ core: ContextCore) throws {
    guard let frozen = core.frozen else { throw Self.error("the context has no model") }
    if fetch.block != nil || !fetch.comparators.isEmpty {
      throw Self.error(
        "a fetch of dictionaries cannot have a predicate with a block or a sort descriptor with a comparator; fetch objects instead"
      )
    }
    let parameters = fetch.parameters
    var maker = TableMaker(frozen, fetch.info.entity, fetch.resolver)
    let properties: [Any] = parameters.propertiesToFetch ?? fetch.info.attributes.map(\.attribute.name)
    for property in properties { try maker.add(property) }
    var groups: [ResolvedExpression] = []
    for property in parameters.propertiesToGroupBy ?? [] { groups += try maker.groups(property) }
    var having = ResolvedPredicate.constant(true)
    if let predicate = parameters.havingPredicate {
      if predicate.isDenied { throw Self.error("havingPredicate " + EvaluationPermission.excuse) }
      guard let tree = PredicateTree.of(predicate) else {
        throw Self.error("havingPredicate is a block; use a predicate with a format")
      }
      do { having = try fetch.resolver.having(tree, columns: maker.names) } catch { throw Self.error(error.message) }
    }
    var plan = TablePlan(
      fetch.plan, columns: maker.columns, groups: groups, having: having, isDistinct: parameters.returnsDistinctResults)
    // Aggregates without groups give one row, which needs no order.
    if plan.isGrouped && groups.isEmpty { plan.fetch.sort = [] }
    self.plan = plan
    entries = maker.entries
    if let defect = plan.defect { throw Self.error("propertiesToFetch and propertiesToGroupBy do not fit: " + defect) }
  }

  /// Checks `propertiesToFetch` of a request for objects. Throws for a name that no dictionary could have. The objects
  /// always have all their values (decision 042).
  static func checkProperties(_ fetch: ResolvedFetch, _ core: ContextCore) throws {
    guard fetch.parameters.resultType == .managedObjectResultType, let frozen = core.frozen else { return }
    var maker = TableMaker(frozen, fetch.info.entity, fetch.resolver)
    for property in fetch.parameters.propertiesToFetch ?? [] { try maker.add(property) }
  }

  static func error(_ reason: String) -> CocoaError {
    CocoaError(.coreData, userInfo: [NSLocalizedDescriptionKey: "The fetch cannot be run: \(reason)"])
  }
}

/// Makes columns for the properties that a request names.
private struct TableMaker {
  private let frozen: FrozenModel
  private let entity: Entity
  private let resolver: PredicateResolver
  private(set) var entries: [ResolvedTable.Entry] = []
  private(set) var columns: [TablePlan.Column] = []
  /// The name of each column.
  private(set) var names: [String] = []

  init(_ frozen: FrozenModel, _ entity: Entity, _ resolver: PredicateResolver) {
    self.frozen = frozen
    self.entity = entity
    self.resolver = resolver
  }

  mutating func add(_ property: Any) throws {
    if let expression = property as? NSExpressionDescription {
      let column = try column(of: expression)
      if case .value(.path(let path)) = column, let form = form(of: path) {
        return append(expression.name, form, .value(.path(path.raw)))
      }
      return append(expression.name, .expression(expression.expressionResultType), column)
    }
    let name = try Self.name(of: property)
    if let composite = composite(name) {
      entries.append(.init(name: name, form: .composite(composite), column: columns.count))
      for leaf in composite.elements {
        columns.append(.value(.path(try path(name + "." + leaf.name))))
        names.append(name + "." + leaf.name)
      }
      return
    }
    let path = try path(name)
    append(name, form(of: path) ?? .expression(.undefinedAttributeType), .value(.path(path.raw)))
  }

  /// The expressions that a property groups by. A composite attribute has several.
  func groups(_ property: Any) throws -> [ResolvedExpression] {
    if let expression = property as? NSExpressionDescription {
      guard case .value(let value) = try column(of: expression) else {
        throw ResolvedTable.error(
          "\(expression.name) in propertiesToGroupBy is an aggregate; group by attributes and to-one relationships")
      }
      return [value]
    }
    let name = try Self.name(of: property)
    if let composite = composite(name) {
      return try composite.elements.map { .path(try path(name + "." + $0.name)) }
    }
    return [.path(try path(name).raw)]
  }

  private mutating func append(_ name: String, _ form: ResolvedTable.Form, _ column: TablePlan.Column) {
    entries.append(.init(name: name, form: form, column: columns.count))
    columns.append(column)
    names.append(name)
  }

  private static func name(of property: Any) throws -> String {
    switch property {
    case let name as String: return name
    case let description as NSAttributeDescription: return description.name
    case let description as NSRelationshipDescription: return description.name
    case let description as NSPropertyDescription:
      throw ResolvedTable.error("\(description.name) is a \(type(of: description)), which has no value in a store")
    default:
      throw ResolvedTable.error("\(property) is neither a property's name nor its description")
    }
  }

  private func column(of description: NSExpressionDescription) throws -> TablePlan.Column {
    guard let expression = description.expression else {
      throw ResolvedTable.error("the expression description \(description.name) has no expression")
    }
    if expression.isDenied {
      throw ResolvedTable.error("the expression \(description.name) " + EvaluationPermission.excuse)
    }
    do { return try resolver.column(ExpressionTree.of(expression)) } catch { throw ResolvedTable.error(error.message) }
  }

  private func path(_ name: String) throws -> SlotPath {
    do { return try resolver.path(name) } catch { throw ResolvedTable.error(error.message) }
  }

  /// The composite attribute with a name.
  private func composite(_ name: String) -> Attribute? {
    entity.attributes.first { $0.name == name && !$0.elements.isEmpty }
  }

  /// The form of an attribute's values; nil if the path leads to no attribute.
  private func form(of path: SlotPath) -> ResolvedTable.Form? {
    guard case .attribute(let slot, let kind, _) = path.leaf else { return nil }
    if kind == .externalData { return .externalData }
    let info = frozen.infos[path.hops.last?.destination ?? entity.index]
    for attribute in info.attributes {
      if let leaf = attribute.attribute.elements.first(where: { $0.slot == slot }) { return .attribute(leaf.type) }
      if attribute.attribute.elements.isEmpty && attribute.attribute.slot == slot {
        return kind == .transformable ? .transformable(attribute.description) : .attribute(attribute.attribute.type)
      }
    }
    return nil
  }
}

extension SlotPath {
  /// The same path to the stored bytes of external data.
  fileprivate var raw: SlotPath {
    guard case .attribute(let slot, .externalData, let entity) = leaf else { return self }
    var path = self
    path.leaf = .attribute(slot: slot, kind: .data, declaringEntity: entity)
    return path
  }
}
