import Foundation
import StoreProtocol
import StoreQuery
import StoreSchema

/// The reads that cases make.
extension Session {
  /// The row of an object, nil where there is none.
  public func row(_ object: ObjectReference) throws -> Row? {
    try read { try $0.row(of: object.entity, key: object.key) }
  }

  /// Whether there is such an object.
  public func exists(_ object: ObjectReference) throws -> Bool { try row(object) != nil }

  /// A value of an object: an attribute's, the content of external data, or the reference of a to-one relationship.
  public func value(_ object: ObjectReference, _ property: String) throws -> Value {
    guard let row = try row(object) else {
      throw Failure("there is no \(schema.entities[object.entity].name) \(object.key)")
    }
    return try value(row, property)
  }

  /// The attribute at a path: an element of a composite is `composite.element`.
  func attribute(_ path: String, of entity: Entity) -> Attribute? {
    let parts = path.split(separator: ".", maxSplits: 1).map(String.init)
    let top = entity.attribute(named: parts[0])
    return parts.count == 1 ? top : top?.elements.first { $0.name == parts[1] }
  }

  func value(_ row: Row, _ property: String) throws -> Value {
    let entity = schema.entities[row.entity]
    if let attribute = attribute(property, of: entity) {
      let kind = entity.slots[attribute.slot]
      let value = row.value(attribute.slot, kind)
      guard kind == .externalData, case .data(let bytes) = value else { return value }
      return .data(try content(bytes))
    }
    guard let relationship = entity.relationship(named: property), let slot = relationship.slot else {
      throw HarnessProblem("there is no value \(property)")
    }
    let reference = row.reference(slot, entitySlot: relationship.entitySlot, destination: relationship.destination)
    return reference.map(Value.reference) ?? .null
  }

  private func content(_ bytes: Data) throws -> Data {
    switch bytes.first {
    case 1: return Data(bytes.dropFirst())
    case 2: return try store.externalData(bytes)
    default: throw Failure("external data begins with neither 1 nor 2")
    }
  }

  /// The objects at the other end of a relationship, in the store's order.
  public func links(_ owner: ObjectReference, _ name: String) throws -> [ObjectReference] {
    let relationship = try relationship(name, of: owner)
    if relationship.slot != nil {
      if case .reference(let target) = try value(owner, name) { return [target] }
      return []
    }
    return try read { view in
      var found: [ObjectReference] = []
      try view.destinations(of: relationship, owners: [owner.key]) { key, row in
        if key == owner.key { found.append(row.reference) }
      }
      return found
    }
  }

  /// All objects of an entity, with its subentities unless `exactly`, in key order.
  public func objects(_ name: String, exactly: Bool = false) throws -> [ObjectReference] {
    let range = try range(name, exactly: exactly)
    return try read { view in
      var found: [ObjectReference] = []
      try view.scan(range) { found.append($0.reference) }
      guard profile == .single else { return found }
      var single: [ObjectReference] = []
      for object in found {
        try view.rows(of: object.entity, keys: [object.key]) { single.append($0.reference) }
      }
      return single
    }
  }

  /// A value of each object of an entity, in key order.
  public func values(_ entity: String, _ property: String) throws -> [Value] {
    try objects(entity).map { try value($0, property) }
  }

  func range(_ name: String, exactly: Bool) throws -> Range<Int> {
    let entity = try entity(name)
    return exactly ? entity.index..<entity.index + 1 : entity.subtree
  }

  // MARK: Fetching

  /// The objects that a predicate selects, sorted by names; a `-` in front means descending.
  public func fetch(
    _ entity: String, _ predicate: String = "TRUEPREDICATE", _ arguments: [Cell] = [], sort: [String] = [],
    offset: Int = 0, limit: Int? = nil, exactly: Bool = false
  ) throws -> [ObjectReference] {
    try fetch(
      try plan(entity, predicate, arguments, sort: sort, offset: offset, limit: limit, exactly: exactly))
  }

