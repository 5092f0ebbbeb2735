import Foundation
import PropertyLists
import StoreSchema

/// Keyed archives of values like those of property lists, read and written without looking up any class by name.
///
/// Foundation's unarchiver ends the process on hostile archives. So it gets values of the usual classes only within
/// objects of the application's classes, and in collections of these; see ``SecureArchiveCheck``.
enum SecureArchive {
  private static let depthLimit = 64
  /// The maximum number of objects that are read.
  static let budget = 100_000

  /// The classes that only this type reads.
  static let usualClasses: Set<String> = Set(
    ["String", "Number", "DecimalNumber", "Data", "Date", "UUID", "URL", "Null", "Array", "Dictionary", "Set"].flatMap {
      ["NS" + $0, "NSMutable" + $0]
    })

  static func write(_ value: Any) -> Data? {
    var writer = KeyedArchiveWriter()
    if let root = add(value, to: &writer, depth: 0) { return writer.archive(root: root) }
    guard value is any NSSecureCoding, hasName(type(of: value)) else { return nil }
    return try? NSKeyedArchiver.archivedData(withRootObject: value, requiringSecureCoding: true)
  }

  /// Whether Foundation can name a class: it stops the program for nested and private classes.
  private static func hasName(_ type: Any.Type) -> Bool {
    String(reflecting: type).split(separator: ".").count <= 2
  }

  private static func add(
    _ value: Any, to writer: inout KeyedArchiveWriter, depth: Int
  ) -> KeyedArchiveWriter.Reference? {
    if depth > depthLimit { return nil }
    switch value {
    case let x as String: return writer.add(.string(x))
    case let x as Bool where type(of: value) == Bool.self: return writer.add(.bool(x))
    // An integer that does not fit into a signed one is rejected, rather than changed.
    case let x as any FixedWidthInteger: return Int64(exactly: x).map { writer.add(.integer($0)) }
    case let x as Double where type(of: value) == Double.self: return writer.add(.real(x))
    case let x as Float where type(of: value) == Float.self: return writer.add(.real(Double(x)))
    case let x as NSDecimalNumber: return writer.add(x.decimalValue)
    case let x as Decimal: return writer.add(x)
    case let x as NSNumber: return add(x, to: &writer)
    case let x as Data: return writer.add(.data(x))
    case let x as Date: return writer.add(date: x.timeIntervalSinceReferenceDate)
    case let x as UUID: return writer.add(x)
    case let x as URL: return writer.add(url: x.absoluteString)
    case let x as [Any]: return elements(x, &writer, depth).map { writer.add(array: $0) }
    case let x as [String: Any]:
      var entries: [String: KeyedArchiveWriter.Reference] = [:]
      for (key, element) in x {
        guard let reference = add(element, to: &writer, depth: depth + 1) else { return nil }
        entries[key] = reference
      }
      return writer.add(dictionary: entries)
    case let x as [AnyHashable: Any]: return entries(x, &writer, depth).map { writer.add(entries: $0) }
    case let x as NSSet: return elements(x.allObjects, &writer, depth).map { writer.add(set: $0) }
    case is NSNull: return writer.addNullObject()
    default: return nil
    }
  }

  /// The entries of a dictionary with keys that are not strings, always in the same order.
  private static func entries(
    _ dictionary: [AnyHashable: Any], _ writer: inout KeyedArchiveWriter, _ depth: Int
  ) -> [(key: KeyedArchiveWriter.Reference, value: KeyedArchiveWriter.Reference)]? {
    var result: [(key: KeyedArchiveWriter.Reference, value: KeyedArchiveWriter.Reference)] = []
    for (_, key, element) in dictionary.map({ ("\($0.base) \(type(of: $0.base))", $0.base, $1) }).sorted(by: {
      $0.0 < $1.0
    }) {
      guard let key = add(key, to: &writer, depth: depth + 1), let element = add(element, to: &writer, depth: depth + 1)
      else { return nil }
      result.append((key, element))
    }
    return result
  }

  private static func add(_ number: NSNumber, to writer: inout KeyedArchiveWriter) -> KeyedArchiveWriter.Reference? {
    switch PredicateArgument.constant(number) {
    case .bool(let x): return writer.add(.bool(x))
    case .int(let x): return writer.add(.integer(x))
    default: return writer.add(.real(number.doubleValue))
    }
  }

