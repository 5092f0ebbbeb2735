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
      set(
        copy,
        to: source.value.translatingReferences { reference in
          guard reference != 0 else { return 0 }
          if let known = copies[reference] { return known.uid }
          let reserved = reserve()
          copies[reference] = reserved
          pending.append(reference)
          return reserved.uid
        })
    }
    return copies[uid] ?? .null
  }

  /// An archive of `object` and everything that it refers to.
  public static func archive(copyOf object: ArchivedObject) -> Data {
    var writer = KeyedArchiveWriter()
    let root = writer.add(copyOf: object)
    return writer.archive(root: root)
  }
}

extension PropertyList {
  /// An archived object with its references replaced, in the order of its keys. Such an object is a dictionary of
  /// references and scalars, or of arrays of references. Deeper nesting has no meaning in an archive and is kept.
  func translatingReferences(_ translate: (UInt64) -> UInt64) -> PropertyList {
    func translated(_ element: PropertyList) -> PropertyList {
      if case .uid(let reference) = element { .uid(translate(reference)) } else { element }
    }
    guard case .dictionary(let entries) = self else { return self }
    var result: [String: PropertyList] = [:]
    for (key, field) in entries.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
      if case .array(let elements) = field {
        result[key] = .array(elements.map(translated))
      } else {
        result[key] = translated(field)
      }
    }
    return .dictionary(result)
  }
}
