import Foundation
import PropertyLists

/// An element of a source model with its children. Text between elements is ignored.
struct XMLElement {
  let name: String
  var attributes: [String: String]
  var children: [XMLElement] = []

  /// The limit of nesting. Models need five levels.
  static let depthLimit = 16

  static func root(of data: Data) throws(ModelFileError) -> XMLElement {
    do {
      return try parse(data)
    } catch let error {
      throw ModelFileError(error)
    }
  }

  private static func parse(_ data: Data) throws(PropertyListError) -> XMLElement {
    var scanner = try XMLScanner(data)
    var open: [XMLElement] = []
    var root: XMLElement?
    while let event = try scanner.next() {
      switch event {
      case .start(let name, let attributes):
        guard open.count < depthLimit else {
          throw PropertyListError(.tooDeep, offset: scanner.offset, "elements are nested too deep for a model")
        }
        open.append(XMLElement(name: name, attributes: attributes))
      case .end:
        guard let closed = open.popLast() else { break }
        if open.isEmpty { root = closed } else { open[open.endIndex - 1].children.append(closed) }
      case .text: break
      }
    }
    guard let root else { throw PropertyListError(.malformed, "the document is empty") }
    return root
  }

  func children(_ name: String) -> [XMLElement] { children.filter { $0.name == name } }

  /// The value of a required attribute. Throws where it is missing or empty.
  func required(_ key: String) throws(ModelFileError) -> String {
    guard let value = text(key) else { throw ModelFileError(.malformed, "<\(name)> has no \(key)") }
    return value
  }

  /// The value of an attribute, nil if it is empty: Xcode writes empty values for cleared fields.
  func text(_ key: String) -> String? {
    attributes[key].flatMap { $0.isEmpty ? nil : $0 }
  }

  /// Whether a flag is set. Xcode writes "YES"; a few files say "true".
  func flag(_ key: String) -> Bool { optionalFlag(key) ?? false }

  func optionalFlag(_ key: String) -> Bool? {
    switch attributes[key]?.uppercased() {
    case "YES", "TRUE", "1": true
    case nil: nil
    default: false
    }
  }

  /// A count. Compiled models have 32 bits for it.
  func count(_ key: String) throws(ModelFileError) -> Int? {
    guard let text = text(key) else { return nil }
    guard let number = Int32(text), number >= 0 else {
      throw ModelFileError(.malformed, "the \(key) of <\(name)> is not a number from 0 to \(Int32.max): \(text)")
    }
    return Int(number)
  }

  func double(_ key: String) throws(ModelFileError) -> Double? {
    guard let text = text(key) else { return nil }
    guard let number = Double(text), number.isFinite else {
      throw ModelFileError(.malformed, "the \(key) of <\(name)> is not a number: \(text)")
    }
    return number
  }

  /// The value that stands for a text, nil where there is no text. Throws for a text that is not listed.
  func choice<Choice>(
    _ key: String, _ choices: [String: Choice], of index: String
  ) throws(ModelFileError) -> Choice? {
    guard let text = text(key) else { return nil }
    guard let choice = choices[text] else {
      let known = choices.keys.sorted().joined(separator: " or ")
      throw ModelFileError(.malformed, "the index \(index) has the unknown \(key) \(text); it is \(known)")
    }
    return choice
  }

  /// The entries of the `userInfo` child.
  var userInfo: [String: PropertyList] {
    var result: [String: PropertyList] = [:]
    for entry in children("userInfo").flatMap({ $0.children("entry") }) {
      guard let key = entry.attributes["key"] else { continue }
      result[key] = .string(entry.attributes["value"] ?? "")
    }
    return result
  }
}
