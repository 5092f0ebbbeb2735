import StoreSchema

/// The rows of one entity hierarchy, in key order.
struct AtomicHierarchy: Sendable {
  /// The keys of the rows, apart from them so that a search does not touch the rows.
  private(set) var keys: [Int64] = []
  private(set) var rows: [Row] = []
  /// The orders of the current rows.
  private(set) var orders = AtomicOrders()

  func row(_ key: Int64) -> Row? { position(of: key).map { rows[$0] } }

  init() {}

  /// Rows in key order, with their keys.
  init(_ keys: [Int64], _ rows: [Row]) { (self.keys, self.rows) = (keys, rows) }

  /// The index of the row of a key.
  func position(of key: Int64) -> Int? { keys.position(ofKey: key) }

  mutating func replace(at position: Int, with row: Row) {
    giveUpOrders()
    rows[position] = row
  }

  /// Adds rows. Their keys must be new.
  mutating func insert(_ new: [Row]) {
    let isOrdered = zip(new, new.dropFirst()).allSatisfy { $0.key < $1.key }
    let added = isOrdered ? new : new.sorted { $0.key < $1.key }
    guard let first = added.first else { return }
    giveUpOrders()
    let isBehind = keys.last.map { $0 < first.key } ?? true
    rows.append(contentsOf: added)
    if !isBehind { rows.sort { $0.key < $1.key } }
    if isBehind { keys.append(contentsOf: added.lazy.map(\.key)) } else { keys = rows.map(\.key) }
  }

  mutating func remove(_ gone: Set<Int64>) {
    giveUpOrders()
    rows.removeAll { gone.contains($0.key) }
    keys.removeAll { gone.contains($0) }
  }

  /// A copy with the former rows keeps the former orders.
  private mutating func giveUpOrders() {
    if isKnownUniquelyReferenced(&orders) { orders.clear() } else { orders = AtomicOrders() }
  }
}
