import Foundation

/// Handles the changes of other contexts and threads at a suitable moment; see ``ContextMarks``.
extension ContextCore {
  /// Leaves a mark, on any thread.
  /// - The mark is handled at once where this thread is on the context's queue, or where nobody uses a context that has
  ///   its own lock; and where no other thread uses a context above it, which a merge reads from.
  /// - Otherwise, and always with `isLater`, it is handled at a turn of the queue or at the next use of the context,
  ///   whichever comes first.
  func leave(_ mark: ContextMarks.Mark, isLater: Bool = false) {
    marks.add(mark)
    if !isLater && mayHandle(mark) {
      ifAncestorsAreFree { runHere(takeUpMarks) }
      if queue.confinement == .lock { queue.lock.unlock() }
    }
    if !marks.isEmpty { queueTurn() }
  }

  /// Whether this thread may use the context. It locks a context that has a lock.
  private func mayHandle(_ mark: ContextMarks.Mark) -> Bool {
    switch queue.confinement {
    case .client: if case .changes = mark { true } else { false }
    case .mainQueue: MainQueue.isCurrent
    case .lock: queue.lock.try()
    }
  }

  /// Runs `body` where no other thread uses a context above this one, so that `body` does not wait for one: the thread
  /// that uses it may be waiting for a context that this thread holds.
  private func ifAncestorsAreFree(_ body: () -> Void) {
    var locked: [ContextQueue] = []
    defer { for queue in locked { queue.lock.unlock() } }
    var next = parent
    while let core = next {
      if !core.queue.isCurrent {
        guard core.queue.confinement == .lock, core.queue.lock.try() else { return }
        locked.append(core.queue)
      }
      next = core.parent
    }
    body()
  }

  /// Handles the marks unless an operation of the context is running or observers are being notified. Called before the
  /// context is used.
  func takeUpMarks() {
    if keysTakenUp != family.count { takeUpKeys() }
    if marks.isEmpty || activity.isBusy { return }
    takeUpStores()
    if let changes = marks.takeChanges() { merge(changes) }
  }

  /// The same for a use of the context outside of blocks. Within a block only marks of stores are handled, because
  /// objects must not change there.
  func takeUpIfIdle() { if queue.depth == 0 { takeUpMarks() } else { takeUpStores() } }

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
  func queueTurn() {
    if let dispatch = queue.dispatch { marks.queueTurn(on: dispatch) { [link] in link.core?.takeTurn() } }
  }

  /// Called for the first pending change. A main-queue context that is changed on the main queue processes its changes
  /// at the end of the turn, without a call of the client.
  func changesBecamePending() { if queue.confinement == .mainQueue && MainQueue.isCurrent { queueTurn() } }

  private func takeTurn() {
    // Without its context no observer can be notified.
    guard let context else { return }
    run {
      if activity.isBusy { return }
      context.processPendingChanges()
    }
  }
}
