import StoreProtocol
import StoreSchema

/// The results of fetches with a batch size, which are faults until one of a batch is used: then all of it is read.
///
/// A Swift array cannot be lazy, so a batched fetch gives all objects at once, but only their keys are read; memory for
/// values is spent batch by batch.
struct FetchBatches {
  /// How many batched fetches are remembered; the faults of older ones are read one by one.
  private static let limit = 8

  /// What a fetch wants of its objects beyond their values.
  struct Options {
    /// Whether the objects are no faults once their batch is read.
    var realizes = false
    var prefetchedKeyPaths: [String] = []
    var isEmpty: Bool { !realizes && prefetchedKeyPaths.isEmpty }
  }

  private final class Batched {
    let store: Int
    let root: Int
    let size: Int
    let keys: [Int64]
    let options: Options
    /// The batches, by number, whose options have not been applied yet.
    var waiting: Set<Int>
    /// The places of the keys in the order of these; nil where they come in their own order.
    private let order: [UInt32]?

    init(store: Int, root: Int, size: Int, keys: [Int64], _ options: Options) {
      self.store = store
      self.root = root
      self.size = size
      self.keys = keys
      self.options = options
      waiting = options.isEmpty ? [] : Set(0..<(keys.count + size - 1) / size)
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

    func batch(_ number: Int) -> ArraySlice<Int64> { keys[number * size..<min(number * size + size, keys.count)] }
  }

  /// A batch of which an object has been read, and what its fetch wants of all of them.
  struct Due {
    let store: UInt16
    let root: Int
    let keys: ArraySlice<Int64>
    let options: Options
  }

  /// Batches for which this is still to be done.
  var due: [Due] = []
  /// Whether it is being done for a batch. What is read meanwhile only adds to ``due``.
  var isApplying = false

  private var fetches: [Batched] = []

  /// Whether a batch that is still to be read has options.
  private(set) var hasOptions = false

  mutating func remember(_ keys: [Int64], store: Int, root: Int, size: Int, _ options: Options) {
    fetches.insert(Batched(store: store, root: root, size: size, keys: keys, options), at: 0)
    if fetches.count > Self.limit { fetches.removeLast() }
    hasOptions = fetches.contains { !$0.waiting.isEmpty }
  }

  /// The keys to read together with `key`, itself included.
  func batch(_ key: Int64, store: Int, root: Int) -> ArraySlice<Int64>? {
    for fetch in fetches where fetch.store == store && fetch.root == root {
      if let place = fetch.place(key) { return fetch.batch(place / fetch.size) }
    }
    return nil
  }

  /// Adds to ``due`` the batches that `key` is in, whose options have not been applied yet.
  mutating func takeOptions(_ key: Int64, store: UInt16, root: Int) {
    var isTaken = false
    for fetch in fetches where fetch.store == store && fetch.root == root && !fetch.waiting.isEmpty {
      guard let place = fetch.place(key), fetch.waiting.remove(place / fetch.size) != nil else { continue }
      due.append(Due(store: store, root: root, keys: fetch.batch(place / fetch.size), options: fetch.options))
      isTaken = true
    }
    if isTaken { hasOptions = fetches.contains { !$0.waiting.isEmpty } }
  }
}
