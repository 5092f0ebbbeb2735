import StoreConformance

/// Says what of a store's end no order of the acknowledged saves explains.
///
/// Each object carries its name and each value is written once, so that a value says which save wrote it. A save may
/// have come last for a value where no other save of that value began after it had ended.
struct RaceJudge {
  private let history: RaceHistory
  private let contents: [StoreContents]
  private var objects: [String: StoreContents.Object] = [:]
  /// Names by ID: of objects that are there, and of those whose deletion was acknowledged.
  private var names: [String: String]
  private(set) var faults: [RaceFault] = []

  /// What is wrong with the end of a run, the telling faults first; none where everything is explained.
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

  /// `more` is what the records of the whole run alone can say.
  private static func judged(
    _ records: [RaceRecord], _ contents: [StoreContents], more: (inout RaceJudge) -> Void = { _ in }
  ) -> [RaceFault] {
    var judge = RaceJudge(records, contents)
    judge.run()
    more(&judge)
    return judge.faults
  }

  /// The saves that may be in a copy: those that ended before it began are, those that ran beside it may be.
  private static func records(_ records: [RaceRecord], in copy: RaceAction) -> [RaceRecord] {
    records.filter { $0.start <= copy.end && $0.outcome != .notSaved }.map { record in
      var record = record
      if record.end >= copy.start { record.outcome = .unknown }
      return record
    }
  }

  /// After another store, or none, has taken the place of the first: nothing is saved to it any more, and it is as it
  /// was before the workers began.
  private static func faults(of result: RaceResult, after end: RaceAction) -> [RaceFault] {
    var faults: [RaceFault] = []
    for record in result.records where record.outcome == .saved && record.start > end.end {
      // What was made and deleted again is nothing to save.
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

  /// Errors that races cause; any other one is a problem.
  private mutating func check(errorOf record: RaceRecord) {
    // A merge conflict, several errors, a denied deletion, a store that somebody else has changed or holds.
    if [133020, 1560, 1600, 134050, 134090].contains(record.code) { return }
    add(.error, [], "a save of worker \(record.worker) failed: \(record.error ?? "")")
  }

  // MARK: What the store says of itself

  private mutating func checkStore() {
    for (store, problem) in contents.flatMap({ store in store.problems.map { (store.identifier, $0) } }) {
      // With the rule noAction references to what is gone are what was asked for.
      let kind = RaceKind.all.first { problem.entity == $0.memberEntity && problem.property == $0.owners }
      if let kind, kind.rule == .noAction, !kind.isPairs { continue }
      let name = problem.key.flatMap { names[RaceValue.id(store, problem.entity ?? "", $0)] }
      add(.verify, name.map { [$0] } ?? [], "store verify: \(problem.text)")
    }
  }

  // MARK: Objects

  private mutating func checkExistence() {
    for (name, index) in history.insertions where objects[name] == nil && !history.mayBeDeleted(name) {
      add(.lost, [name], "\(name) is lost, which \(history.text(of: index)) inserted and nobody deleted")
    }
    for name in objects.keys where history.insertions[name] == nil && !history.doubtful.contains(name) {
      add(.notAcknowledged, [name], "\(name) is there, and no save that was acknowledged inserted it")
    }
    for (name, indexes) in history.deletions where objects[name] != nil {
      add(.deletedIsThere, [name], "\(name) is there, which \(history.text(of: indexes[0])) deleted")
    }
    for (index, record) in history.records.enumerated() where record.outcome == .saved {
      if record.policy == .storeTrump || record.policy == .rollback { continue }
      for name in record.deletions where objects[name] != nil && !history.isDeleted(name) {
        add(.deletedIsThere, [name], "\(name) is there, which \(history.text(of: index)) deleted")
      }
    }
  }

  /// A cascade takes members with it. What had certainly left the owner before is no member any more.
  private mutating func checkCascades() {
    let wanted = Set(history.records.flatMap { $0.outcome == .notSaved ? [] : $0.deletions })
    for (name, indexes) in history.deletions where indexes.count == 1 && !wanted.contains(name) {
      guard let member = RaceObject(text: name), !member.isOwner, !member.kind.isPairs else { continue }
      let record = history.records[indexes[0]]
      if record.policy != .error { continue }
      let gone = Set(record.deletions + record.deleted.compactMap { history.names[$0] })
      // The same save had linked it.
      if record.links.contains(where: { $0.member == name && gone.contains($0.owner) }) { continue }
      let writes = history.writes[RaceHistory.Cell(object: name, key: "owner")] ?? []
      let last = history.last(of: writes.filter { $0.start <= record.end })
      let hadLeft = last.allSatisfy { write in
        isStrict(write) && write.end < record.start && !(write.value.map { gone.contains($0) } ?? false)
      }
      if last.isEmpty || !hadLeft { continue }
      let texts = last.map(history.text).joined(separator: "; ")
      add(
        .lost, [name], "\(name) was deleted with an owner by \(history.text(of: indexes[0])), and it had left: \(texts)"
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
      "\(name).\(key) is \(value ?? "nil"); what may have come last: \(texts)")
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
          "\(member.text).owner refers to nothing, to \(owner); what may have come last: \(texts)")
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
        "\(member.text).owner is nil; what may have come last: \(texts)")
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

  /// Whether a write says what its context had, without a policy that may have settled a conflict.
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

  /// An order that was set, and that nothing else about the owner's members ran beside or after, is the order at the
  /// end.
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

  /// A value that was saved before the row was read is not nil, unless a policy has written a whole object since that
  /// had none.
  private mutating func check(_ read: RaceRead) {
    if read.token == -1 { add(.large, [read.object], "\(read.object): the large value read is one that nobody wrote") }
    let writes = history.writes[RaceHistory.Cell(object: read.object, key: "large")] ?? []
    guard read.token == nil,
      let write = writes.first(where: { isStrict($0) && $0.value != nil && $0.end < read.loaded }),
      !writes.contains(where: { $0.value == nil && $0.record != write.record && $0.end > write.start })
    else { return }
    add(.large, [read.object], "\(read.object): the large value read is nil; it was \(history.text(write))")
  }

  // MARK: Links to what was gone before

  /// Whether somebody else linked the same member during the save: the store may have had the link already when a
  /// policy settled a first conflict, and lost it before the next attempt.
  private func isContested(_ link: (owner: String, member: String, record: Int)) -> Bool {
    let record = history.records[link.record]
    let cell = RaceHistory.Cell(object: link.member, key: "owner")
    let pair = RaceRecord.Pair(owner: link.owner, member: link.member, isLinked: true)
    return ((history.writes[cell] ?? []) + (history.pairs[pair] ?? [])).contains {
      $0.record != link.record && $0.start < record.end && $0.end > record.start
    }
  }

  /// A save gives a link up only where one of its ends may have been deleted, or where its policy lets others win. Who
  /// did that may have come at any time before the end of the save, so that a copy which was made meanwhile has not
  /// everything that explains it.
  private mutating func checkDropped() {
    for link in history.dropped where !history.mayBeDeleted(link.owner) && !history.mayBeDeleted(link.member) {
      let policy = history.records[link.record].policy
      if policy == .storeTrump || policy == .rollback || policy != .error && isContested(link) { continue }
      add(
        .owner, [link.owner, link.member],
        "\(link.member) was to be linked to \(link.owner), and \(history.text(of: link.record)) gave that up")
    }
  }

  /// A save that began after an acknowledged deletion must not have linked anything to the deleted object.
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
