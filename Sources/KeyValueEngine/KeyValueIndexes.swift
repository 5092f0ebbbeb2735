import Foundation
import StoreProtocol
import StoreSchema

/// The uniqueness constraints and fetch indexes of a schema, as ordered keys.
///
/// A key is the index's number (2 bytes), the values, and the object's key (8 bytes). No encoded value begins with
/// another one, so objects with equal values have equal bytes between number and key.
struct KeyValueIndexes: Sendable {
  /// A class, because each row reads all of it.
  final class Index: Sendable {
    let entity: Int
    let slots: [Int]
    let kinds: [SlotKind]
    let isUnique: Bool
    /// Identifies the index in the file.
    let description: String

    init(entity: Int, slots: [Int], kinds: [SlotKind], isUnique: Bool, description: String) {
      (self.entity, self.slots, self.kinds) = (entity, slots, kinds)
      (self.isUnique, self.description) = (isUnique, description)
    }
  }

  let all: [Index]
  /// The indexes that each entity's objects are in, its own and inherited.
  let ofEntity: [[Int]]
  /// How many bytes values may take.
  private let longest: Int

  init(_ schema: Schema, longestKey: Int) {
    longest = longestKey - 10
    var all: [Index] = []
    var own: [[Int]] = []
    for entity in schema.entities {
      own.append([])
      func add(_ slots: [Int], isUnique: Bool) {
        let index = Index(
          entity: entity.index, slots: slots, kinds: slots.map { entity.slots[$0] }, isUnique: isUnique,
          description: "\(isUnique ? "unique" : "index") \(entity.name) \(slots)")
        if all.contains(where: { $0.description == index.description }) { return }
        own[entity.index].append(all.count)
        all.append(index)
      }
      for slots in entity.uniquenessConstraints { add(slots, isUnique: true) }
      for index in entity.definition.fetchIndexes {
        let slots = Self.slots(of: index, entity)
        if !slots.isEmpty { add(slots, isUnique: false) }
      }
    }
    // A superentity comes before its subentities.
    for entity in schema.entities {
      if let parent = entity.superentity { own[entity.index] = own[parent] + own[entity.index] }
    }
    (self.all, ofEntity) = (all, own)
  }

  /// The leading elements that are values of the object itself. An R-tree has no order.
  private static func slots(of index: FetchIndexDefinition, _ entity: Entity) -> [Int] {
    var slots: [Int] = []
    for element in index.elements {
      if element.isRTree { return [] }
      let slot = entity.attribute(named: element.property).flatMap { $0.elements.isEmpty ? $0.slot : nil }
      guard let slot = slot ?? entity.relationship(named: element.property)?.slot else { break }
      slots.append(slot)
    }
    return slots
  }

  /// The indexes as the file lists them.
  var catalogue: String { all.map(\.description).joined(separator: "\n") }

  /// How many bytes of a key, its number included, are never cut short.
  var certainBytes: Int { 2 + longest - 32 }

  /// Whether the values of a key may be cut short. `count` is the number of its bytes without the object's key.
  func mayBeShortened(_ count: Int) -> Bool { count >= 2 + longest }

  /// Puts a row's key in an index into `key`, without the object's key. False where the row has none: under a
  /// constraint, objects without a value never collide.
  func key(of row: Row, in number: Int, _ key: KeyBuffer) -> Bool {
    let index = all[number]
    key.clear()
    key.append(UInt16(truncatingIfNeeded: number))
    for position in index.slots.indices {
      if index.isUnique && row.isNull(index.slots[position]) { return false }
      OrderedValue.append(row, index.slots[position], index.kinds[position], to: key)
    }
    if key.count > 2 + longest { shorten(key) }
    return true
  }

  /// Keeps the beginning of values that are too long for a key, and a digest in place of the rest.
  private func shorten(_ key: KeyBuffer) {
    var digest = SHA256()
    digest.update(key.view)
    key.truncate(to: 2 + longest - 32)
    for byte in digest.finish() { key.append(byte) }
  }
}

/// Values as bytes with the same order, null first.
enum OrderedValue {
  static func append(_ row: Row, _ slot: Int, _ kind: SlotKind, to key: KeyBuffer) {
    if row.isNull(slot) { return key.append(UInt8(0)) }
    key.append(UInt8(1))
    switch kind {
    case .int16, .int32, .int64, .bool, .reference, .referenceEntity:
      key.append(UInt64(bitPattern: row.int(slot)) ^ 1 << 63)
    case .double, .float, .date: append(row.double(slot), to: key)
    case .decimal:
      // Near numbers are ordered by their doubles; equal numbers have equal texts.
      let text = row.string(slot)
      append(Double(text) ?? 0, to: key)
      row.withBytes(slot) { append(escaping: $0, to: key) }
    case .string, .uri, .uuid, .data, .transformable, .externalData:
      row.withBytes(slot) { append(escaping: $0, to: key) }
    }
  }

  private static func append(_ number: Double, to key: KeyBuffer) { key.append(bits(number)) }

  /// Flips all bits of negative numbers, and the sign bit of the others.
  static func bits(_ number: Double) -> UInt64 {
    let bits = number.bitPattern
    return bits >> 63 == 1 ? ~bits : bits ^ 1 << 63
  }

  /// Writes a zero as 0 255, and the end as 0 0.
  private static func append(escaping bytes: UnsafeRawBufferPointer, to key: KeyBuffer) {
    if bytes.contains(0) {
      for byte in bytes {
        key.append(byte)
        if byte == 0 { key.append(UInt8(255)) }
      }
    } else {
      key.append(bytes)
    }
    key.append(UInt16(0))
  }
}
