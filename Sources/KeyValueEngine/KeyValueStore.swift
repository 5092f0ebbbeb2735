import Foundation
import PropertyLists
import StoreProtocol
import StoreSchema
import StoreSupport
import Synchronization

/// A store over an ordered map.
public final class KeyValueStore<Map: KeyValueMap>: Store, ExternalDataStore {
  public let schema: Schema
  public let capabilities: Capabilities
  public let isReadOnly: Bool
  private let shape: KeyValueShape
  private let storeType: String
  private let timeout: Double
  /// Nil where all data stays in the rows.
  private let externalFiles: ExternalDataFiles?
  private let state: Mutex<State>
  /// Held until a commit is completely done, so that commits are counted in their order.
  private let committing = NSLock()
  private let commits = Atomic<UInt64>(0)

  private struct State: Sendable {
    /// Nil after the store was closed.
    var map: Map?
    var metadata: StoreMetadata
    /// Whether the indexes in the map are known to be the schema's.
    var hasIndexes = false
    /// The entries by which the store was last recognised.
    var recognised: [Data?] = []
    /// The map's number of the last commit of this store, at which it was recognised.
    var lastCommit: UInt64?
  }

  /// Opens the store in a map. Throws `notAStore`, `newerFormat` and `modelMismatch`, and then leaves the map as it
  /// was.
  public init(
    _ map: Map, _ schema: Schema, storeType: String, capabilities: Capabilities, options: StoreOptions,
    externalFiles: ExternalDataFolder? = nil
  ) throws(StoreError) {
    let shape = try KeyValueShape(schema, longestKey: map.longestKey)
    let headerFields = KeyValueHeader(try map.read(timeout: options.timeout))
    var metadata = try headerFields.metadata(storeType: storeType, withModel: true)
    if !options.ignoresModelVersion, !Self.isCompatible(metadata, schema, options) {
      throw .modelMismatch(metadata, schema)
    }
    guard try headerFields.content(KeyValueFact.layout).map({ Array($0) }) == Array(shape.layout.utf8) else {
      var error = StoreError.modelMismatch(metadata, schema)
      error.context["layout"] = "the rows have other slots than the model"
      throw error
    }
    metadata.archivedModel = nil
    (self.schema, self.shape, self.storeType, self.capabilities) = (schema, shape, storeType, capabilities)
    isReadOnly = options.isReadOnly
    timeout = options.timeout
    self.externalFiles = externalFiles.map { ExternalDataFiles($0, ofStore: metadata.identifier, schema, options) }
    state = Mutex(State(map: map, metadata: metadata))
    self.externalFiles?.sweep(self)
  }

  private static func isCompatible(_ metadata: StoreMetadata, _ schema: Schema, _ options: StoreOptions) -> Bool {
    switch schema.compatibility(withVersionHashes: metadata.versionHashes) {
    case .same: return true
    case .different: return false
    case .sameButFor(let entities):
      // Where the store carries no model, its layout decides.
      guard let haveSameStructure = options.haveSameStructure, let archive = metadata.archivedModel else { return true }
      return haveSameStructure(archive, entities)
    }
  }

  /// Makes an empty store in an empty map.
  public static func make(_ map: Map, _ schema: Schema, storeType: String, options: StoreOptions) throws(StoreError) {
    let shape = try KeyValueShape(schema, longestKey: map.longestKey)
    // The layout is that of the whole model, even where a part of it is stored.
    let model = schema.isWhole ? options.archivedModel?() : options.archivedWholeModel?()
    let transaction = try map.write(bytes: 1 << 16 + (model?.count ?? 0), timeout: options.timeout)
    let metadata = StoreMetadata(
      identifier: UUID().uuidString, storeType: storeType, versionHashes: schema.versionHashes,
      versionIdentifiers: options.versionIdentifiers,
      additional: ["NSPersistenceFrameworkVersion": .integer(1344), "NSStoreModelVersionHashesVersion": .integer(3)])
    try transaction.setFact(KeyValueFact.format, KeyValueFact.text)
    try transaction.setMetadata(metadata, isNew: true)
    try transaction.setFact(KeyValueFact.layout, Data(shape.layout.utf8))
    try transaction.setFact(KeyValueFact.indexes, Data(shape.indexes.catalogue.utf8))
    if let model { try transaction.setFact(KeyValueFact.model, model) }
    try transaction.commit()
  }

  /// Replaces the metadata of the store in a map, whatever its model.
  public static func setMetadata(
    _ metadata: StoreMetadata, in map: Map, storeType: String, timeout: Double
  ) throws(StoreError) {
    let transaction = try map.write(bytes: 1 << 16, timeout: timeout)
    // A store of another format is left as it is.
    _ = try KeyValueHeader(transaction).metadata(storeType: storeType, withModel: false)
    try transaction.setMetadata(metadata, isNew: false)
    try transaction.commit()
  }

  public var identifier: String { metadata.identifier }
  public var metadata: StoreMetadata { state.withLock { $0.metadata } }

  public func snapshot() throws(StoreError) -> any StoreSnapshot {
    // The number is taken first: a commit in between makes the view newer than it says, never older.
    let number = commits.load(ordering: .acquiring)
    let view = externalFiles?.view()
    return KeyValueSnapshot(try map().read(timeout: timeout), shape, commitNumber: number, view)
  }

