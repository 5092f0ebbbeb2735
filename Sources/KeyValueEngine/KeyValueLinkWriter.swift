import StoreProtocol
import StoreSchema

/// Writes links into their blocks, those of an owner together.
final class KeyValueLinkWriter<Transaction: KeyValueWriting> {
  private let transaction: Transaction
  private let isOrdered: [Bool]
  private let key = KeyBuffer()
  private let prefix = KeyBuffer()
  /// The links of the block at hand: destinations, in ordered tables each with its order behind it.
  private var block: [Int64] = []
  private var merged: [Int64] = []

  init(_ transaction: Transaction, _ toManys: [Relationship]) {
    self.transaction = transaction
    isOrdered = toManys.map(\.isOrdered)
  }

  /// Removes the links of an owner to `destinations`, which are ascending. What is not there is left out.
  func remove(_ table: Int, _ owner: Int64, _ destinations: ArraySlice<Int64>) throws(StoreError) {
    let width = LinkBlock.width(isOrdered: isOrdered[table])
    var rest = destinations
    while let next = rest.first, let bound = try load(table, owner, next) {
      merged.removeAll(keepingCapacity: true)
      for place in stride(from: 0, to: block.count, by: width) {
        while let gone = rest.first, gone < block[place] { rest.removeFirst() }
        if rest.first == block[place] { continue }
        merged.append(contentsOf: block[place..<(place + width)])
      }
      while let gone = rest.first, gone <= bound { rest.removeFirst() }
      if merged.count == block.count { continue }
      LinkBlock.setKey(key, table, owner, bound)
      if merged.isEmpty { _ = try transaction.remove(.links, key.view) } else { try write(merged[...]) }
    }
  }

  /// Adds links of an owner, ascending by their destinations: destinations alone, or each with its order behind it. One that is there
  /// already gets the order.
  func add(_ table: Int, _ owner: Int64, _ links: ArraySlice<Int64>) throws(StoreError) {
    let width = LinkBlock.width(isOrdered: isOrdered[table])
    let most = LinkBlock.longest / (8 * width) * width
    var next = links.startIndex
    while next < links.endIndex {
      let bound = try load(table, owner, links[next]) ?? .max
      let isBehind = block.isEmpty || block[block.count - width] < links[next]
      merge(links, &next, bound, width)
      // Where links come behind the others, blocks are filled to their end; elsewhere they are divided evenly.
      let parts = (merged.count + most - 1) / most
      let size = isBehind ? most : (merged.count / width + parts - 1) / parts * width
      for start in stride(from: 0, to: merged.count, by: size) {
        let end = min(start + size, merged.count)
        LinkBlock.setKey(key, table, owner, end == merged.count ? bound : merged[end - width])
        try write(merged[start..<end])
      }
    }
  }

  /// Puts the block at hand and those of `links` that belong to it together.
  private func merge(_ links: ArraySlice<Int64>, _ next: inout Int, _ bound: Int64, _ width: Int) {
    merged.removeAll(keepingCapacity: true)
    var place = 0
    while true {
      let isThere = next < links.endIndex && links[next] <= bound
      if place < block.count && (!isThere || block[place] < links[next]) {
        for offset in 0..<width { merged.append(block[place + offset]) }
        place += width
      } else if isThere {
        if place < block.count && block[place] == links[next] { place += width }
        for offset in 0..<width { merged.append(links[next + offset]) }
        next += width
      } else {
        return
      }
    }
  }

  /// Reads the block in which a destination is, or would be, and gives its bound; nil where there is none.
  private func load(_ table: Int, _ owner: Int64, _ destination: Int64) throws(StoreError) -> Int64? {
    block.removeAll(keepingCapacity: true)
    LinkBlock.setOwner(prefix, table, owner)
    LinkBlock.setKey(key, table, owner, destination)
    guard let found = try transaction.first(.links, from: key.view),
      let bound = LinkBlock.bound(found.key, prefix.view)
    else { return nil }
    let isOrdered = isOrdered[table]
    try LinkBlock.read(found.key, found.value, isOrdered: isOrdered) { destination, order in
      block.append(destination)
      if isOrdered { block.append(order) }
    }
    return bound
  }

  /// Writes the block whose key is in ``key``.
  private func write(_ links: ArraySlice<Int64>) throws(StoreError) {
    try transaction.put(.links, key.view, count: 8 + links.count * 8, isAtHand: false) { value in
      var place = 8
      for number in links {
        value.storeBytes(of: number.littleEndian, toByteOffset: place, as: Int64.self)
        place += 8
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
