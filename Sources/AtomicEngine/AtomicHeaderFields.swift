import PropertyLists
import StoreProtocol

/// Metadata entries about the file itself. Apple's readers ignore their keys and keep them.
struct AtomicHeaderFields: Sendable, Equatable {
  /// The roots of the number spaces; see ``AtomicNumbering``.
  var roots: [String] = []
  /// Which values are names of external data.
  var external = AtomicExternalValues()

  init() {}

  init(of graph: AtomicGraph) {
    roots = graph.numbering.roots
    external = AtomicExternalValues(graph)
  }

  /// Removes the entries from a file's metadata. Throws `corrupt` where they have another form.
  init(takingFrom metadata: inout StoreMetadata) throws(StoreError) {
    if let spaces = metadata.additional.removeValue(forKey: AtomicNumbering.metadataKey) {
      guard let names = spaces.arrayValue?.map(\.stringValue), names.allSatisfy({ $0 != nil }) else {
        throw StoreError(
          .corrupt, "The file's list of key spaces is not a list of names. Work on a copy, or on a backup.")
      }
      roots = names.compactMap { $0 }
    }
    if let values = metadata.additional.removeValue(forKey: AtomicExternalValues.metadataKey) {
      external = try AtomicExternalValues(values)
    }
  }

  func add(to metadata: inout StoreMetadata) {
    if !roots.isEmpty { metadata.additional[AtomicNumbering.metadataKey] = .array(roots.map(PropertyList.string)) }
    if !external.isEmpty { metadata.additional[AtomicExternalValues.metadataKey] = external.propertyList }
  }
}
