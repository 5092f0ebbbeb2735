/// One step of a model run: a kind, and numbers that choose among the present objects when it is applied.
///
/// So a list of operations stays valid if some are left out, and a failing list can be shortened.
public struct ModelOperation: Sendable, Codable, Hashable, CustomStringConvertible {
  /// The kind of the operation.
  public var kind: Kind
  /// Numbers that choose the objects of the operation.
  public var numbers: [UInt64]

  /// The kinds of operations.
  public enum Kind: String, Sendable, Codable, CaseIterable {
    /// A change of one object or of its links. `several` makes several changes in one commit.
    case insert, update, link, tag, untag, reorder, pick, keep, delete, several
    /// Operations that must be refused: stale versions, values that are taken, objects that are gone.
    case staleUpdate, staleDelete, duplicate, goneUpdate, swap
    /// Operations on the store itself.
    case reopen, otherWriter, takeKeys
  }

  public var description: String { "\(kind.rawValue) \(numbers.map { String($0, radix: 36) }.joined(separator: " "))" }

  /// The frequency of each kind.
  private static let weights: [(Kind, Int)] = [
    (.insert, 24), (.update, 14), (.link, 12), (.tag, 8), (.untag, 4), (.reorder, 6), (.pick, 6), (.keep, 4),
    (.delete, 8), (.several, 6),
    (.staleUpdate, 3), (.staleDelete, 2), (.duplicate, 3), (.goneUpdate, 1), (.swap, 2), (.reopen, 3),
    (.otherWriter, 3),
    (.takeKeys, 1),
  ]

  /// A stream of operations.
  public static func stream(count: Int, seed: UInt64) -> [ModelOperation] {
    var random = SplitMix64(seed: seed)
    let total = weights.reduce(0) { $0 + $1.1 }
    return (0..<count).map { _ in
      var position = random.below(total)
      let kind = weights.first { weight in
        position -= weight.1
        return position < 0
      }
      return ModelOperation(kind: kind?.0 ?? .insert, numbers: (0..<6).map { _ in random.next() })
    }
  }
}

/// One change of one object or link. Objects are numbered in the order of their insertion.
enum ModelChange {
  case insert(Int, entity: String, values: [String: Cell], targets: [String: Int])
  /// `age` is the number of versions by which the base of the change is out of date.
  case update(Int, values: [String: Cell], targets: [String: Int?], age: Int64)
  case delete(Int, age: Int64)
  case tag(Int, Int, isAdded: Bool)
  case order(Int, [Int])
  /// The items of a relationship whose two sides have orders.
  case pick(Int, [Int])
  /// A link without an inverse, from a team to a tag.
  case keep(Int, Int, isAdded: Bool)
}
