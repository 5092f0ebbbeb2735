import RuntimeAccess
import Synchronization

/// Finds the core of a context without keeping it alive.
///
/// It is not a `weak` reference: an object that ever had one has its reference count in a side table, which makes
/// counting several times as slow, and every managed object counts its core.
final class ContextLink: Sendable {
  /// The address of the core; zero for none.
  private let address = Mutex<UInt>(0)

  func begin(_ core: ContextCore) {
    LivingObject.note(core)
    let new = UInt(bitPattern: Unmanaged.passUnretained(core).toOpaque())
    address.withLock { $0 = new }
  }

  /// Called by the core's deinitializer. A concurrent read of `core` finds nil, or is still under the lock.
  func end() { address.withLock { $0 = 0 } }

  /// Whether the core no longer exists. It is not retained for this.
  var isOver: Bool { address.withLock { $0 == 0 } }

  /// Nil once the core's deinitialization has begun.
  var core: ContextCore? {
    address.withLock { address in
      UnsafeMutableRawPointer(bitPattern: address).flatMap { LivingObject.retained($0, as: ContextCore.self) }
    }
  }
}
