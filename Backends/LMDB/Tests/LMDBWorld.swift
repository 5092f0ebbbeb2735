#if LMDB
  import Foundation
  import LMDBBackend
  import StoreProtocol
  import StoreSchema
  import TestSupport
  import Testing

  /// A store of `All`s in a temporary folder: an attribute of each type, and an ordered relationship to other `All`s.
  final class LMDBWorld {
    let url: URL
    let schema: Schema
    let backend: LMDBBackend
    var lockURL: URL { URL(fileURLWithPath: url.path + "-lock") }
    var entity: Entity { schema.entities[0] }

    init(_ backend: LMDBBackend = LMDBBackend()) throws {
      self.backend = backend
      let folder = FileManager.default.temporaryDirectory.appending(path: "lmdb-\(UUID())")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      url = folder.appending(path: "store.lmdb")
      var all = EveryType.entity()
      all.fetchIndexes = [.init(name: "s", elements: [.init(property: "astring")])]
      schema = try Schema([all])
    }

    deinit { try? FileManager.default.removeItem(at: url.deletingLastPathComponent()) }

    func open(readOnly: Bool = false, timeout: Double = 30) throws -> any Store {
      var options = StoreOptions()
      (options.isReadOnly, options.timeout) = (readOnly, timeout)
      return try backend.open(at: url, schema: schema, options: options)
    }

    func row(key: Int64 = 0, version: Int64 = 1, previous: Int64? = nil, _ number: Int) throws -> RowDraft {
      let builder = RowBuilder()
      builder.begin(slots: entity.slots.count)
      for attribute in entity.attributes where number != 7 {
        builder.set(attribute.slot, EveryType.value(attribute.type, number))
      }
      if let previous, let slot = entity.relationship(named: "previous")?.slot { builder.setInt(slot, previous) }
      return builder.finishDraft(key: key, entity: 0, version: version)
    }

    func insert(_ store: any Store, _ numbers: Range<Int>, linked: Bool = false) throws -> [Int64] {
      var changes = ChangeSet(time: 0)
      changes.insertions = try numbers.map { try row(previous: linked && $0 > numbers.lowerBound ? -1 : nil, $0) }
      return try Self.commit(store, changes)
    }

    static func commit(_ store: any Store, _ changes: ChangeSet) throws -> [Int64] {
      try committed(changes, store).keys
    }

    func values(_ store: any Store) throws -> [[Value]] {
      var rows: [[Value]] = []
      let kinds = entity.slots
      try store.snapshot().scan(0..<1) { row in
        rows.append([.int(row.key), .int(row.version)] + kinds.indices.map { row.value($0, kinds[$0]) })
      }
      return rows
    }

    /// All content of the store: the rows by scan and by key, and the links of each row.
    func everything(_ store: any Store) throws -> [[Value]] {
      var found = try values(store)
      let view = try store.snapshot()
      let next = try #require(entity.relationship(named: "next"))
      for row in found {
        guard case .int(let key) = row[0] else { continue }
        let again = try view.row(of: 0, key: key)
        var destinations: [Value] = [again.map { .int($0.version) } ?? .null]
        try view.destinations(of: next, owners: [key]) { destinations.append(.int($1.key)) }
        found.append(destinations)
      }
      return found
    }
  }

  func code(_ body: () throws -> Void) -> StoreError.Code? {
    do { try body() } catch { return (error as? StoreError)?.code }
    return nil
  }
#endif
