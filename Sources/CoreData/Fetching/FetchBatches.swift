import StoreProtocol
import StoreSchema

/// The results of fetches with a batch size. They are faults. When one of them is used, its whole batch is read.
///
/// A Swift array cannot be lazy. So a batched fetch returns all objects at once, but reads only their keys. Values are
/// read batch by batch.
struct FetchBatches {
  /// The number of batched fetches that are remembered. Faults of older fetches are read one by one.
  private static let limit = 8

  /// The options of a fetch for its objects.
  struct Options {
    /// Whether the objects stop being faults when their batch is read.
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
    /// The indices of the keys, sorted by key; nil if the keys are sorted themselves.
    private let order: [UInt32]?

    init(store: Int, root: Int, size: Int, keys: [Int64], _ options: Options) {
      self.store = store
      self.root = root
      self.size = size
      self.keys = keys
      self.options = options
      waiting = options.isEmpty ? [] : Set(0..<(keys.count + size - 1) / size)
      let isSorted = zip(keys, keys.dropFirst()).allSatisfy { $0 < $1 }
      // A dictionary would take ten times the memory, and one look-up a batch does not need it.
      order =
        isSorted ? nil : keys.indices.map { UInt32(truncatingIfNeeded: $0) }.sorted { keys[Int($0)] < keys[Int($1)] }
    }

    /// The index of a key; nil if it is not in the fetch.
    func position(_ key: Int64) -> Int? {
      var (low, high) = (0, keys.count)
      while low < high {
        let middle = (low + high) / 2
        if keys[position(at: middle)] < key { low = middle + 1 } else { high = middle }
      }
      return low < keys.count && keys[position(at: low)] == key ? position(at: low) : nil
    }

    private func position(at index: Int) -> Int { order.map { Int($0[index]) } ?? index }

    func batch(_ number: Int) -> ArraySlice<Int64> { keys[number * size..<min(number * size + size, keys.count)] }
  }

  /// A batch of which an object has been read, and the options to apply to all its objects.
  struct Due {
    let store: UInt16
    let root: Int
    let keys: ArraySlice<Int64>
    let options: Options
  }

  /// Batches whose options are not applied yet.
  var due: [Due] = []
  /// Whether options are being applied to a batch. Objects that are read meanwhile only add to ``due``.
  var isApplying = false

  private var fetches: [Batched] = []

  /// Whether a batch that is not read yet has options.
  private(set) var hasOptions = false

  mutating func remember(_ keys: [Int64], store: Int, root: Int, size: Int, _ options: Options) {
    fetches.insert(Batched(store: store, root: root, size: size, keys: keys, options), at: 0)
    if fetches.count > Self.limit { fetches.removeLast() }
    hasOptions = fetches.contains { !$0.waiting.isEmpty }
  }

  /// The keys of the batch of `key`.
  func batch(_ key: Int64, store: Int, root: Int) -> ArraySlice<Int64>? {
    for fetch in fetches where fetch.store == store && fetch.root == root {
      if let position = fetch.position(key) { return fetch.batch(position / fetch.size) }
    }
    return nil
  }

  /// Adds the batches of `key` whose options have not been applied yet to ``due``.
  mutating func takeOptions(_ key: Int64, store: UInt16, root: Int) {
    var isTaken = false
    for fetch in fetches where fetch.store == store && fetch.root == root && !fetch.waiting.isEmpty {
      guard let position = fetch.position(key), fetch.waiting.remove(position / fetch.size) != nil else { continue }
      due.append(Due(store: store, root: root, keys: fetch.batch(position / fetch.size), options: fetch.options))
      isTaken = true
    }
    if isTaken { hasOptions = fetches.contains { !$0.waiting.isEmpty } }
  }
}
