import Foundation
import StoreProtocol
import StoreSchema

/// An entity with an attribute of each type, and values that are easily lost.
package enum EveryType {
  package static let types: [AttributeType] = [
    .integer16, .integer32, .integer64, .boolean, .double, .float, .date, .decimal, .string, .uri, .uuid, .binaryData,
    .transformable,
  ]

  /// `All`, whose attributes are named after their types. It leads to others by `next`, in an order.
  package static func entity() -> EntityDefinition {
    var all = EntityDefinition(name: "All")
    all.attributes = types.map { AttributeDefinition(name: "a\($0)", type: $0) }
    var next = RelationshipDefinition(name: "next", destination: "All")
    (next.inverse, next.isOrdered) = ("previous", true)
    var previous = RelationshipDefinition(name: "previous", destination: "All")
    (previous.inverse, previous.maxCount) = ("next", 1)
    all.relationships = [next, previous]
    return all
  }

  package static func schema() throws -> Schema { try Schema([entity()]) }

  private static let texts = [
    "", " ", "a & b <c> \\ \"d\" 'e'", "\u{0}\u{1}\u{1f}\t\n\r\n\r", "\u{FFFE}\u{FFFF}", "😀 é e\u{301}", "\\u2600",
    "]]>", "\u{2028}\u{85}",
  ]

  private static let decimals = ["-0.000000000000000000000000000000000001", "12e100"].compactMap { Decimal(string: $0) }

  /// A value of the type. Neighbouring numbers give different ones.
  package static func value(_ type: AttributeType, _ number: Int) -> Value {
    switch type {
    case .integer16: .int([Int64(Int16.min), Int64(Int16.max), 0][number % 3])
    case .integer32: .int([Int64(Int32.min), Int64(Int32.max), 0][number % 3])
    case .integer64: .int([Int64.min, .max, 0][number % 3])
    case .boolean: .bool(number % 2 == 0)
    case .double: .double([.leastNonzeroMagnitude, .greatestFiniteMagnitude, -.infinity, 0.1][number % 4])
    case .float: .double(Double([Float.leastNonzeroMagnitude, .greatestFiniteMagnitude, 19.6][number % 3]))
    case .date: .date([259257205.15052399, -1e-12, 1e300, 0][number % 4])
    case .decimal: .decimal(decimals[number % decimals.count])
    case .string: .string(texts[number % texts.count])
    case .uri: .uri("http://x/?a=1&b=<2>")
    case .uuid: .uuid(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, UInt8(number & 255))))
    default: .data(Data((0..<(number * 29)).map { UInt8(truncatingIfNeeded: $0) }))
    }
  }
}

/// The receipt of a commit that must succeed.
package func committed(_ changes: ChangeSet, _ store: any Store) throws -> Receipt {
  switch try store.commit(changes) {
  case .committed(let receipt): return receipt
  case .conflicts(let conflicts): throw StoreError(.constraint, "\(conflicts)")
  }
}
