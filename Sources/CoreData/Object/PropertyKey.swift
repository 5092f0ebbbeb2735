import Foundation
import StoreSchema
import Synchronization

/// The name of a property, with the slot in which it was last found.
public struct PropertyKey: ~Copyable, Sendable {
  /// The name of the property in the model.
  public let name: String
  /// The representation that the slot of the attribute must have.
  @usableFromInline let representation: PropertyRepresentation
  /// ``EntityInfo/accessorTag``, with the slot or relationship index in the low 16 bits; zero until first used.
  @usableFromInline let resolved: Atomic<UInt64>
  /// The same with the index that `DirectReads.swift` explains in the low bits.
  @usableFromInline let direct: Atomic<UInt64>

  @inlinable @inline(__always)
  init(_ name: String, _ representation: PropertyRepresentation) {
    (self.name, self.representation) = (name, representation)
    resolved = Atomic(0)
    direct = Atomic(0)
  }

  /// The slot of an attribute of the entity; negative for an attribute that is only in memory.
  @inline(__always)
  func slot(_ info: EntityInfo) -> Int {
    let known = resolved.load(ordering: .relaxed)
    if known & Self.tagMask == info.accessorTag { return Int(known & 0xffff) }
    return findSlot(info)
  }

  private static let tagMask: UInt64 = 0xffff_ffff_ffff_0000

  private func findSlot(_ info: EntityInfo) -> Int {
    let slot: Int
    switch info.keys[name] {
    case .attribute(let index): slot = info.attributes[index].attribute.slot
    case .transient: return -1
    default:
      if info === KeyPathProbe.info { return KeyPathProbe.slot }
      misuse("The entity \(info.entity.name) has no attribute named '\(name)'.")
    }
    // Checked once for each model: the bits of one type are meaningless as another.
    guard representation.fits(info.entity.slots[slot]) else {
      misuse(
        "The attribute '\(name)' of \(info.entity.name) is of type \(info.entity.slots[slot]); its accessor has another."
      )
    }
    if slot <= 0xffff { resolved.store(info.accessorTag | UInt64(slot), ordering: .relaxed) }
    return slot
  }

  @inline(__always)
  func relationship(_ info: EntityInfo) -> Int {
    let known = resolved.load(ordering: .relaxed)
    if known & Self.tagMask == info.accessorTag { return Int(known & 0xffff) }
    return findRelationship(info)
  }

  /// Whether the name belongs to a fetched property, which has no index.
  @inline(__always)
  func isFetched(_ info: EntityInfo) -> Bool {
    if resolved.load(ordering: .relaxed) & Self.tagMask == info.accessorTag { return false }
    if case .fetched? = info.keys[name] { return true }
    return false
  }

  private func findRelationship(_ info: EntityInfo) -> Int {
    guard case .relationship(let index)? = info.keys[name] else {
      misuse("The entity \(info.entity.name) has no relationship named '\(name)'.")
    }
    if index <= 0xffff { resolved.store(info.accessorTag | UInt64(index), ordering: .relaxed) }
    return index
  }
}

/// The kind of stored value that a Swift type represents.
public enum PropertyRepresentation: Sendable {
  /// Stored in the row as a number, a date, a string, bytes or a UUID, and read from there.
  case integer, double, date, string, data, uuid
  /// Read and written by key-value coding, which converts the value.
  case any

  func fits(_ kind: SlotKind) -> Bool {
    switch (self, kind) {
    case (.any, _), (.integer, .int16), (.integer, .int32), (.integer, .int64), (.integer, .bool): true
    // Scalar accessors of dates use seconds.
    case (.double, .double), (.double, .float), (.double, .date), (.date, .date): true
    case (.string, .string), (.string, .uri), (.uuid, .uuid): true
    // Data of transformable attributes is read and written by key-value coding.
    case (.data, .data), (.data, .externalData), (.data, .transformable): true
    default: false
    }
  }
}
