import Foundation

/// Collections of Foundation and Core Data classes.
extension ArchivedObject {
  /// The elements of an NSArray, NSSet or NSOrderedSet (mutable ones too), or of an array that is stored inline. The
  /// elements of sets come in the order of the archive.
  ///
  /// Nil references among the elements are left out. Nil for every other object.
  public var array: [ArchivedObject]? {
    // Some classes store their own arrays inline.
    if case .array(let list) = value { return list.compactMap { ArchivedObject($0, in: archive) } }
    if let elements = elements("NS.objects") {
      return value["NS.keys"] == nil ? elements.compactMap { $0 } : nil
    }
    // Older archives number the elements: NS.object.0, NS.object.1, …
    guard value["NS.object.0"] != nil else { return nil }
    var result: [ArchivedObject] = []
    var index = 0
    while let raw = value["NS.object.\(index)"] {
      if let object = ArchivedObject(raw, in: archive) { result.append(object) }
      index += 1
    }
    return result
  }

  /// The entries of an NSDictionary (mutable too) or of Core Data's NSKnownKeysDictionary1, in the archive's order.
  ///
  /// Entries without a value are left out. Nil for every other object, and where the numbers of keys and values differ.
  public var entries: [(key: ArchivedObject, value: ArchivedObject)]? {
    if let keys = elements("NS.keys"), let values = elements("NS.objects") {
      return keys.count == values.count ? pairs(keys, values) : nil
    }
    guard let keys = self["searchMapping"]?["keys"]?.elements("NS.objects"),
      let values = self["values"]?.elements("NS.objects")
    else { return nil }
    // Slots that were never set hold a token instead of a value.
    let empty = value["emptyToken"]
    let token = self["emptyToken"]?.string
    let raw = self["values"]?.value["NS.objects"]?.arrayValue ?? []
    let present = zip(values, raw).map { value, reference in
      reference == empty || (token != nil && value?.string == token) ? nil : value
    }
    return pairs(keys, present)
  }

  private func pairs(
    _ keys: [ArchivedObject?], _ values: [ArchivedObject?]
  ) -> [(key: ArchivedObject, value: ArchivedObject)] {
    zip(keys, values).compactMap { key, value in
      guard let key, let value else { return nil }
      return (key, value)
    }
  }

  /// The entries of a dictionary whose keys are strings; other keys are left out.
  public var stringEntries: [String: ArchivedObject]? {
    entries.map { entries in
      Dictionary(
        entries.compactMap { entry in entry.key.string.map { ($0, entry.value) } }, uniquingKeysWith: { $1 })
    }
  }

  /// The value of Foundation objects and their collections as a property list; nil when it holds anything else.
  ///
  /// `depth` limits the nesting and `nodes` the number of values, so that cyclic and shared graphs end.
  public func propertyList(depth: Int = 32, nodes: Int = 10_000) -> PropertyList? {
    var budget = nodes
    return plain(depth: depth, budget: &budget)
  }

  private func plain(depth: Int, budget: inout Int) -> PropertyList? {
    budget -= 1
    guard depth > 0, budget > 0 else { return nil }
    if let string { return .string(string) }
    if let data { return .data(data) }
    if let date { return .date(date) }
    if let entries { return plain(entries, depth: depth, budget: &budget) }
    if let array { return plain(array, depth: depth, budget: &budget) }
    switch value {
    case .bool, .integer, .unsigned, .real: return value
    default: return nil
    }
  }

  private func plain(_ array: [ArchivedObject], depth: Int, budget: inout Int) -> PropertyList? {
    var result: [PropertyList] = []
    for element in array {
      guard let value = element.plain(depth: depth - 1, budget: &budget) else { return nil }
      result.append(value)
    }
    return .array(result)
  }

  private func plain(
    _ entries: [(key: ArchivedObject, value: ArchivedObject)], depth: Int, budget: inout Int
  ) -> PropertyList? {
    var result: [String: PropertyList] = [:]
    for entry in entries {
      guard let key = entry.key.string, let value = entry.value.plain(depth: depth - 1, budget: &budget) else {
        return nil
      }
      result[key] = value
    }
    return .dictionary(result)
  }
}
