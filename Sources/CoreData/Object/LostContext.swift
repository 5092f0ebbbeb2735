import StoreSchema
import Synchronization

/// Objects whose context is gone, or was reset. What they have read stays readable where the context is gone; a reset
/// makes faults of all. A fault is nil, or its type's zero, however it is read; relationships are empty, and setting
/// them has no effect.
extension NSManagedObject {
  /// Whether the object had a context and has none any more. Says so once a process.
  final var hasLostContext: Bool {
    guard core == nil, key != 0, !flags.contains(.gone) else { return false }
    reportLostContext()
    return true
  }

  /// Says once a process that an object without a context was asked for what only its context could read.
  final func reportLostContext() {
    // Neither a probe nor an object that was never inserted had a context.
    if key == 0 || flags.contains(.gone) || hasReportedLostContext.exchange(true, ordering: .relaxed) { return }
    report(
      "An object of the entity \(info.entity.name), \(ownID.uri.absoluteString), is used after its context is gone or was reset: what it has not read is nil, or its type's zero. Keep the context as long as its objects. This is said once a process."
    )
  }
}

private let hasReportedLostContext = Atomic<Bool>(false)
