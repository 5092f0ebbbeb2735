import Foundation
import StoreSchema

/// A relationship in a document. Its name is in lower case.
struct XMLRelationship {
  let name: String
  /// The slot of a to-one relationship.
  let slot: Int?
  /// The link table of a to-many relationship.
  let table: Int?
}

/// The properties of an entity by their names in documents, which are in lower case. Also remembers the spelling and
/// the order of the names in a document, which are the same for most objects.
///
/// Used by one caller at a time.
final class XMLEntityShape {
  let index: Int
  let slotCount: Int
  /// The attributes in the order of the slots; a composite has one column per element.
  let columns: [(name: String, slot: Int, kind: SlotKind)]
  let relationships: [XMLRelationship]
  /// The indexes in `columns` and `relationships`, by name.
  private let attributePositions: [String: Int]
  private let relationshipPositions: [String: Int]
  /// The names met so far, one behind the other; `known` has their ranges.
  private var names: [UInt8] = []
  private var known: [Spelling] = []
  private var next = 0

  private struct Spelling {
    let start: Int
    let count: Int
    let isAttribute: Bool
    let property: Int
  }

  init(_ entity: Entity, _ table: (Relationship) -> Int?) {
    index = entity.index
    slotCount = entity.slots.count
    relationships = entity.relationships.map {
      XMLRelationship(name: $0.name.lowercased(), slot: $0.slot, table: table($0))
    }
    var columns: [(name: String, slot: Int, kind: SlotKind)] = []
    for attribute in entity.attributes {
      if attribute.type == .composite {
        for leaf in attribute.elements {
          columns.append(("\(attribute.name).\(leaf.name)".lowercased(), leaf.slot, entity.slots[leaf.slot]))
        }
      } else {
        columns.append((attribute.name.lowercased(), attribute.slot, entity.slots[attribute.slot]))
      }
    }
    self.columns = columns
    attributePositions = Dictionary(
      columns.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    relationshipPositions = Dictionary(
      relationships.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// Begins another object.
  func begin() { next = 0 }

  /// The index of a property in `columns` or `relationships`. Nil for a name that the entity does not have.
  func property(_ name: UnsafeRawBufferPointer, isAttribute: Bool) -> Int? {
    // Skips properties that this object does not have.
    for position in next..<min(next + 8, known.count)
    where known[position].isAttribute == isAttribute && known[position].count == name.count
      && isSame(known[position], name)
    {
      next = position + 1
      return known[position].property
    }
    let text = String(decoding: name, as: UTF8.self).lowercased()
    guard let property = isAttribute ? attributePositions[text] : relationshipPositions[text] else { return nil }
    // The limit matters only for documents that spell one name in very many ways: the memory stays bounded.
    if known.count < 2 * (columns.count + relationships.count) {
      let spelling = Spelling(start: names.count, count: name.count, isAttribute: isAttribute, property: property)
      // Replaced as a whole: see decision 075.
      var (spellings, longer) = (known, names)
      spellings.insert(spelling, at: min(next, known.count))
      longer.append(contentsOf: name)
      (known, names) = (spellings, longer)
      next += 1
    }
    return property
  }

  @inline(__always)
  private func isSame(_ spelling: Spelling, _ name: UnsafeRawBufferPointer) -> Bool {
    names.withUnsafeBytes {
      UnsafeRawBufferPointer(rebasing: $0[spelling.start..<spelling.start + spelling.count]).isSame(name)
    }
  }
}

extension UnsafeRawBufferPointer {
  @inline(__always)
  func isSame(_ other: UnsafeRawBufferPointer) -> Bool {
    guard count == other.count, let a = baseAddress, let b = other.baseAddress else { return isEmpty && other.isEmpty }
    return memcmp(a, b, count) == 0
  }
}
