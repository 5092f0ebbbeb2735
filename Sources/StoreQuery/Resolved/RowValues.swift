import Foundation
import StoreSchema

extension Row {
  /// The value of a path without hops.
  ///
  /// Data that may be stored outside of the row is returned without its leading byte where it is in the row. Otherwise
  /// its name is returned, which equals no data of a client.
  package func value(of leaf: SlotPath.Leaf) -> Value {
    switch leaf {
    case .attribute(let slot, .externalData, _): isNull(slot) ? .null : .data(Self.inner(data(slot)))
    case .attribute(let slot, let kind, _): value(slot, kind)
    case .toOne(let relationship): reference(of: relationship).map(Value.reference) ?? .null
    case .object: .reference(reference)
    case .entity: .int(Int64(entity))
    case .column: .null
    }
  }

  package func reference(of relationship: Relationship) -> ObjectReference? {
    relationship.slot.flatMap {
      reference($0, entitySlot: relationship.entitySlot, destination: relationship.destination)
    }
  }

  private static func inner(_ data: Data) -> Data { data.first == 1 ? data.dropFirst() : data }
}

/// Rows by themselves: for predicates that read only the object's own values.
public struct OwnRows: EvaluationSource {
  /// The source of rows by themselves.
  public init() {}

  public func value(at path: SlotPath, of row: Row) -> Value { path.hops.isEmpty ? row.value(of: path.leaf) : .null }

  public func objects(over hops: [Relationship], from row: Row) -> [Row] { [] }

  public static func test(_ predicate: ResolvedPredicate) -> (@Sendable (Row) -> Bool)? {
    RowProgram(predicate)?.test
  }
}
