import CRuntime
import Synchronization

/// Finds objects by their address without keeping them alive.
///
/// A `weak` reference does the same, but from the first one on the object has its reference count in a side table. That
/// makes counting several times as slow. So the runtime's own function retains the object, unless its deinitialization
/// has begun. The caller makes sure that the memory is still the object's: its deinitializer waits for the caller's
/// lock.
package enum LivingObject {
  /// Must be called for each object, before it is looked up by its address. Retains and releases nothing.
  @inlinable @inline(__always)
  package static func note(_ object: AnyObject) { note(object, trusting: RuntimeTrick.livingObjects.works) }

  @inlinable @inline(__always)
  package static func note(_ object: AnyObject, trusting works: Bool) {
    if !works { WeakObjects.note(object) }
  }

  /// Must be called in the deinitializer of each object that was noted. Retains and releases nothing.
  @inlinable @inline(__always)
  package static func forget(_ object: AnyObject) { forget(object, trusting: RuntimeTrick.livingObjects.works) }

  @inlinable @inline(__always)
  package static func forget(_ object: AnyObject, trusting works: Bool) {
    if !works { WeakObjects.forget(object) }
  }

  /// The object at an address, retained; nil once its deinitialization has begun.
  @inlinable @inline(__always)
  package static func retained<Object: AnyObject>(
    _ address: UnsafeMutableRawPointer, as type: Object.Type
  ) -> Object? { retained(address, as: type, trusting: RuntimeTrick.livingObjects.works) }

  @inlinable @inline(__always)
  package static func retained<Object: AnyObject>(
    _ address: UnsafeMutableRawPointer, as _: Object.Type, trusting works: Bool
  ) -> Object? {
    if !works { return WeakObjects.object(at: address).map { unsafeDowncast($0, to: Object.self) } }
    guard cd_try_retain(address) else { return nil }
    return Unmanaged<Object>.fromOpaque(address).takeRetainedValue()
  }

  /// What a canary has found. Each has one of its own, because two threads may check at the same time.
  private final class Finding: Sendable {
    /// Whether the object could be retained in its deinitializer; nil before.
    let retainedAtEnd = Mutex<Bool?>(nil)
  }

  private final class Canary {
    let finding: Finding

    init(_ finding: Finding) { self.finding = finding }

    deinit {
      let retained = cd_try_retain(Unmanaged.passUnretained(self).toOpaque())
      finding.retainedAtEnd.withLock { $0 = retained }
    }
  }

  @inline(never)
  static func canary() -> Bool {
    let finding = Finding()
    var object: Canary? = Canary(finding)
    guard let address = object.map({ Unmanaged.passUnretained($0).toOpaque() }), isKnownUniquelyReferenced(&object),
      cd_try_retain(address)
    else { return false }
    let isCounted = !isKnownUniquelyReferenced(&object)
    Unmanaged<Canary>.fromOpaque(address).release()
    let isBack = isKnownUniquelyReferenced(&object)
    object = nil
    return isCounted && isBack && finding.retainedAtEnd.withLock { $0 } == false
  }
}

/// Weak references to objects by their address: the documented way of ``LivingObject``.
@usableFromInline
enum WeakObjects {
  // A weak reference may be read on any thread.
  private struct Reference: @unchecked Sendable { weak var object: AnyObject? }

  private static let references = Mutex<[UInt: Reference]>([:])

  @usableFromInline
  static func note(_ object: AnyObject) {
    let (id, reference) = (UInt(bitPattern: ObjectIdentifier(object)), Reference(object: object))
    references.withLock { $0[id] = reference }
  }

  @usableFromInline
  static func forget(_ object: AnyObject) {
    let id = UInt(bitPattern: ObjectIdentifier(object))
    references.withLock { $0[id] = nil }
  }

  @usableFromInline
  static func object(at address: UnsafeMutableRawPointer) -> AnyObject? {
    let id = UInt(bitPattern: address)
    return references.withLock { $0[id] }?.object
  }
}
