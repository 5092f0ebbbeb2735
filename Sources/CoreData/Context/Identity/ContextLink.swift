import CRuntime
import Synchronization

/// Finds the core of a context without keeping it alive.
///
/// No `weak` reference: an object that ever had one is counted in a side table, which takes several times as long, and
/// every managed object counts its core.
final class ContextLink: Sendable {
  private struct Core: @unchecked Sendable { var address: UnsafeMutableRawPointer? }

  private let place = Mutex(Core(address: nil))

  func begin(_ core: ContextCore) {
    let core = Core(address: Unmanaged.passUnretained(core).toOpaque())
    place.withLock { $0 = core }
  }

  /// Called by the core's deinitialiser: whoever asks at the same time finds nothing, or is still under the lock.
  func end() { place.withLock { $0 = Core(address: nil) } }

  /// Nil where its end has begun.
  var core: ContextCore? {
    place.withLock { place in
      guard let address = place.address, cd_try_retain(address) else { return nil }
      return Unmanaged<ContextCore>.fromOpaque(address).takeRetainedValue()
    }
  }
}
