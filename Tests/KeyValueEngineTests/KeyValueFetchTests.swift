import AtomicEngine
import Foundation
import KeyValueEngine
import StoreProtocol
import StoreQuery
import StoreSchema
import Testing

/// Fetches that use indexes and links return the same objects as a scan of all objects.
@Suite struct KeyValueFetchTests {
  private typealias Comparison = StoreQuery.Predicate.Operator

  private let schema: Schema
  private let map = MemoryMap()
  private let store: KeyValueStore<MemoryMap>
  /// The same objects with other keys.
  private let atomic: AtomicStore
  private var thing: Entity { schema.entities[0] }

  private static let types: [AttributeType] = [
    .integer16, .integer64, .boolean, .double, .float, .date, .decimal, .string, .uri, .uuid, .binaryData,
  ]

  /// `Thing`s with an indexed attribute of each type, their subentity `Part`, and `Vault`s that contain them.
  private static func schema(isIndexed: Bool = true) throws -> Schema {
    var (thing, part, box) = (
      EntityDefinition(name: "Thing"), EntityDefinition(name: "Part"), EntityDefinition(name: "Vault")
    )
    thing.attributes = types.map { AttributeDefinition(name: "a\($0)", type: $0) }
    thing.attributes.append(AttributeDefinition(name: "plain", type: .integer64))
    thing.attributes.append(AttributeDefinition(name: "unique", type: .integer64))
    thing.uniquenessConstraints = [["unique"]]
    if isIndexed {
      thing.fetchIndexes = types.map { .init(name: "by \($0)", elements: [.init(property: "a\($0)")]) }
      thing.fetchIndexes.append(
        .init(name: "two", elements: [.init(property: "plain"), .init(property: "astring")]))
    }
    part.superentity = "Thing"
    part.attributes = [AttributeDefinition(name: "extra", type: .string)]
    part.fetchIndexes = isIndexed ? [.init(name: "x", elements: [.init(property: "extra")])] : []
    var home = RelationshipDefinition(name: "box", destination: "Vault")
    (home.inverse, home.maxCount) = ("things", 1)
    var things = RelationshipDefinition(name: "things", destination: "Thing")
    things.inverse = "box"
    thing.relationships = [home]
    box.relationships = [things]
    return try Schema([thing, part, box])
  }

  init() throws {
    schema = try Self.schema()
    try KeyValueStore.make(map, schema, storeType: "Test", options: StoreOptions())
    let metadata = StoreMetadata(
      identifier: "A", storeType: "Test", versionHashes: [:], versionIdentifiers: [], additional: [:])
    atomic = AtomicStore(AtomicGraph(schema), metadata, [])
    store = try Self.open(map, schema)
    var random = Random()
    var changes = ChangeSet(time: 0)
    let box = try #require(schema.entities.first { $0.name == "Vault" })
    let part = try #require(schema.entities.first { $0.name == "Part" })
    let builder = RowBuilder()
    for number in 0..<400 {
      let entity = number < 5 ? box : number % 3 == 0 ? part : thing
      builder.begin(slots: entity.slots.count)
      for attribute in entity.attributes {
        let value = attribute.name == "unique" ? .int(Int64(number)) : Self.value(attribute.type, &random)
        if attribute.name != "unique" || number % 4 != 0 { builder.set(attribute.slot, value) }
      }
      if let slot = entity.relationship(named: "box")?.slot, number % 7 != 0 {
        builder.setInt(slot, -Int64(random.below(5)) - 1)
      }
      changes.insertions.append(builder.finishDraft(key: 0, entity: entity.index, version: 1))
    }
    for store in [store, atomic] as [any Store] {
      guard case .committed = try store.commit(changes) else { throw StoreError(.constraint, "not inserted") }
    }
  }

  private static func open(_ map: MemoryMap, _ schema: Schema) throws -> KeyValueStore<MemoryMap> {
    try KeyValueStore(map, schema, storeType: "Test", capabilities: [.pushDown], options: StoreOptions())
  }

