import Foundation
import StoreProtocol
import StoreSchema

/// Runs operations on a store and on plain dictionaries, and compares everything in both after each operation.
public struct ModelRun {
  private let harness: any StoreHarness
  private let model: ModelSchema

  /// A run on stores of a harness.
  public init(_ harness: any StoreHarness) throws {
    self.harness = harness
    model = try ModelSchema()
  }

  /// A difference between store and model, and where it appeared.
  public struct Divergence: Sendable, Codable {
    /// The index of the operation, from 0 on; -1 before the first.
    public var step: Int
    /// The difference, as a sentence.
    public var text: String
  }

  /// The first step after which the store differs from the model, nil for none. `dumped` gets the content after each
  /// step.
  public func run(
    _ operations: [ModelOperation], dumped: (Int, [String]) -> Void = { _, _ in }
  ) throws -> Divergence? {
    let location = try harness.makeLocation()
    defer { try? harness.destroy(location) }
    var step = -1
    do {
      let state = try ModelExecution(harness, location, model)
      for (number, operation) in operations.enumerated() {
        step = number
        if let problem = try state.run(operation) { return Divergence(step: number, text: "\(operation): \(problem)") }
        dumped(number, state.lastDump)
      }
      try state.close()
      return nil
    } catch let error as StoreError { return Divergence(step: step, text: "unexpected \(error)") } catch let failure
      as Failure
    {
      return Divergence(step: step, text: failure.description)
    }
  }

  /// A shorter list of operations that still fails, of at most 20 if some hundred runs can find one.
  public func shrink(_ operations: [ModelOperation]) throws -> [ModelOperation] {
    var best = operations
    var size = max(1, best.count / 2)
    var runs = 0
    while runs < 400 {
      var start = 0
      var isShorter = false
      while start < best.count && runs < 400 {
        var candidate = best
        candidate.removeSubrange(start..<min(start + size, best.count))
        runs += 1
        if let divergence = try run(candidate) {
          best = Array(candidate.prefix(divergence.step + 1))
          isShorter = true
        } else {
          start += size
        }
      }
      if size == 1 && !isShorter { break }
      size = max(1, size / 2)
    }
    return best
  }
}

/// A store and its model during a run.
final class ModelExecution {
  private let harness: any StoreHarness
  private let location: StoreLocation
  private let model: ModelSchema
  private(set) var reference = ReferenceStore()
  private(set) var session: Session
  /// The objects of the store by their numbers, and the other way round.
  private(set) var objects: [Int: ObjectReference] = [:]
  private(set) var numbers: [ObjectReference: Int] = [:]
  /// Every key that was ever assigned, with its root entity.
  private var used: Set<ObjectReference> = []
  private(set) var lastDump: [String] = []
  private var capabilities: Capabilities { harness.backend.capabilities }

  init(_ harness: any StoreHarness, _ location: StoreLocation, _ model: ModelSchema) throws {
    (self.harness, self.location, self.model) = (harness, location, model)
    session = try Self.open(harness, location, model)
  }

  /// A store after some operations.
  convenience init(
    _ harness: any StoreHarness, _ location: StoreLocation, _ model: ModelSchema, of operations: [ModelOperation]
  ) throws {
    try self.init(harness, location, model)
    for operation in operations {
      if let problem = try run(operation) { throw Failure("\(operation): \(problem)") }
    }
  }

  private static func open(_ harness: any StoreHarness, _ location: StoreLocation, _ model: ModelSchema) throws
    -> Session
  {
    try Session(CheckedBackend(harness.backend), location.url, model.schema, StoreOptions(), .plain)
  }

  func close() throws { try session.close() }

  /// Applies an operation to both sides. Returns the difference afterwards, nil for none.
  func run(_ operation: ModelOperation) throws -> String? {
    switch operation.kind {
    case .reopen: if capabilities.contains(.persistent) { try session.reopen() }
    case .takeKeys: try takeKeys(operation)
    case .goneUpdate: if let problem = try updateGone() { return problem }
    case .otherWriter where capabilities.contains(.multipleOpens) && capabilities.contains(.persistent):
      let other = try Self.open(harness, location, model)
      let problem = try apply(operation, to: other)
      try other.close()
      if let problem { return problem }
    default: if let problem = try apply(operation, to: session) { return problem }
    }
    return try compare()
  }

  private func takeKeys(_ operation: ModelOperation) throws {
    let root = try session.entity("Team").index
    let keys = try session.store.allocateKeys(root: root, count: 1 + Int(operation.numbers[0] % 5))
    for key in keys { try note(ObjectReference(entity: root, key: key)) }
  }

  private func note(_ object: ObjectReference) throws {
    let root = model.schema.entities[object.entity].root
    guard used.insert(ObjectReference(entity: root, key: object.key)).inserted else {
      throw Failure("the key \(object.key) was given before")
    }
  }

  /// An object that never existed cannot be changed.
  private func updateGone() throws -> String? {
    let team = try session.entity("Team")
    let builder = RowBuilder()
    builder.begin(slots: team.slots.count)
    let row = builder.finish(key: 1_000_000, entity: team.index, version: 1)
    let found = try session.conflicts {
      try $0.insert("Tag", ["label": "lost"])
      try $0.update(row.reference, ["title": "x"], from: row)
    }
    return found.map(\.reference) == [row.reference] ? nil : "the change of nothing gave \(found.map(\.brief))"
  }

