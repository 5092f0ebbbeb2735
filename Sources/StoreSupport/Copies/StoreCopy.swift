import Foundation
import StoreProtocol
import StoreSchema

/// Copies everything that one open store holds into another one that is empty: objects with their keys, links with
/// their order, large data, the application's metadata.
///
/// The copy has its own UUID, versions, derived attributes and history. Nothing of the source changes.
public struct StoreCopy {
  private let source: any Store
  private let target: any Store
  /// Encodes an object that the source keeps.
  private let encode: Encoding?
  /// How many objects a commit writes: all of them where each commit writes the whole file.
  private let batchSize: Int
  private var schema: Schema { target.schema }

  /// Encodes an object that the source keeps as the value of an attribute's slot.
  public typealias Encoding = (_ entity: Int, _ slot: Int, _ object: Any) throws(StoreError) -> Data

  /// Both stores were opened with the same model. `encode` is needed where the source keeps objects and the target does
  /// not.
  public init(_ source: any Store, to target: any Store, encode: Encoding? = nil) {
    self.source = source
    self.target = target
    self.encode = target.capabilities.contains(.objectValues) ? nil : encode
    batchSize = target.capabilities.contains(.rowLevel) ? 10_000 : .max
  }

  /// Copies; `progress` is called after each object.
  ///
  /// Throws `corrupt` where a value or a reference of the source is invalid, and `constraint` where two objects
  /// contradict a uniqueness constraint. Objects copied before the error stay in the target; the caller discards it.
  public func run(_ progress: () -> Void) throws(StoreError) {
    let inspection = try Inspection(source)
    var batch = Batch(time: Date.timeIntervalSinceReferenceDate)
    batch.changes.metadata = metadata()
    try forEachObject(inspection) { (object) throws(StoreError) in
      batch.changes.insertions.append(try row(object, batch.builder))
      try commit(&batch, unless: batch.changes.insertions.count < batchSize)
      progress()
    }
    // First links between existing objects, then the orders of existing links.
    for step in [LinkStep.links, .ordersOfSecondSides] {
      try forEachObject(inspection, where: { $0.relationships.contains(where: step.concerns) }) {
        (object) throws(StoreError) in
        try addLinks(object, step, to: &batch)
        try commit(&batch, unless: batch.changes.links.count < batchSize)
      }
    }
    try commit(&batch, unless: batch.changes.isEmpty)
  }

  private struct Batch {
    var changes: ChangeSet
    let builder = RowBuilder()

    init(time: Double) {
      changes = ChangeSet(time: time)
      changes.isPartOfCopy = true
    }
  }

  private func commit(_ batch: inout Batch, unless isSmall: Bool) throws(StoreError) {
    if isSmall { return }
    let result = try target.commit(batch.changes)
    batch = Batch(time: batch.changes.time)
    guard case .conflicts(let conflicts) = result else { return }
    let objects = conflicts.prefix(8).map { schema.text(of: $0.reference) }.joined(separator: ", ")
    throw StoreError(
      .constraint, "Objects of the store have values that must be unique; change them first.",
      context: ["objects": objects])
  }

  // MARK: Objects

  private func forEachObject(
    _ inspection: Inspection, where isRequired: (Entity) -> Bool = { _ in true },
    _ body: (InspectedObject) throws(StoreError) -> Void
  ) throws(StoreError) {
    for entity in schema.entities where !entity.isAbstract && isRequired(entity) {
      try inspection.objects(of: entity.index, body)
    }
  }

  private func row(_ object: InspectedObject, _ builder: RowBuilder) throws(StoreError) -> RowDraft {
    let entity = schema.entities[object.reference.entity]
    guard object.reference.key > 0 else { throw fault(object, "has a key that is none") }
    builder.begin(slots: entity.slots.count)
    for (slot, value) in object.values.enumerated() {
      switch value {
      case .invalid(let reason): throw fault(object, reason)
      case .sound(.null): continue
      case .sound(.data(let data)) where entity.slots[slot] == .externalData:
        builder.set(slot, .data(try target.keepExternally(data) ?? Data([1]) + data))
      case .sound(.data(let data)) where entity.slots[slot] == .transformable:
        builder.set(slot, .data(try bytes(data, object.reference.entity, slot)))
      case .sound(let value): builder.set(slot, value)
      }
    }
    for relationship in entity.relationships {
      guard let slot = relationship.slot, let target = try targets(relationship, object).first else { continue }
      builder.setInt(slot, target.key)
      if let entitySlot = relationship.entitySlot { builder.setInt(entitySlot, Int64(target.entity)) }
    }
    return try builder.finishCheckedDraft(key: object.reference.key, entity: entity, version: 1)
  }

