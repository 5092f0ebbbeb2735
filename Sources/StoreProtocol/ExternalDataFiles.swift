import Dispatch
import Foundation
import StoreSchema
import Synchronization

/// The large values of one opened store, and the time at which their files go.
///
/// A commit removes no file: other contexts and processes may have the rows that name it. Inside its transaction a
/// store calls ``prepare(_:)``, and after the commit ``committed(_:)``; every snapshot keeps a ``view()``. The file of
/// an obsolete value goes once its grace time is over, no view from before the commit is left, and nobody in this
/// process holds it. What is still there when the store is closed, or its process ends, is left to a later opening's
/// ``sweep(_:)``, which knows it by two signs: no row names it, and its time of last change, which ``prepare(_:)`` has
/// set, is long ago.
public final class ExternalDataFiles: Sendable {
  let folder: ExternalDataFolder
  let identifier: String
  let grace: Double
  /// The slots of each entity whose values may lie outside.
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
  /// The obsolete files of the commit under way, as ``prepare(_:)`` has left them.
  private let touched = Mutex<[UUID: FileStatus?]>([:])
  private let durability = Mutex<(@Sendable () throws(StoreError) -> Void)?>(nil)

  /// For a store with this UUID that is opened with `options`.
  public init(_ folder: ExternalDataFolder, ofStore identifier: String, _ schema: Schema, _ options: StoreOptions) {
    self.folder = folder
    self.identifier = identifier
    grace = options.externalDataGrace > 0 ? options.externalDataGrace : 0
    // Under another model than the store's own, names may be where nobody looks for them.
    mayRemove = !options.isReadOnly && !options.ignoresModelVersion
    slots = schema.entities.map { entity in entity.slots.indices.filter { entity.slots[$0] == .externalData } }
    removals = slots.allSatisfy(\.isEmpty) ? nil : .of(folder)
  }

  /// Sets what is called before files are removed, on any thread. After `body`, no loss of electrical power may undo a
  /// commit that was made. For stores whose commits are not durable on their own. If it throws, the files stay for a
  /// later sweep.
  public func makeDurable(by body: @escaping @Sendable () throws(StoreError) -> Void) {
    durability.withLock { $0 = body }
  }

  // MARK: Values

  /// See ``ExternalDataFolder/read(_:)``.
  public func read(_ name: Data) throws(StoreError) -> Data { try folder.read(name) }

  /// See ``Store/keepExternalData(_:)``.
  public func keep(_ data: Data) throws(StoreError) -> Data? { try folder.write(data, ofStore: identifier) }

  /// See ``Store/discardExternalData(_:)``.
  public func discard(_ names: [Data]) { folder.remove(names) }

  // MARK: Commits

  /// Looks at the files of a change set, inside the transaction that writes it: those that its rows name from now on
  /// must be there, and those that become obsolete do so now.
  ///
  /// Throws `missingExternalData`, not saved, where a file is gone.
  public func prepare(_ changes: SealedChanges) throws(StoreError) {
    guard let removals else { return }
    for file in named(changes) where !removals.naming.withLock({ folder.touch(file) }) {
      throw StoreError(
        .missingExternalData, "The file of a large value is gone that the save was about to name; set the value again.",
        context: ["path": folder.folder.appendingPathComponent(file.uuidString).path])
    }
    let obsolete = changes.obsoleteExternalData.compactMap(ExternalDataFolder.file)
    for file in obsolete { _ = folder.touch(file) }
    // Now: after the commit somebody else may name one again, and touch it.
    touched.withLock { $0 = Dictionary(obsolete.map { ($0, folder.status(of: $0)) }, uniquingKeysWith: { $1 }) }
  }

  /// Lets the obsolete files of a change set go at their time. To be called after the commit, and before it returns.
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

  // MARK: Those who read

  /// What a snapshot keeps as long as it lives, made before it sees the store. Nil where the model has no large values.
  public func view() -> ExternalDataView? { removals.map(ExternalDataView.init) }

  /// See ``Store/holdExternalData(_:)``.
  public func hold(_ names: [Data]) { removals?.hold(names.compactMap(ExternalDataFolder.file)) }

  /// See ``Store/releaseExternalData(_:)``.
  public func release(_ names: [Data]) -> [Data] {
    guard let removals else { return [] }
    let kept = Set(removals.release(names.compactMap(ExternalDataFolder.file)))
    return kept.isEmpty ? [] : names.filter { ExternalDataFolder.file($0).map(kept.contains) ?? false }
  }

  /// Removes no file from now on, and looks at none. A sweep that reads the store ends.
  public func close() {
    closed.store(true, ordering: .sequentiallyConsistent)
    sweeping.withLock {}
    working.withLock {}
  }

  /// Runs one short step of background work, which ``close()`` waits for. Nil, and nothing is done, after the store is
  /// closed.
  func step<R>(_ body: () -> R) -> R? { working.withLock { isClosed ? nil : body() } }

  /// Removes files that nobody needs any more, as far as they are what they were when they became obsolete.
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

  /// Removes, in the background, what earlier openings of the store have left: files of the store that no row names.
  /// `store` is the one that this belongs to; to be called when it is open.
  public func sweep(_ store: any Store) {
    guard removals != nil, mayRemove, !store.isReadOnly else { return }
    DispatchQueue.global(qos: .utility).async { [weak store] in
      ExternalDataSweep(self).run { store }
    }
  }
}

/// Keeps the large values readable that the rows of a snapshot may name, until it is let go.
public final class ExternalDataView: Sendable {
  private let removals: PendingRemovals
  private let epoch: UInt64

  init(_ removals: PendingRemovals) {
    self.removals = removals
    epoch = removals.beginView()
  }

  deinit { removals.endView(epoch) }
}
