import StoreConformance

/// Finds the parts of a store's final contents that no order of the acknowledged saves explains.
///
/// Each object stores its name, and each value is written only once, so that a value identifies the save that wrote it.
/// A save may have written the final value of an attribute if no other save of that attribute began after it had ended.
struct RaceJudge {
  private let history: RaceHistory
  private let contents: [StoreContents]
  private var objects: [String: StoreContents.Object] = [:]
  /// Names by ID, of existing objects and of objects whose deletion was acknowledged.
  private var names: [String: String]
  private(set) var faults: [RaceFault] = []

  /// The faults of a run, the most informative first. Empty if everything is explained.
  static func faults(of result: RaceResult) -> [RaceFault] {
    var faults = result.problems.map { RaceFault(.process, [], $0) }
    if let text = result.unreadable { faults.append(RaceFault(.unreadable, [], "a store cannot be read: \(text)")) }
    for action in result.actions {
      guard let error = action.error, !action.isBusy else { continue }
      faults.append(RaceFault(.action, [], "worker \(action.worker) could not \(action.kind.rawValue): \(error)"))
    }
    let ends = result.actions.filter { $0.error == nil && ($0.kind == .replace || $0.kind == .destroy) }
    if let end = ends.first {
      faults += self.faults(of: result, after: end)
    } else if let contents = result.contents {
      faults += judged(result.records, contents) {
        $0.checkDropped()
        for read in result.reads { $0.check(read) }
      }
    }
    for action in result.actions {
      guard let url = action.url, let copy = result.copies[url] else { continue }
      faults += judged(records(result.records, in: action), [copy]).map {
        RaceFault($0.kind, $0.objects, "in a copy: \($0.text)")
      }
    }
    return faults.sorted { $0.kind.rawValue < $1.kind.rawValue }
  }

  /// `more` runs the checks that need the records of the whole run.
  private static func judged(
    _ records: [RaceRecord], _ contents: [StoreContents], more: (inout RaceJudge) -> Void = { _ in }
  ) -> [RaceFault] {
    var judge = RaceJudge(records, contents)
    judge.run()
    more(&judge)
    return judge.faults
  }

  /// The saves that a copy may contain. It contains those that ended before the copy began; it may contain those that
  /// ran at the same time.
  private static func records(_ records: [RaceRecord], in copy: RaceAction) -> [RaceRecord] {
    records.filter { $0.start <= copy.end && $0.outcome != .notSaved }.map { record in
      var record = record
      if record.end >= copy.start { record.outcome = .unknown }
      return record
    }
  }

  /// Checks a run whose first store was replaced or removed: no later save reports success, and the replacing store has
  /// the contents from before the workers began.
  private static func faults(of result: RaceResult, after end: RaceAction) -> [RaceFault] {
    var faults: [RaceFault] = []
    for record in result.records where record.outcome == .saved && record.start > end.end {
      // An object that was inserted and deleted before the save requires no save.
      if record.insertions.isEmpty && record.deleted.isEmpty && !record.writes.contains(where: \.isDefinite) {
        continue
      }
      faults.append(
        RaceFault(
          .replaced, record.insertions.map(\.name),
          "worker \(record.worker) saved to a store \((record.start - end.end) / 1000) µs after its \(end.kind.rawValue)"
        ))
    }
    let before = end.kind == .replace ? result.records.filter { $0.worker < 0 } : []
    if let contents = result.contents { faults += judged(before, contents) }
    return faults
  }

  private mutating func add(_ kind: RaceFault.Kind, _ objects: [String], _ text: String) {
    faults.append(RaceFault(kind, objects, text))
  }

  private init(_ records: [RaceRecord], _ contents: [StoreContents]) {
    history = RaceHistory(records)
    self.contents = contents
    names = history.names
  }

  private func name(_ store: String, _ target: StoreContents.Target) -> String? {
    names[RaceValue.id(store, target.entity, target.key)]
  }

