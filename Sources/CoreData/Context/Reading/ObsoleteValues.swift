import Dispatch
import Foundation
import StoreProtocol
import StoreSchema
import StoreSupport
import Synchronization

/// Large values that saves have replaced or deleted. Each is kept while an object of this process may have a row that
/// names it.
///
/// - A save holds the values at its store before it commits, and passes them to ``watch(_:_:)``.
/// - When the grace time is over, the contexts of every coordinator with the open store are searched for the objects of
///   the values. Only the queue of an object's context may read the object. So each context is searched on its queue,
///   and nobody waits for the result; the value stays meanwhile.
/// - Once no object has a row that names the value, the value is released, and the store removes it.
/// - A save whose commit fails passes the values to ``release(_:)``.
final class ObsoleteValues: Sendable {
  static let shared = ObsoleteValues()

  private struct State {
    var values: [Value] = []
    /// Contexts that have a scheduled search which has not run yet.
    var requested: Set<ObjectIdentifier> = []
  }

  private let state = Mutex(State())
  private let timer = EarliestTimer()
  /// Held while the values are checked: no other thread removes one meanwhile.
  private let looking = NSLock()

  /// One value that is held at its store.
  private struct Value: Sendable {
    let name: Data
    /// The root entity and the key of the object that had it.
    let root: String
    let key: Int64
    let store: Engine
    /// The next time the value is checked; at first the end of its grace time.
    var due: DispatchTime
    var holders: [Holder] = []
  }

  private final class Engine: Sendable {
    let identifier: String
    let grace: Double
    private let engine: Mutex<Weak>
    private struct Weak { weak var engine: (any Store)? }

    init(_ engine: any Store, grace: Double) {
      (identifier, self.grace) = (engine.identifier, grace)
      self.engine = Mutex(Weak(engine: engine))
    }

    var found: (any Store)? { engine.withLock { $0.engine } }
  }

  /// The store of a value. If it was closed, another open store on the same files. Nil where there is none.
  private func found(_ store: Engine) -> (any Store)? {
    if let found = store.found { return found }
    let open = opened.withLock { $0 }.lazy.compactMap { try? $0.store?.requireEngine() }
    return open.first { $0.identifier == store.identifier }
  }

  /// An object that may have a row that names the value.
  ///
  /// Sendable, unchecked: only the object's context reads the object.
  private final class Holder: @unchecked Sendable {
    private(set) weak var object: NSManagedObject?
    let context: ContextLink
    /// Whether the object's row is known to be a different one. The object never gets the former row again.
    let isDone: Atomic<Bool>

    init(_ object: NSManagedObject, _ context: ContextLink, isDone: Bool = false) {
      (self.object, self.context) = (object, context)
      self.isDone = Atomic(isDone)
    }
  }

  // MARK: Stores

  /// A store of a coordinator that may have large values.
  private struct Opened: Sendable {
    weak var store: NSPersistentStore?
    weak var coordinator: NSPersistentStoreCoordinator?
  }

  private let opened = Mutex<[Opened]>([])

  func note(_ store: NSPersistentStore, of coordinator: NSPersistentStoreCoordinator) {
    opened.withLock { opened in
      opened.removeAll { $0.store == nil }
      opened.append(Opened(store: store, coordinator: coordinator))
    }
  }

  // MARK: Values

  /// Takes over the held values that a part of a save has made obsolete. The objects of `saver` may still have their
  /// former rows.
  func watch(_ part: SavePlan.Part, _ saver: ContextCore) {
    var values = values(of: part)
    for (index, object) in part.ownersOfObsoleteData.enumerated() {
      // The object of an update gets the new row at once. A deleted object keeps its row while the client keeps the
      // object.
      values[index].holders.append(Holder(object, saver.link, isDone: !object.flags.isDeleted))
    }
    findHolders(&values)
    if values.first?.store.grace == 0 { values = releaseUnheld(values) }
    add(values)
  }

  /// Releases the values that a part of a save has held, after its commit failed. An earlier commit may have made one
  /// of them obsolete: while a view can still read that value, it stays held and is checked again.
  func release(_ part: SavePlan.Part) {
    let kept = Set(part.engine.externalDataStore?.releaseExternalData(part.changes.obsoleteExternalData) ?? [])
    if !kept.isEmpty { add(values(of: part).filter { kept.contains($0.name) }) }
  }

  /// The obsolete values of a part of a save, without holders.
  private func values(of part: SavePlan.Part) -> [Value] {
    let store = Engine(part.engine, grace: StoreOptionCoding.options(part.store.settings).externalDataGrace)
    let schema = part.engine.schema
    let due = DispatchTime.now() + store.grace
    return zip(part.changes.obsoleteExternalData, part.ownersOfObsoleteData).map { name, object in
      Value(name: name, root: schema.entities[object.info.root].name, key: object.key, store: store, due: due)
    }
  }

