import Foundation
import StoreProtocol
import StoreSchema

/// A sound store with one thing made wrong.
struct SabotagedBackend: StoreBackend {
  let base: any StoreBackend
  let sabotage: Sabotage

  var storeType: String { base.storeType }
  var capabilities: Capabilities {
    sabotage.changesFetches ? base.capabilities.union(.pushDown) : base.capabilities
  }

  var ownOptions: [StoreOptionDeclaration] { base.ownOptions }
  func capability<Capability>(_ type: Capability.Type) -> Capability? { base.capability(type) }

  func open(at url: URL, schema: Schema, options: StoreOptions) throws(StoreError) -> any Store {
    var options = options
    sabotage.options(&options)
    try sabotage.beforeOpening(url)
    let opened: any Store
    do { opened = try base.open(at: url, schema: try stripped(schema), options: options) } catch {
      guard sabotage.takesForeignFiles, error.code == .notAStore, (try? Data(contentsOf: url)) != nil else {
        throw error
      }
      try? FileManager.default.removeItem(at: url)
      opened = try base.open(at: url, schema: schema, options: options)
    }
    return SabotagedStore(opened, schema, sabotage, url)
  }

  private func stripped(_ schema: Schema) throws(StoreError) -> Schema {
    guard let strip = sabotage.definition, schema.isWhole else { return schema }
    do {
      return try Schema(
        schema.definitions.map {
          var definition = $0
          strip(&definition)
          return definition
        })
    } catch { throw StoreError(.invalidArgument, "The model cannot be changed.", cause: "\(error)") }
  }

  func metadata(at url: URL, options: StoreOptions) throws(StoreError) -> StoreMetadata {
    try base.metadata(at: url, options: options)
  }

  func setMetadata(_ metadata: StoreMetadata, at url: URL, options: StoreOptions) throws(StoreError) {
    try base.setMetadata(metadata, at: url, options: options)
  }

  func destroy(at url: URL, options: StoreOptions) throws(StoreError) { try base.destroy(at: url, options: options) }

  func replace(at destination: URL, with source: URL, options: StoreOptions) throws(StoreError) {
    try base.replace(at: destination, with: source, options: options)
  }
}

/// What is made wrong: each part does nothing unless it is replaced.
struct Sabotage: Sendable {
  /// Whether a store may do so.
  var isHarmless = false
  var options: @Sendable (inout StoreOptions) -> Void = { _ in }
  var beforeOpening: @Sendable (URL) throws(StoreError) -> Void = { _ in }
  var takesForeignFiles = false
  /// The part of the model that the store does not get.
  var definition: (@Sendable (inout EntityDefinition) -> Void)?
  /// What a commit is turned into before the store gets it.
  var changes: @Sendable (inout ChangeSet, any Store) throws(StoreError) -> Void = { _, _ in }
  /// What comes back from a commit.
  var result: @Sendable (CommitResult, ChangeSet, any Store, URL) throws(StoreError) -> CommitResult = { r, _, _, _ in r
  }
  /// Rows as they are read.
  var row: (@Sendable (Row, Schema) -> Row)?
  var scan: @Sendable ([Row]) -> [Row] = { $0 }
  var links: @Sendable ([(Int64, Row)], Relationship) -> [(Int64, Row)] = { links, _ in links }
  var showsTheNewest = false
  var keys: @Sendable (Range<Int64>) -> Range<Int64> = { $0 }
  /// Fetches as this evaluates them. The rows are those that a sound store would give, before offset and limit.
  var fetch: (@Sendable ([Row], FetchParts) -> [Row])?
  var afterClosing: @Sendable (URL) -> Void = { _ in }

  var changesFetches: Bool { fetch != nil }

  /// A part of a fetch that a sabotaged store may get wrong.
  struct FetchParts: Sendable {
    /// The slot that is sorted by, and its direction.
    var sortSlot: Int?
    var isAscending = true
    var offset: Int
    var limit: Int?
    /// Slots that are compared below a NOT.
    var negatedSlots: [Int]
  }
}
