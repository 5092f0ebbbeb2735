import Dispatch
import Foundation
import Synchronization

/// The obsolete files of one folder that are to be removed, for all stores in this process that use the folder.
///
/// While files wait there is one timer, for the first grace time that ends. Otherwise there is none.
final class PendingRemovals: Sendable {
  private struct Pending {
    /// Of the store that made the file obsolete. Nil when that store is gone: then a sweep removes the file.
    weak var files: ExternalDataFiles?
    let status: FileStatus?
    /// Views of earlier epochs may be from before the commit.
    let epoch: UInt64
    let due: DispatchTime
  }

  private struct State {
    var pending: [UUID: Pending] = [:]
    var holds: [UUID: Int] = [:]
    /// Grows with every commit that makes files obsolete.
    var epoch: UInt64 = 0
    /// How many views of each epoch there are.
    var views: [UInt64: Int] = [:]
    /// Whether the grace time of a file is over that is still needed.
    var isOverdue = false

    var oldestView: UInt64 { views.keys.min() ?? .max }
  }

  private let state = Mutex(State())
  private let timer = EarliestTimer()

  // MARK: One for each folder

  private struct Known { weak var removals: PendingRemovals? }
  private static let known = Mutex<[String: Known]>([:])

  static func of(_ folder: ExternalDataFolder) -> PendingRemovals {
    known.withLock { known in
      if let found = known[folder.folder.path]?.removals { return found }
      let made = PendingRemovals()
      known = known.filter { $0.value.removals != nil }
      known[folder.folder.path] = Known(removals: made)
      return made
    }
  }

  // MARK: Files

  /// Adds the files that a commit has made obsolete. Without a grace time they are removed now, unless they are needed.
  func add(_ obsolete: [(id: UUID, status: FileStatus?)], of files: ExternalDataFiles) {
    let due = DispatchTime.now() + files.grace
    state.withLock { state in
      state.epoch += 1
      for file in obsolete {
        state.pending[file.id] = Pending(files: files, status: file.status, epoch: state.epoch, due: due)
      }
    }
    if files.grace > 0 { return setTimer(due) }
    removeDue(of: files)
    // The removal of another store's files may wait for its commit, which may wait for this one.
    if state.withLock({ !$0.pending.isEmpty }) { DispatchQueue.global(qos: .utility).async { self.removeDue() } }
  }

  func hold(_ files: [UUID]) {
    state.withLock { state in for file in files { state.holds[file, default: 0] += 1 } }
  }

  /// Ends holds, except on files that a view from before their commit can still read. Returns those files.
  func release(_ files: [UUID]) -> [UUID] {
    let kept = state.withLock { state in
      let oldest = state.oldestView
      return files.filter { file in
        if let pending = state.pending[file], pending.epoch > oldest { return true }
        let count = (state.holds[file] ?? 1) - 1
        state.holds[file] = count > 0 ? count : nil
        return false
      }
    }
    if kept.count < files.count { removeDue() }
    return kept
  }

  /// Whether a file waits for its time to be removed, or is held.
  func isKnown(_ file: UUID) -> Bool { state.withLock { $0.pending[file] != nil || $0.holds[file] != nil } }

  /// Removes the files that are due. With `only`, removes only files that this store has made obsolete.
  func removeDue(of only: ExternalDataFiles? = nil, now: DispatchTime = .now()) {
    let due = state.withLock { state in
      var due: [(id: UUID, pending: Pending)] = []
      if state.pending.isEmpty { return due }
      let oldest = state.oldestView
      if only == nil { state.isOverdue = false }
      for (id, pending) in state.pending where pending.due <= now {
        if only != nil && pending.files !== only { continue }
        if state.holds[id] == nil && pending.epoch <= oldest {
          due.append((id, pending))
        } else {
          state.isOverdue = true
        }
      }
      for (id, _) in due { state.pending[id] = nil }
      return due
    }
    var byStore: [ObjectIdentifier: (files: ExternalDataFiles, list: [(id: UUID, status: FileStatus?)])] = [:]
    for (id, pending) in due {
      guard let files = pending.files else { continue }
      byStore[ObjectIdentifier(files), default: (files, [])].list.append((id, pending.status))
    }
    for (files, list) in byStore.values { files.remove(list) }
  }

  /// Held while a file is checked and removed, and while a file is touched that a row will name.
  let naming = NSLock()

  private func setTimer(_ due: DispatchTime) {
    timer.set(due) { [weak self] in
      // One time for both: a file that becomes due during the removal has a timer of its own.
      let now = DispatchTime.now()
      self?.removeDue(now: now)
      return self?.state.withLock { $0.pending.values.lazy.map(\.due).filter { $0 > now }.min() }
    }
  }

  // MARK: Views

  func beginView() -> UInt64 {
    state.withLock { state in
      state.views[state.epoch, default: 0] += 1
      return state.epoch
    }
  }

  func endView(_ epoch: UInt64) {
    let isAwaited = state.withLock { state in
      let count = (state.views[epoch] ?? 1) - 1
      state.views[epoch] = count > 0 ? count : nil
      return count <= 0 && state.isOverdue
    }
    // The caller that ends a view does not wait for the removal.
    if isAwaited { DispatchQueue.global(qos: .utility).async { self.removeDue() } }
  }
}