  /// Adds values to be checked when they are due.
  private func add(_ values: [Value]) {
    guard let due = values.first?.due else { return }
    state.withLock { $0.values += values }
    setTimer(max(due, .now() + 1))
  }

  /// Adds the registered objects of the values as holders, and removes rows that name the values from row caches.
  private func findHolders(_ values: inout [Value]) {
    let opened = opened.withLock { $0 }
    for entry in opened {
      guard let store = entry.store, let coordinator = entry.coordinator, let engine = try? store.requireEngine() else {
        continue
      }
      let (contexts, index) = (coordinator.attachedContexts, UInt16(store.index))
      for position in values.indices where values[position].store.identifier == engine.identifier {
        let value = values[position]
        guard let root = engine.schema.entity(named: value.root)?.root else { continue }
        // Done before the search: an object that is registered later does not find the row in the cache.
        if let row = store.cache.row(root, value.key), row.names(value.name, engine.schema) {
          store.cache.remove(root, [value.key])
        }
        for context in contexts {
          guard let object = context.registry.object(value.key, root: root, store: index),
            !value.holders.contains(where: { $0.object === object })
          else { continue }
          values[position].holders.append(Holder(object, context.link))
        }
      }
    }
  }

  /// Releases the values that no object needs. Returns the others.
  private func releaseUnheld(_ values: [Value]) -> [Value] {
    var rest: [Value] = []
    var unheld: [ObjectIdentifier: (store: Engine, values: [Value])] = [:]
    for var value in values {
      value.holders.removeAll { $0.object == nil }
      if value.holders.allSatisfy({ $0.isDone.load(ordering: .acquiring) }) {
        unheld[ObjectIdentifier(value.store), default: (value.store, [])].values.append(value)
      } else {
        rest.append(value)
      }
    }
    for (store, values) in unheld.values {
      // Views can still read these values, so other objects may get them.
      let kept = Set(found(store)?.externalDataStore?.releaseExternalData(values.map(\.name)) ?? [])
      rest += values.filter { kept.contains($0.name) }
    }
    return rest
  }

  // MARK: Checking again

  /// Releases the values that are due by `now` and that no object needs any more, and schedules searches for the rest.
  func look(now: DispatchTime = .now()) {
    looking.withLock {
      let known = state.withLock { $0.values }
      var due = known.filter { $0.due <= now && found($0.store) != nil }
      findHolders(&due)
      due = releaseUnheld(due)
      for index in due.indices { due[index].due = .now() + max(1, due[index].store.grace) }
      let rest = known.filter { $0.due > now } + due
      // Values that were added meanwhile stand behind the known ones.
      state.withLock { $0.values.replaceSubrange(known.indices, with: rest) }
      ask(due)
    }
  }

  private func ask(_ values: [Value]) {
    for value in values {
      for holder in value.holders where !holder.isDone.load(ordering: .relaxed) {
        let context = holder.context
        // A context without a queue cannot be searched: only its client knows when it may be used.
        guard let queue = context.core?.queue.dispatch else { continue }
        // One search at a time: the queue may never run it, for instance a main queue that nothing runs.
        let isNew = state.withLock { $0.requested.insert(ObjectIdentifier(context)).inserted }
        if isNew { queue.async { self.answer(context) } }
      }
    }
  }

  /// Runs on a context's queue: notes which of its objects have other rows now.
  private func answer(_ context: ContextLink) {
    let values = state.withLock { state in
      state.requested.remove(ObjectIdentifier(context))
      return state.values
    }
    guard let core = context.core else { return }
    core.run {
      for value in values {
        for holder in value.holders where holder.context === context {
          guard let object = holder.object else { continue }
          let names =
            object.core === core
            && object.row.map { row in core.frozen.map { row.names(value.name, $0.schema) } ?? false } ?? false
          if !names { holder.isDone.store(true, ordering: .releasing) }
        }
      }
    }
  }

  private func setTimer(_ due: DispatchTime) {
    timer.set(due) {
      self.look()
      return self.state.withLock { $0.values.map(\.due).min() }
    }
  }
}

extension Row {
  /// Whether one of the row's values is the large value with this name.
  fileprivate func names(_ name: Data, _ schema: Schema) -> Bool {
    let slots = schema.entities[entity].slots
    return slots.indices.contains { slot in
      slots[slot] == .externalData && !isNull(slot) && withBytes(slot) { $0.elementsEqual(name) }
    }
  }
}
