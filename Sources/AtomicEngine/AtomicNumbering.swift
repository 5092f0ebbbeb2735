import StoreProtocol
import StoreSchema

/// How the objects of a graph are numbered in a file. Its format has one number space for all objects, while keys are
/// unique in a tree of entities only.
///
/// As long as no two trees have a key in common the numbers are the keys. A graph with such keys, which comes of
/// copying a store that counts each tree for itself, gives every tree a space: the n-th of m spaces has the numbers
/// `(key - 1) * m + n`. The file then names the roots of the spaces in its metadata, and keeps to them.
public struct AtomicNumbering: Sendable, Equatable {
  /// The key in the metadata, which Apple's readers do not know and leave alone.
  static let metadataKey = "OpenCoreDataKeySpaces"

  /// The names of the root entities in the order of their spaces, none where the numbers are the keys.
  public private(set) var roots: [String]
  /// The space of each tree, from 1 on.
  private var spaces: [Int64] = []
  private var count: Int64 { Int64(roots.count) }

  /// The numbers are the keys.
  public static let plain = AtomicNumbering()
  private init() { roots = [] }

  /// A space for each tree of the schema.
  init(_ schema: Schema) {
    self.init(schema.storedEntities.filter { $0.root == $0.index }.map(\.name), schema)
  }

  /// The spaces of a file, which has these roots. Another model, for which its keys mean nothing, takes the numbers as
  /// keys.
  init(_ roots: [String], _ schema: Schema) {
    let trees = schema.entities.filter { $0.root == $0.index }
    let stored = trees.filter { schema.stores($0.index) }.map(\.name)
    guard Set(roots) == Set(stored), roots.count == stored.count else {
      self = .plain
      return
    }
    self.roots = roots
    spaces = trees.map { Int64((roots.firstIndex(of: $0.name) ?? 0) + 1) }
  }

  var isPlain: Bool { roots.isEmpty }

  /// The highest key that still has a number.
  var limit: Int64 { Int64.max / max(1, count) - 1 }

  func number(_ key: Int64, tree: Int) -> Int64 { isPlain ? key : (key - 1) * count + spaces[tree] }

  /// Nil for a number that is in another tree's space.
  func key(_ number: Int64, tree: Int) -> Int64? {
    if isPlain { return number }
    guard number > 0, (number - 1) % count + 1 == spaces[tree] else { return nil }
    return (number - 1) / count + 1
  }

  /// A number that no object up to a highest key is beyond, and the highest key for such a number.
  func highestNumber(_ key: Int64) -> Int64 {
    if isPlain { return key }
    let (number, overflow) = key.multipliedReportingOverflow(by: count)
    return overflow ? .max : number
  }
  func highestKey(_ number: Int64) -> Int64 { isPlain ? number : number / count + (number % count == 0 ? 0 : 1) }
}

extension AtomicGraph {
  /// The number in a file of the object with `key` in the tree of `entity`.
  public func number(of key: Int64, in entity: Int) -> Int64 { numbering.number(key, tree: shape.tree[entity]) }

  /// The number in a file that stands for the highest key.
  public var highestNumber: Int64 { numbering.highestNumber(highestKey) }

  /// Raises the highest key to one that is in use or taken. Throws `corrupt` beyond what can be numbered.
  mutating func raiseHighestKey(to key: Int64) throws(StoreError) {
    if key <= highestKey { return }
    if key > numbering.limit { throw Self.noKeys(above: key) }
    highestKey = key
  }

  /// Gives each tree a number space where objects of two trees have the same key: where one of `objects`, which have
  /// been inserted just now, has the key of an object of another tree.
  mutating func separateTrees(_ objects: [ObjectReference]) throws(StoreError) {
    if !numbering.isPlain || trees.count < 2 { return }
    let isShared = objects.contains { object in
      trees.indices.contains { $0 != shape.tree[object.entity] && trees[$0].place(of: object.key) != nil }
    }
    if !isShared { return }
    numbering = AtomicNumbering(schema)
    guard highestKey <= numbering.limit else {
      throw StoreError(.unsupported, "A file of this type cannot number objects with keys up to \(highestKey).")
    }
  }
}
