import Foundation

extension NSManagedObjectContext {
  /// Whether `withObservationTracking` sees the properties of this context's objects: those that are read by typed
  /// properties or by `value(forKey:)`. False unless set.
  ///
  /// A tracked property counts as changed at the end of whatever changes its value: an accessor, the end of an event
  /// with delete rules, a refresh, a merge, a rollback, an undo, a save. So the handler finds the new value.
  /// The handlers are also called when the context is reset, and when it is freed, on the thread that frees it.
  ///
  /// Each tracked read costs about as much as a small allocation, also outside of `withObservationTracking`, and keeps
  /// the value that it has read. So it is meant for contexts of user interfaces.
  public final var tracksObservation: Bool {
    get { core.observed.tracksReads }
    set {
      core.checkQueue()
      core.observed.tracksReads = newValue
      for object in core.registry.all { object.setTracked(newValue) }
    }
  }
}
