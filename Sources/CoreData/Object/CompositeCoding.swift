import Foundation
import StoreSchema

/// Converts composite attributes to the dictionaries of key-value coding and back. Each nested composite is a
/// dictionary of its own. Stores have only the leaves, each with a slot and its path below the attribute
/// (`address.city`).
enum CompositeCoding {
  /// The dictionary of the leaves with a value; nil where none has one, which stands for a nil composite.
  static func dictionary(_ attribute: Attribute, _ leaf: (Attribute) -> Value) -> [String: Any]? {
    // The composites on the path to the current leaf, outermost first. Leaves come in the order of the model, so a
    // composite that is no longer on the path is complete.
    var open: [(name: String, entries: [String: Any])] = [("", [:])]
    func close(to depth: Int) {
      while open.count > depth {
        let inner = open.removeLast()
        if !inner.entries.isEmpty { open[open.count - 1].entries[inner.name] = inner.entries }
      }
    }
    for element in attribute.elements {
      let path = element.path
      var depth = 1
      while depth < open.count, depth < path.count, open[depth].name == path[depth - 1] { depth += 1 }
      close(to: depth)
      for name in path.dropFirst(depth - 1).dropLast() { open.append((name, [:])) }
      if let value = AttributeCoding.decode(leaf(element), element.type) {
        open[open.count - 1].entries[path[path.count - 1]] = value
      }
    }
    close(to: 1)
    return open[0].entries.isEmpty ? nil : open[0].entries
  }

  /// A part of a composite's value that cannot be stored.
  struct Refusal: Error {
    /// The path of the element, including the attribute's name.
    let key: String
    let desired: AttributeType
    /// The type of the given value.
    let given: String

    init(_ key: String, _ desired: AttributeType, _ value: Any?) {
      self.key = key
      self.desired = desired
      given = value.map { "\(type(of: $0))" } ?? "nil"
    }
  }

  /// The stored values of all leaves. A leaf that is missing in the dictionary is null; nil makes all of them null.
  /// `encode` may accept values that an object keeps until validation refuses them.
  static func leaves(
    _ value: Any?, _ attribute: Attribute, _ encode: (Any?, Attribute) -> Value? = AttributeCoding.encode
  ) throws(Refusal) -> [(slot: Int, value: Value)] {
    let value = AttributeCoding.flattened(value)
    if let value, !(value is [String: Any]) {
      throw Refusal(attribute.name, .composite, value)
    }
    try checkKeys(value as? [String: Any] ?? [:], attribute)
    var result: [(slot: Int, value: Value)] = []
    for element in attribute.elements {
      var current = value
      for name in element.path { current = AttributeCoding.flattened((current as? [String: Any])?[name]) }
      guard let encoded = encode(current, element) else {
        throw Refusal(attribute.name + "." + element.name, element.type, current)
      }
      result.append((element.slot, encoded))
    }
    return result
  }

  /// Throws for a key that names no element: its value would be lost.
  private static func checkKeys(_ entries: [String: Any], _ attribute: Attribute) throws(Refusal) {
    let leaves = Set(attribute.elements.map(\.name))
    let inner = Set(
      attribute.elements.flatMap { element in
        (1..<max(1, element.path.count)).map { element.path.prefix($0).joined(separator: ".") }
      })
    var pending = [(path: "", entries: entries)]
    while let (path, entries) = pending.popLast() {
      for (name, value) in entries {
        let key = path.isEmpty ? name : path + "." + name
        if leaves.contains(key) { continue }
        guard inner.contains(key) else { throw Refusal(attribute.name + "." + key, .undefined, value) }
        guard let value = AttributeCoding.flattened(value) else { continue }
        guard let nested = value as? [String: Any] else {
          throw Refusal(attribute.name + "." + key, .composite, value)
        }
        pending.append((key, nested))
      }
    }
  }
}

extension Attribute {
  /// The names on the path from the composite to a leaf.
  fileprivate var path: [String] { name.split(separator: ".").map(String.init) }
}
