import Foundation

/// A pointer to a variable, by its name on Apple's platforms. `&value` can be passed. There is no autorelease pool
/// here.
public typealias AutoreleasingUnsafeMutablePointer<T> = UnsafeMutablePointer<T>

// Names that `import CoreData` provides on Apple's platforms, and that client code uses.

/// Runs `body`. There are no autoreleased objects here.
public func autoreleasepool<Result>(invoking body: () throws -> Result) rethrows -> Result { try body() }

/// The number of nanoseconds in a second.
public let NSEC_PER_SEC: UInt64 = 1_000_000_000
/// The number of nanoseconds in a millisecond.
public let NSEC_PER_MSEC: UInt64 = 1_000_000
/// The number of microseconds in a second.
public let USEC_PER_SEC: UInt64 = 1_000_000

/// Seconds since 2001-01-01T00:00:00Z.
public typealias CFAbsoluteTime = Double
/// The time now, in seconds since 2001-01-01T00:00:00Z.
public func CFAbsoluteTimeGetCurrent() -> CFAbsoluteTime { Date.timeIntervalSinceReferenceDate }

/// How a set changes, for ``NSManagedObject/willChangeValue(forKey:withSetMutation:using:)``.
public enum NSKeyValueSetMutationKind: UInt, Sendable {
  /// The given objects are added to the set.
  case union = 1
  /// The given objects are removed from the set.
  case minus = 2
  /// The objects that were not given are removed from the set.
  case intersect = 3
  /// The given objects replace those of the set.
  case set = 4
}

extension NSDictionary {
  /// The value at a dotted path of keys, through dictionaries, collections and managed objects.
  public func value(forKeyPath keyPath: String) -> Any? {
    KeyPathValue.value(of: self, keyPath.split(separator: ".").map(String.init)[...])
  }

  /// The value of a key. Rewritten sources call it where they cast the value to a set that can be changed.
  public func mutableValue(forKey key: String) -> Any? { value(forKey: key) }
  /// The value at a dotted path. Rewritten sources call it where they cast the value to a set that can be changed.
  public func mutableValue(forKeyPath keyPath: String) -> Any? { value(forKeyPath: keyPath) }
}