  public func commit(_ changes: ChangeSet) throws(StoreError) -> CommitResult {
    guard committing.lock(before: Date(timeIntervalSinceNow: timeout)) else {
      throw StoreError(.busy, "Another save has taken longer than the timeout; try again.")
    }
    defer { committing.unlock() }
    let extent = ChangeExtent(changes, shape)
    let transaction = try begin(bytes: extent.bytes)
    try prepare(transaction)
    switch try KeyValueCommit(transaction, shape, changes, extent).run() {
    case .conflicts(let conflicts): return .conflicts(conflicts)
    case .written(let changes, let touched):
      if let metadata = changes.metadata { try transaction.setMetadata(metadata, isNew: false) }
      try externalFiles?.prepare(changes)
      try transaction.commit()
      state.withLock { state in
        state.hasIndexes = true
        state.lastCommit = transaction.commitNumber
        if let metadata = changes.metadata { state.metadata = metadata }
      }
      externalFiles?.committed(changes)
      let number = commits.add(1, ordering: .acquiringAndReleasing).newValue
      return .committed(Receipt(keys: changes.keys, commitNumber: number, touched: touched))
    }
  }

  public func rehearse(_ changes: ChangeSet) throws(StoreError) -> [Conflict] {
    let extent = ChangeExtent(changes, shape)
    let transaction = try begin(bytes: extent.bytes)
    try prepare(transaction)
    if case .conflicts(let conflicts) = try KeyValueCommit(
      transaction, shape, changes, extent, isRehearsal: true
    ).run() {
      return conflicts
    }
    return []
  }

  public func allocateKeys(root: Int, count: Int) throws(StoreError) -> Range<Int64> {
    let transaction = try begin(bytes: 1 << 12)
    try prepare(transaction)
    let keys = try KeyValueCommit.takeKeys(count, root: root, shape, transaction)
    if keys.isEmpty { return keys }
    do { try transaction.commit() } catch {
      // Unused keys do no harm, so it does not matter whether they are taken.
      var error = error
      error.outcome = .notSaved
      throw error
    }
    return keys
  }

  public func externalData(_ name: Data) throws(StoreError) -> Data {
    guard let externalFiles else {
      throw StoreError(.missingExternalData, "The store keeps all data in its one file.")
    }
    return try externalFiles.read(name)
  }

  public func keepExternalData(_ data: Data) throws(StoreError) -> Data? { try externalFiles?.keep(data) }
  public func discardExternalData(_ names: [Data]) { externalFiles?.discard(names) }
  public func holdExternalData(_ names: [Data]) { externalFiles?.hold(names) }
  public func releaseExternalData(_ names: [Data]) -> [Data] { externalFiles?.release(names) ?? [] }

  public func close() throws(StoreError) {
    externalFiles?.close()
    state.withLock { $0.map = nil }
  }

  private func map() throws(StoreError) -> Map {
    guard let map = state.withLock({ $0.map }) else {
      throw StoreError(.closed, "The store was closed; open it again.")
    }
    return map
  }

  private func begin(bytes: Int) throws(StoreError) -> Map.Writing {
    if isReadOnly { throw StoreError(.readOnly, "The store was opened read-only. Open it for writing to change it.") }
    return try map().write(bytes: bytes, timeout: timeout)
  }

  private static var recognising: [String] { [KeyValueFact.format, KeyValueFact.metadata] }

  private static func isRecognised(_ transaction: Map.Writing, _ entries: [Data?]) throws(StoreError) -> Bool {
    if entries.count != recognising.count { return false }
    for (name, entry) in zip(recognising, entries) {
      let key = KeyValueHeader.key(name)
      defer { withExtendedLifetime(key) {} }
      guard let found = try transaction.value(.facts, key.view), let entry, found.count == entry.count,
        let start = found.baseAddress,
        entry.withUnsafeBytes({ $0.baseAddress.map { memcmp($0, start, found.count) } == 0 })
      else { return false }
    }
    return true
  }

  /// Makes sure that the map still holds the store that was opened, and brings its indexes in line with the model.
  private func prepare(_ transaction: Map.Writing) throws(StoreError) {
    let (hasIndexes, recognised, lastCommit) = state.withLock { ($0.hasIndexes, $0.recognised, $0.lastCommit) }
    // Nobody else has written since.
    if hasIndexes, let lastCommit, transaction.commitNumber == lastCommit + 1 { return }
    let headerFields = KeyValueHeader(transaction)
    // Equal bytes mean equal content: a save of one object must not read the whole metadata.
    if try !Self.isRecognised(transaction, recognised) {
      let known = state.withLock { $0.metadata }
      let metadata = try headerFields.metadata(storeType: storeType, withModel: false)
      guard metadata.identifier == known.identifier, metadata.versionHashes == known.versionHashes else {
        throw StoreError(
          .modelMismatch, "The store was replaced, or migrated to another model, since it was opened; open it again.")
      }
      let entries = try Self.recognising.map { (name) throws(StoreError) in try headerFields.entry(name) }
      state.withLock { $0.recognised = entries }
    }
    if hasIndexes { return }
    if try headerFields.content(KeyValueFact.indexes).map({ Array($0) }) == Array(shape.indexes.catalogue.utf8) {
      return
    }
    try KeyValueIndexing(transaction, shape).rebuild()
  }
}
