import CRuntime
import Foundation

/// Makes objects of subclasses of Foundation classes whose initialisers only stop the program off Apple's platforms.
enum RawObject {
  /// An object of exactly `type` whose last stored property is `payload`; all other storage is zero.
  ///
  /// The class declares one stored property, of type `Payload?`, and no other.
  static func make<Object: AnyObject, Payload: AnyObject>(_ type: Object.Type, _ payload: Payload) -> Object {
    let metadata = unsafeBitCast(type as AnyClass, to: UnsafeRawPointer.self)
    // Instance size and alignment mask, as class metadata has them.
    let size = Int(metadata.load(fromByteOffset: 24, as: UInt32.self))
    let alignmentMask = Int(metadata.load(fromByteOffset: 28, as: UInt16.self))
    guard let object = cd_allocate_object(metadata, size, alignmentMask) else {
      misuse("There is no memory left for an object of \(type).")
    }
    let header = 2 * MemoryLayout<UInt>.size
    let word = MemoryLayout<UInt>.size
    object.advanced(by: header).initializeMemory(as: UInt8.self, repeating: 0, count: size - header)
    object.advanced(by: size - word).initializeMemory(as: Payload?.self, to: payload)
    return Unmanaged<Object>.fromOpaque(object).takeRetainedValue()
  }
}
