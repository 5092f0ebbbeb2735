import Foundation
import StoreProtocol
import StoreSchema
import StoreSupport

/// Reads rows and links in one transaction. Used by one caller at a time.
final class KeyValueReader {
  let transaction: any KeyValueReading
  let shape: KeyValueShape
  private let key = KeyBuffer()
  private let prefix = KeyBuffer()
  private var lastEntity = -1
  private var lastForm: Unmanaged<PackedRowForm>?

  init(_ transaction: any KeyValueReading, _ shape: KeyValueShape) {
    self.transaction = transaction
    self.shape = shape
  }

  // MARK: Rows

  @inline(__always)
  static func setRowKey(_ key: KeyBuffer, _ hierarchy: UInt16, _ object: Int64) { key.set(hierarchy, object) }

  /// The row of a key in the hierarchy of `entity`, nil where there is none.
  func row(of entity: Int, _ object: Int64) throws(StoreError) -> Row? {
    Self.setRowKey(key, shape.hierarchy(entity), object)
    guard let value = try transaction.value(.rows, key.view) else { return nil }
    return try decode(key.view, value, object)
  }

  /// Entity and version of a stored row, without making the row.
  func version(of entity: Int, _ object: Int64) throws(StoreError) -> (entity: Int, version: Int64)? {
    Self.setRowKey(key, shape.hierarchy(entity), object)
    guard let value = try transaction.value(.rows, key.view) else { return nil }
    try KeyValueEntry.check(key.view, value)
    guard value.count >= KeyValueEntry.rowHead else { throw KeyValueEntry.damaged }
    return (Self.entity(value), Int64(littleEndian: value.integer(at: 16, as: Int64.self)))
  }

  @inline(__always)
  private static func entity(_ value: UnsafeRawBufferPointer) -> Int {
    Int(value.integer(at: 12, as: UInt32.self).littleEndian &>> 8)
  }

  func decode(
    _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, _ object: Int64
  ) throws(StoreError) -> Row {
    try KeyValueEntry.check(key, value)
    return try unpack(value, object)
  }

  /// The row of a value whose checksum was verified.
  @inline(__always)
  private func unpack(_ value: UnsafeRawBufferPointer, _ object: Int64) throws(StoreError) -> Row {
    guard value.count >= KeyValueEntry.rowHead, value[12] == KeyValueEntry.format, let form = form(Self.entity(value)),
      let row = form._withUnsafeGuaranteedRef({ form in
        Row(
          packed: UnsafeRawBufferPointer(rebasing: value[KeyValueEntry.rowHead...]), key: object,
          version: Int64(littleEndian: value.integer(at: 16, as: Int64.self)), form)
      })
    else {
      throw StoreError(.corrupt, "A row of the store fits no entity of the model. Another program has written it.")
    }
    return row
  }

  /// Rows of one entity are adjacent, so the last form is kept. Unowned: the shape keeps it.
  @inline(__always)
  private func form(_ entity: Int) -> Unmanaged<PackedRowForm>? {
    if entity != lastEntity {
      guard shape.forms.indices.contains(entity) else { return nil }
      (lastEntity, lastForm) = (entity, .passUnretained(shape.forms[entity]))
    }
    return lastForm
  }

  /// The greatest key in the hierarchy of `entity`, zero where it is empty.
  func highestKey(_ entity: Int) throws(StoreError) -> Int64 {
    let hierarchy = shape.hierarchy(entity)
    let end = KeyBuffer()
    defer { withExtendedLifetime(end) {} }
    Self.setRowKey(end, hierarchy &+ 1, 0)
    var highest: Int64 = 0
    try transaction.scanBackwards(.rows, before: end.view) { (key, value) throws(StoreError) in
      try KeyValueEntry.check(key, value)
      highest = try Self.object(key, value, hierarchy) ?? 0
      return false
    }
    return highest
  }

  func scan(_ entities: Range<Int>, _ body: (consuming Row) -> Void) throws(StoreError) {
    try scan(entities, from: 0) { row in
      body(row)
      return true
    }
  }

  /// Calls `body` with each row from a key on until it gives false.
  func scan(_ entities: Range<Int>, from object: Int64, _ body: (consuming Row) -> Bool) throws(StoreError) {
    guard let first = entities.first else { return }
    let hierarchy = shape.hierarchy(first)
    let isWhole = shape.schema.entities[first].subtree == entities && shape.schema.entities[first].root == first
    let start = KeyBuffer()
    defer { withExtendedLifetime(start) {} }
    Self.setRowKey(start, hierarchy, object)
    try transaction.scan(.rows, from: start.view) { (key, value) throws(StoreError) in
      guard let object = try Self.object(key, value, hierarchy) else { return false }
      try KeyValueEntry.check(key, value)
      return isWhole || entities.contains(Self.entity(value)) ? body(try unpack(value, object)) : true
    }
  }

  /// Calls `body` with the rows of the hierarchy of `entity` whose keys are in a key range.
  func rows(
    of entity: Int, between keys: ClosedRange<Int64>, _ body: (consuming Row) -> Void
  ) throws(StoreError) {
    let hierarchy = shape.hierarchy(entity)
    Self.setRowKey(key, hierarchy, keys.lowerBound)
    try transaction.scan(.rows, from: key.view) { (key, value) throws(StoreError) in
      guard let object = try Self.object(key, value, hierarchy), object <= keys.upperBound else { return false }
      body(try decode(key, value, object))
      return object < keys.upperBound
    }
  }

