import Foundation
import PropertyLists
import StoreProtocol
import StoreSchema

/// The header fields of a store, each under its name.
enum KeyValueFact {
  /// The engine's format. It is read first.
  static let format = "format"
  /// A binary property list.
  static let metadata = "metadata"
  /// The model that the store was made with, as a keyed archive.
  static let model = "model"
  /// ``KeyValueShape/layout``.
  static let layout = "layout"
  /// ``KeyValueIndexes/catalogue``.
  static let indexes = "indexes"
  /// The highest key ever handed out in an entity hierarchy.
  static func highestKey(_ root: String) -> String { "key " + root }

  static let text = Data("OpenCoreData 3".utf8)
}

/// The header fields of a medium that can be read by space and key.
public struct KeyValueHeader {
  private let value: (_ key: UnsafeRawBufferPointer) throws(StoreError) -> Data?

  /// `value` returns the value of a key among the header fields.
  public init(_ value: @escaping (_ key: UnsafeRawBufferPointer) throws(StoreError) -> Data?) { self.value = value }

  init(_ transaction: any KeyValueReading) {
    self.init { (key) throws(StoreError) in try transaction.value(.facts, key).map { Data($0) } }
  }

  /// The content of a header field, nil where there is none. Throws `corrupt` where its checksum does not fit.
  func content(_ name: String) throws(StoreError) -> Data? {
    let key = Self.key(name)
    defer { withExtendedLifetime(key) {} }
    guard let value = try value(key.view) else { return nil }
    return try check(key.view, value)
  }

  /// The entry of a header field as stored, with its checksum, which is not checked.
  func entry(_ name: String) throws(StoreError) -> Data? {
    let key = Self.key(name)
    defer { withExtendedLifetime(key) {} }
    return try value(key.view)
  }

  static func key(_ name: String) -> KeyBuffer {
    let key = KeyBuffer()
    for byte in name.utf8 { key.append(byte) }
    return key
  }

  private func check(_ key: UnsafeRawBufferPointer, _ value: Data) throws(StoreError) -> Data {
    let result: Result<Void, StoreError> = value.withUnsafeBytes { bytes in
      Result { () throws(StoreError) in
        try KeyValueEntry.check(key, bytes)
        guard bytes.count >= KeyValueEntry.factHead else { throw KeyValueEntry.damaged }
      }
    }
    try result.get()
    return value.dropFirst(KeyValueEntry.factHead)
  }

  /// Throws `notAStore` where there is no store, `newerFormat` for a store of another format than the present one.
  public func checkFormat() throws(StoreError) {
    guard let text = try content(KeyValueFact.format), text.starts(with: Data("OpenCoreData ".utf8)) else {
      throw StoreError(.notAStore, "The file has data of another program. Choose another URL.")
    }
    guard text == KeyValueFact.text else {
      throw StoreError(
        .newerFormat,
        "This version does not know the store's format. Open the store with the version that made it. It was not changed.",
        context: ["format": String(decoding: text, as: UTF8.self)])
    }
  }

  /// The metadata, `withModel` with the model that the store carries. Throws the errors of ``checkFormat()``, and
  /// `corrupt`.
  public func metadata(storeType: String, withModel: Bool) throws(StoreError) -> StoreMetadata {
    try checkFormat()
    guard let content = try content(KeyValueFact.metadata),
      let list = try? BinaryPropertyListReader.read(content), var entries = list.dictionaryValue,
      let identifier = entries.removeValue(forKey: Self.identifierKey)?.stringValue
    else { throw StoreError(.corrupt, "The store's metadata is missing or damaged. Work on a copy, or on a backup.") }
    var metadata = try StoreMetadata(.dictionary(entries), identifier: identifier, storeType: storeType)
    if withModel { metadata.archivedModel = try self.content(KeyValueFact.model) }
    return metadata
  }

  func integer(_ name: String) throws(StoreError) -> Int64? {
    guard let content = try content(name) else { return nil }
    guard content.count == 8 else { throw KeyValueEntry.damaged }
    return content.reversed().reduce(0) { $0 << 8 | Int64($1) }
  }

  static let identifierKey = "NSStoreUUID"
}

extension KeyValueWriting {
  func setFact(_ name: String, _ content: Data) throws(StoreError) {
    let key = KeyBuffer()
    defer { withExtendedLifetime(key) {} }
    for byte in name.utf8 { key.append(byte) }
    let head = KeyValueEntry.factHead
    try put(.facts, key.view, count: head + content.count, isAtHand: false) { value in
      value.storeBytes(of: EntryChecksum.of(key.view).littleEndian, toByteOffset: 8, as: UInt32.self)
      value.storeBytes(of: UInt32(KeyValueEntry.format).littleEndian, toByteOffset: 12, as: UInt32.self)
      content.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: value[head...]).copyMemory(from: $0) }
      KeyValueEntry.seal(value, key.view)
    }
  }

  func setFact(_ name: String, _ number: Int64) throws(StoreError) {
    let bytes = (0..<8).map { UInt8(truncatingIfNeeded: number >> Int64($0 * 8)) }
    try setFact(name, Data(bytes))
  }

  func setMetadata(_ metadata: StoreMetadata, isNew: Bool) throws(StoreError) {
    var entries = metadata.propertyList(isNew: isNew)
    entries[KeyValueHeader.identifierKey] = .string(metadata.identifier)
    try setFact(KeyValueFact.metadata, BinaryPropertyListWriter.write(.dictionary(entries)))
  }
}
