import CRuntime

/// Makes objects of subclasses of Foundation classes whose initializers only stop the program off Apple's platforms.
package enum RawObject {
  /// An object of exactly `type` whose stored properties are all zero. No initializer is called. Nil where the trick
  /// does not work.
  ///
  /// Each stored property of the class and its superclasses must have a meaning for zero, as optional references and
  /// integers do.
  package static func make<Object: AnyObject>(
    _ type: Object.Type, trusting works: Bool = RuntimeTrick.rawObjects.works
  ) -> Object? {
    guard works, let object = cd_allocate_zeroed_object(metadata(type), size(type)) else { return nil }
    return Unmanaged<Object>.fromOpaque(object).takeRetainedValue()
  }

  /// The size of an object, as the metadata of its class has it.
  private static func size(_ type: AnyClass) -> Int { Int(metadata(type).load(fromByteOffset: 24, as: UInt32.self)) }

  /// A class is a pointer to its metadata.
  private static func metadata(_ type: AnyClass) -> UnsafeRawPointer { unsafeBitCast(type, to: UnsafeRawPointer.self) }

  private class Base {
    var number: Int
    var text: String?
    init() { number = 1 }
    func describe() -> String { "base" }
  }

  private final class Canary: Base {
    var payload: Payload?
    override func describe() -> String { "canary" }
  }

  private final class Payload {}

  /// Makes an object, gives it a payload, and checks that the end of the object releases it.
  @inline(never)
  static func canary() -> Bool {
    weak var known: Payload?
    return isSound(&known) && known == nil
  }

  @inline(never)
  private static func isSound(_ known: inout Payload?) -> Bool {
    // The header, a number, a text of two words, a reference.
    guard size(Canary.self) == 6 * MemoryLayout<UInt>.size, let made = make(Canary.self, trusting: true),
      type(of: made) == Canary.self
    else { return false }
    let isEmpty = made.payload == nil && made.number == 0 && made.text == nil
    made.payload = Payload()
    known = made.payload
    return isEmpty && made.describe() == "canary"
  }
}
