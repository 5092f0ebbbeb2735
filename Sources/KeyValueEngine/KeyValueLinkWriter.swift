import StoreProtocol
import StoreSchema
import StoreSupport

/// Writes links into blocks, all links of an owner together.
final class KeyValueLinkWriter {
  private let transaction: any KeyValueWriting
  private let toManys: [Relationship]
  private let key = KeyBuffer()
  private let prefix = KeyBuffer()
  /// The links of the current block: destinations, each followed by its order in ordered tables.
  private let block = NumberBuffer()
  private let merged = NumberBuffer()

  init(_ transaction: any KeyValueWriting, _ toManys: [Relationship]) {
    self.transaction = transaction
    self.toManys = toManys
  }

  /// Removes the links of an owner to `destinations`, which are ascending. Ignores missing links.
  func remove(_ table: Int, _ owner: Int64, _ destinations: UnsafeBufferPointer<Int64>) throws(StoreError) {
    let width = LinkBlock.width(isOrdered: toManys[table].isOrdered)
    var next = 0
    while next < destinations.count, let bound = try load(table, owner, destinations[next]) {
      merged.clear()
      var position = 0
      while position < block.count {
        let destination = block.numbers[position]
        while next < destinations.count && destinations[next] < destination { next += 1 }
        if next == destinations.count || destinations[next] != destination {
          merged.append(block.numbers + position, count: width)
        }
        position += width
      }
      while next < destinations.count && destinations[next] <= bound { next += 1 }
      if merged.count == block.count { continue }
      LinkBlock.setKey(key, table, owner, bound)
      if merged.isEmpty {
        _ = try transaction.remove(.links, key.view)
      } else {
        try write(merged.numbers, merged.count)
      }
    }
  }

  /// Adds links of an owner, ascending by destination: destinations alone, or each followed by its order. An existing
  /// link gets the new order.
  func add(_ table: Int, _ owner: Int64, _ links: UnsafeBufferPointer<Int64>) throws(StoreError) {
    let width = LinkBlock.width(isOrdered: toManys[table].isOrdered)
    let most = LinkBlock.longest / (8 * width) * width
    var next = 0
    while next < links.count {
      let bound = try load(table, owner, links[next]) ?? .max
      let isBehind = block.isEmpty || block.numbers[block.count - width] < links[next]
      let all = isBehind ? block : merged
      if isBehind { addBehind(links, &next, bound, width) } else { merge(links, &next, bound, width) }
      // Blocks are filled completely where links are added at the end, and divided evenly elsewhere.
      let parts = (all.count + most - 1) / most
      let size = isBehind ? most : (all.count / width + parts - 1) / parts * width
      for start in stride(from: 0, to: all.count, by: size) {
        let end = min(start + size, all.count)
        LinkBlock.setKey(key, table, owner, end == all.count ? bound : all.numbers[end - width])
        try write(all.numbers + start, end - start)
      }
    }
  }

  /// Appends the `links` that belong to the current block behind its own, which are all less.
  private func addBehind(_ links: UnsafeBufferPointer<Int64>, _ next: inout Int, _ bound: Int64, _ width: Int) {
    var end = next
    while end < links.count && links[end] <= bound { end += width }
    if let start = links.baseAddress { block.append(start + next, count: end - next) }
    next = end
  }

  /// Merges the current block with the `links` that belong to it.
  private func merge(_ links: UnsafeBufferPointer<Int64>, _ next: inout Int, _ bound: Int64, _ width: Int) {
    merged.clear()
    var position = 0
    while true {
      let isThere = next < links.count && links[next] <= bound
      if position < block.count && (!isThere || block.numbers[position] < links[next]) {
        merged.append(block.numbers + position, count: width)
        position += width
      } else if isThere {
        if position < block.count && block.numbers[position] == links[next] { position += width }
        for offset in 0..<width { merged.append(links[next + offset]) }
        next += width
      } else {
        return
      }
    }
  }

  /// Reads the block that holds a destination, or would hold it, and returns its bound; nil where there is none.
  private func load(_ table: Int, _ owner: Int64, _ destination: Int64) throws(StoreError) -> Int64? {
    block.clear()
    LinkBlock.setOwner(prefix, table, owner)
    LinkBlock.setKey(key, table, owner, destination)
    guard let found = try transaction.first(.links, from: key.view) else { return nil }
    guard let bound = LinkBlock.bound(found.key, prefix.view) else {
      // The block may have belonged to the owner before its key was damaged.
      try KeyValueEntry.check(found.key, found.value)
      return nil
    }
    let isOrdered = toManys[table].isOrdered
    try LinkBlock.check(found.key, found.value, isOrdered: isOrdered)
    try LinkBlock.checkOrder(found.value, isOrdered: isOrdered, above: .min, bound: bound)
    // Keys are ordered by their bytes: a negative bound comes after all destinations.
    guard destination <= bound else { throw KeyValueEntry.damaged }
    block.append(found.value)
    return bound
  }

  /// Writes the block whose key is in ``key``.
  private func write(_ links: UnsafePointer<Int64>, _ count: Int) throws(StoreError) {
    try transaction.put(.links, key.view, count: 8 + count * 8, isAtHand: false) { value in
      for position in 0..<count {
        value.storeBytes(of: links[position].littleEndian, toByteOffset: 8 + position * 8, as: Int64.self)
      }
      KeyValueEntry.seal(value, key.view)
    }
  }

  // MARK: Ways back

  /// Notes the owner of a one-way link.
  func setOwner(_ table: Int, of destination: Int64, _ owner: Int64) throws(StoreError) {
    LinkBlock.setWayBack(key, table, destination)
    try transaction.put(.links, key.view, count: 16, isAtHand: false) { value in
      value.storeBytes(of: owner.littleEndian, toByteOffset: 8, as: Int64.self)
      KeyValueEntry.seal(value, key.view)
    }
  }

  func removeOwner(_ table: Int, of destination: Int64) throws(StoreError) {
    LinkBlock.setWayBack(key, table, destination)
    _ = try transaction.remove(.links, key.view)
  }
}