  private struct Random {
    private var state: UInt64 = 42
    mutating func below(_ count: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int((state >> 33) % UInt64(count))
    }
    mutating func one<T>(_ values: [T]) -> T { values[below(values.count)] }
  }

  private static let long = String(repeating: "long ", count: 30)
  private static let texts = [
    "", "a", "A", "ab", "abc", "b", "\u{0}", "a\u{0}", "a\u{0}b", "é", "e\u{301}", "\u{FFFF}", "😀", long, long + "1",
    long + "2", String(long.prefix(80)), String(long.prefix(86)) + "x",
  ]

  private static func value(_ type: AttributeType, _ random: inout Random) -> Value {
    if random.below(6) == 0 { return .null }
    let whole = Int64(random.below(9)) - 4
    switch type {
    case .integer64: return .int(random.one([whole, .min, .max, 1 << 53 + 1, 1 << 53]))
    case .boolean: return .bool(random.below(2) == 0)
    case .double: return .double(random.one([Double(whole), 0.5, -0.5, 0x1p53, 0x1p63, .infinity, -.infinity]))
    case .float: return .double(random.one([Double(whole), Double(Float(0.1))]))
    case .date: return .date(random.one([Double(whole), 1e-9]))
    case .decimal: return .decimal(random.one([Decimal(whole), Decimal(1) / 3]))
    case .string: return .string(random.one(texts))
    case .uri: return .uri(random.one(texts))
    case .uuid: return .uuid(UUID(uuid: (UInt8(random.below(3)), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)))
    case .binaryData: return .data(Data(random.one(texts).utf8))
    default: return .int(whole)
    }
  }

  private func predicate(_ entity: Entity, _ random: inout Random, depth: Int = 0) -> ResolvedPredicate {
    if depth < 2 && random.below(3) == 0 {
      let parts = (0...random.below(3)).map { _ in predicate(entity, &random, depth: depth + 1) }
      return random.one([.and(parts), .and(parts), .or(parts), .not(parts[0])])
    }
    let references = (1...6).map { Value.reference(ObjectReference(entity: schema.entities.count - 1, key: $0)) }
    if random.below(6) == 0, let box = entity.relationship(named: "box") {
      let path = ResolvedExpression.path(SlotPath(leaf: .toOne(box)))
      if random.below(2) == 0 { return .member(path, of: .constants(Array(references.prefix(random.below(4)))), []) }
      return .comparison(path, random.one([.equalTo, .notEqualTo]), .constant(random.one(references + [.null])), [])
    }
    if random.below(9) == 0 {
      let keys = (0..<4).map { _ in
        Value.reference(ObjectReference(entity: random.below(2), key: Int64(random.below(400))))
      }
      return .member(.path(SlotPath(leaf: .object)), of: .constants(keys), [])
    }
    let attribute = random.one(entity.attributes)
    let path = ResolvedExpression.path(
      SlotPath(
        leaf: .attribute(
          slot: attribute.slot, kind: entity.slots[attribute.slot], declaringEntity: attribute.declaringEntity)))
    // Sometimes of another type, which is comparable with some types only.
    let type = random.below(4) == 0 ? random.one(Self.types) : attribute.type
    let options: [StoreQuery.Predicate.Options] = [[], [], [], .caseInsensitive, .diacriticInsensitive]
    let orders: [Comparison] = [
      .equalTo, .equalTo, .notEqualTo, .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo,
    ]
    switch random.below(8) {
    case 0:
      let list = (0..<random.below(4)).map { _ in Self.value(type, &random) }
      return .member(path, of: .constants(list), [])
    case 1: return .between(path, .constant(Self.value(type, &random)), .constant(Self.value(type, &random)), [])
    case 2: return .comparison(path, .beginsWith, .constant(Self.value(.string, &random)), random.one(options))
    case 3: return .comparison(.constant(Self.value(type, &random)), random.one(orders), path, [])
    default:
      return .comparison(path, random.one(orders), .constant(Self.value(type, &random)), random.one(options))
    }
  }

