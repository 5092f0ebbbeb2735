/// Code of the client's that runs in the middle of the context's own work.
extension ContextCore {
  /// Calls a function of a client's object that is told in the middle of a change.
  @inline(__always)
  func callOut(_ body: () -> Void) {
    callouts += 1
    body()
    callouts -= 1
  }

  /// Whether an object is being told in the middle of a change: it may be half made.
  private var isCallingOut: Bool { callouts > 0 || trackingPauses > 0 }

  /// Whether work of the context is under way that must not find its objects and stores changed.
  var isBusy: Bool { isSaving || isCallingOut || posts > 0 }

  /// Called before every fetch. The event ends, so that the fetch finds what belongs to its changes; but not where an
  /// object is half made: nobody is told of it before it is done.
  func prepareToFetch() {
    checkQueue()
    takeUpIfIdle()
    if !isCallingOut { return processPendingChanges() }
    // While a fault is being read no change is noted, and so none is made.
    if trackingPauses == 0 && (propagatesDeletesAtEndOfEvent || isSaving) { propagateDeletes() }
  }
}
