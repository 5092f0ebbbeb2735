import StoreProtocol
import StoreSchema
import StoreSupport

/// All objects of a store with their links. A graph is a value: a reader keeps its graph while a commit makes the next
/// one.
public struct AtomicGraph: Sendable {
  let shape: StoreShape
  var hierarchies: [AtomicHierarchy]
  /// In the order of ``StoreShape/toManys``.
  var links: [AtomicLinks]
  var uniqueness: AtomicUniqueness
  let indexes: [AtomicIndex]
  /// The highest key ever assigned. All entity hierarchies share one counter, because the file formats have only one.
  public internal(set) var highestKey: Int64
  /// How the objects are numbered in a file.
  public internal(set) var numbering = AtomicNumbering.plain

  /// The model of the objects.
  public var schema: Schema { shape.schema }

  /// A graph without objects.
  public init(_ schema: Schema) {
    shape = StoreShape(schema)
    hierarchies = Array(repeating: AtomicHierarchy(), count: shape.hierarchyCount)
    links = shape.toManys.map { AtomicLinks(isOrdered: $0.isOrdered, isOneWay: $0.storage == .destination) }
    uniqueness = AtomicUniqueness(schema)
    indexes = AtomicIndex.all(of: schema)
    highestKey = 0
  }

  /// The row of a key in the entity hierarchy of `entity`, nil where there is none.
  func row(of entity: Int, _ key: Int64) -> Row? { hierarchies[shape.hierarchies[entity]].row(key) }

  /// Assigns the next `count` keys. Throws `corrupt` where too few are left.
  mutating func takeKeys(_ count: Int) throws(StoreError) -> Range<Int64> {
    // A file may state any number as the highest key.
    let (first, isOver) = highestKey.addingReportingOverflow(1)
    if count == 0 { return isOver ? .max..<(.max) : first..<first }
    let (last, overflow) = highestKey.addingReportingOverflow(Int64(count))
    if isOver || overflow { throw Self.noKeys(above: highestKey) }
    try raiseHighestKey(to: last)
    return first..<(last + 1)
  }

  static func noKeys(above key: Int64) -> StoreError {
    StoreError(
      .corrupt,
      "The highest key of the store is \(key), so that no object can be added. Copy the objects to a new store.")
  }
}