  private func sort(_ entity: Entity, _ random: inout Random) -> ResolvedSort {
    let attribute = random.one(entity.attributes)
    return ResolvedSort(
      path: SlotPath(
        leaf: .attribute(
          slot: attribute.slot, kind: entity.slots[attribute.slot], declaringEntity: attribute.declaringEntity)),
      isAscending: random.below(2) == 0, comparison: random.one([.literal, .literal, .caseInsensitive]))
  }

  private func keys(_ plan: FetchPlan, of other: (any Store)? = nil, pushesDown: Bool = true) throws -> [Int64] {
    var keys: [Int64] = []
    let snapshot = try (other ?? store).snapshot()
    try FetchExecution(snapshot, pushesDown: pushesDown).fetch(plan) { keys.append($0.key) }
    return keys
  }

  @Test(arguments: [false, true]) func whatIsFoundByIndexesIsWhatTheEvaluatorSelects(isAtomic: Bool) throws {
    let store: any Store = isAtomic ? atomic : store
    var random = Random()
    var found = 0
    for round in 0..<300 {
      let entity = schema.entities[random.below(2)]
      var plan = FetchPlan(entities: entity.subtree, predicate: predicate(entity, &random))
      if random.below(4) == 0 { plan.predicate = .constant(true) }
      if random.below(2) == 0 { plan.sort = (0...random.below(2)).map { _ in sort(entity, &random) } }
      if random.below(3) == 0 { (plan.offset, plan.limit) = (random.below(5), random.below(20)) }
      let expected = try keys(plan, of: store, pushesDown: false)
      #expect(try keys(plan, of: store) == expected, "round \(round): \(plan)")
      let execution = FetchExecution(try store.snapshot())
      #expect(try execution.count(plan) == expected.count)
      var references: [Int64] = []
      try execution.references(plan) { references.append($0.key) }
      #expect(references == expected)
      found += expected.count
    }
    #expect(found > 5000)
  }

  private func path(_ name: String) throws -> SlotPath {
    let attribute = try #require(thing.attribute(named: name))
    return SlotPath(
      leaf: .attribute(slot: attribute.slot, kind: thing.slots[attribute.slot], declaringEntity: thing.index))
  }