  private func apply(_ operation: ModelOperation, to session: Session) throws -> String? {
    var plan = ModelPlan(model, reference, operation)
    let changes = plan.changes(operation.kind)
    if changes.isEmpty { return nil }
    var next = reference
    let isExpected = next.apply(changes)
    var inserted: [Int] = []
    let (result, insertions) = try session.attempt { set in
      var newReferences: [Int: ObjectReference] = [:]
      for change in changes { try add(change, &set, &newReferences, &inserted) }
    }
    switch result {
    case .committed(let receipt):
      if !isExpected { return "it was committed, and was to be refused" }
      for (number, (entity, key)) in zip(inserted, zip(insertions, receipt.keys)) {
        let object = ObjectReference(entity: entity, key: key)
        try note(object)
        objects[number] = object
        numbers[object] = number
      }
      reference = next
      return nil
    case .conflicts(let conflicts):
      return isExpected || conflicts.isEmpty ? "it was refused: \(conflicts.map(\.brief))" : nil
    }
  }

  private func add(
    _ change: ModelChange, _ set: inout Changes, _ newReferences: inout [Int: ObjectReference], _ inserted: inout [Int]
  ) throws {
    func known(_ number: Int) throws -> ObjectReference {
      guard let found = newReferences[number] ?? objects[number] else {
        throw HarnessProblem("there is no object \(number)")
      }
      return found
    }
    switch change {
    case .insert(let number, let entity, var values, let targets):
      for (name, target) in targets { values[name] = .to(try known(target)) }
      newReferences[number] = try set.insert(entity, values)
      inserted.append(number)
    case .update(let number, var values, let targets, let age):
      for (name, target) in targets { values[name] = try target.map { .to(try known($0)) } ?? Cell(.null) }
      let row = try set.current(try known(number))
      try set.update(row.reference, values, from: age == 0 ? row : row.copy(version: row.version - age))
    case .delete(let number, let age):
      let row = try set.current(try known(number))
      set.delete(row.reference, at: row.version - age)
    case .tag(let person, let tag, let isAdded):
      let other = [try known(tag)]
      try set.tag(try known(person), add: isAdded ? other : [], remove: isAdded ? [] : other)
    case .order(let list, let items):
      let order = try items.map(known)
      // Items without a list now. An item that moves gets its order in the new list; a deleted item has none.
      let former = (reference.orders[list] ?? []).filter { !items.contains($0) }
      let left = former.compactMap { objects[$0] }.filter { object in
        set.set.updates.contains { $0.row.reference == object && isListless($0.row) }
      }
      try set.link(try known(list), "items", remove: left, order: order)
    case .pick(let list, let items):
      let (old, owner) = (reference.picks[list] ?? [], try known(list))
      let (added, removed) = (items.filter { !old.contains($0) }, old.filter { !items.contains($0) })
      try set.pair(owner, "picks", "pickers", add: try added.map(known), remove: try removed.map(known))
      try set.link(owner, "picks", order: try items.map(known))
      for item in added {
        try set.link(try known(item), "pickers", order: try ((reference.pickers[item] ?? []) + [list]).map(known))
      }
      for item in removed {
        let rest = (reference.pickers[item] ?? []).filter { $0 != list }
        try set.link(try known(item), "pickers", order: try rest.map(known))
      }
    case .keep(let team, let tag, let isAdded):
      let other = [try known(tag)]
      try set.link(try known(team), "keeps", add: isAdded ? other : [], remove: isAdded ? [] : other)
    }
  }

  private func isListless(_ row: RowDraft) -> Bool {
    let relationship = model.schema.entities[row.entity].relationship(named: "list")
    return relationship?.slot.map(row.isNull) ?? false
  }

  // MARK: Comparing

  private func compare() throws -> String? {
    let expected = reference.dump(model)
    lastDump = try dump()
    for (found, required) in zip(lastDump, expected) where found != required {
      return "found \(found), expected \(required)"
    }
    if lastDump.count != expected.count { return "found \(lastDump.count) objects, expected \(expected.count)" }
    if capabilities.contains(.rowVersions) {
      for (number, object) in reference.objects {
        let version = try objects[number].flatMap { try session.row($0)?.version }
        if version != object.version { return "\(number) has the version \(version ?? 0), expected \(object.version)" }
      }
    }
    return nil
  }

  private func number(_ object: ObjectReference) -> String { numbers[object].map(String.init) ?? "?\(object.key)" }

  private func dump() throws -> [String] {
    let view = try session.store.snapshot()
    var rows: [(Int, Row)] = []
    var strangers: [String] = []
    for root in model.schema.entities where root.superentity == nil {
      try view.scan(root.subtree) { row in
        if let number = numbers[row.reference] {
          rows.append((number, row))
        } else {
          strangers.append("stranger \(row.key)")
        }
      }
    }
    return try rows.sorted { $0.0 < $1.0 }.map { try line($0.0, $0.1, view) } + strangers
  }

  private func line(_ number: Int, _ row: Row, _ view: any StoreSnapshot) throws -> String {
    let entity = model.schema.entities[row.entity]
    var parts = ["\(number) \(entity.name)"]
    for name in model.attributes(of: entity.name) { parts.append("\(name)=\(try session.value(row, name).exact)") }
    for name in model.toOnes(of: entity.name) {
      let value = try session.value(row, name)
      if case .reference(let target) = value {
        parts.append("\(name)=\(self.number(target))")
      } else {
        parts.append("\(name)=-")
      }
    }
    for relationship in entity.relationships.filter(\.isToMany).sorted(by: { $0.name < $1.name }) {
      var found: [ObjectReference] = []
      try view.destinations(of: relationship, owners: [row.key]) { found.append($1.reference) }
      // Relationships without an order are compared without one.
      let named =
        relationship.isOrdered
        ? found.map(self.number) : found.map(self.number).sorted { (Int($0) ?? 0) < (Int($1) ?? 0) }
      parts.append("\(relationship.name)=[\(named.joined(separator: ", "))]")
    }
    return parts.joined(separator: "|")
  }
}
