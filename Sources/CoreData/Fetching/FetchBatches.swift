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
  struct Wishes {
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
    let wishes: Wishes
    /// The batches, by number, whose wishes have not come true yet.
    var waiting: Set<Int>
    /// The places of the keys in the order of these; nil where they come in their own order.
    private let order: [UInt32]?

    init(store: Int, root: Int, size: Int, keys: [Int64], _ wishes: Wishes) {
      self.store = store
      self.root = root
      self.size = size
      self.keys = keys
      self.wishes = wishes
      waiting = wishes.isEmpty ? [] : Set(0..<(keys.count + size - 1) / size)
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

  /// Objects of a batch that is being read, for which a fetch wants something.
  struct Due {
    let store: UInt16
    let root: Int
    let keys: ArraySlice<Int64>
    let wishes: Wishes
  }

  /// What is to be done next.
  var due: [Due] = []
  /// Whether something that was due is being done.
  var isFulfilling = false

  private var fetches: [Batched] = []

  /// Whether a batch that is still to be read has wishes.
  private(set) var hasWishes = false

  mutating func remember(_ keys: [Int64], store: Int, root: Int, size: Int, _ wishes: Wishes) {
    fetches.insert(Batched(store: store, root: root, size: size, keys: keys, wishes), at: 0)
    if fetches.count > Self.limit { fetches.removeLast() }
    hasWishes = fetches.contains { !$0.waiting.isEmpty }
  }

  /// The keys to read together with `key`, itself included.
  func batch(_ key: Int64, store: Int, root: Int) -> ArraySlice<Int64>? {
    for fetch in fetches where fetch.store == store && fetch.root == root {
      if let place = fetch.place(key) { return fetch.batch(place / fetch.size) }
    }
    return nil
  }

  /// Adds to ``due`` the batches that `key` is in, with wishes that nobody has taken yet.
  mutating func takeWishes(_ key: Int64, store: UInt16, root: Int) {
    var isTaken = false
    for fetch in fetches where fetch.store == store && fetch.root == root && !fetch.waiting.isEmpty {
      guard let place = fetch.place(key), fetch.waiting.remove(place / fetch.size) != nil else { continue }
      due.append(Due(store: store, root: root, keys: fetch.batch(place / fetch.size), wishes: fetch.wishes))
      isTaken = true
    }
    if isTaken { hasWishes = fetches.contains { !$0.waiting.isEmpty } }
  }
}
