import StoreQuery
import StoreSchema

/// Rows of a snapshot and the rows that they lead to, each read once.
///
/// ``prepare(_:_:)`` reads the targets of many rows at once. Any other target is read when it is needed.
final class RowSource: EvaluationSource {
  typealias Object = Row
  typealias Failure = StoreError

  private struct Link: Hashable {
    let owner: ObjectReference
    let relationship: Relationship
  }

  private let snapshot: any StoreSnapshot
  /// Nil for a reference that leads nowhere.
  private var targets: [ObjectReference: Row?] = [:]
  private var members: [Link: [Row]] = [:]

  init(_ snapshot: any StoreSnapshot) { self.snapshot = snapshot }

  func value(at path: SlotPath, of row: Row) throws(StoreError) -> Value {
    var current = row
    for hop in path.hops {
      guard let next = try target(hop, of: current) else { return .null }
      current = next
    }
    return current.value(of: path.leaf)
  }

  func objects(over hops: [Relationship], from row: Row) throws(StoreError) -> [Row] {
    var rows = [row]
    for hop in hops {
      try read(hop, of: rows)
      var next: [Row] = []
      for row in rows {
        if hop.isToMany {
          next += members[Link(owner: row.reference, relationship: hop)] ?? []
        } else if let target = try target(hop, of: row) {
          next.append(target)
        }
      }
      rows = next
    }
    return rows
  }

  static func test(_ predicate: ResolvedPredicate) -> (@Sendable (Row) -> Bool)? {
    RowProgram(predicate)?.test
  }

  private func target(_ relationship: Relationship, of row: Row) throws(StoreError) -> Row? {
    guard let reference = row.reference(of: relationship) else { return nil }
    if let known = targets[reference] { return known }
    let found = try snapshot.row(of: relationship.destination, key: reference.key)
    targets[reference] = .some(found)
    return found
  }

  // MARK: Reading ahead

  /// Reads the rows that `rows` lead to over the relationships of each way.
  func prepare(_ rows: [Row], _ ways: [[Relationship]]) throws(StoreError) {
    for way in Set(ways) {
      var current = rows
      for hop in way where !current.isEmpty {
        try read(hop, of: current)
        current = next(hop, current)
      }
    }
  }

  private func next(_ hop: Relationship, _ rows: [Row]) -> [Row] {
    var seen: Set<ObjectReference> = []
    var result: [Row] = []
    for row in rows {
      let found =
        hop.isToMany
        ? members[Link(owner: row.reference, relationship: hop)] ?? []
        : row.reference(of: hop).flatMap { targets[$0] ?? nil }.map { [$0] } ?? []
      for row in found where seen.insert(row.reference).inserted { result.append(row) }
    }
    return result
  }

  private func read(_ hop: Relationship, of rows: [Row]) throws(StoreError) {
    if hop.isToMany { return try readMembers(hop, of: rows) }
    var missing: [Int64: ObjectReference] = [:]
    for row in rows {
      if let target = row.reference(of: hop), targets[target] == nil { missing[target.key] = target }
    }
    if missing.isEmpty { return }
    var found: [Row] = []
    try snapshot.rows(of: hop.destination, keys: missing.keys.sorted()) { found.append($0) }
    for reference in missing.values { targets[reference] = .some(nil) }
    for row in found { if let reference = missing[row.key] { targets[reference] = .some(row) } }
  }

  private func readMembers(_ hop: Relationship, of rows: [Row]) throws(StoreError) {
    var owners: [Int64: ObjectReference] = [:]
    for row in rows where members[Link(owner: row.reference, relationship: hop)] == nil {
      owners[row.key] = row.reference
    }
    if owners.isEmpty { return }
    var found: [Int64: [Row]] = [:]
    try snapshot.destinations(of: hop, owners: owners.keys.sorted()) { owner, row in
      found[owner, default: []].append(row)
    }
    for (key, owner) in owners { members[Link(owner: owner, relationship: hop)] = found[key] ?? [] }
  }
}
