/// A link to be written. No part of a generic type, where sorting would cost ten times as much.
struct KeyValueLink {
  let table: Int
  let owner: Int64
  let destination: Int64

  /// Links of tables without an order in the order of their keys, and the others as they come.
  static func sorted(
    _ links: [KeyValueLink], _ isOrdered: [Bool]
  ) -> (plain: [KeyValueLink], ordered: [KeyValueLink]) {
    var (plain, ordered) = ([KeyValueLink](), [KeyValueLink]())
    for link in links { if isOrdered[link.table] { ordered.append(link) } else { plain.append(link) } }
    plain.sort { $0.precedes($1) }
    return (plain, ordered)
  }

  private func precedes(_ other: KeyValueLink) -> Bool {
    if table != other.table { return table < other.table }
    return owner != other.owner ? owner < other.owner : destination < other.destination
  }
}
