import Foundation
import StoreProtocol
import StoreSupport

/// The storage of an atomic store: a whole file that each commit replaces.
///
/// The store never calls `write` and `reread` concurrently.
public protocol AtomicMedium: Sendable {
  /// Replaces the content durably and as a whole. The outcome of a thrown error says which content is there afterwards.
  func write(_ graph: AtomicGraph, _ metadata: StoreMetadata) throws(StoreError)

  /// The content, if another writer has changed it since it was read or written here. Otherwise nil.
  func reread() throws(StoreError) -> (graph: AtomicGraph, metadata: StoreMetadata)?

  /// Throws `replaced` where another store has replaced the file, as far as this process knows.
  func requireLocation() throws(StoreError)

  /// The files of large values; nil where they are kept in the graph.
  var externalFiles: ExternalDataFiles? { get }

  /// Releases locks and other resources. The external files are closed already.
  func close()
}

extension AtomicMedium {
  /// Does nothing: another store can replace only files.
  public func requireLocation() throws(StoreError) {}
}
