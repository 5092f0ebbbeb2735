import RuntimeAccess

extension RawObject {
  /// An object of exactly `type`, without a call of an initializer. Stops the program where the toolchain does not
  /// allow that: there is no other way to make such an object.
  static func made<Object: AnyObject>(_ type: Object.Type) -> Object {
    guard let object = make(type) else {
      misuse("An object of \(type) cannot be made with this version of Swift; use NSPredicate(format:) instead.")
    }
    return object
  }
}
