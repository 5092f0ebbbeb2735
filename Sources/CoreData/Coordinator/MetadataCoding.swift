import Foundation
import PropertyLists
import StoreProtocol
import StoreSchema

/// Converts store metadata to the dictionary of Core Data's API and back.
package enum MetadataCoding {
  package static func dictionary(_ metadata: StoreMetadata) -> [String: Any] {
    var result = metadata.additional.compactMapValues { value($0, depth: 0) }
    result[NSStoreTypeKey] = metadata.storeType
    result[NSStoreUUIDKey] = metadata.identifier
    result[NSStoreModelVersionHashesKey] = metadata.versionHashes.mapValues { Data($0) }
    result[NSStoreModelVersionIdentifiersKey] = metadata.versionIdentifiers
    return result
  }

  /// Replaces the application's own entries. Type, UUID and version hashes cannot be changed this way.
  static func merge(_ entries: [String: Any], into metadata: StoreMetadata) -> StoreMetadata {
    var result = metadata
    let own = [NSStoreTypeKey, NSStoreUUIDKey, NSStoreModelVersionHashesKey, NSStoreModelVersionIdentifiersKey]
    result.additional = [:]
    for (key, entry) in entries where !own.contains(key) { result.additional[key] = list(entry, depth: 0) }
    if let identifiers = entries[NSStoreModelVersionIdentifiersKey] as? [String] {
      result.versionIdentifiers = identifiers
    }
    return result
  }

  /// The complete metadata in a dictionary of a store that a client implements.
  static func metadata(_ entries: [String: Any]) -> StoreMetadata {
    let hashes = entries[NSStoreModelVersionHashesKey] as? [String: Data] ?? [:]
    let empty = StoreMetadata(
      identifier: entries[NSStoreUUIDKey] as? String ?? "", storeType: entries[NSStoreTypeKey] as? String ?? "",
      versionHashes: hashes.mapValues(Array.init), versionIdentifiers: [], additional: [:])
    return merge(entries, into: empty)
  }

  /// The key of an entry that is not a property list; nil where all are.
  static func unsuitableKey(_ entries: [String: Any]) -> String? {
    entries.keys.sorted().first { key in entries[key].map { !isList($0, depth: 0) } ?? false }
  }

  private static func isList(_ value: Any, depth: Int) -> Bool {
    if depth > depthLimit { return false }
    switch value {
    case let x as [Any]: return x.allSatisfy { isList($0, depth: depth + 1) }
    case let x as [String: Any]: return x.values.allSatisfy { isList($0, depth: depth + 1) }
    default: return list(value, depth: depth) != nil
    }
  }

  static func unsuitable(_ key: String) -> CocoaError {
    CocoaError(
      .persistentStoreSave,
      userInfo: [
        NSLocalizedDescriptionKey:
          "The store's metadata cannot be saved: the value of \(key) is not a property list. Set metadata of strings, numbers, dates, data, arrays and dictionaries."
      ])
  }

  private static let depthLimit = 64

  static func value(_ list: PropertyList, depth: Int) -> Any? {
    if depth > depthLimit { return nil }
    switch list {
    case .null, .uid: return nil
    case .bool(let x): return NSNumber(value: x)
    case .integer(let x): return NSNumber(value: x)
    case .unsigned(let x): return NSNumber(value: x)
    case .real(let x): return NSNumber(value: x)
    case .date(let x): return Date(timeIntervalSinceReferenceDate: x)
    case .data(let x): return x
    case .string(let x): return x
    case .array(let x): return x.compactMap { value($0, depth: depth + 1) }
    case .dictionary(let x): return x.compactMapValues { value($0, depth: depth + 1) }
    }
  }

  static func list(_ value: Any, depth: Int) -> PropertyList? {
    if depth > depthLimit { return nil }
    switch value {
    case let x as Bool where Swift.type(of: value) == Bool.self: return .bool(x)
    case let x as String: return .string(x)
    case let x as Data: return .data(x)
    case let x as Date: return .date(x.timeIntervalSinceReferenceDate)
    case let x as any FixedWidthInteger:
      return Int64(exactly: x).map(PropertyList.integer) ?? UInt64(exactly: x).map(PropertyList.unsigned)
    // Checked before doubles, because every number converts to a double too.
    case let x as NSNumber: return list(x)
    case let x as Double: return .real(x)
    case let x as Float: return .real(Double(x))
    case let x as [Any]: return .array(x.compactMap { list($0, depth: depth + 1) })
    case let x as [String: Any]: return .dictionary(x.compactMapValues { list($0, depth: depth + 1) })
    default: return nil
    }
  }

  /// A number in the type that it was made from. Except on Apple's platforms, a number of an `Int8` looks like one of a
  /// `Bool`: 0 and 1 count as `Bool`.
  private static func list(_ number: NSNumber) -> PropertyList {
    switch String(cString: number.objCType) {
    case "f", "d": .real(number.doubleValue)
    case "c" where (0...1).contains(number.int64Value), "B": .bool(number.boolValue)
    case "Q" where number.uint64Value > Int64.max: .unsigned(number.uint64Value)
    default: .integer(number.int64Value)
    }
  }
}
