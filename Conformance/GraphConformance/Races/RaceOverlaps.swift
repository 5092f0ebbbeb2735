/// Counts how often the intended operations of a run really overlapped.
struct RaceOverlaps: Sendable {
  struct Count: Sendable {
    /// Overlapping saves of a link and of a deletion of one of its ends, by which of the two began first.
    var linkFirst = 0
    var deletionFirst = 0
    /// The outcomes of these saves.
    var bothSaved = 0
    var linkSaved = 0
    var deletionSaved = 0
    var neitherSaved = 0
    var total: Int { linkFirst + deletionFirst }
  }

  private(set) var counts: [RaceKind: Count] = [:]
  /// Counts of all saves, and of overlapping saves of different workers.
  private(set) var saves = 0
  private(set) var failedSaves = 0
  private(set) var overlappingSaves = 0
  private(set) var reads = 0
  /// The actions on whole stores during the run: how many were done, and how many failed because the store was busy.
  private(set) var actions: [RaceAction.Kind: (done: Int, busy: Int)] = [:]

  var total: Int { counts.values.reduce(0) { $0 + $1.total } }

  mutating func add(_ result: RaceResult) {
    reads += result.reads.count { $0.token != nil }
    for action in result.actions {
      if action.error == nil { actions[action.kind, default: (0, 0)].done += 1 }
      if action.isBusy { actions[action.kind, default: (0, 0)].busy += 1 }
    }
    saves += result.records.count
    failedSaves += result.records.count { $0.outcome != .saved }
    let records = result.records.sorted { $0.start < $1.start }
    for (index, record) in records.enumerated() {
      for later in records[(index + 1)...] {
        if later.start > record.end { break }
        if later.worker == record.worker { continue }
        overlappingSaves += 1
        add(record, later)
      }
    }
  }

  private mutating func add(_ first: RaceRecord, _ second: RaceRecord) {
    for (link, deletion) in [(first, second), (second, first)] {
      let deleted = Set(deletion.deletions)
      for pair in link.links where deleted.contains(pair.owner) || deleted.contains(pair.member) {
        guard let kind = RaceObject(text: pair.owner)?.kind else { continue }
        var count = counts[kind] ?? Count()
        if link.start <= deletion.start { count.linkFirst += 1 } else { count.deletionFirst += 1 }
        switch (link.outcome, deletion.outcome) {
        case (.saved, .saved): count.bothSaved += 1
        case (.saved, _): count.linkSaved += 1
        case (_, .saved): count.deletionSaved += 1
        default: count.neitherSaved += 1
        }
        counts[kind] = count
      }
    }
  }

  /// The overlaps that are missing, as sentences. At least `least` overlaps of links and deletions are required, and
  /// each kind needs some in both orders.
  func missing(least: Int, _ kinds: [RaceKind]) -> [String] {
    var missing: [String] = []
    if total < least { missing.append("\(total) saves of a link overlapped with a deletion; at least \(least) must") }
    for kind in kinds {
      if counts[kind, default: Count()].linkFirst == 0 {
        missing.append("no link of kind \(kind.text) overlapped with a later deletion")
      }
      if counts[kind, default: Count()].deletionFirst == 0 {
        missing.append("no deletion of kind \(kind.text) overlapped with a later link")
      }
    }
    return missing
  }

  /// The counts as a table.
  var text: String {
    func column(_ text: String, _ width: Int) -> String {
      String(repeating: " ", count: max(0, width - text.count)) + text
    }
    func row(_ cells: [String]) -> String {
      let first = cells[0] + String(repeating: " ", count: max(0, 28 - cells[0].count))
      return "  " + first + cells.dropFirst().map { column($0, 12) }.joined()
    }
    var lines = [
      row(["links beside deletions", "link first", "del. first", "both saved", "only link", "only del.", "neither"])
    ]
    for kind in RaceKind.all {
      let count = counts[kind] ?? Count()
      let numbers = [
        count.linkFirst, count.deletionFirst, count.bothSaved, count.linkSaved, count.deletionSaved, count.neitherSaved,
      ]
      lines.append(row([kind.text] + numbers.map { "\($0)" }))
    }
    lines.append(
      "  \(total) overlaps of links and deletions; \(saves) saves, \(failedSaves) of them failed, "
        + "\(overlappingSaves) pairs ran at the same time; \(reads) large values read back")
    let done = RaceAction.Kind.allCases.compactMap { kind in
      actions[kind].map { "\(kind.rawValue) \($0.done)" + ($0.busy > 0 ? " (busy \($0.busy))" : "") }
    }
    if !done.isEmpty { lines.append("  beside them: \(done.joined(separator: ", "))") }
    return lines.joined(separator: "\n")
  }
}
