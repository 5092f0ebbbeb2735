import StoreConformance

/// All saves of a run, indexed to find the save that may have come last. Objects are identified by name, never by key.
struct RaceHistory {
  /// A value that a save wrote: of an attribute, of a member's owner, or of a pair.
  struct Write {
    let value: String?
    let record: Int
    let start: UInt64
    let end: UInt64
    /// Whether the save certainly wrote the value.
    let isDefinite: Bool
  }

  struct Cell: Hashable {
    let object: String
    let key: String
  }

  let records: [RaceRecord]
  /// Names by ID.
  private(set) var names: [String: String] = [:]
  private(set) var writes: [Cell: [Write]] = [:]
  /// By owner and member.
  private(set) var pairs: [RaceRecord.Pair: [Write]] = [:]
  /// The index of the inserting save, by the object's name.
  private(set) var insertions: [String: Int] = [:]
  /// The indices of the saves whose contexts reported the deletion of an object, by its name.
  private(set) var deletions: [String: [Int]] = [:]
  /// Links that contexts dropped while they saved.
  private(set) var dropped: [(owner: String, member: String, record: Int)] = []
  /// Names of objects that a save of unknown outcome inserted or deleted.
  private(set) var doubtful: Set<String> = []

  init(_ all: [RaceRecord]) {
    records = all
    for record in all {
      for one in record.known { names[one.id] = one.name }
      for insertion in record.insertions where record.outcome == .saved { names[insertion.id] = insertion.name }
    }
    for (index, record) in all.enumerated() where record.outcome != .notSaved { add(record, index) }
  }

  private mutating func add(_ record: RaceRecord, _ index: Int) {
    let isKnown = record.outcome == .saved
    // With these policies the context's values are discarded if they conflict with the store's.
    let holds = isKnown && record.policy != .storeTrump && record.policy != .rollback
    func write(_ value: String?, _ isDefinite: Bool) -> Write {
      Write(value: value, record: index, start: record.start, end: record.end, isDefinite: isDefinite && holds)
    }
    let own = Dictionary(record.insertions.map { ($0.id, $0.name) }, uniquingKeysWith: { first, _ in first })
    func name(_ id: String) -> String { own[id] ?? names[id] ?? id }
    for insertion in record.insertions {
      if isKnown { insertions[insertion.name] = index } else { doubtful.insert(insertion.name) }
    }
    for one in record.writes {
      let value = one.key == "owner" ? one.value.map(name) : one.value
      if let owner = one.dropped { dropped.append((name(owner), name(one.object), index)) }
      writes[Cell(object: name(one.object), key: one.key), default: []].append(write(value, one.isDefinite))
    }
    // The same policies also undo deletions, so an object linked before the save is linked again.
    let gone = Set((isKnown && !holds ? [] : record.deletions) + record.deleted.map(name))
    // The delete rule does not affect objects that were unlinked before their owner was deleted.
    for pair in record.pairs where !pair.isLinked || !gone.contains(pair.owner) && !gone.contains(pair.member) {
      if pair.isDropped {
        dropped.append((pair.owner, pair.member, index))
        continue
      }
      let cell = RaceRecord.Pair(owner: pair.owner, member: pair.member, isLinked: true)
      pairs[cell, default: []].append(write(pair.isLinked ? "linked" : nil, true))
    }
    if isKnown {
      for id in record.deleted { deletions[name(id), default: []].append(index) }
    } else {
      doubtful.formUnion(record.deletions + record.deleted.map(name))
    }
  }

  /// Whether an object was certainly deleted by the end of the run.
  func isDeleted(_ name: String) -> Bool { deletions[name] != nil }
  func mayBeDeleted(_ name: String) -> Bool { isDeleted(name) || doubtful.contains(name) }

  /// The writes that no other of them certainly followed.
  func last(of writes: [Write]) -> [Write] {
    writes.filter { write in !writes.contains { $0.isDefinite && $0.start > write.end } }
  }

  /// The write as text, for faults: its value, its save, and the time of that save in microseconds after the first one.
  func text(_ write: Write) -> String { "\(write.value ?? "nil") by \(text(of: write.record))" }

  func text(of index: Int) -> String {
    let record = records[index]
    let begin = records.map(\.start).min() ?? 0
    return "worker \(record.worker) at \((record.start - begin) / 1000)–\((record.end - begin) / 1000) µs"
  }

  /// The effects of saves on some objects and on their owners, one line for each save, in the order in which the saves
  /// began.
  func lines(about some: [String]) -> [String] {
    func name(_ id: String) -> String { names[id] ?? id }
    let owners = some.flatMap { writes[Cell(object: $0, key: "owner")] ?? [] }.compactMap(\.value)
    let objects = Set(some + owners)
    return records.indices.sorted { records[$0].start < records[$1].start }.compactMap { index in
      let record = records[index]
      var done: [String] = []
      for one in record.insertions where objects.contains(one.name) { done.append("inserts \(one.name)") }
      for one in record.writes
      where objects.contains(name(one.object)) || one.value.map({ objects.contains(name($0)) }) ?? false {
        let dropped = one.dropped.map { ", instead of \(name($0))" } ?? ""
        let value = one.value.map { one.key == "owner" ? name($0) : $0 } ?? "nil"
        done.append("\(name(one.object)).\(one.key) = \(value)\(dropped)\(one.isDefinite ? "" : " perhaps")")
      }
      for one in record.links where objects.contains(one.owner) || objects.contains(one.member) {
        done.append("links \(one.owner) and \(one.member)")
      }
      for one in record.deletions + record.deleted.map(name) where objects.contains(one) {
        done.append("deletes \(one)")
      }
      if done.isEmpty { return nil }
      return
        "\(text(of: index)), \(record.policy.rawValue), \(record.outcome.rawValue): \(done.joined(separator: "; "))"
    }
  }
}
