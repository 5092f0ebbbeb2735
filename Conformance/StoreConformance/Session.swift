import Foundation
import StoreProtocol
import StoreSchema

/// A store that a case has open. The profile decides which opening writes and which one reads.
public final class Session: @unchecked Sendable {
  /// The model that the store is opened with.
  public let schema: Schema
  /// The store that commits go to.
  public private(set) var store: any Store
  let profile: Profile
  private let backend: any StoreBackend
  private let url: URL
  private let options: StoreOptions
  /// The second opening, for reading.
  private var reader: (any Store)?

  init(
    _ backend: any StoreBackend, _ url: URL, _ schema: Schema, _ options: StoreOptions, _ profile: Profile
  ) throws(StoreError) {
    (self.backend, self.url, self.schema, self.options, self.profile) = (backend, url, schema, options, profile)
    store = try backend.open(at: url, schema: schema, options: options)
    if profile == .twoStores { reader = try backend.open(at: url, schema: schema, options: readerOptions) }
  }

  /// The first opening makes a new store; further ones need not write.
  private var readerOptions: StoreOptions { options }

  /// Closes everything. Safe to call twice.
  public func close() throws(StoreError) {
    try reader?.close()
    try store.close()
  }

  /// Closes the store and opens it again.
  public func reopen() throws(StoreError) {
    try close()
    store = try backend.open(at: url, schema: schema, options: options)
    if profile == .twoStores { reader = try backend.open(at: url, schema: schema, options: readerOptions) }
  }

  // MARK: Writing

  /// Commits, and returns the new objects in the order of their insertion. Conflicts end the case.
  @discardableResult
  public func commit(_ build: (inout Changes) throws -> Void) throws -> [ObjectReference] {
    let (result, insertions) = try attempt(build)
    switch result {
    case .conflicts(let conflicts): throw Failure("the commit has conflicts: \(conflicts.map(\.brief))")
    case .committed(let receipt):
      return zip(insertions, receipt.keys).map { ObjectReference(entity: $0, key: $1) }
    }
  }

  /// Commits, and returns the conflicts; empty where it was committed.
  public func conflicts(_ build: (inout Changes) throws -> Void) throws -> [Conflict] {
    if case .conflicts(let conflicts) = try attempt(build).result { return conflicts }
    return []
  }

  /// Commits, with any result, and returns the result and the entities of the insertions.
  public func attempt(
    _ build: (inout Changes) throws -> Void
  ) throws -> (result: CommitResult, insertions: [Int]) {
    var changes = Changes(self)
    try build(&changes)
    let insertions = changes.set.insertions.map(\.entity)
    let result = try store.commit(changes.set)
    if case .committed = result, profile == .reopen { try reopen() }
    return (result, insertions)
  }

  /// Inserts one object in a commit of its own.
  @discardableResult
  public func insert(_ entity: String, _ values: [String: Cell] = [:]) throws -> ObjectReference {
    guard let object = try commit({ _ = try $0.insert(entity, values) }).first else {
      throw Failure("no key came back for an inserted \(entity)")
    }
    return object
  }

  /// Changes one object in a commit of its own.
  public func update(_ object: ObjectReference, _ values: [String: Cell]) throws {
    try commit { try $0.update(object, values) }
  }

  /// Deletes one object in a commit of its own.
  public func delete(_ object: ObjectReference) throws { try commit { try $0.delete(object) } }

  /// The row that a change is based on, as the writer sees it.
  func current(_ object: ObjectReference) throws -> Row {
    guard let row = try store.snapshot().row(of: object.entity, key: object.key) else {
      throw Failure("there is no \(schema.entities[object.entity].name) \(object.key) to change")
    }
    return row
  }

  // MARK: Reading

  /// Runs `body` with a snapshot, opened as the profile says. The result must not keep the snapshot.
  public func read<R>(_ body: (any StoreSnapshot) throws -> R) throws -> R {
    switch profile {
    case .coldCache:
      let cold = try backend.open(at: url, schema: schema, options: options)
      let result = try Result { try body(cold.snapshot()) }.get()
      try cold.close()
      return result
    case .twoStores: return try body((reader ?? store).snapshot())
    case .plain, .reopen, .single, .noPushdown: return try body(store.snapshot())
    }
  }

  /// The entity with a name. The name must be right.
  public func entity(_ name: String) throws -> Entity {
    guard let entity = schema.entity(named: name) else { throw HarnessProblem("there is no entity \(name)") }
    return entity
  }

  func relationship(_ name: String, of object: ObjectReference) throws -> Relationship {
    guard let relationship = schema.entities[object.entity].relationship(named: name) else {
      throw HarnessProblem("there is no relationship \(name)")
    }
    return relationship
  }
}

extension Conflict {
  /// The conflict in reports.
  var brief: String {
    switch kind {
    case .version(let row):
      "version of \(reference.entity)#\(reference.key), stored \(row.map { "\($0.version)" } ?? "nothing")"
    case .constraint(let slots, let other, _):
      "slots \(slots) of \(reference.entity)#\(reference.key) as in \(other.entity)#\(other.key)"
    case .referrers(let relationship, let others):
      "relationship \(relationship) of \(reference.entity)#\(reference.key) still has \(others.map(\.key))"
    }
  }
}