  /// A change alters the order of an index; a reader of an earlier version keeps that version's order.
  @Test func ordersAreThoseOfTheirVersion() throws {
    func compare(_ op: Comparison, _ value: Value) throws -> FetchPlan {
      FetchPlan(
        entities: thing.subtree, predicate: .comparison(.path(try path("unique")), op, .constant(value), []))
    }
    let plan = try compare(.greaterThanOrEqualTo, .int(396))
    let former = try atomic.snapshot()
    func found(_ snapshot: any StoreSnapshot) throws -> [Int64] {
      var found: [Int64] = []
      let slot = try #require(thing.attribute(named: "unique")).slot
      for _ in 0..<3 {
        found = []
        try FetchExecution(snapshot).fetch(plan) { found.append($0.int(slot)) }
      }
      return found.sorted()
    }
    #expect(try found(former) == [397, 398, 399])
    #expect(try #require(former.fetching).explanation(of: plan) == ["by the index of Thing.unique, once it is made"])
    var changes = ChangeSet(time: 0)
    let builder = RowBuilder()
    builder.begin(slots: thing.slots.count)
    builder.set(try #require(thing.attribute(named: "unique")).slot, .int(1000))
    changes.insertions.append(builder.finishDraft(key: 0, entity: thing.index, version: 1))
    _ = try atomic.commit(changes)
    #expect(try found(atomic.snapshot()) == [397, 398, 399, 1000])
    #expect(try found(former) == [397, 398, 399])
  }

  /// The number of row entries that a fetch reads.
  private func reads(_ predicate: ResolvedPredicate, sort: [ResolvedSort] = [], limit: Int? = nil) throws -> Int {
    let before = map.readRows
    _ = try keys(FetchPlan(entities: thing.subtree, predicate: predicate, sort: sort, limit: limit))
    return map.readRows - before
  }

  @Test func fewRowsAreLookedAt() throws {
    func compare(_ name: String, _ op: Comparison, _ value: Value) throws -> ResolvedPredicate {
      .comparison(.path(try path(name)), op, .constant(value), [])
    }
    let all = try reads(try compare("plain", .notEqualTo, .int(1)))
    #expect(all >= 395)
    for (name, op, value) in [
      ("astring", .equalTo, .string("abc")), ("astring", .beginsWith, .string("a\u{0}")), ("aint", .equalTo, .int(2)),
      ("aint", .greaterThanOrEqualTo, .int(4)), ("unique", .equalTo, .int(77)), ("plain", .equalTo, .int(2)),
      ("adate", .lessThanOrEqualTo, .date(-4)), ("auuid", .equalTo, .uuid(UUID())), ("adouble", .equalTo, .int(3)),
    ] as [(String, Comparison, Value)] {
      let name = name == "aint" ? "ainteger16" : name
      let predicate = try compare(name, op, value)
      let count = try keys(FetchPlan(entities: thing.subtree, predicate: predicate)).count
      #expect(try reads(predicate) == count, "\(name)")
      #expect(count < all / 3)
    }
    // Neither case-insensitive comparisons nor negations use the index.
    let folded = ResolvedPredicate.comparison(
      .path(try path("astring")), .equalTo, .constant(.string("abc")), .caseInsensitive)
    #expect(try reads(folded) == all)
    #expect(try reads(.not(try compare("unique", .equalTo, .int(7)))) == all)
    // A sort by an index reads as many objects as the limit allows, and those with equal index entries.
    let sort = ResolvedSort(path: try path("adate"), isAscending: false)
    #expect(try reads(.constant(true), sort: [sort], limit: 3) < 60)
    #expect(try reads(try compare("adate", .greaterThan, .date(0)), sort: [sort], limit: 3) < 60)
    let box = try #require(thing.relationship(named: "box"))
    let owner = Value.reference(ObjectReference(entity: schema.entities.count - 1, key: 2))
    #expect(try reads(.comparison(.path(SlotPath(leaf: .toOne(box))), .equalTo, .constant(owner), [])) < all / 3)
  }

  @Test func indexesOfAnotherModelAreNotRead() throws {
    // The view of a model without the indexes, and that of one whose indexes are not built yet.
    let (plain, predicate) = (
      try Self.open(map, Self.schema(isIndexed: false)),
      ResolvedPredicate.comparison(.path(try path("astring")), .equalTo, .constant(.string("abc")), [])
    )
    let expected = try keys(FetchPlan(entities: thing.subtree, predicate: predicate))
    #expect(!expected.isEmpty)
    _ = try plain.allocateKeys(root: 0, count: 1)
    #expect(try keys(FetchPlan(entities: thing.subtree, predicate: predicate)) == expected)
    #expect(try reads(predicate) > 390)
    var found: [Int64] = []
    try FetchExecution(try plain.snapshot()).fetch(
      FetchPlan(entities: thing.subtree, predicate: predicate)
    ) { found.append($0.key) }
    #expect(found == expected)
  }

  @Test func aDamagedEntryOfAnIndexIsFound() throws {
    let predicate = ResolvedPredicate.comparison(
      .path(try path("unique")), .greaterThanOrEqualTo, .constant(.int(0)), [])
    _ = try keys(FetchPlan(entities: thing.subtree, predicate: predicate))
    for entry in map.sizes(.indexes).indices { map.damage(.indexes, entry: entry, byte: 3) }
    #expect { try keys(FetchPlan(entities: thing.subtree, predicate: predicate)) } throws: {
      ($0 as? StoreError)?.code == .corrupt
    }
  }
}
