import Foundation

/// Taking up what others have done, at a moment that suits the context; see ``ContextMarks``.
extension ContextCore {
  /// Leaves a mark, on any thread. It is taken up at once where this thread is on the context's queue, or where nobody
  /// is using a context with a lock of its own; else, and always with `isLater`, at a turn of the queue, or when the
  /// context is next used.
  func leave(_ mark: ContextMarks.Mark, isLater: Bool = false) {
    marks.add(mark)
    if isLater { return queueTurn() }
    switch queue.confinement {
    case .client: if case .changes = mark { runHere(takeUpMarks) }
    case .mainQueue: if MainQueue.isCurrent { runHere(takeUpMarks) }
    case .lock:
      if queue.lock.try() {
        runHere(takeUpMarks)
        queue.lock.unlock()
      }
    }
    if !marks.isEmpty { queueTurn() }
  }

  /// Takes marks up where none of the context's own work is under way, and nobody is told of it at the moment. Called
  /// before the context is used.
  func takeUpMarks() {
    if marks.isEmpty || activity.isBusy { return }
    takeUpStores()
    if let changes = marks.takeChanges() { merge(changes) }
  }

  /// The same for a use of the context outside of blocks. In the middle of a block objects do not change under it;
  /// stores do.
  func takeUpIfIdle() { if queue.depth == 0 { takeUpMarks() } else { takeUpStores() } }

  /// The same for stores alone, which have to be known also in the middle of a block of the client's.
  /// Gives whether there was such a mark.
  @discardableResult
  func takeUpStores() -> Bool {
    guard marks.forgetsStores, !activity.isBusy, marks.takeStores() else { return false }
    forgetStores()
    return true
  }

  // MARK: Turns of the queue

  /// Lets the context have a turn of its queue: marks are taken up, and pending changes processed. However often this
  /// is called meanwhile it is one block, which does not keep the context alive. A context without a queue has no
  /// turns.
  func queueTurn() {
    if let dispatch = queue.dispatch { marks.queueTurn(on: dispatch) { [link] in link.core?.takeTurn() } }
  }

  /// Called for the first pending change. Whoever changes a main-queue context on the main queue need not say so:
  /// observers are told at the end of the turn.
  func changesBecamePending() { if queue.confinement == .mainQueue && MainQueue.isCurrent { queueTurn() } }

  private func takeTurn() {
    // Without its context nobody can be told.
    guard let context else { return }
    run {
      if activity.isBusy { return }
      context.processPendingChanges()
    }
  }
}