  func fetch(_ plan: FetchPlan) throws -> [ObjectReference] {
    try read { view in
      let execution = FetchExecution(view, pushesDown: profile != .noPushdown)
      var found: [ObjectReference] = []
      guard profile == .single else {
        try execution.fetch(plan) { found.append($0.reference) }
        return found
      }
      // Pages of one row, until there are no more or the limit is reached.
      var page = plan
      page.limit = 1
      while found.count < plan.limit ?? .max {
        let before = found.count
        try execution.fetch(page) { found.append($0.reference) }
        if found.count == before { break }
        page.offset += 1
      }
      return found
    }
  }

  /// The references of the objects that a predicate selects.
  func references(_ entity: String, _ predicate: String = "TRUEPREDICATE", sort: [String]) throws -> [ObjectReference] {
    let plan = try plan(entity, predicate, [], sort: sort, offset: 0, limit: nil, exactly: false)
    return try read { view in
      var found: [ObjectReference] = []
      try FetchExecution(view, pushesDown: profile != .noPushdown).references(plan) { found.append($0) }
      return found
    }
  }

  /// How many objects a predicate selects.
  public func count(
    _ entity: String, _ predicate: String = "TRUEPREDICATE", _ arguments: [Cell] = [], offset: Int = 0,
    limit: Int? = nil
  ) throws -> Int {
    let plan = try plan(entity, predicate, arguments, sort: [], offset: offset, limit: limit, exactly: false)
    return try read { try FetchExecution($0, pushesDown: profile != .noPushdown).count(plan) }
  }

  /// The rows of a table. A column is an expression, or a function of one as in `count:name`; SELF is the object
  /// itself. A condition on groups names a column by its letters, as in `$countname`.
  public func table(
    _ entity: String, _ columns: [String], _ predicate: String = "TRUEPREDICATE", groups: [String] = [],
    having: String = "TRUEPREDICATE", isDistinct: Bool = false, sort: [String] = [], offset: Int = 0, limit: Int? = nil
  ) throws -> [[Value]] {
    let resolver = PredicateResolver(schema, try self.entity(entity))
    let plan = TablePlan(
      try plan(entity, predicate, [], sort: sort, offset: offset, limit: limit, exactly: false),
      columns: try columns.map { try resolver.column(try expression($0)) },
      groups: try groups.map { try resolver.value(try expression($0)) },
      having: try resolver.having(try Predicate(format: having), columns: columns.map(Self.columnName)),
      isDistinct: isDistinct)
    return try read { view in
      var rows: [[Value]] = []
      try TableExecution(view, pushesDown: profile != .noPushdown).run(plan) { row, _ in rows.append(row) }
      return rows
    }
  }

  /// An expression, or a function of one.
  private func expression(_ text: String) throws -> StoreQuery.Expression {
    if text.hasPrefix("distinct:") || Aggregate.allCases.contains(where: { text.hasPrefix($0.rawValue) }),
      let colon = text.firstIndex(of: ":")
    {
      return .function(String(text[...colon]), [try expression(String(text[text.index(after: colon)...]))], target: nil)
    }
    return try StoreQuery.Expression(format: text, arguments: [])
  }

  private static func columnName(_ column: String) -> String { column.filter(\.isLetter) }

  func plan(
    _ name: String, _ predicate: String, _ arguments: [Cell], sort: [String], offset: Int, limit: Int?, exactly: Bool
  ) throws -> FetchPlan {
    let resolver = PredicateResolver(schema, try entity(name))
    let tree = try Predicate(format: predicate, arguments: arguments.map { .value($0.value) })
    var sorts: [ResolvedSort] = []
    for name in sort {
      let isDescending = name.hasPrefix("-")
      let path = try resolver.path(isDescending ? String(name.dropFirst()) : name)
      sorts.append(ResolvedSort(path: path, isAscending: !isDescending))
    }
    return FetchPlan(
      entities: try range(name, exactly: exactly), predicate: try resolver.resolve(tree), sort: sorts, offset: offset,
      limit: limit)
  }
}
