#if LMDB
  import Foundation
  import LMDBBackend
  import StoreProtocol
  import StoreSchema
  import Testing

  /// A store of `All`s in a temporary folder: an attribute of each type, and an ordered relationship to other `All`s.
  final class LMDBWorld {
    let url: URL
    let schema: Schema
    let backend: LMDBBackend
    var lockURL: URL { URL(fileURLWithPath: url.path + "-lock") }
    var entity: Entity { schema.entities[0] }

    static let types: [AttributeType] = [
      .integer16, .integer32, .integer64, .boolean, .double, .float, .date, .decimal, .string, .uri, .uuid, .binaryData,
      .transformable,
    ]

    init(_ backend: LMDBBackend = LMDBBackend()) throws {
      self.backend = backend
      let folder = FileManager.default.temporaryDirectory.appending(path: "lmdb-\(UUID())")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      url = folder.appending(path: "store.lmdb")
      var all = EntityDefinition(name: "All")
      all.attributes = Self.types.map { AttributeDefinition(name: "a\($0)", type: $0) }
      all.fetchIndexes = [.init(name: "s", elements: [.init(property: "astring")])]
      var next = RelationshipDefinition(name: "next", destination: "All")
      (next.inverse, next.isOrdered) = ("previous", true)
      var previous = RelationshipDefinition(name: "previous", destination: "All")
      (previous.inverse, previous.maxCount) = ("next", 1)
      all.relationships = [next, previous]
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
        builder.set(attribute.slot, try Self.value(attribute.type, number))
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
      switch try store.commit(changes) {
      case .committed(let receipt): return receipt.keys
      case .conflicts(let conflicts): throw StoreError(.constraint, "\(conflicts)")
      }
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

    private static let texts = [
      "", " ", "a & b", "\u{0}\u{1}\u{1f}\t\n\r", "\u{FFFE}\u{FFFF}", "😀 é e\u{301}", "\u{2028}\u{85}",
    ]

    static func value(_ type: AttributeType, _ number: Int) throws -> Value {
      switch type {
      case .integer16: .int([Int64(Int16.min), Int64(Int16.max), 0][number % 3])
      case .integer32: .int([Int64(Int32.min), Int64(Int32.max), 0][number % 3])
      case .integer64: .int([Int64.min, .max, 0][number % 3])
      case .boolean: .bool(number % 2 == 0)
      case .double: .double([.leastNonzeroMagnitude, .greatestFiniteMagnitude, -.infinity, 0.1][number % 4])
      case .float: .double(Double([Float.leastNonzeroMagnitude, .greatestFiniteMagnitude, 19.6][number % 3]))
      case .date: .date([259257205.15052399, -1e-12, 1e300, 0][number % 4])
      case .decimal:
        .decimal(try #require(Decimal(string: ["-0.000000000000000000000000000000000001", "12e100"][number % 2])))
      case .string: .string(texts[number % texts.count])
      case .uri: .uri("http://x/?a=1&b=<2>")
      case .uuid: .uuid(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, UInt8(number & 255))))
      default: .data(Data((0..<(number * 29)).map { UInt8(truncatingIfNeeded: $0) }))
      }
    }
  }

  func code(_ body: () throws -> Void) -> StoreError.Code? {
    do { try body() } catch { return (error as? StoreError)?.code }
    return nil
  }
#endif
