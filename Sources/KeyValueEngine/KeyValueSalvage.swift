import Foundation
import PropertyLists
import StoreProtocol
import StoreSchema
import StoreSupport

/// Adds entries of a damaged map to a salvage, each by itself, wherever it was found, if its checksum fits.
public final class KeyValueSalvage {
  private let salvage: Salvage
  private let shape: KeyValueShape
  /// Links of ordered blocks, by table and owner.
  private var ordered: [Int: [Int64: [(order: Int64, key: Int64)]]] = [:]

  /// Throws `unsupported` for a model that is too large for such a store.
  public init(_ salvage: Salvage, longestKey: Int) throws(StoreError) {
    self.salvage = salvage
    shape = try KeyValueShape(salvage.schema, longestKey: longestKey)
  }

  /// Takes the store's header fields.
  ///
  /// Throws `modelMismatch` where the layout of its rows is not that of the schema: then nothing could be read.
  public func take(_ headerFields: KeyValueHeader, storeType: String) throws(StoreError) {
    salvage.take { () throws(StoreError) in try headerFields.metadata(storeType: storeType, withModel: false) }
    let layout: Data?
    do { layout = try headerFields.content(KeyValueFact.layout) } catch { layout = nil }
    guard let layout else {
      return salvage.lose(
        StoreFinding(.metadata, "The store no longer says how its rows are laid out: values may be under wrong names."))
    }
    if layout != Data(shape.layout.utf8) {
      throw StoreError(
        .modelMismatch, "The store's rows belong to another model. Use the model that the store was made with.")
    }
  }

  /// Takes an entry of the rows or the links. Entries of other parts follow from these.
  public func take(_ space: KeySpace, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
    do {
      switch space {
      case .rows: try takeRow(key, value)
      case .links: try takeLinks(key, value)
      case .facts, .indexes: break
      }
    } catch { salvage.lose(StoreFinding(.integrity, "An entry of the \(space.name) cannot be read: \(error.message)")) }
  }

  /// Adds the collected ordered links. Call it after the last entry.
  public func finish() {
    for (table, owners) in ordered {
      for (owner, links) in owners { salvage.link(table, of: owner, to: links.sorted { $0 < $1 }.map(\.key)) }
    }
  }

  private func takeRow(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws(StoreError) {
    guard key.count == 10, let object = key.objectKey(at: 2) else { throw KeyValueEntry.damaged }
    try KeyValueEntry.check(key, value)
    guard value.count >= KeyValueEntry.rowHead, value[12] == KeyValueEntry.format,
      case let entity = Int(value.integer(at: 12, as: UInt32.self).littleEndian >> 8),
      shape.forms.indices.contains(entity),
      let row = Row(
        packed: UnsafeRawBufferPointer(rebasing: value[KeyValueEntry.rowHead...]), key: object, version: 1,
        shape.forms[entity])
    else { throw KeyValueEntry.damaged }
    salvage.add(row)
  }

  private func takeLinks(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws(StoreError) {
    guard key.count >= 2, case let number = Int(UInt16(bigEndian: key.integer(at: 0, as: UInt16.self))) else { return }
    // The link back of a one-way link. The link itself says the same.
    if number >= 1 << 15 { return }
    guard shape.store.toManys.indices.contains(number), key.count == 18, let owner = key.objectKey(at: 2) else {
      throw KeyValueEntry.damaged
    }
    let isOrdered = shape.store.toManys[number].isOrdered
    var found: [(order: Int64, key: Int64)] = []
    try LinkBlock.read(key, value, isOrdered: isOrdered) { destination, order in found.append((order, destination)) }
    if isOrdered {
      ordered[number, default: [:]][owner, default: []] += found
    } else {
      salvage.link(number, of: owner, to: found.map(\.key))
    }
  }
}
