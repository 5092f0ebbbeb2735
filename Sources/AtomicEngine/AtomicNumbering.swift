import StoreProtocol
import StoreSchema
import StoreSupport

/// How the objects of a graph are numbered in a file. The file format has one number space for all objects, while keys
/// are unique within an entity hierarchy only.
///
/// Where no two hierarchies share a key, the numbers are the keys. Hierarchies share keys after a copy from a store
/// that counts each hierarchy by itself. Then every hierarchy gets a space: space n of m has the numbers `(key - 1) * m
/// + n`. The file lists the root entities of the spaces in its metadata, and later saves keep them.
public struct AtomicNumbering: Sendable, Equatable {
  /// The metadata key. Apple's readers ignore it and keep it.
  static let metadataKey = "OpenCoreDataKeySpaces"

  /// The names of the root entities in the order of their spaces. Empty where the numbers are the keys.
  public private(set) var roots: [String]
  /// The space of each entity hierarchy, from 1 on.
  private var spaces: [Int64] = []
  private var count: Int64 { Int64(roots.count) }

  /// A numbering whose numbers are the keys.
  public static let plain = AtomicNumbering()
  private init() { roots = [] }

  /// A numbering with a space for each entity hierarchy of the schema.
  init(_ schema: Schema) {
    self.init(schema.storedEntities.filter { $0.root == $0.index }.map(\.name), schema)
  }

  /// The numbering of a file with these root entities. With a model that has other root entities the numbers are used
  /// as keys.
  init(_ roots: [String], _ schema: Schema) {
    let hierarchies = schema.entities.filter { $0.root == $0.index }
    let stored = hierarchies.filter { schema.stores($0.index) }.map(\.name)
    guard Set(roots) == Set(stored), roots.count == stored.count else {
      self = .plain
      return
    }
    self.roots = roots
    spaces = hierarchies.map { Int64((roots.firstIndex(of: $0.name) ?? 0) + 1) }
  }

  var isPlain: Bool { roots.isEmpty }

  /// The highest key that still has a number.
  var limit: Int64 { Int64.max / max(1, count) - 1 }

  func number(_ key: Int64, hierarchy: Int) -> Int64 { isPlain ? key : (key - 1) * count + spaces[hierarchy] }

  /// The key of a number; nil for a number of another hierarchy's space.
  func key(_ number: Int64, hierarchy: Int) -> Int64? {
    if isPlain { return number }
    guard number > 0, (number - 1) % count + 1 == spaces[hierarchy] else { return nil }
    return (number - 1) / count + 1
  }

  /// An upper bound of the numbers of all objects with keys up to `key`. ``highestKey(_:)`` is the reverse.
  func highestNumber(_ key: Int64) -> Int64 {
    if isPlain { return key }
    let (number, overflow) = key.multipliedReportingOverflow(by: count)
    return overflow ? .max : number
  }
  func highestKey(_ number: Int64) -> Int64 { isPlain ? number : number / count + (number % count == 0 ? 0 : 1) }
}

extension AtomicGraph {
  /// The number in a file of the object with `key` in the entity hierarchy of `entity`.
  public func number(of key: Int64, in entity: Int) -> Int64 {
    numbering.number(key, hierarchy: shape.hierarchies[entity])
  }

  /// The number in a file that stands for the highest key.
  public var highestNumber: Int64 { numbering.highestNumber(highestKey) }

  /// Raises the highest key to a key that is in use. Throws `corrupt` for a key that has no number.
  mutating func raiseHighestKey(to key: Int64) throws(StoreError) {
    if key <= highestKey { return }
    if key > numbering.limit { throw Self.noKeys(above: key) }
    highestKey = key
  }

  /// Introduces number spaces if one of `objects`, which were just inserted, has the key of an object in another entity
  /// hierarchy. Throws `unsupported` where the keys are too high for that.
  mutating func separateHierarchies(_ objects: [ObjectReference]) throws(StoreError) {
    if !numbering.isPlain || hierarchies.count < 2 { return }
    let isShared = objects.contains { object in
      hierarchies.indices.contains {
        $0 != shape.hierarchies[object.entity] && hierarchies[$0].position(of: object.key) != nil
      }
    }
    if !isShared { return }
    numbering = AtomicNumbering(schema)
    guard highestKey <= numbering.limit else {
      throw StoreError(.unsupported, "A file of this type cannot number objects with keys up to \(highestKey).")
    }
  }
}