  private mutating func run() {
    for record in history.records where record.outcome == .notSaved { check(errorOf: record) }
    for object in contents.flatMap(\.objects) {
      guard let name = object.texts["name"], RaceObject(text: name)?.entity == object.entity else {
        add(.value, [], "\(object.entity) \(object.key) has the name \(object.texts["name"] ?? "nil")")
        continue
      }
      if objects.updateValue(object, forKey: name) != nil { add(.notAcknowledged, [name], "\(name) is there twice") }
      names[RaceValue.id(object.store, object.entity, object.key)] = name
    }
    checkStore()
    checkExistence()
    checkCascades()
    for (name, object) in objects.sorted(by: { $0.key < $1.key }) { checkValues(name, object) }
    checkPairs()
    checkOrders()
    checkLinksToDeleted()
  }

  /// Errors that races cause; any other error is a fault.
  private mutating func check(errorOf record: RaceRecord) {
    // A merge conflict, several errors, a denied deletion, a store that another writer has changed or locked.
    if [133020, 1560, 1600, 134050, 134090].contains(record.code) { return }
    add(.error, [], "a save of worker \(record.worker) failed: \(record.error ?? "")")
  }

  // MARK: The store's own checks

  private mutating func checkStore() {
    for (store, problem) in contents.flatMap({ store in store.problems.map { (store.identifier, $0) } }) {
      // With the rule noAction, references to deleted objects are expected.
      let kind = RaceKind.all.first { problem.entity == $0.memberEntity && problem.property == $0.owners }
      if let kind, kind.rule == .noAction, !kind.isPairs { continue }
      let name = problem.key.flatMap { names[RaceValue.id(store, problem.entity ?? "", $0)] }
      add(.verify, name.map { [$0] } ?? [], "store verify: \(problem.text)")
    }
  }

  // MARK: Objects

  private mutating func checkExistence() {
    for (name, index) in history.insertions where objects[name] == nil && !history.mayBeDeleted(name) {
      add(.lost, [name], "\(name) does not exist, but \(history.text(of: index)) inserted it and no save deleted it")
    }
    for name in objects.keys where history.insertions[name] == nil && !history.doubtful.contains(name) {
      add(.notAcknowledged, [name], "\(name) exists, but no acknowledged save inserted it")
    }
    for (name, indexes) in history.deletions where objects[name] != nil {
      add(.deletedIsThere, [name], "\(name) exists, but \(history.text(of: indexes[0])) deleted it")
    }
    for (index, record) in history.records.enumerated() where record.outcome == .saved {
      if record.policy == .storeTrump || record.policy == .rollback { continue }
      for name in record.deletions where objects[name] != nil && !history.isDeleted(name) {
        add(.deletedIsThere, [name], "\(name) exists, but \(history.text(of: index)) deleted it")
      }
    }
  }

  /// A cascade deletes the members of the owner. A member that had certainly left the owner before must stay.
  private mutating func checkCascades() {
    let required = Set(history.records.flatMap { $0.outcome == .notSaved ? [] : $0.deletions })
    for (name, indexes) in history.deletions where indexes.count == 1 && !required.contains(name) {
      guard let member = RaceObject(text: name), !member.isOwner, !member.kind.isPairs else { continue }
      let record = history.records[indexes[0]]
      if record.policy != .error { continue }
      let gone = Set(record.deletions + record.deleted.compactMap { history.names[$0] })
      // The same save had linked the member.
      if record.links.contains(where: { $0.member == name && gone.contains($0.owner) }) { continue }
      let writes = history.writes[RaceHistory.Cell(object: name, key: "owner")] ?? []
      let last = history.last(of: writes.filter { $0.start <= record.end })
      let hadLeft = last.allSatisfy { write in
        isStrict(write) && write.end < record.start && !(write.value.map { gone.contains($0) } ?? false)
      }
      if last.isEmpty || !hadLeft { continue }
      let texts = last.map(history.text).joined(separator: "; ")
      add(
        .lost, [name], "\(name) was deleted with an owner by \(history.text(of: indexes[0])), but it had left: \(texts)"
      )
    }
  }

  // MARK: Values

  private mutating func checkValues(_ name: String, _ object: StoreContents.Object) {
    guard let named = RaceObject(text: name) else { return }
    explain(name, "value", object.integers["value"].map { String($0) })
    explain(name, "large", object.data["large"].map { RaceValue.token($0).map { String($0) } ?? "broken" })
    if !named.isOwner && !named.kind.isPairs { explainOwner(named, object) }
  }

