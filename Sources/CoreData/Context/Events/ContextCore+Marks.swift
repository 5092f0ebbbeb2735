import Foundation

/// Handles the changes of other contexts and threads at a suitable moment; see ``ContextMarks``.
extension ContextCore {
  /// Leaves a mark, on any thread.
  /// - The mark is handled at once where this thread is on the context's queue, or where nobody uses a root context
  ///   that has its own lock.
  /// - Otherwise, and always with `isLater`, it is handled at a turn of the queue or at the next use of the context,
  ///   whichever comes first.
  func leave(_ mark: ContextMarks.Mark, isLater: Bool = false) {
    marks.add(mark)
    if isLater { return queueTurn() }
    switch queue.confinement {
    case .client: if case .changes = mark { runHere(takeUpMarks) }
    case .mainQueue: if MainQueue.isCurrent { runHere(takeUpMarks) }
    case .lock:
      // A child would wait for its parent, whose thread may be waiting for a context that this thread holds.
      if parent == nil || queue.isCurrent, queue.lock.try() {
        runHere(takeUpMarks)
        queue.lock.unlock()
      }
    }
    if !marks.isEmpty { queueTurn() }
  }

  /// Handles the marks unless an operation of the context is running or observers are being notified. Called before the
  /// context is used.
  func takeUpMarks() {
    if keysTakenUp != family.count { takeUpKeys() }
    if marks.isEmpty || activity.isBusy { return }
    takeUpStores()
    for observer in marks.takeEnded() { observer.unsubscribe() }
    if let changes = marks.takeChanges() { merge(changes) }
  }

  /// The same for a use of the context outside of blocks. Within a block or fetch only marks of stores are handled,
  /// because objects must not change there.
  func takeUpIfIdle() { if queue.depth == 0 && rowKeeping.fetches == 0 { takeUpMarks() } else { takeUpStores() } }

  /// Handles marks of stores only. They must be handled within the client's blocks as well. Returns whether there was
  /// such a mark.
  @discardableResult
  func takeUpStores() -> Bool {
    guard marks.forgetsStores, !activity.isBusy, marks.takeStores() else { return false }
    forgetStores()
    return true
  }

  // MARK: Turns of the queue

  /// Requests a turn of the context's queue, which handles marks and processes pending changes. Several requests make
  /// one block, which does not keep the context alive. A context without a queue has no turns.
  func queueTurn(after delay: Double = 0) {
    if let dispatch = queue.dispatch { marks.queueTurn(on: dispatch, after: delay) { [link] in link.core?.takeTurn() } }
  }

  /// Called for the first pending change. A main-queue context that is changed on the main queue processes its changes
  /// at the end of the turn, without a call of the client.
  func changesBecamePending() { if queue.confinement == .mainQueue && MainQueue.isCurrent { queueTurn() } }

  private func takeTurn() {
    // Without its context no observer can be notified.
    guard let context else { return }
    run {
      // A client's block or observer runs the main queue, and has not ended.
      if activity.isBusy || queue.depth > 1 { return queueTurn(after: 0.01) }
      // The turn of another queue is there for marks alone; the client may be in the middle of an action to be undone.
      if queue.confinement == .mainQueue { context.processPendingChanges() } else { processPendingChanges() }
    }
  }
}
