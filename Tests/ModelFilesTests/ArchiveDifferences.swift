import Foundation
import PropertyLists

/// Compares the object graphs of two keyed archives: the classes of each object with their superclasses, its keys,
/// which values stand inline and which are references, and the values. Indexes of objects do not matter, nor does the
/// order of dictionaries and sets.
struct ArchiveDifferences {
  private let one: [PropertyList]
  private let other: [PropertyList]
  private var visited: Set<[UInt64]> = []
  private(set) var list: [String] = []

  /// The differences of `data` from `expected`.
  static func list(_ data: Data, from expected: Data) throws -> [String] {
    let (one, other) = (try PropertyList(contents: data), try PropertyList(contents: expected))
    var differences = ArchiveDifferences(
      one: one["$objects"]?.arrayValue ?? [], other: other["$objects"]?.arrayValue ?? [])
    for key in ["$archiver", "$version"] where one[key] != other[key] { differences.list.append(key) }
    differences.compare(one["$top"]?["root"], other["$top"]?["root"])
    return differences.list
  }

  private init(one: [PropertyList], other: [PropertyList]) {
    (self.one, self.other) = (one, other)
  }

  private static func className(_ object: PropertyList, in objects: [PropertyList]) -> PropertyList? {
    guard case .uid(let index)? = object["$class"] else { return nil }
    return objects[Int(index)]
  }

  private mutating func compare(_ root: PropertyList?, _ otherRoot: PropertyList?) {
    var pending = [(root, otherRoot, "root")]
    while let (a, b, path) = pending.popLast() {
      guard case .uid(let x)? = a, case .uid(let y)? = b else {
        // Collections of an archive are objects, so what stands inline is a value.
        if a != b { list.append("\(path): \(a.map { "\($0)" } ?? "-"), not \(b.map { "\($0)" } ?? "-")") }
        continue
      }
      guard visited.insert([x, y]).inserted else { continue }
      pending += compare(one[Int(x)], other[Int(y)], path)
    }
  }

  /// Compares two objects. Returns their parts, in pairs.
  private mutating func compare(
    _ a: PropertyList, _ b: PropertyList, _ path: String
  ) -> [(PropertyList?, PropertyList?, String)] {
    let (ofA, ofB) = (Self.className(a, in: one), Self.className(b, in: other))
    guard let ofA, let ofB, case .dictionary(let fields) = a, case .dictionary(let otherFields) = b else {
      if a != b { list.append("\(path): \(a), not \(b)") }
      return []
    }
    guard ofA == ofB else {
      list.append("\(path): of \(ofA), not \(ofB)")
      return []
    }
    for key in Set(fields.keys).symmetricDifference(otherFields.keys).sorted() {
      list.append("\(path): \(fields[key] == nil ? "lacks" : "has") \(key)")
    }
    guard let parts = fields["NS.objects"]?.arrayValue, let otherParts = otherFields["NS.objects"]?.arrayValue else {
      return fields.keys.filter { $0 != "$class" && otherFields[$0] != nil }.map { key in
        (fields[key], otherFields[key], path + "/" + key)
      }
    }
    if parts.count != otherParts.count { list.append("\(path): \(parts.count), not \(otherParts.count)") }
    let named = fields["NS.keys"] != nil || ofA["$classname"]?.stringValue?.contains("Set") == true
    let (left, right) = (
      Self.labels(fields, parts, one, named: named), Self.labels(otherFields, otherParts, other, named: named)
    )
    if Set(left.keys) != Set(right.keys) { list.append("\(path): \(left.keys.sorted()), not \(right.keys.sorted())") }
    return left.keys.filter { right[$0] != nil }.map { (left[$0], right[$0], "\(path).\($0)") }
  }

  /// The elements of a collection by what identifies them: their keys, their text or name, or their indexes.
  private static func labels(
    _ fields: [String: PropertyList], _ parts: [PropertyList], _ objects: [PropertyList], named: Bool
  ) -> [String: PropertyList] {
    func text(_ reference: PropertyList) -> String {
      guard case .uid(let index) = reference else { return "\(reference)" }
      let object = objects[Int(index)]
      if case .uid(let name)? = object["NSEntityName"] { return objects[Int(name)].stringValue ?? "?" }
      return object.stringValue ?? "\(object)"
    }
    let keys = fields["NS.keys"]?.arrayValue ?? parts
    let labels = parts.indices.map { named ? text(keys[$0]) : "\($0)" }
    return Dictionary(zip(labels, parts), uniquingKeysWith: { first, _ in first })
  }
}
