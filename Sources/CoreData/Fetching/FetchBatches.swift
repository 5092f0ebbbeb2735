import StoreProtocol
import StoreSchema

/// The results of fetches with a batch size, which are faults until one of a batch is used: then all of it is read.
///
/// A Swift array cannot be lazy, so a batched fetch gives all objects at once, but only their keys are read; memory for
/// values is spent batch by batch.
struct FetchBatches {
  /// How many batched fetches are remembered; the faults of older ones are read one by one.
  private static let limit = 8

  private final class Batched {
    let store: Int
    let root: Int
    let size: Int
    let keys: [Int64]
    /// The places of the keys in the order of these; nil where they come in their own order.
    private let order: [UInt32]?

    init(store: Int, root: Int, size: Int, keys: [Int64]) {
      self.store = store
      self.root = root
      self.size = size
      self.keys = keys
      let isSorted = zip(keys, keys.dropFirst()).allSatisfy { $0 < $1 }
      // A dictionary would take ten times the memory of this, which is asked once a batch.
      order =
        isSorted ? nil : keys.indices.map { UInt32(truncatingIfNeeded: $0) }.sorted { keys[Int($0)] < keys[Int($1)] }
    }

    /// Where a key is, nil where it is not.
    func place(_ key: Int64) -> Int? {
      var (low, high) = (0, keys.count)
      while low < high {
        let middle = (low + high) / 2
        if keys[place(at: middle)] < key { low = middle + 1 } else { high = middle }
      }
      return low < keys.count && keys[place(at: low)] == key ? place(at: low) : nil
    }

    private func place(at index: Int) -> Int { order.map { Int($0[index]) } ?? index }
  }

  private var fetches: [Batched] = []

  mutating func remember(_ keys: [Int64], store: Int, root: Int, size: Int) {
    fetches.insert(Batched(store: store, root: root, size: size, keys: keys), at: 0)
    if fetches.count > Self.limit { fetches.removeLast() }
  }

  /// The keys to read together with `key`, itself included.
  func batch(_ key: Int64, store: Int, root: Int) -> ArraySlice<Int64>? {
    for fetch in fetches where fetch.store == store && fetch.root == root {
      guard let place = fetch.place(key) else { continue }
      let start = place / fetch.size * fetch.size
      return fetch.keys[start..<min(start + fetch.size, fetch.keys.count)]
    }
    return nil
  }
}
