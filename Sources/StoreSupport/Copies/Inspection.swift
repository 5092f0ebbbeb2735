import Foundation
import StoreProtocol
import StoreQuery
import StoreSchema

/// Shows the objects of any store as they are. Uses the store's own inspection if it has one, otherwise its rows.
public struct Inspection {
  /// The store whose objects are shown.
  public let store: any Store
  private let snapshot: any StoreSnapshot
  private var schema: Schema { store.schema }

  /// Looks at the last commit of `store`. Throws where no snapshot can be taken.
  public init(_ store: any Store) throws(StoreError) {
    self.store = store
    snapshot = try store.snapshot()
  }

  /// Calls `body` with each object of exactly `entity`, in key order. External data is given by its content.
  ///
  /// Holds a few dozen objects at a time, however many there are.
  public func objects(
    of entity: Int, _ body: (InspectedObject) throws(StoreError) -> Void
  ) throws(StoreError) {
    let external = schema.entities[entity].slots.indices.filter { schema.entities[entity].slots[$0] == .externalData }
    let show = { (object: InspectedObject) throws(StoreError) in
      var object = object
      for slot in external { object.values[slot] = content(object.values[slot]) }
      try body(object)
    }
    if let inspecting = snapshot.inspecting { return try inspecting.inspect(entity, show) }
    try rows(of: entity, show)
  }

  /// Calls `body` with each defect that is not a defect of one object, as far as the store can find them.
  public func findings(_ body: (StoreFinding) -> Void) throws(StoreError) {
    try (snapshot as? any VerifyingSnapshot)?.findings(body)
  }

  /// The bytes of external data: those behind the leading byte 1, or those of the file named behind the leading byte 2.
  private func content(_ value: InspectedValue) -> InspectedValue {
    guard case .sound(.data(let bytes)) = value, let first = bytes.first else { return value }
    if first == 1 { return .sound(.data(Data(bytes.dropFirst()))) }
    guard first == 2 else { return .invalid("external data begins with the byte \(first), not 1 or 2") }
    do { return .sound(.data(try store.externalData(bytes))) } catch { return .invalid(error.message) }
  }

  /// Runs a plan on the same view; see ``FetchExecution``.
  public func fetch(_ plan: FetchPlan, _ body: (consuming Row) -> Void) throws(StoreError) {
    try FetchExecution(snapshot).fetch(plan, body)
  }

  // MARK: Stores that show rows only

  private func rows(of index: Int, _ body: (InspectedObject) throws(StoreError) -> Void) throws(StoreError) {
    var keys: [Int64] = []
    try snapshot.scan(index..<(index + 1)) { keys.append($0.key) }
    for start in stride(from: 0, to: keys.count, by: 64) {
      var part: [Row] = []
      try snapshot.rows(of: index, keys: Array(keys[start..<min(start + 64, keys.count)])) { part.append($0) }
      for row in part.sorted(by: { $0.key < $1.key }) { try body(inspected(row)) }
    }
  }

  /// A row as an object with its relationships and the content of its external data.
  public func object(_ row: Row) throws(StoreError) -> InspectedObject {
    var object = try inspected(row)
    for (slot, kind) in schema.entities[row.entity].slots.enumerated() where kind == .externalData {
      object.values[slot] = content(object.values[slot])
    }
    return object
  }

  private func inspected(_ row: Row) throws(StoreError) -> InspectedObject {
    let entity = schema.entities[row.entity]
    let values = entity.slots.enumerated().map { slot, kind in
      kind == .reference || kind == .referenceEntity ? InspectedValue.sound(.null) : .sound(row.value(slot, kind))
    }
    var relationships: [InspectedTargets] = []
    for relationship in entity.relationships { relationships.append(.objects(try targets(relationship, row))) }
    return InspectedObject(
      reference: row.reference, version: row.version, values: values, relationships: relationships)
  }

  private func targets(_ relationship: Relationship, _ row: Row) throws(StoreError) -> [InspectedTarget] {
    guard let slot = relationship.slot else {
      var found: [InspectedTarget] = []
      try snapshot.destinations(of: relationship, owners: [row.key]) {
        found.append(InspectedTarget(entity: $1.entity, key: $1.key))
      }
      return found
    }
    if row.isNull(slot) { return [] }
    let key = row.int(slot)
    guard let target = try snapshot.row(of: relationship.destination, key: key) else {
      let name = schema.entities[relationship.destination].name
      return [
        InspectedTarget(
          entity: relationship.destination, key: key, defect: "there is no \(name) \(key)", isMissing: true)
      ]
    }
    return [InspectedTarget(entity: target.entity, key: key)]
  }
}
