import CoreData
import Foundation

/// Outcomes as short texts, the same on every platform.
enum Text {
  static func of(_ value: Any?) -> String {
    switch value {
    case nil: return "nil"
    case is NSNull: return "NSNull"
    case let object as NSManagedObject: return of(object)
    case let text as String: return text
    case let number as NSNumber: return of(number)
    case let values as [String: Any]:
      return "[" + values.sorted { $0.key < $1.key }.map { "\($0.key): \(of($0.value))" }.joined(separator: ", ") + "]"
    case let set as Set<NSManagedObject>: return "{" + set.map(of).sorted().joined(separator: ", ") + "}"
    case let ordered as NSOrderedSet: return of(ordered.array)
    case let values as [Any]: return "[" + values.map(of).joined(separator: ", ") + "]"
    case let error as any Error: return of(error)
    default: return "\(value!)"
    }
  }

  /// Whole numbers have no fraction, whatever type they are of: frameworks differ in how they print 3.0.
  private static func of(_ number: NSNumber) -> String {
    Int64(exactly: number.doubleValue).map { "\($0)" } ?? "\(number.doubleValue)"
  }

  /// An object by its name. One without a context has none that could be read.
  static func of(_ object: NSManagedObject) -> String {
    object.managedObjectContext == nil ? "object without context" : of(object.value(forKey: "name"))
  }

  static func of(_ error: any Error) -> String {
    if let error = error as? ProbeError { return error.description }
    let known = error as NSError
    let parts = known.userInfo["NSDetailedErrors"] as? [any Error] ?? []
    return "error \(known.code)" + (parts.isEmpty ? "" : " of " + parts.map { of($0) }.sorted().joined(separator: ", "))
  }

  /// The error of what is tried, or what it gives.
  static func of<T>(trying body: () throws -> T) -> String {
    do {
      let result = try body()
      return result is Void ? "no error" : of(result)
    } catch { return of(error) }
  }
}
