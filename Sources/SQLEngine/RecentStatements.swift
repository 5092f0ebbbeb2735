/// The most recently used statements, up to a limit, by key.
///
/// A hit costs one look-up. Beyond the limit, the half that was not used for longest is removed.
struct RecentStatements<Key: Hashable, Statement> {
  private final class Entry {
    let statement: Statement
    var lastUse: Int

    init(_ statement: Statement, _ lastUse: Int) { (self.statement, self.lastUse) = (statement, lastUse) }
  }

  private var entries: [Key: Entry] = [:]
  private var uses = 0
  private let limit: Int

  init(limit: Int) { self.limit = limit }

  var count: Int { entries.count }

  mutating func find(_ key: Key) -> Statement? {
    guard let entry = entries[key] else { return nil }
    uses &+= 1
    entry.lastUse = uses
    return entry.statement
  }

  mutating func keep(_ statement: Statement, as key: Key) {
    if entries.count >= limit { dropHalf() }
    uses &+= 1
    entries[key] = Entry(statement, uses)
  }

  private mutating func dropHalf() {
    let sorted = entries.values.map(\.lastUse).sorted()
    let middle = sorted[sorted.count / 2]
    entries = entries.filter { $0.value.lastUse >= middle }
  }
}
