import Foundation
import StoreProtocol
import StoreSchema
import StoreSupport
import Synchronization

/// A store that keeps its whole graph in memory. Each commit makes the next graph. A store with a medium writes the
/// graph to it before readers see it.
public final class AtomicStore: Store, ExternalDataStore {
  public let schema: Schema
  public let capabilities: Capabilities
  public let isReadOnly: Bool
  private let writing = NSLock()
  private let state: Mutex<State>
  /// Nil for a store in memory, and after the store was closed: the medium holds its folder open.
  private var medium: (any AtomicMedium)? { state.withLock { $0.medium } }

  private var externalFiles: ExternalDataFiles? { medium?.externalFiles }

  private struct State: Sendable {
    var graph: AtomicGraph
    var medium: (any AtomicMedium)?
    var metadata: StoreMetadata
    var commitNumber: UInt64 = 0
    var isClosed = false
  }

  /// A store with an initial graph. Without a medium the content is lost when the store is closed.
  public init(
    _ graph: AtomicGraph, _ metadata: StoreMetadata, _ capabilities: Capabilities, isReadOnly: Bool = false,
    medium: (any AtomicMedium)? = nil
  ) {
    schema = graph.schema
    self.capabilities = capabilities
    self.isReadOnly = isReadOnly
    state = Mutex(State(graph: graph, medium: medium, metadata: metadata))
    if !isReadOnly { externalFiles?.sweep(self) }
  }

  public var identifier: String { metadata.identifier }
  public var metadata: StoreMetadata { state.withLock { $0.metadata } }

  public func snapshot() throws(StoreError) -> any StoreSnapshot {
    // While a commit runs, readers get the graph before it.
    if medium != nil, writing.try() {
      defer { writing.unlock() }
      try refresh()
    }
    let view = externalFiles?.view()
    let state = try current()
    return AtomicSnapshot(state.graph, commitNumber: state.commitNumber, view)
  }

  public func commit(_ changes: ChangeSet) throws(StoreError) -> CommitResult {
    writing.lock()
    defer { writing.unlock() }
    try refresh()
    let state = try writable()
    var commit = try AtomicCommit(state.graph, changes)
    switch try commit.run() {
    case .conflicts(let conflicts): return .conflicts(conflicts)
    case .applied(let graph, let changes, let touched):
      try externalFiles?.prepare(changes)
      try publish(graph, changes.metadata ?? state.metadata)
      externalFiles?.committed(changes)
      return .committed(Receipt(keys: changes.keys, commitNumber: state.commitNumber + 1, touched: touched))
    }
  }

  public func rehearse(_ changes: ChangeSet) throws(StoreError) -> [Conflict] {
    writing.lock()
    defer { writing.unlock() }
    try refresh()
    var commit = try AtomicCommit(try writable().graph, changes, isRehearsal: true)
    if case .conflicts(let conflicts) = try commit.run() { return conflicts }
    return []
  }

  public func allocateKeys(root: Int, count: Int) throws(StoreError) -> Range<Int64> {
    writing.lock()
    defer { writing.unlock() }
    try refresh()
    let state = try writable()
    var graph = state.graph
    let keys = try graph.takeKeys(count)
    if keys.isEmpty { return keys }
    try publish(graph, state.metadata)
    return keys
  }

  public func externalData(_ name: Data) throws(StoreError) -> Data {
    guard let externalFiles else {
      throw StoreError(.missingExternalData, "The store keeps all data in its rows.")
    }
    try medium?.requireLocation()
    return try externalFiles.read(name)
  }

  public func keepExternalData(_ data: Data) throws(StoreError) -> Data? {
    try medium?.requireLocation()
    return try externalFiles?.keep(data)
  }
  public func discardExternalData(_ names: [Data]) { externalFiles?.discard(names) }
  public func holdExternalData(_ names: [Data]) { externalFiles?.hold(names) }
  public func releaseExternalData(_ names: [Data]) -> [Data] { externalFiles?.release(names) ?? [] }

  public func close() throws(StoreError) {
    externalFiles?.close()
    writing.lock()
    defer { writing.unlock() }
    let medium = state.withLock { state in
      defer {
        state.isClosed = true
        // The store needs its graph no longer, and snapshots keep theirs.
        state.graph = AtomicGraph(schema)
        state.medium = nil
      }
      return state.medium
    }
    medium?.close()
  }

  private func current() throws(StoreError) -> State {
    let state = state.withLock { $0 }
    if state.isClosed { throw StoreError(.closed, "The store was closed; open it again.") }
    return state
  }

  private func writable() throws(StoreError) -> State {
    if isReadOnly { throw StoreError(.readOnly, "The store was opened read-only. Open it for writing to change it.") }
    return try current()
  }

  /// Reads the content again if another writer has changed it.
  private func refresh() throws(StoreError) {
    if state.withLock({ $0.isClosed }) { return }
    guard let (graph, metadata) = try medium?.reread() else { return }
    show(graph.versioned(after: state.withLock { $0.graph }), metadata)
  }

  /// Writes a graph to the medium, if there is one, and shows it to later readers.
  private func publish(_ graph: AtomicGraph, _ metadata: StoreMetadata) throws(StoreError) {
    do { try medium?.write(graph, metadata) } catch {
      // The file has the new content. Only a loss of power may still bring the old one back.
      if error.outcome == .outcomeUnknown { show(graph, metadata) }
      throw error
    }
    show(graph, metadata)
  }

  private func show(_ graph: AtomicGraph, _ metadata: StoreMetadata) {
    state.withLock { state in
      state.graph = graph
      state.metadata = metadata
      state.commitNumber += 1
    }
  }
}
