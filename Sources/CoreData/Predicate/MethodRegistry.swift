import Foundation

/// The methods that `FUNCTION(target, 'selector:', argument)` can call. Without the Objective-C runtime no other method
/// can be called by name.
enum MethodRegistry {
  private static let argumentCounts = [
    "valueForKey:": 1, "valueForKeyPath:": 1, "length": 0, "uppercaseString": 0, "lowercaseString": 0,
    "stringByAppendingString:": 1, "dateByAddingTimeInterval:": 1, "timeIntervalSinceDate:": 1,
  ]

  static func knows(_ selector: String, argumentCount: Int) -> Bool { argumentCounts[selector] == argumentCount }

  /// The result of the method. Stops the program for an unknown selector, and for a target without the method.
  static func value(_ selector: String, of target: Any?, _ arguments: [Any?]) -> Any? {
    guard let target = AttributeCoding.flattened(target) else { return nil }
    switch (selector, arguments.count, target) {
    case ("valueForKey:", 1, _), ("valueForKeyPath:", 1, _):
      return (arguments[0] as? String).flatMap { ObjectCollection.value(of: target, $0) }
    case ("length", 0, let text as String): return text.utf16.count
    case ("uppercaseString", 0, let text as String): return text.uppercased()
    case ("lowercaseString", 0, let text as String): return text.lowercased()
    case ("stringByAppendingString:", 1, let text as String): return text + (arguments[0] as? String ?? "")
    case ("dateByAddingTimeInterval:", 1, let date as Date):
      return arguments[0].flatMap(AttributeCoding.double).map(date.addingTimeInterval)
    case ("timeIntervalSinceDate:", 1, let date as Date):
      return (arguments[0] as? Date).map(date.timeIntervalSince)
    default:
      misuse("FUNCTION cannot call '\(selector)' with \(arguments.count) arguments of a \(type(of: target)).")
    }
  }
}