  /// The key of an entry's object, nil behind the last object of a hierarchy.
  private static func object(
    _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, _ hierarchy: UInt16
  ) throws(StoreError) -> Int64? {
    guard key.count >= 2, UInt16(bigEndian: key.integer(at: 0, as: UInt16.self)) == hierarchy else { return nil }
    guard key.count == 10, value.count >= KeyValueEntry.rowHead else { throw KeyValueEntry.damaged }
    return key.objectKey(at: 2)
  }

  /// Calls `body` with each object until it returns false. Makes no rows.
  func scanKeys(_ entities: Range<Int>, _ body: (ObjectReference) -> Bool) throws(StoreError) {
    guard let first = entities.first else { return }
    let hierarchy = shape.hierarchy(first)
    let start = KeyBuffer()
    defer { withExtendedLifetime(start) {} }
    Self.setRowKey(start, hierarchy, 0)
    try transaction.scan(.rows, from: start.view) { (key, value) throws(StoreError) in
      guard let object = try Self.object(key, value, hierarchy) else { return false }
      try KeyValueEntry.check(key, value)
      let entity = Self.entity(value)
      return entities.contains(entity) ? body(ObjectReference(entity: entity, key: object)) : true
    }
  }

  // MARK: Links

  /// The destinations of an owner with their orders, by key.
  func links(
    _ table: Int, _ owner: Int64, _ body: (_ destination: Int64, _ order: Int64) -> Void
  ) throws(StoreError) {
    let isOrdered = shape.store.toManys[table].isOrdered
    LinkBlock.setOwner(prefix, table, owner)
    var former = Int64.min
    try transaction.scan(.links, from: prefix.view) { (key, value) throws(StoreError) in
      guard let bound = LinkBlock.bound(key, prefix.view) else { return false }
      try LinkBlock.check(key, value, isOrdered: isOrdered)
      try LinkBlock.checkOrder(value, isOrdered: isOrdered, above: former, bound: bound)
      LinkBlock.forEach(value, isOrdered: isOrdered, body)
      former = bound
      return bound < .max
    }
  }

  /// The keys of an owner's destinations, in their order where the relationship is ordered.
  func destinations(_ table: Int, _ owner: Int64) throws(StoreError) -> [Int64] {
    guard shape.store.toManys[table].isOrdered else {
      var keys: [Int64] = []
      try links(table, owner) { destination, _ in keys.append(destination) }
      return keys
    }
    var ordered: [(order: Int64, key: Int64)] = []
    try links(table, owner) { destination, order in ordered.append((order, destination)) }
    ordered.sort { $0 < $1 }
    return ordered.map(\.key)
  }

  func linkCount(_ table: Int, _ owner: Int64) throws(StoreError) -> Int {
    var count = 0
    try links(table, owner) { _, _ in count += 1 }
    return count
  }

  /// The owner of the one-way link to `destination`.
  func owner(_ table: Int, of destination: Int64) throws(StoreError) -> Int64? {
    LinkBlock.setWayBack(key, table, destination)
    guard let value = try transaction.value(.links, key.view) else { return nil }
    try KeyValueEntry.check(key.view, value)
    guard value.count == 16 else { throw KeyValueEntry.damaged }
    return Int64(littleEndian: value.integer(at: 8, as: Int64.self))
  }

  // MARK: Indexes

  /// Calls `body` with each entry of a key range of an index, until it returns false: the values' bytes, and the
  /// object's key.
  func entries(
    _ range: IndexRange, backwards: Bool = false, _ body: (_ values: UnsafeRawBufferPointer, _ object: Int64) -> Bool
  ) throws(StoreError) {
    let start = KeyBuffer()
    defer { withExtendedLifetime(start) {} }
    func visit(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws(StoreError) -> Bool {
      try KeyValueEntry.check(key, value)
      guard key.count >= 10, let object = key.objectKey(at: key.count - 8) else { throw KeyValueEntry.damaged }
      return body(UnsafeRawBufferPointer(rebasing: key[..<(key.count - 8)]), object)
    }
    if backwards {
      // The first key behind all keys that begin with the upper bound.
      range.high.withUnsafeBytes { start.append($0) }
      guard start.increment() else { return }
      try transaction.scanBackwards(.indexes, before: start.view) { (key, value) throws(StoreError) in
        range.low.withUnsafeBytes { key.precedes($0) } ? false : try visit(key, value)
      }
    } else {
      range.low.withUnsafeBytes { start.append($0) }
      try transaction.scan(.indexes, from: start.view) { (key, value) throws(StoreError) in
        range.contains(key) ? try visit(key, value) : false
      }
    }
  }

  /// An object other than `object` that has the values of an index key.
  func holder(of values: UnsafeRawBufferPointer, besides object: Int64) throws(StoreError) -> Int64? {
    var found: Int64?
    try transaction.scan(.indexes, from: values) { (key, value) throws(StoreError) in
      guard key.hasPrefix(values) else { return false }
      try KeyValueEntry.check(key, value)
      guard key.count == values.count + 8, let other = key.objectKey(at: values.count), other != object else {
        return true
      }
      found = other
      return false
    }
    return found
  }
}
