import StoreSchema

/// A key path from an object over to-one relationships to one value.
public struct SlotPath: Hashable, Sendable {
  /// The start of the path: 0 is the current object, n the variable of the n-th enclosing collection, counted from the
  /// outermost.
  public var variable: Int
  /// The to-one relationships to follow, in order. Each belongs to the destination entity of the one before.
  public var hops: [Relationship]
  /// The value at the end, of the last destination.
  public var leaf: Leaf

  /// A path from an object over to-one relationships to a value.
  public init(variable: Int = 0, hops: [Relationship] = [], leaf: Leaf) {
    self.variable = variable
    self.hops = hops
    self.leaf = leaf
  }

  /// The end of a path.
  public enum Leaf: Hashable, Sendable {
    /// A stored value.
    case attribute(slot: Int, kind: SlotKind, declaringEntity: Int)
    /// A to-one relationship, compared as a reference.
    case toOne(Relationship)
    /// The object itself, compared as a reference.
    case object
    /// The index of the object's own entity, as an integer.
    case entity
    /// A column of a table, in a condition on its groups.
    case column(Int)
  }

  /// Whether the value belongs to the current object alone.
  public var isOwn: Bool { variable == 0 && hops.isEmpty }
}
