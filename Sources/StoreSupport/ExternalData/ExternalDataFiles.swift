import Dispatch
import Foundation
import StoreProtocol
import StoreSchema
import Synchronization

/// The files of large values of one opened store, and when they are removed.
///
/// A commit removes no file, because other contexts and processes may have rows that name it.
/// - A store calls ``prepare(_:)`` inside its transaction and ``committed(_:)`` after it. Every snapshot keeps a
///   ``view()``.
/// - The file of an obsolete value is removed once its grace time is over, no view from before the commit is left, and
///   nobody in this process holds it.
/// - A file that is still there when the store is closed, or its process ends, is left to the ``sweep(_:)`` of a later
///   opening. The sweep removes files that no row names and whose last change, set by ``prepare(_:)``, is long ago.
public final class ExternalDataFiles: Sendable {
  let folder: ExternalDataFolder
  let identifier: String
  let grace: Double
  /// The slots of each entity whose values may be stored in files.
  private let slots: [[Int]]
  /// Nil where the model has no such slots.
  let removals: PendingRemovals?
  private let mayRemove: Bool
  private let closed = Atomic<Bool>(false)
  var isClosed: Bool { closed.load(ordering: .sequentiallyConsistent) }
  /// Held while a sweep reads the store's rows.
  let sweeping = NSLock()
  /// Held while the folder is listed or a file removed.
  private let working = NSLock()
  /// The obsolete files of the running commit, with the status that ``prepare(_:)`` found.
  private let touched = Mutex<[UUID: FileStatus?]>([:])
  private let durability = Mutex<(@Sendable () throws(StoreError) -> Void)?>(nil)

  /// For a store with this UUID that is opened with `options`.
  public init(_ folder: ExternalDataFolder, ofStore identifier: String, _ schema: Schema, _ options: StoreOptions) {
    self.folder = folder
    self.identifier = identifier
    grace = options.externalDataGrace > 0 ? options.externalDataGrace : 0
    // Under another model than the store's own, a name may be in a slot that is not searched.
    mayRemove = !options.isReadOnly && !options.ignoresModelVersion
    slots = schema.entities.map { entity in entity.slots.indices.filter { entity.slots[$0] == .externalData } }
    removals = slots.allSatisfy(\.isEmpty) ? nil : .of(folder)
  }

  /// Sets the call that makes commits durable, for stores whose commits are not durable on their own. It is called
  /// before files are removed, on any thread. After it, no loss of power may undo a commit. If it throws, the files
  /// stay for a later sweep.
  public func makeDurable(by body: @escaping @Sendable () throws(StoreError) -> Void) {
    durability.withLock { $0 = body }
  }

  // MARK: Values

  /// See ``ExternalDataFolder/read(_:)``.
  public func read(_ name: Data) throws(StoreError) -> Data { try folder.read(name) }

  /// See ``ExternalDataStore/keepExternalData(_:)``.
  public func keep(_ data: Data) throws(StoreError) -> Data? { try folder.write(data, ofStore: identifier) }

  /// See ``ExternalDataStore/discardExternalData(_:)``.
  public func discard(_ names: [Data]) { folder.remove(names) }

  // MARK: Commits

  /// Checks the files of a change set inside the transaction that writes it. Touches the files that its rows name from
  /// now on, which must exist, and the files that become obsolete.
  ///
  /// Throws `missingExternalData`, not saved, where a file is gone.
  public func prepare(_ changes: SealedChanges) throws(StoreError) {
    guard let removals else { return }
    for file in named(changes) where !removals.naming.withLock({ folder.touch(file) }) {
      throw StoreError(
        .missingExternalData, "The file of a large value in this save is missing. Set the value again.",
        context: ["path": folder.folder.appendingPathComponent(file.uuidString).path])
    }
    let obsolete = changes.obsoleteExternalData.compactMap(ExternalDataFolder.file)
    for file in obsolete { _ = folder.touch(file) }
    // Read now: after the commit another process may name one of the files again, and touch it.
    touched.withLock { $0 = Dictionary(obsolete.map { ($0, folder.status(of: $0)) }, uniquingKeysWith: { $1 }) }
  }

