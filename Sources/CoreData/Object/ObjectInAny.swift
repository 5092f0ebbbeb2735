/// The address of the object in an `Any`; nil where it does not directly contain an object of a class (but, for
/// example, an `AnyHashable`).
///
/// Sets and dictionaries compare objects by `isEqual(_:)`, whose argument is boxed. A cast costs a hundred times as
/// much as reading the box: three words of value, then the type's metadata, whose first word is zero for a class on
/// platforms without Objective-C. A test fails when a toolchain changes that.
@inline(__always)
func objectAddress(in value: Any?) -> UnsafeRawPointer? {
  withUnsafeBytes(of: value) { box in
    let word = MemoryLayout<UInt>.size
    guard box.count == 4 * word, let metadata = box.load(fromByteOffset: 3 * word, as: UnsafePointer<UInt>?.self),
      metadata.pointee == 0
    else { return nil }
    return box.load(as: UnsafeRawPointer?.self)
  }
}

/// Whether the object at an address is of exactly this class, not of a subclass.
@inline(__always)
func isObject(_ address: UnsafeRawPointer, exactly type: AnyObject.Type) -> Bool {
  address.load(as: UnsafeRawPointer.self) == unsafeBitCast(type, to: UnsafeRawPointer.self)
}
