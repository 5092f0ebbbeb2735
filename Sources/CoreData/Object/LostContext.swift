import StoreSchema
import Synchronization

/// Objects whose context is gone or was reset. If the context is gone, values that were read stay readable. A reset
/// makes all objects faults. A property of a fault reads as nil or as its type's zero, relationships are empty, and
/// setting a relationship has no effect.
extension NSManagedObject {
  /// Whether the object had a context and has none any more. Reports that once in a process.
  final var hasLostContext: Bool {
    guard core == nil, key != 0, !flags.contains(.gone) else { return false }
    reportLostContext()
    return true
  }

  /// Reports once in a process that a value was read from an object without a context, which only its context could
  /// read.
  final func reportLostContext() {
    // Neither a probe nor an object that was never inserted had a context.
    if key == 0 || flags.contains(.gone) || hasReportedLostContext.exchange(true, ordering: .relaxed) { return }
    report(
      "An object of the entity \(info.entity.name), \(ownID.uri.absoluteString), is used after its context is gone or was reset: values that were not read are nil, or the type's zero. Keep the context as long as its objects. This is reported once in a process."
    )
  }
}

private let hasReportedLostContext = Atomic<Bool>(false)
