import CRuntime
import Synchronization

/// Finds the core of a context without keeping it alive.
///
/// It is not a `weak` reference: an object that ever had one has its reference count in a side table, which makes
/// counting several times as slow, and every managed object counts its core.
final class ContextLink: Sendable {
  private struct Core: @unchecked Sendable { var address: UnsafeMutableRawPointer? }

  private let target = Mutex(Core(address: nil))

  func begin(_ core: ContextCore) {
    let core = Core(address: Unmanaged.passUnretained(core).toOpaque())
    target.withLock { $0 = core }
  }

  /// Called by the core's deinitializer. A concurrent read of `core` finds nil, or is still under the lock.
  func end() { target.withLock { $0 = Core(address: nil) } }

  /// Nil once the core's deinitialization has begun.
  var core: ContextCore? {
    target.withLock { target in
      guard let address = target.address, cd_try_retain(address) else { return nil }
      return Unmanaged<ContextCore>.fromOpaque(address).takeRetainedValue()
    }
  }
}
