import Foundation
import StoreProtocol
import StoreSchema
import Synchronization

/// An open store: one value that each commit replaces by the next. Snapshots keep the value that they were made from.
final class DictionaryStore: Store {
  let schema: Schema
  let capabilities: Capabilities
  var isReadOnly: Bool { false }
  private let capacity: Int
  private let state: Mutex<State>

  private struct State: Sendable {
    var content = Content()
    var metadata: StoreMetadata
    var commitNumber: UInt64 = 0
    var isClosed = false
  }

  init(_ schema: Schema, _ metadata: StoreMetadata, _ capabilities: Capabilities, capacity: Int) {
    self.schema = schema
    self.capacity = capacity
    self.capabilities = capabilities
    state = Mutex(State(metadata: metadata))
  }

  var identifier: String { metadata.identifier }
  var metadata: StoreMetadata { state.withLock { $0.metadata } }

  func snapshot() throws(StoreError) -> any StoreSnapshot {
    let state = state.withLock { $0 }
    if state.isClosed { throw Self.closed }
    return DictionarySnapshot(schema, state.content, commitNumber: state.commitNumber)
  }

  func commit(_ changes: ChangeSet) throws(StoreError) -> CommitResult {
    let (schema, capacity) = (schema, capacity)
    let result: Result<CommitResult, StoreError> = state.withLock { state in
      if state.isClosed { return .failure(Self.closed) }
      var commit: DictionaryCommit
      do throws(StoreError) { commit = try DictionaryCommit(schema, state.content, changes) } catch {
        return .failure(error)
      }
      let conflicts = commit.run()
      if !conflicts.isEmpty { return .success(.conflicts(conflicts)) }
      if commit.content.count > max(capacity, state.content.count) {
        return .failure(StoreError(.full, "The store holds \(capacity) objects at most; delete some first."))
      }
      state.content = commit.content
      state.metadata = changes.metadata ?? state.metadata
      state.commitNumber += 1
      return .success(.committed(Receipt(keys: commit.changes.keys, commitNumber: state.commitNumber)))
    }
    return try result.get()
  }

  func allocateKeys(root: Int, count: Int) throws(StoreError) -> Range<Int64> {
    let keys: Range<Int64>? = state.withLock { state in state.isClosed ? nil : state.content.takeKeys(count) }
    guard let keys else { throw Self.closed }
    return keys
  }

  func externalData(_ name: Data) throws(StoreError) -> Data {
    throw StoreError(.missingExternalData, "A dictionary keeps all data in its rows.")
  }

  func close() throws(StoreError) { state.withLock { $0.isClosed = true } }

  private static let closed = StoreError(.closed, "The store was closed; open it again.")
}

/// All that a store holds.
struct Content: Sendable {
  /// By root entity and key.
  var rows: [Int: [Int64: Row]] = [:]
  /// The destinations' keys of relationships that no row holds, by relationship and owner.
  var links: [Link: [Int64]] = [:]
  private var lastKey: Int64 = 0

  /// The number of objects.
  var count: Int { rows.values.reduce(0) { $0 + $1.count } }

  struct Link: Hashable, Sendable {
    var relationship: Relationship
    var owner: Int64
  }

  /// Keys are never used again, whatever becomes of their objects.
  mutating func takeKeys(_ count: Int) -> Range<Int64> {
    defer { lastKey += Int64(count) }
    return lastKey + 1..<lastKey + 1 + Int64(count)
  }

  mutating func note(_ key: Int64) { lastKey = max(lastKey, key) }
}

/// The content as it was at one moment.
final class DictionarySnapshot: StoreSnapshot {
  private let schema: Schema
  private let content: Content
  let commitNumber: UInt64

  init(_ schema: Schema, _ content: Content, commitNumber: UInt64) {
    self.schema = schema
    self.content = content
    self.commitNumber = commitNumber
  }

  private func hierarchy(_ entity: Int) -> [Int64: Row] { content.rows[schema.entities[entity].root] ?? [:] }

  func rows(of entity: Int, keys: [Int64], _ body: (consuming Row) -> Void) throws(StoreError) {
    let hierarchy = hierarchy(entity)
    for key in Set(keys) { if let row = hierarchy[key] { body(row) } }
  }

  func scan(_ entities: Range<Int>, _ body: (consuming Row) -> Void) throws(StoreError) {
    guard let first = entities.first else { return }
    let rows = hierarchy(first).values.filter { entities.contains($0.entity) }
    for row in rows.sorted(by: { $0.key < $1.key }) { body(row) }
  }

  func destinations(
    of relationship: Relationship, owners: [Int64], _ body: (Int64, consuming Row) -> Void
  ) throws(StoreError) {
    let hierarchy = hierarchy(relationship.destination)
    for owner in owners {
      for key in keys(relationship, owner, hierarchy) { if let row = hierarchy[key] { body(owner, row) } }
    }
  }

  private func keys(_ relationship: Relationship, _ owner: Int64, _ hierarchy: [Int64: Row]) -> [Int64] {
    let listed = content.links[Content.Link(relationship: relationship, owner: owner)] ?? []
    guard relationship.storage == .inverseToOne, let inverse = schema.inverse(of: relationship), let slot = inverse.slot
    else { return relationship.isOrdered ? listed : listed.sorted() }
    // The rows of the other side say who belongs; the list says in which order.
    let members = hierarchy.values.filter { row in
      relationship.destinations.contains(row.entity) && !row.isNull(slot) && row.int(slot) == owner
    }.map(\.key).sorted()
    let known = Set(members)
    return listed.filter(known.contains) + members.filter { !listed.contains($0) }
  }
}
