import CXMLParser
import Foundation
import PropertyLists
import StoreProtocol

/// Reads `databaseInfo`: UUID, highest key and metadata. Stops there unless a subclass reads the objects.
class XMLInfoReader: XMLHandler {
  private(set) var identifier = ""
  private(set) var highestNumber: Int64 = 0
  /// The number of open elements; `part` says in which part of the document they are.
  private var depth = 0
  private var part = Part.other
  private var content: [UInt8] = []
  private var list: XMLPropertyListBuilder?
  private var info: PropertyList?
  private var hasInfo = false

  var isDone: Bool { hasInfo }

  var wantsTypes: Bool { false }

  private enum Part { case info, metadata, other }

  func start(_ name: XMLName) throws(StoreError) {
    if depth == 0 && !(name == "database") {
      throw StoreError(.notAStore, "The document is a <\(name.string)>, not a <database>.")
    }
    depth += 1
    if depth == 3 { content.removeAll(keepingCapacity: true) }
    switch part {
    case .info: if depth == 3 && name == "metadata" { part = .metadata }
    case .metadata: try property { (list) throws(PropertyListError) in try list.start(name.string, at: 0) }
    case .other: if depth == 2 && name == "databaseInfo" { part = .info }
    }
  }

  final func object(_ object: cxml_object) throws(StoreError) {
    if !hasInfo { throw StoreError(.corrupt, "An object comes before the <databaseInfo>.") }
    try read(object)
  }

  func text(_ bytes: UnsafeRawBufferPointer) throws(StoreError) {
    if list == nil {
      // Ignores text inside of child elements.
      if depth == 3 { content.append(contentsOf: bytes) }
    } else {
      try property { (list) throws(PropertyListError) in
        try list.append(String(decoding: bytes, as: UTF8.self), at: 0)
      }
    }
  }

  func end(_ name: XMLName) throws(StoreError) {
    defer { depth -= 1 }
    switch part {
    case .metadata: try endMetadata(name)
    case .info: try endInfo(name)
    case .other: break
    }
  }

  private func endMetadata(_ name: XMLName) throws(StoreError) {
    if depth == 3 {
      part = .info
      return
    }
    try property { (list) throws(PropertyListError) in try list.end(name.string, at: 0) }
    if depth == 4 {
      info = list?.result
      list = nil
    }
  }

  private func endInfo(_ name: XMLName) throws(StoreError) {
    if depth == 2 {
      (part, hasInfo) = (.other, true)
      return
    }
    guard depth == 3 else { return }
    let text = String(decoding: content, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    switch name.string {
    case "version" where Int64(text) ?? 0 > XMLHead.version:
      throw StoreError(
        .newerFormat,
        "The store has a newer version of Core Data's format. It was not changed. Open it with a newer version of this library.",
        context: ["version": String(text.prefix(40))])
    case "UUID": identifier = text
    case "nextObjectID": highestNumber = try Self.highest(text)
    default: break
    }
  }

  /// The highest key that the document states. A text that is not a number counts as zero, so that only the keys of the
  /// objects count. A number beyond 64 bits is refused: no new key could follow it.
  private static func highest(_ text: String) throws(StoreError) -> Int64 {
    if let number = Int64(text) { return number }
    if text.isEmpty || !text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) { return 0 }
    throw StoreError(
      .corrupt, "The <nextObjectID> is beyond 64 bits; it must be the highest key that an object has had.",
      context: ["nextObjectID": String(text.prefix(40))])
  }

  private func property(
    _ body: (inout XMLPropertyListBuilder) throws(PropertyListError) -> Void
  ) throws(StoreError) {
    var builder = list ?? XMLPropertyListBuilder()
    list = nil
    do { try body(&builder) } catch {
      throw StoreError(.corrupt, "The store's metadata is not a property list.", cause: "\(error)")
    }
    list = builder
  }

  /// The metadata. Empty metadata means that nothing is known of the model.
  func metadata(_ type: String) throws(StoreError) -> StoreMetadata {
    guard hasInfo, !identifier.isEmpty, identifier.utf8.count <= 255 else {
      throw StoreError(.notAStore, "The document has no <databaseInfo> with a UUID.")
    }
    return try StoreMetadata(XMLTimes.restoring(info ?? .dictionary([:])), identifier: identifier, storeType: type)
  }

  /// Reads an object. Subclasses that need objects override it.
  func read(_ object: cxml_object) throws(StoreError) {}

  /// A key from an identifier such as `z102`.
  static func key(_ identifier: UnsafeRawBufferPointer?) throws(StoreError) -> Int64 {
    guard let identifier, identifier.first == UInt8(ascii: "z"),
      let key = XMLNumber.integer(UnsafeRawBufferPointer(rebasing: identifier.dropFirst())), key > 0
    else {
      let text = identifier.map { String(decoding: $0, as: UTF8.self) } ?? ""
      throw StoreError(.corrupt, "\"\(text)\" is not an object identifier.")
    }
    return key
  }

  /// Appends the keys of identifiers that are separated by white space.
  static func append(keys identifiers: UnsafeRawBufferPointer, to keys: inout [Int64]) throws(StoreError) {
    var index = 0
    while index < identifiers.count {
      if XMLNumber.isSpace(identifiers[index]) {
        index += 1
        continue
      }
      let start = index
      while index < identifiers.count, !XMLNumber.isSpace(identifiers[index]) { index += 1 }
      keys.append(try key(UnsafeRawBufferPointer(rebasing: identifiers[start..<index])))
    }
  }
}
