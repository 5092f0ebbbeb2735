import CRuntime
import Synchronization

/// Ends the reference counting of objects that live as long as the process.
///
/// Each object of an entity refers to the entity. Threads that make objects of one entity would contend for its count.
package enum ImmortalObject {
  /// Ends the reference counting of an object, which is never freed from then on. No other thread may hold it yet.
  /// Where the trick does not work, the object is counted as before: the caller must hold it for good.
  package static func make(_ object: AnyObject, trusting works: Bool = RuntimeTrick.immortalObjects.works) {
    if works { cd_make_immortal(Unmanaged.passUnretained(object).toOpaque()) }
  }

  /// What a canary has found. Each has one of its own, because two threads may check at the same time.
  private final class Finding: Sendable {
    let hasEnded = Mutex(false)
  }

  private final class Canary {
    let finding: Finding

    init(_ finding: Finding) { self.finding = finding }

    deinit { finding.hasEnded.withLock { $0 = true } }
  }

  /// Releases an immortal object more often than it was retained. An object that is still counted ends then, and nobody
  /// uses it afterwards.
  @inline(never)
  static func canary() -> Bool {
    let finding = Finding()
    let object = Unmanaged.passRetained(Canary(finding))
    cd_make_immortal(object.toOpaque())
    cd_release(object.toOpaque())
    return !finding.hasEnded.withLock { $0 }
  }
}
