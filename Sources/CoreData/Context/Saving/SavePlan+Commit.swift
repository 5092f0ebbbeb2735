import Foundation
import StoreProtocol
import StoreSchema

extension SavePlan {
  enum Outcome {
    case committed([Receipt?])
    /// The parts of the stores that are not in `unsaved` are committed and finished.
    case conflicts(SaveConflicts, unsaved: [NSPersistentStore])
    /// A store has moved to another URL since the plan was made. The parts of the stores that are not in `unsaved` are
    /// committed and finished.
    case moved(unsaved: [NSPersistentStore])
  }

  /// Commits each store's part, after a rehearsal of all parts where there are several stores.
  ///
  /// A commit to several stores is not atomic: another save may make a later store fail after the rehearsal. The error
  /// says so.
  func commit(_ core: ContextCore) throws -> Outcome {
    if parts.count > 1, let obstacle = try rehearse(core) { return obstacle }
    var receipts: [Receipt?] = []
    for part in parts {
      do {
        switch try commit(part, core) {
        case .committed(let receipt): receipts.append(receipt)
        case .conflicts(let list):
          let conflicts = try conflicts(list, of: part, core, committed: receipts.count)
          finishCommitted(receipts, core)
          return .conflicts(conflicts, unsaved: parts.dropFirst(receipts.count).map(\.store))
        case nil:
          takeBack(from: receipts.count)
          finishCommitted(receipts, core)
          return .moved(unsaved: parts.dropFirst(receipts.count).map(\.store))
        }
      } catch {
        takeBack(from: receipts.count, keepsExternalData: (error as? StoreError)?.outcome == .outcomeUnknown)
        let cause = part.store.cocoaError(error)
        if receipts.isEmpty { throw cause }
        finishCommitted(receipts, core)
        let unsaved = parts.dropFirst(receipts.count).map(\.store)
        let saved = written(without: unsaved)
        throw saved.isEmpty ? cause : CoreDataError.incomplete(cause, saved: saved, unsaved: unsaved)
      }
    }
    return .committed(receipts)
  }

  /// The stores that this save has written to, but for those that are left.
  func written(without left: [NSPersistentStore]) -> [NSPersistentStore] {
    parts.dropLast(left.count).filter(\.writes).map(\.store)
  }

  /// Commits one store's part. Obsolete large values stay as long as contexts need them.
  private func commit(_ part: Part, _ core: ContextCore) throws -> CommitResult? {
    let obsolete = part.changes.obsoleteExternalData
    if !obsolete.isEmpty { try part.externalDataStore()?.holdExternalData(obsolete) }
    var isWatched = false
    defer { if !isWatched && !obsolete.isEmpty { ObsoleteValues.shared.release(part) } }
    if parts.count == 1 { part.lendLargeValues() }
    let result = try part.store.commit(part.changes, madeFor: part.engine, part.objects(core))
    if case .committed = result, !obsolete.isEmpty {
      isWatched = true
      ObsoleteValues.shared.watch(part, core)
    }
    return result
  }

  /// Rehearses all parts. Returns the first obstacle to a commit; nil where there is none.
  private func rehearse(_ core: ContextCore) throws -> Outcome? {
    for part in parts {
      do {
        guard let list = try part.store.rehearse(part.changes, madeFor: part.engine) else {
          takeBack()
          return .moved(unsaved: parts.map(\.store))
        }
        if list.isEmpty { continue }
        let conflicts = try conflicts(list, of: part, core, committed: 0)
        return .conflicts(conflicts, unsaved: parts.map(\.store))
      } catch {
        takeBack()
        throw (error as? StoreError).map { CoreDataError.make($0, of: part.store) } ?? error
      }
    }
    return nil
  }

  /// Throws the conflicts where no merge policy resolves them.
  private func conflicts(
    _ list: [Conflict], of part: Part, _ core: ContextCore, committed: Int
  ) throws -> SaveConflicts {
    // Taken first: until `takeBack`, new objects are found by their numbers. After it, they have all their values
    // again.
    let objects = part.objectsByReference
    takeBack(from: committed)
    let conflicts = SaveConflicts(list, part, objects, core)
    if !conflicts.forPolicy.isEmpty && !core.resolvesConflicts { throw conflicts.error }
    return conflicts
  }

  /// Finishes the save of the committed parts: the next attempt must not write their objects again.
  private func finishCommitted(_ receipts: [Receipt?], _ core: ContextCore) {
    if receipts.isEmpty { return }
    core.finishCommitted(zip(parts, receipts).compactMap { part, receipt in receipt.map { (part, $0) } })
  }
}