  /// Lets the obsolete files of a change set be removed after their grace time. Call it after the commit, before it
  /// returns.
  public func committed(_ changes: SealedChanges) {
    guard let removals, mayRemove else { return }
    let obsolete = changes.obsoleteExternalData.compactMap(ExternalDataFolder.file)
    if obsolete.isEmpty { return }
    let status = touched.withLock { $0 }
    removals.add(obsolete.map { ($0, status[$0] ?? nil) }, of: self)
  }

  /// The files that the rows of a change set name, where the slot has changed.
  private func named(_ changes: SealedChanges) -> [UUID] {
    var result: [UUID] = []
    func add(_ row: Row, _ changed: SlotSet?) {
      for slot in slots[row.entity] where changed?.contains(slot) ?? true && !row.isNull(slot) {
        if row.withBytes(slot, { $0.first == 2 }), let file = ExternalDataFolder.file(row.data(slot)) {
          result.append(file)
        }
      }
    }
    for index in changes.insertions.indices { add(changes.insertions[index], nil) }
    for index in changes.updates.indices { add(changes.updates[index].row, changes.updates[index].changed) }
    return result
  }

  // MARK: Readers

  /// The view that a snapshot keeps while it lives. Make it before the snapshot reads the store. Nil where the model
  /// has no large values.
  public func view() -> ExternalDataView? { removals.map(ExternalDataView.init) }

  /// See ``ExternalDataStore/holdExternalData(_:)``.
  public func hold(_ names: [Data]) { removals?.hold(names.compactMap(ExternalDataFolder.file)) }

  /// See ``ExternalDataStore/releaseExternalData(_:)``.
  public func release(_ names: [Data]) -> [Data] {
    guard let removals else { return [] }
    let kept = Set(removals.release(names.compactMap(ExternalDataFolder.file)))
    return kept.isEmpty ? [] : names.filter { ExternalDataFolder.file($0).map(kept.contains) ?? false }
  }

  /// From now on removes no file and looks at none. A running sweep ends.
  public func close() {
    closed.store(true, ordering: .sequentiallyConsistent)
    sweeping.withLock {}
    working.withLock {}
  }

  /// Runs one short step of background work; ``close()`` waits for it. Does nothing and returns nil after the store is
  /// closed.
  func step<R>(_ body: () -> R) -> R? { working.withLock { isClosed ? nil : body() } }

  /// Removes files that nobody needs any more, unless they have changed since they became obsolete.
  func remove(_ files: [(id: UUID, status: FileStatus?)]) {
    guard !isClosed, isDurable(), let removals else { return }
    for file in files {
      _ = step { removals.naming.withLock { folder.remove(file.id, unlessTouchedSince: file.status) } }
    }
  }

  /// Makes commits durable. False where they may still be lost.
  func isDurable() -> Bool {
    guard let makeDurable = durability.withLock({ $0 }) else { return true }
    do {
      try makeDurable()
      return true
    } catch { return false }
  }

  /// Removes in the background files of the store that no row names, left by earlier openings. `store` is the store
  /// that this belongs to. Call it when the store is open.
  public func sweep(_ store: any Store) {
    guard removals != nil, mayRemove, !store.isReadOnly else { return }
    DispatchQueue.global(qos: .utility).async { [weak store] in
      ExternalDataSweep(self).run { store }
    }
  }
}

/// Keeps the large values that the rows of a snapshot may name readable, until it is released.
public final class ExternalDataView: Sendable {
  private let removals: PendingRemovals
  private let epoch: UInt64

  init(_ removals: PendingRemovals) {
    self.removals = removals
    epoch = removals.beginView()
  }

  deinit { removals.endView(epoch) }
}