  private mutating func explain(_ name: String, _ key: String, _ value: String?) {
    guard let writes = history.writes[RaceHistory.Cell(object: name, key: key)] else { return }
    let last = history.last(of: writes)
    if last.contains(where: { $0.value == value }) { return }
    let texts = last.map(history.text).joined(separator: "; ")
    add(
      key == "large" ? .large : .value, [name],
      "\(name).\(key) is \(value ?? "nil"); possible last writes: \(texts)")
  }

  private mutating func explainOwner(_ member: RaceObject, _ object: StoreContents.Object) {
    guard let writes = history.writes[RaceHistory.Cell(object: member.text, key: "owner")] else { return }
    let last = history.last(of: writes)
    let texts = last.map(history.text).joined(separator: "; ")
    if let target = object.targets["owner"]?.first {
      let owner = name(object.store, target) ?? "\(target.entity) \(target.key)"
      if target.isGone && member.kind.rule != .noAction {
        let kinds: [RaceKind.Rule: RaceFault.Kind] = [.cascade: .cascade, .deny: .deny]
        add(
          kinds[member.kind.rule] ?? .reference, [member.text, owner],
          "\(member.text).owner refers to \(owner), which does not exist; possible last writes: \(texts)")
      } else if !last.contains(where: { $0.value == owner }) {
        add(.owner, [member.text, owner], "\(member.text).owner is \(owner); what may have come last: \(texts)")
      }
      return
    }
    if last.contains(where: { $0.value == nil || !isStrict($0) }) { return }
    let gone = last.compactMap(\.value).filter(history.mayBeDeleted)
    if gone.isEmpty {
      add(
        .owner, [member.text] + last.compactMap(\.value),
        "\(member.text).owner is nil; possible last writes: \(texts)")
    } else if member.kind.rule == .deny {
      add(
        .deny, [member.text, gone[0]],
        "deny is broken: \(gone[0]) is deleted, and \(member.text) was linked to it: \(texts)")
    } else if member.kind.rule == .cascade {
      add(
        .cascade, [member.text, gone[0]],
        "cascade is broken: \(member.text) outlives \(gone[0]), to which it was linked: \(texts)")
    }
  }

  /// Whether a write has the context's value, unchanged by a merge policy.
  private func isStrict(_ write: RaceHistory.Write) -> Bool {
    write.isDefinite && history.records[write.record].policy == .error
  }

  // MARK: Pairs

  private mutating func checkPairs() {
    for (pair, writes) in history.pairs.sorted(by: { ($0.key.owner, $0.key.member) < ($1.key.owner, $1.key.member) }) {
      guard let owner = RaceObject(text: pair.owner), let member = objects[pair.member] else { continue }
      let last = history.last(of: writes)
      let texts = last.map(history.text).joined(separator: "; ")
      let isLinked = (member.targets["owners"] ?? []).contains { name(member.store, $0) == pair.owner }
      let what = "\(pair.owner) and \(pair.member)"
      if isLinked {
        if !last.contains(where: { $0.value != nil }) {
          add(.pair, [pair.owner, pair.member], "\(what) are linked; but: \(texts)")
        }
        continue
      }
      if last.contains(where: { $0.value == nil || !isStrict($0) }) { continue }
      if objects[pair.owner] != nil {
        add(.pair, [pair.owner, pair.member], "\(what) are not linked; but: \(texts)")
      } else if owner.kind.rule == .deny {
        add(
          .deny, [pair.owner, pair.member],
          "deny is broken: \(pair.owner) is deleted, and \(pair.member) was linked to it: \(texts)")
      } else if owner.kind.rule == .cascade {
        add(
          .cascade, [pair.owner, pair.member],
          "cascade is broken: \(pair.member) outlives \(pair.owner), to which it was linked: \(texts)")
      }
    }
    for (name, object) in objects {
      for target in object.targets["owners"] ?? [] {
        guard let owner = self.name(object.store, target), !target.isGone else { continue }
        if history.pairs[RaceRecord.Pair(owner: owner, member: name, isLinked: true)] == nil {
          add(.pair, [owner, name], "\(owner) and \(name) are linked, and nobody linked them")
        }
      }
    }
  }

