import Foundation
import PropertyLists
import StoreProtocol

/// Reads `databaseInfo`: UUID, highest key and metadata. By itself it reads no further.
class XMLInfoReader: XMLHandler {
  private(set) var identifier = ""
  private(set) var highestNumber: Int64 = 0
  /// The elements that are open.
  private(set) var path: [String] = []
  private var content: [UInt8] = []
  private var list: XMLPropertyListBuilder?
  private var info: PropertyList?
  private var hasInfo = false

  var isDone: Bool { hasInfo }

  func start(_ name: String, _ attributes: [(name: String, value: String)]) throws(StoreError) {
    if path.isEmpty && name != "database" {
      throw StoreError(.notAStore, "The document is a <\(name)>, not a <database>.")
    }
    path.append(name)
    if path.count > 512 { throw StoreError(.corrupt, "The elements of the store are too deep.") }
    content.removeAll(keepingCapacity: true)
    if path.starts(with: ["database", "databaseInfo", "metadata"]) {
      if path.count == 3 { return }
      try property { (list) throws(PropertyListError) in try list.start(name, at: 0) }
    } else if path.count == 2 && name == "object" {
      if !hasInfo { throw StoreError(.corrupt, "An object comes before the <databaseInfo>.") }
      try startObject(attributes)
    } else if path.count == 3 && path[1] == "object" {
      try startProperty(name, attributes)
    }
  }

  func text(_ bytes: UnsafeRawBufferPointer) throws(StoreError) {
    if list == nil {
      content.append(contentsOf: bytes)
    } else {
      try property { (list) throws(PropertyListError) in
        try list.append(String(decoding: bytes, as: UTF8.self), at: 0)
      }
    }
  }

  func end(_ name: String) throws(StoreError) {
    defer { path.removeLast() }
    if path.starts(with: ["database", "databaseInfo", "metadata"]) {
      if path.count > 3 { try property { (list) throws(PropertyListError) in try list.end(name, at: 0) } }
      if path.count == 4 { info = list?.result }
      if path.count == 4 { list = nil }
    } else if path.starts(with: ["database", "databaseInfo"]) {
      let text = String(decoding: content, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
      switch name {
      case "UUID": identifier = text
      case "nextObjectID": highestNumber = Int64(text) ?? 0
      case "databaseInfo": hasInfo = true
      default: break
      }
    } else if path.count == 3 && path[1] == "object" {
      try endProperty(content)
    } else if path.count == 2 && name == "object" {
      try endObject()
    }
  }

  private func property(
    _ body: (inout XMLPropertyListBuilder) throws(PropertyListError) -> Void
  ) throws(StoreError) {
    var builder = list ?? XMLPropertyListBuilder()
    list = nil
    do { try body(&builder) } catch {
      throw StoreError(.corrupt, "The store's metadata is no property list.", cause: "\(error)")
    }
    list = builder
  }

  /// Where the metadata is empty, nothing is known of the model.
  func metadata(_ type: String) throws(StoreError) -> StoreMetadata {
    guard hasInfo, !identifier.isEmpty, identifier.utf8.count <= 255 else {
      throw StoreError(.notAStore, "The document has no <databaseInfo> with a UUID.")
    }
    return try StoreMetadata(XMLTimes.restoring(info ?? .dictionary([:])), identifier: identifier, storeType: type)
  }

  // What those who read more do with objects.
  func startObject(_ attributes: [(name: String, value: String)]) throws(StoreError) {}
  func startProperty(_ name: String, _ attributes: [(name: String, value: String)]) throws(StoreError) {}
  func endProperty(_ content: [UInt8]) throws(StoreError) {}
  func endObject() throws(StoreError) {}

  /// The value of an attribute of an element.
  static func value(_ name: String, _ attributes: [(name: String, value: String)]) -> String? {
    attributes.first { $0.name == name }?.value
  }

  /// A key from an identifier such as `z102`.
  static func key(_ identifier: some StringProtocol) throws(StoreError) -> Int64 {
    guard identifier.hasPrefix("z"), let key = Int64(identifier.dropFirst()), key > 0 else {
      throw StoreError(.corrupt, "\"\(identifier)\" is no object identifier.")
    }
    return key
  }
}