  /// The bytes of a transformable attribute that the target keeps.
  private func bytes(_ data: Data, _ entity: Int, _ slot: Int) throws(StoreError) -> Data {
    guard let encode, let object = RowObjects.object(data) else { return data }
    return try encode(entity, slot, object)
  }

  /// The destinations, all of which exist. With the delete rule no action a reference may lead to a missing object; it
  /// counts as null.
  private func targets(_ relationship: Relationship, _ object: InspectedObject) throws(StoreError) -> [InspectedTarget]
  {
    switch object.relationships[relationship.index] {
    case .invalid(let reason): throw fault(object, "\(relationship.name): \(reason)")
    case .objects(let all):
      let targets = relationship.mayDangle ? all.filter { !$0.isMissing } : all
      if let defect = targets.lazy.compactMap(\.defect).first { throw fault(object, "\(relationship.name): \(defect)") }
      return targets
    }
  }

  private func fault(_ object: InspectedObject, _ reason: String) -> StoreError {
    StoreError(
      .corrupt, "An object of the store is damaged and cannot be copied. Run `coredata store verify` on the store.",
      context: ["reason": reason],
      cause: schema.text(of: object.reference))
  }

  // MARK: Links

  private enum LinkStep {
    case links, ordersOfSecondSides

    func concerns(_ relationship: Relationship) -> Bool {
      switch relationship.storage {
      case .toOne: false
      case .inverseToOne: self == .links && relationship.isOrdered
      case .destination, .pairs(isPrimary: true): self == .links
      case .pairs(isPrimary: false): self == .ordersOfSecondSides && relationship.isOrdered
      }
    }
  }

  private func addLinks(_ object: InspectedObject, _ step: LinkStep, to batch: inout Batch) throws(StoreError) {
    let entity = schema.entities[object.reference.entity]
    for relationship in entity.relationships where step.concerns(relationship) {
      let destinations = try targets(relationship, object).map { ObjectReference(entity: $0.entity, key: $0.key) }
      if destinations.isEmpty { continue }
      let isStored = step == .links && relationship.storage != .inverseToOne
      batch.changes.links.append(
        ChangeSet.LinkChange(
          entity: entity.index, relationship: relationship.index, owner: object.reference.key,
          added: isStored ? destinations : [], removed: [], order: relationship.isOrdered ? destinations : nil))
    }
  }

  // MARK: Metadata

  /// Entries about the target's own format stay. All other entries are the source's.
  private func metadata() -> StoreMetadata {
    var result = target.metadata
    result.versionHashes = source.metadata.versionHashes
    result.versionIdentifiers = source.metadata.versionIdentifiers
    result.additional.merge(source.metadata.additional) { own, _ in own }
    return result
  }
}

extension Schema {
  /// `Entity/pN`.
  fileprivate func text(of object: ObjectReference) -> String { "\(entities[object.entity].name)/p\(object.key)" }
}

extension StoreBackend {
  /// Makes a store at `url` that holds everything that an open store of any type holds; see ``StoreCopy``.
  ///
  /// The new store is made in a folder beside `url`, and moved to `url` when it is complete. An empty file at `url`, or
  /// a log or journal that a removed database has left, is replaced. For anything else at `url` it throws `exists`,
  /// unless `replaces` allows to replace a store of this type. After an error, what was at `url` is still there.
  public func make(
    at url: URL, copying source: any Store, options: StoreOptions, replaces: Bool = false,
    encode: StoreCopy.Encoding? = nil, progress: () -> Void = {}
  ) throws(StoreError) {
    try make(at: url, schema: source.schema, options: options, replaces: replaces) { (store) throws(StoreError) in
      try StoreCopy(source, to: store, encode: encode).run(progress)
    }
  }

  /// The same for a store that `fill` fills.
  func make(
    at url: URL, schema: Schema, options: StoreOptions, replaces: Bool,
    _ fill: (any Store) throws(StoreError) -> Void
  ) throws(StoreError) {
    let isFree = FileStatus(url.path).map { $0.isRegular && $0.size == 0 } ?? true
    if !replaces && !isFree {
      throw StoreError(
        .exists, "There is something at the URL of the new store already. Choose another URL, or remove it.",
        context: ["path": url.path])
    }
    for path in ["-wal", "-journal"].map({ url.path + $0 }) where !replaces && FileStatus(path)?.size ?? 0 > 0 {
      throw StoreError(
        .exists,
        "The log of another store is at the URL of the new store. It may hold the last saves of that store. Move it away.",
        context: ["path": path])
    }
    let folder = try TemporaryFolder(beside: url, for: "copying")
    defer { folder.remove() }
    let draft = folder.url.appendingPathComponent("store")
    let store = try open(at: draft, schema: schema, options: options)
    do { try fill(store) } catch {
      try? store.close()
      throw error
    }
    try store.close()
    try replace(at: url, with: draft, options: options)
  }
}
