import Foundation
import StoreProtocol

/// Where an atomic store keeps its graph: a whole file that each commit replaces.
///
/// Calls of `write` and `reread` come one at a time.
public protocol AtomicMedium: Sendable {
  /// Replaces what was written last, durably, all or nothing. The outcome of what it throws says what is there
  /// afterwards.
  func write(_ graph: AtomicGraph, _ metadata: StoreMetadata) throws(StoreError)

  /// What is there, where somebody else has written it since it was read or written here; nil where nobody has.
  func reread() throws(StoreError) -> (graph: AtomicGraph, metadata: StoreMetadata)?

  /// Throws `replaced` where another store has replaced the file, as far as this process knows.
  func requirePlace() throws(StoreError)

  /// Where large values are kept outside the graph; nil where they are in it.
  var externalFiles: ExternalDataFiles? { get }

  /// Gives back what it holds, such as locks. The external files are closed already.
  func close()
}

extension AtomicMedium {
  /// Nobody can take the place of what is kept by other means than files.
  public func requirePlace() throws(StoreError) {}
}
