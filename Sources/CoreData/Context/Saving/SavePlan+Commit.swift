import Foundation
import StoreProtocol
import StoreSchema

extension SavePlan {
  enum Outcome {
    case committed([Receipt?])
    /// The stores that are not among `unsaved` are committed and settled.
    case conflicts(SaveConflicts, unsaved: [NSPersistentStore])
    /// A store has moved to another place since the plan was made. The same of those that are not among `unsaved`.
    case moved(unsaved: [NSPersistentStore])
  }

  /// Commits each store's part, once nothing is known that would keep one of them from it.
  ///
  /// Across stores nothing is atomic: what comes in between may make a later one fail, and the error says so.
  func commit(_ core: ContextCore) throws -> Outcome {
    if parts.count > 1, let obstacle = try rehearse(core) { return obstacle }
    var receipts: [Receipt?] = []
    for part in parts {
      do {
        switch try commit(part, core) {
        case .committed(let receipt): receipts.append(receipt)
        case .conflicts(let list):
          let conflicts = try conflicts(list, of: part, core, committed: receipts.count)
          settle(receipts, core)
          return .conflicts(conflicts, unsaved: parts.dropFirst(receipts.count).map(\.store))
        case nil:
          takeBack(from: receipts.count)
          settle(receipts, core)
          return .moved(unsaved: parts.dropFirst(receipts.count).map(\.store))
        }
      } catch {
        takeBack(from: receipts.count, keepsExternalData: (error as? StoreError)?.outcome == .outcomeUnknown)
        let cause = part.store.cocoaError(error)
        if receipts.isEmpty { throw cause }
        settle(receipts, core)
        throw CoreDataError.incomplete(cause, unsaved: parts.dropFirst(receipts.count).map(\.store))
      }
    }
    return .committed(receipts)
  }

  /// Commits one store's part. Large values that become obsolete stay as long as contexts need them.
  private func commit(_ part: Part, _ core: ContextCore) throws -> CommitResult? {
    let obsolete = part.changes.obsoleteExternalData
    if !obsolete.isEmpty { part.externalDataStore?.holdExternalData(obsolete) }
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

  /// What would keep a store from committing, nil where nothing would.
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
        throw (error as? StoreError).map { CoreDataError.make($0) } ?? error
      }
    }
    return nil
  }

  /// Throws the conflicts where nobody resolves them.
  private func conflicts(
    _ list: [Conflict], of part: Part, _ core: ContextCore, committed: Int
  ) throws -> SaveConflicts {
    // New objects are known by their numbers until they are taken back, and have all their values from then on.
    let objects = part.objectsByReference
    takeBack(from: committed)
    let conflicts = SaveConflicts(list, part, objects, core)
    if !conflicts.forPolicy.isEmpty && !core.resolvesConflicts { throw conflicts.error }
    return conflicts
  }

  /// What is committed is saved: the objects must not be written again by the next attempt.
  private func settle(_ receipts: [Receipt?], _ core: ContextCore) {
    if receipts.isEmpty { return }
    core.settle(zip(parts, receipts).compactMap { part, receipt in receipt.map { (part, $0) } })
  }
}