  private static func elements(
    _ values: [Any], _ writer: inout KeyedArchiveWriter, _ depth: Int
  ) -> [KeyedArchiveWriter.Reference]? {
    var result: [KeyedArchiveWriter.Reference] = []
    for value in values {
      guard let reference = add(value, to: &writer, depth: depth + 1) else { return nil }
      result.append(reference)
    }
    return result
  }

  /// The archived value; nil where the archive is damaged or contains a class that is not allowed.
  static func read(_ data: Data, _ allowed: [AnyClass]) -> Any? {
    guard let archive = try? KeyedArchiveReader(data), let root = archive.root() else { return nil }
    var budget = budget
    if let value = value(root, depth: 0, &budget) { return allows(value, allowed) ? value : nil }
    // An object of the application's classes, or a collection of them.
    let secure = allowed.compactMap { $0 as? any (NSObject & NSSecureCoding).Type }
    let names = Set(secure.flatMap { ["\($0)"] + (hasName($0) ? [NSStringFromClass($0)] : []) })
    let check = SecureArchiveCheck(archive)
    guard check.holds(root, of: names), check.isSound else { return nil }
    return try? NSKeyedUnarchiver.unarchivedObject(ofClasses: secure, from: data)
  }

  /// Whether the Foundation class of a value is in the list.
  static func allows(_ value: Any, _ allowed: [AnyClass]) -> Bool {
    let classes: [AnyClass] =
      switch value {
      case is String: [NSString.self]
      case is NSDecimalNumber, is Decimal: [NSDecimalNumber.self, NSNumber.self]
      case is Bool, is any FixedWidthInteger, is Double, is Float, is NSNumber: [NSNumber.self]
      case is Data: [NSData.self]
      case is Date: [NSDate.self]
      case is UUID: [NSUUID.self]
      case is URL: [NSURL.self]
      case is NSArray, is [Any]: [NSArray.self]
      case is NSDictionary, is [AnyHashable: Any]: [NSDictionary.self]
      case is NSSet, is Set<AnyHashable>: [NSSet.self]
      case is NSNull: [NSNull.self]
      default: (type(of: value) as? AnyClass).map { [$0] } ?? []
      }
    return classes.contains { own in allowed.contains { $0 == own } }
  }

  static func value(_ object: ArchivedObject, depth: Int, _ budget: inout Int) -> Any? {
    budget -= 1
    if depth > depthLimit || budget < 0 { return nil }
    switch object.value {
    case .bool(let x): return NSNumber(value: x)
    case .integer(let x): return NSNumber(value: x)
    case .real(let x): return NSNumber(value: x)
    default: break
    }
    if let x = object.string { return x }
    if let x = object.data { return x }
    if let x = object.date { return Date(timeIntervalSinceReferenceDate: x) }
    if let x = object.uuid { return x }
    if let x = object.urlString { return URL(string: x) }
    if let x = object.decimal { return NSDecimalNumber(decimal: x) }
    if object.className == "NSNull" { return NSNull() }
    if let entries = object.entries { return dictionary(entries, depth, &budget) }
    guard let elements = object.array else { return nil }
    var result: [Any] = []
    for element in elements {
      guard let decoded = value(element, depth: depth + 1, &budget) else { return nil }
      result.append(decoded)
    }
    return object.isKind(of: "NSSet") ? NSSet(array: result) : result as Any
  }

  private static func dictionary(
    _ entries: [(key: ArchivedObject, value: ArchivedObject)], _ depth: Int, _ budget: inout Int
  ) -> Any? {
    var (texts, others): ([String: Any], [AnyHashable: Any]) = ([:], [:])
    for (key, element) in entries {
      guard let name = value(key, depth: depth + 1, &budget), let decoded = value(element, depth: depth + 1, &budget)
      else { return nil }
      if let text = name as? String {
        texts[text] = decoded
      } else {
        // Collections of collections may not be hashable.
        guard let other = name as? AnyHashable else { return nil }
        others[other] = decoded
      }
    }
    return others.isEmpty ? texts : others.merging(texts) { own, _ in own } as Any
  }
}
