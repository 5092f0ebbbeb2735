import Foundation
import StoreProtocol
import StoreSchema
import Synchronization

/// Stores of another type that count the requests for rows. They evaluate no fetches themselves.
///
/// Their type is their own, so other users of the other type are not counted.
public final class CountingBackend: StoreBackend {
  private let base: any StoreBackend
  fileprivate let count = Atomic<Int>(0)
  public let storeType: String

  /// Counts the requests to the stores of `base`.
  public init(_ base: any StoreBackend) {
    self.base = base
    storeType = "\(base.storeType), counted \(UUID())"
  }

  /// The number of requests to all stores together.
  public var requests: Int { count.load(ordering: .relaxed) }
  public var capabilities: Capabilities { base.capabilities.subtracting(.pushDown) }

  public func open(at url: URL, schema: Schema, options: StoreOptions) throws(StoreError) -> any Store {
    CountingStore(try base.open(at: url, schema: schema, options: options), self)
  }

  public func metadata(at url: URL, options: StoreOptions) throws(StoreError) -> StoreMetadata {
    try base.metadata(at: url, options: options)
  }

  public func destroy(at url: URL, options: StoreOptions) throws(StoreError) {
    try base.destroy(at: url, options: options)
  }

  public func replace(at destination: URL, with source: URL, options: StoreOptions) throws(StoreError) {
    try base.replace(at: destination, with: source, options: options)
  }
}

private final class CountingStore: Store {
  private let base: any Store
  private let counter: CountingBackend
  let schema: Schema

  init(_ base: any Store, _ counter: CountingBackend) {
    (self.base, self.counter) = (base, counter)
    schema = base.schema
  }

  var identifier: String { base.identifier }
  var capabilities: Capabilities { counter.capabilities }
  var isReadOnly: Bool { base.isReadOnly }
  var metadata: StoreMetadata { base.metadata }

  func snapshot() throws(StoreError) -> any StoreSnapshot { CountingSnapshot(try base.snapshot(), counter) }
  func commit(_ changes: ChangeSet) throws(StoreError) -> CommitResult { try base.commit(changes) }

  func allocateKeys(root: Int, count: Int) throws(StoreError) -> Range<Int64> {
    try base.allocateKeys(root: root, count: count)
  }

  func externalData(_ name: Data) throws(StoreError) -> Data { try base.externalData(name) }
  func capability<Capability>(_ type: Capability.Type) throws(StoreError) -> Capability? { try base.capability(type) }
  func close() throws(StoreError) { try base.close() }
}

private final class CountingSnapshot: StoreSnapshot {
  private let base: any StoreSnapshot
  private let counter: CountingBackend

  init(_ base: any StoreSnapshot, _ counter: CountingBackend) { (self.base, self.counter) = (base, counter) }

  var commitNumber: UInt64 { base.commitNumber }

  private func count() { counter.count.add(1, ordering: .relaxed) }

  func rows(of entity: Int, keys: [Int64], _ body: (consuming Row) -> Void) throws(StoreError) {
    count()
    try base.rows(of: entity, keys: keys, body)
  }

  func row(of entity: Int, key: Int64) throws(StoreError) -> Row? {
    count()
    return try base.row(of: entity, key: key)
  }

  func scan(_ entities: Range<Int>, _ body: (consuming Row) -> Void) throws(StoreError) {
    count()
    try base.scan(entities, body)
  }

  func destinations(
    of relationship: Relationship, owners: [Int64], _ body: (Int64, consuming Row) -> Void
  ) throws(StoreError) {
    count()
    try base.destinations(of: relationship, owners: owners, body)
  }
}
