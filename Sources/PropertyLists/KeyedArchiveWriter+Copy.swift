import Foundation

/// Copies of object graphs from one archive into another.
extension KeyedArchiveWriter {
  /// Adds `object` and everything that it refers to, keeping identities and cycles.
  ///
  /// The objects are numbered in the order in which they are reached, so that a copy of a copy has the same bytes.
  public mutating func add(copyOf object: ArchivedObject) -> Reference {
    guard let uid = object.uid else { return add(object.value) }
    var copies = [uid: reserve()]
    var pending = [uid]
    var next = 0
    while next < pending.count {
      let original = pending[next]
      next += 1
      guard let copy = copies[original], let source = ArchivedObject(.uid(original), in: object.archive) else {
        continue
      }
      let value = translated(source.value) { (inner: inout KeyedArchiveWriter, reference) in
        guard reference != 0 else { return Reference.null }
        if let known = copies[reference] { return known }
        let reserved = inner.reserve()
        copies[reference] = reserved
        pending.append(reference)
        return reserved
      }
      set(copy, to: value)
    }
    return copies[uid] ?? .null
  }

  /// An archive of `object` alone and what it refers to.
  public static func archive(copyOf object: ArchivedObject) -> Data {
    var writer = KeyedArchiveWriter()
    let root = writer.add(copyOf: object)
    return writer.archive(root: root)
  }

  /// The value with its references replaced. An archived object is a dictionary of references and scalars, or of arrays
  /// of references; deeper nesting has no meaning in an archive and is kept as it is.
  private mutating func translated(
    _ value: PropertyList, _ translate: (inout KeyedArchiveWriter, UInt64) -> Reference
  ) -> PropertyList {
    guard case .dictionary(let entries) = value else { return value }
    var result: [String: PropertyList] = [:]
    for (key, field) in entries.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
      switch field {
      case .uid(let reference): result[key] = translate(&self, reference).value
      case .array(let elements):
        var copies: [PropertyList] = []
        for element in elements {
          if case .uid(let reference) = element {
            copies.append(translate(&self, reference).value)
          } else {
            copies.append(element)
          }
        }
        result[key] = .array(copies)
      default: result[key] = field
      }
    }
    return .dictionary(result)
  }
}
