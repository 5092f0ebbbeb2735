import Foundation
import PropertyLists

/// Keyed archives as JSON, without making any object of the archived classes.
///
/// Strings, numbers, arrays, sets and dictionaries of Foundation become the corresponding JSON; dates become ISO 8601,
/// data base64. Any other object becomes its class under `$class` and its values under their keys. Values beyond the
/// limits, as shared or cyclic objects can produce them, become `{"$omitted":"…"}`.
enum ArchiveText {
  private static let depthLimit = 64
  private static let nodeLimit = 100_000

  /// Nil for bytes that are not a keyed archive.
  static func json(_ data: Data) -> String? {
    guard let archive = try? KeyedArchiveReader(data) else { return nil }
    var nodes = nodeLimit
    guard let root = archive.root() else { return "null" }
    return json(root, depth: 0, &nodes)
  }

  private static func json(_ object: ArchivedObject, depth: Int, _ nodes: inout Int) -> String {
    nodes -= 1
    if depth > depthLimit { return JSONText.object(["$omitted": JSONText.string("nested too deep")]) }
    if nodes <= 0 { return JSONText.object(["$omitted": JSONText.string("too many values")]) }
    if object.isNullObject { return "null" }
    if let scalar = scalar(object) { return scalar }
    if let entries = object.entries {
      if entries.allSatisfy({ $0.key.string != nil }) {
        var members: [String: String] = [:]
        for entry in entries { members[entry.key.string ?? ""] = json(entry.value, depth: depth + 1, &nodes) }
        return JSONText.object(members)
      }
      return JSONText.array(
        entries.map { entry in
          JSONText.array([json(entry.key, depth: depth + 1, &nodes), json(entry.value, depth: depth + 1, &nodes)])
        })
    }
    if let array = object.array { return JSONText.array(array.map { json($0, depth: depth + 1, &nodes) }) }
    var members = ["$class": JSONText.optional(object.className)]
    for key in object.keys { members[key] = object[key].map { json($0, depth: depth + 1, &nodes) } ?? "null" }
    return JSONText.object(members)
  }

  private static func scalar(_ object: ArchivedObject) -> String? {
    if let string = object.string { return JSONText.string(string) }
    if let url = object.urlString { return JSONText.string(url) }
    if let uuid = object.uuid { return JSONText.string(uuid.uuidString) }
    if let date = object.date { return JSONText.string(DateText.iso8601(date)) }
    if let decimal = object.decimal { return "\(decimal)" }
    if let data = object.data { return JSONText.string(data.base64EncodedString()) }
    switch object.value {
    case .bool(let x): return x ? "true" : "false"
    case .integer(let x): return String(x)
    case .unsigned(let x): return String(x)
    case .real(let x): return x.isFinite ? JSONText.number(x) : JSONText.string("\(x)")
    default: return nil
    }
  }
}
