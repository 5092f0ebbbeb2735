import Foundation

/// Reads XML property lists, such as Xcode's `.xccurrentversion`.
public enum XMLPropertyListReader {
  /// Reads the one value of the document. The cost is linear in the size of `data`.
  public static func read(_ data: Data) throws(PropertyListError) -> PropertyList {
    var scanner = try XMLScanner(data, allowsDocumentType: true)
    var builder = XMLPropertyListBuilder()
    while let event = try scanner.next() {
      switch event {
      case .start(let name, _): try builder.start(name, at: scanner.offset)
      case .text(let text): try builder.append(text, at: scanner.offset)
      case .end(let name): try builder.end(name, at: scanner.offset)
      }
    }
    guard let result = builder.result else { throw PropertyListError(.malformed, "the property list is empty") }
    return result
  }
}

/// Builds a property list from the elements of a document. The list may be a part of a larger document: begin with its
/// `plist` element.
public struct XMLPropertyListBuilder {
  /// One open container, changed in place so that long arrays are not copied for every element.
  private struct Container {
    let isArray: Bool
    var elements: [PropertyList] = []
    var entries: [String: PropertyList] = [:]
    var key: String?
  }

  /// The property list, nil before its end tag.
  public private(set) var result: PropertyList?
  private var containers: [Container] = []
  /// The text of the scalar element that is being read.
  private var text: String?
  private var hasRoot = false

  /// A builder without elements.
  public init() {}

  /// Handles a start tag. `offset` is its position in the document, in bytes.
  ///
  /// - Throws: An error where the element is not allowed. The builder must not be used afterwards.
  public mutating func start(_ name: String, at offset: Int) throws(PropertyListError) {
    guard hasRoot else {
      guard name == "plist" else {
        throw PropertyListError(.notAPropertyList, offset: offset, "<\(name)> is the root")
      }
      hasRoot = true
      return
    }
    guard text == nil else { throw PropertyListError(.malformed, offset: offset, "<\(name)> inside a scalar") }
    switch name {
    case "array": containers.append(Container(isArray: true))
    case "dict": containers.append(Container(isArray: false))
    default: text = ""
    }
  }

  /// Handles text in the open element.
  ///
  /// - Throws: An error where text is not allowed. The builder must not be used afterwards.
  public mutating func append(_ more: String, at offset: Int) throws(PropertyListError) {
    if text != nil {
      text?.append(more)
    } else if !more.allSatisfy(\.isWhitespace) {
      throw PropertyListError(.malformed, offset: offset, "text between elements")
    }
  }

  /// Handles the end tag of the open element.
  ///
  /// - Throws: An error where the text is no value of the element's type. The builder must not be used afterwards.
  public mutating func end(_ name: String, at offset: Int) throws(PropertyListError) {
    if let content = text {
      text = nil
      if name == "key" { return try key(content, at: offset) }
      guard let value = scalar(name, content) else {
        throw PropertyListError(.malformed, offset: offset, "<\(name)> holds no such value")
      }
      return try add(value, at: offset)
    }
    guard let closed = containers.popLast() else { return }
    guard closed.key == nil else { throw PropertyListError(.malformed, offset: offset, "a key has no value") }
    try add(closed.isArray ? .array(closed.elements) : .dictionary(closed.entries), at: offset)
  }

  private mutating func key(_ name: String, at offset: Int) throws(PropertyListError) {
    guard let innermost = containers.last, !innermost.isArray, innermost.key == nil else {
      throw PropertyListError(.malformed, offset: offset, "a key outside a dictionary")
    }
    containers[containers.endIndex - 1].key = name
  }

  private mutating func add(_ value: PropertyList, at offset: Int) throws(PropertyListError) {
    let last = containers.endIndex - 1
    if last < 0 {
      guard result == nil else { throw PropertyListError(.malformed, offset: offset, "there are two values") }
      result = value
    } else if containers[last].isArray {
      containers[last].elements.append(value)
    } else {
      guard let key = containers[last].key else {
        throw PropertyListError(.malformed, offset: offset, "a value without a key")
      }
      containers[last].entries[key] = value
      containers[last].key = nil
    }
  }

  private func scalar(_ name: String, _ content: String) -> PropertyList? {
    let trimmed = content.trimmingCharacters(in: .whitespacesAndNewlines)
    switch name {
    case "string": return .string(content)
    case "true": return .bool(true)
    case "false": return .bool(false)
    case "integer": return Int64(trimmed).map(PropertyList.integer) ?? UInt64(trimmed).map(PropertyList.unsigned)
    case "real": return Double(trimmed).map(PropertyList.real)
    case "data": return Data(base64Encoded: trimmed, options: .ignoreUnknownCharacters).map(PropertyList.data)
    case "date":
      return (try? Date(trimmed, strategy: .iso8601)).map { .date($0.timeIntervalSinceReferenceDate) }
    default: return nil
    }
  }
}