  /// Checks the order of members. If a save set the order and no save at the same time or later touched the owner's
  /// members, the order must be the final one.
  private mutating func checkOrders() {
    for (index, record) in history.records.enumerated() where record.outcome == .saved && record.policy == .error {
      for order in record.orders {
        guard let owner = RaceObject(text: order.owner), let object = objects[order.owner] else { continue }
        let isDisturbed = history.records.enumerated().contains { other, next in
          other != index && next.outcome != .notSaved && next.end >= record.start && touches(next, owner)
        }
        if isDisturbed { continue }
        let expected = order.members.compactMap { names[$0] }.filter { objects[$0] != nil }
        let found = (object.targets[owner.kind.members] ?? []).compactMap { name(object.store, $0) }
        if found != expected {
          add(
            .order, [order.owner] + expected,
            "the members of \(order.owner) are \(found), not \(expected) as \(history.text(of: index)) ordered")
        }
      }
    }
  }

  /// Whether a save may have changed the members of an owner.
  private func touches(_ record: RaceRecord, _ owner: RaceObject) -> Bool {
    record.orders.contains { $0.owner == owner.text }
      || record.links.contains { $0.owner == owner.text }
      || record.pairs.contains { $0.owner == owner.text }
      || record.writes.contains { $0.key == "owner" && $0.object.contains("/\(owner.kind.memberEntity)/") }
  }

  // MARK: Large values that contexts read while others replaced them

  /// Checks a read of a large value. If the value was saved before the row was read, the read must not return nil,
  /// unless a policy has since written a whole object without a value.
  private mutating func check(_ read: RaceRead) {
    if read.token == -1 { add(.large, [read.object], "\(read.object): the large value read was never written") }
    let writes = history.writes[RaceHistory.Cell(object: read.object, key: "large")] ?? []
    guard read.token == nil,
      let write = writes.first(where: { isStrict($0) && $0.value != nil && $0.end < read.loaded }),
      !writes.contains(where: { $0.value == nil && $0.record != write.record && $0.end > write.start })
    else { return }
    add(.large, [read.object], "\(read.object): the large value read is nil; it was \(history.text(write))")
  }

  // MARK: Links to deleted objects

  /// Whether another save linked the same member during this save. The store may then already have had the link when a
  /// policy resolved a first conflict, and have lost it before the next attempt.
  private func isContested(_ link: (owner: String, member: String, record: Int)) -> Bool {
    let record = history.records[link.record]
    let cell = RaceHistory.Cell(object: link.member, key: "owner")
    let pair = RaceRecord.Pair(owner: link.owner, member: link.member, isLinked: true)
    return ((history.writes[cell] ?? []) + (history.pairs[pair] ?? [])).contains {
      $0.record != link.record && $0.start < record.end && $0.end > record.start
    }
  }

  /// Checks dropped links. A save drops a link only if one of its ends may have been deleted, or if its policy prefers
  /// other saves. The deletion may happen at any time before the save ends. A copy that was made during the save
  /// therefore need not contain the deletion.
  private mutating func checkDropped() {
    for link in history.dropped where !history.mayBeDeleted(link.owner) && !history.mayBeDeleted(link.member) {
      let policy = history.records[link.record].policy
      if policy == .storeTrump || policy == .rollback || policy != .error && isContested(link) { continue }
      add(
        .owner, [link.owner, link.member],
        "\(history.text(of: link.record)) dropped the link from \(link.member) to \(link.owner)")
    }
  }

  /// A save that began after an acknowledged deletion must not have linked any object to the deleted one.
  private mutating func checkLinksToDeleted() {
    func check(_ what: String, _ target: String, _ write: RaceHistory.Write) {
      guard write.value != nil, isStrict(write) else { return }
      for index in history.deletions[target] ?? [] where history.records[index].end < write.start {
        add(
          .linkToGone, [what, target],
          "\(what) was linked to \(target) by \(history.text(of: write.record)), "
            + "after \(history.text(of: index)) had deleted it")
      }
    }
    for (cell, writes) in history.writes where cell.key == "owner" {
      for write in writes { write.value.map { check(cell.object, $0, write) } }
    }
    for (pair, writes) in history.pairs {
      for write in writes {
        check(pair.member, pair.owner, write)
        check(pair.owner, pair.member, write)
      }
    }
  }
}
