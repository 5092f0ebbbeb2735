import Foundation
import StoreProtocol
import StoreSchema

/// What several processes see of each other's commits, judged afterwards by the lists that they have made.
///
/// Each appends to lists and reads all of them in between, so that a list tells in which order the commits came: as
/// Elle does (https://github.com/jepsen-io/elle).
extension ConformanceSuite {
  static let histories: [ConformanceCase] = [
    ConformanceCase(
      "LCK-021", "what processes append and read is as if their commits had come one by one", requires: .multiProcess,
      level: .concurrent, profiles: Profile.plainOnly, roles: ["append": append]
    ) { c in
      let s = try c.open(Fixtures.people())
      let lists = try s.commit { for _ in 0..<listCount { try $0.insert("Team", ["title": ""]) } }
      try s.close()
      let children = try (1...4).map { try c.start("append", seed: UInt64($0)) }
      var (reads, appended): ([[String]], [Set<String>]) = ([], Array(repeating: [], count: listCount))
      for (number, child) in children.enumerated() {
        var seen = Array(repeating: 0, count: listCount)
        while let line = child.line() {
          let parts = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
          if parts[0] == "append", parts.count == 3, let list = Int(parts[1]) {
            c.expect(appended[list].insert(parts[2]).inserted, "\(parts[2]) was appended twice")
          } else if parts[0] == "read", parts.count == listCount + 1 {
            let lengths = parts.dropFirst().map(\.count)
            c.expect(zip(seen, lengths).allSatisfy { $0 <= $1 }, "process \(number) reads an older state than before")
            seen = lengths
            reads.append(Array(parts.dropFirst()))
          } else {
            c.expect(false, "process \(number) says “\(line)”")
          }
        }
        c.equal(child.wait(), 0, "exit status of process \(number)")
      }
      try s.reopen()
      let final = try lists.map { try s.text($0) }
      for (list, text) in final.enumerated() {
        let found = text.split(separator: ",").map(String.init)
        c.equal(found.count, Set(found).count, "list \(list) has something twice")
        c.equal(Set(found), appended[list], "list \(list)")
        for read in reads { c.expect(text.hasPrefix(read[list]), "what was read of list \(list) was taken back") }
      }
      c.equal(reads.count, 4 * appendCount)
      // Of two states that somebody has seen one is the older, in all lists.
      let lengths: [[Int]] = reads.map { read in read.map { $0.count } }
      func size(_ state: [Int]) -> Int { state.reduce(0, +) }
      let states = Set(lengths).sorted { size($0) < size($1) }
      for (older, newer) in zip(states, states.dropFirst()) {
        c.expect(zip(older, newer).allSatisfy { $0 <= $1 }, "two states that no order has: \(older) and \(newer)")
      }
    }
  ]

  private static let (listCount, appendCount) = (3, 25)

  /// Appends words to lists, and says what it has read before each.
  private static let append: @Sendable (RoleContext) throws -> Void = { r in
    let s = try r.open(Fixtures.people())
    var random = SplitMix64(seed: r.seed)
    for number in 0..<appendCount {
      let (list, word) = (random.below(listCount), "\(r.seed).\(number),")
      while true {
        let rows = try s.read { view in
          var rows: [Row] = []
          try view.scan(try s.range("Team", exactly: true)) { rows.append($0) }
          return rows
        }
        let texts = try rows.map { try s.text($0) }
        let conflicts = try s.conflicts {
          try $0.update(rows[list].reference, ["title": .text(texts[list] + word)], from: rows[list])
        }
        if !conflicts.isEmpty { continue }
        r.say("read \(texts.joined(separator: " "))")
        r.say("append \(list) \(word.dropLast())")
        break
      }
    }
    try s.close()
  }
}

extension Session {
  fileprivate func text(_ object: ObjectReference) throws -> String {
    guard let row = try row(object) else { throw Failure("a list is gone") }
    return try text(row)
  }

  fileprivate func text(_ row: Row) throws -> String {
    guard case .string(let text) = try value(row, "title") else { throw Failure("a list is no text") }
    return text
  }
}
