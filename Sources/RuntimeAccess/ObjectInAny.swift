/// Reads objects out of `Any`.
///
/// Sets and dictionaries compare objects by `isEqual(_:)`, whose argument is boxed. A cast costs a hundred times as
/// much as reading the box: three words of value, then the type's metadata, whose first word is zero for a class on
/// platforms without Objective-C.
package enum ObjectInAny {
  /// The address of the object in a value; nil where the value does not directly contain an object of a class (but, for
  /// example, an `AnyHashable`).
  @inlinable @inline(__always)
  package static func address(in value: Any?) -> UnsafeRawPointer? {
    address(in: value, trusting: RuntimeTrick.objectsInAny.works)
  }

  @inlinable @inline(__always)
  package static func address(in value: Any?, trusting works: Bool) -> UnsafeRawPointer? {
    works ? read(value) : documented(value)
  }

  @inlinable @inline(__always)
  static func read(_ value: Any?) -> UnsafeRawPointer? {
    withUnsafeBytes(of: value) { box in
      let word = MemoryLayout<UInt>.size
      guard box.count == 4 * word, let metadata = box.load(fromByteOffset: 3 * word, as: UnsafePointer<UInt>?.self),
        metadata.pointee == 0
      else { return nil }
      return box.load(as: UnsafeRawPointer?.self)
    }
  }

  /// The documented way.
  @usableFromInline @inline(never)
  static func documented(_ value: Any?) -> UnsafeRawPointer? {
    guard let value, type(of: value) is AnyObject.Type else { return nil }
    return UnsafeRawPointer(Unmanaged.passUnretained(value as AnyObject).toOpaque())
  }

  private final class Canary {}
  private struct Large { let words = (1, 2, 3, 4) }
  private enum Empty { case only }

  @inline(never)
  static func canary() -> Bool {
    let object = Canary()
    let address = UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque())
    let others: [Any?] = [
      nil, 7, "text", Large(), Empty.only, { () -> Int in 7 }, Canary.self, [object], (object, object),
      Optional(object) as Any, ObjectIdentifier(object), AnyHashable(7),
    ]
    return withExtendedLifetime(object) { read(object) == address && others.allSatisfy { read($0) == nil } }
  }
}
