import Foundation

/// A strict pull parser for the small XML documents that Xcode writes: models, property lists, mapping models.
///
/// It knows UTF-8, elements, attributes, the predefined and numeric character references, CDATA, comments and
/// processing instructions. A document type declaration is skipped when allowed and never followed; one that declares
/// anything itself is refused, and so is every unknown entity. Nothing is silently dropped.
public struct XMLScanner {
  /// One step through the document.
  public enum Event: Hashable, Sendable {
    /// A start tag, or the first half of an empty-element tag.
    case start(String, attributes: [String: String])
    /// An end tag, or the second half of an empty-element tag.
    case end(String)
    /// Text between tags; one run may arrive in several pieces.
    case text(String)
  }

  private var bytes: XMLBytes
  private var open: [String] = []
  private var pendingEnd: String?
  private var hasRoot = false
  private let allowsDocumentType: Bool

  /// A scanner at the start of `data`. Throws when that is not UTF-8.
  public init(_ data: Data, allowsDocumentType: Bool = false) throws(PropertyListError) {
    bytes = XMLBytes(data)
    self.allowsDocumentType = allowsDocumentType
    guard String(validating: bytes.source, as: UTF8.self) != nil else {
      throw PropertyListError(.malformed, "the document is not valid UTF-8")
    }
    _ = bytes.skip("\u{FEFF}")
  }

  /// How many bytes were read so far.
  public var offset: Int { bytes.position }

  /// The next event. Nil at the end of the document.
  public mutating func next() throws(PropertyListError) -> Event? {
    if let name = pendingEnd {
      pendingEnd = nil
      return close(name)
    }
    while true {
      guard let byte = bytes.peek else {
        guard hasRoot, open.isEmpty else { throw bytes.failure(.truncated, "the document ends inside an element") }
        return nil
      }
      if byte != UInt8(ascii: "<") {
        let text = try bytes.text(until: UInt8(ascii: "<"))
        if !open.isEmpty { return .text(text) }
        guard text.allSatisfy(\.isWhitespace) else { throw bytes.failure(.malformed, "text outside the root element") }
      } else if bytes.skip("<!--") {
        _ = try bytes.through("-->")
      } else if bytes.skip("<![CDATA[") {
        guard !open.isEmpty else { throw bytes.failure(.malformed, "text outside the root element") }
        return .text(try bytes.through("]]>"))
      } else if bytes.skip("<?") {
        _ = try bytes.through("?>")
      } else if bytes.skip("<!") {
        try skipDocumentType()
      } else if bytes.skip("</") {
        return try endTag()
      } else {
        return try startTag()
      }
    }
  }

  private mutating func skipDocumentType() throws(PropertyListError) {
    guard allowsDocumentType, !hasRoot, bytes.skip("DOCTYPE") else {
      throw bytes.failure(.unsupported, "a declaration is not allowed here")
    }
    guard !(try bytes.through(">")).contains("[") else {
      throw bytes.failure(.unsupported, "a document type with declarations of its own")
    }
  }

  private mutating func close(_ name: String) -> Event {
    open.removeLast()
    return .end(name)
  }

  private mutating func endTag() throws(PropertyListError) -> Event {
    let name = try bytes.name()
    bytes.skipSpace()
    guard bytes.skip(">"), open.last == name else { throw bytes.failure(.malformed, "</\(name)> does not match") }
    return close(name)
  }

  private mutating func startTag() throws(PropertyListError) -> Event {
    _ = bytes.skip("<")
    guard !(hasRoot && open.isEmpty) else { throw bytes.failure(.malformed, "there are two root elements") }
    hasRoot = true
    let name = try bytes.name()
    guard open.count < PropertyListLimits.depth else { throw bytes.failure(.tooDeep, "elements are nested too deeply") }
    open.append(name)
    var attributes: [String: String] = [:]
    while true {
      let spaced = bytes.skipSpace()
      if bytes.skip("/>") {
        pendingEnd = name
        return .start(name, attributes: attributes)
      }
      if bytes.skip(">") { return .start(name, attributes: attributes) }
      guard spaced else { throw bytes.failure(.malformed, "<\(name)> is not closed") }
      let key = try bytes.name()
      bytes.skipSpace()
      guard bytes.skip("=") else { throw bytes.failure(.malformed, "the attribute \(key) has no value") }
      bytes.skipSpace()
      let value = try bytes.attributeValue()
      guard attributes.updateValue(value, forKey: key) == nil else {
        throw bytes.failure(.malformed, "the attribute \(key) occurs twice")
      }
    }
  }
}
