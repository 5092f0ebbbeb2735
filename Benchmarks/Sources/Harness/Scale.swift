import Foundation

/// How many objects there are.
struct Scale {
  let employees: Int
  /// One for every hundred employees, up to 1 000.
  let departments: Int
  /// Up to 50.
  let tags: Int

  init(employees: Int) {
    self.employees = max(1, employees)
    departments = min(1000, max(1, employees / 100))
    tags = min(50, max(3, employees / 20))
  }

  /// The employees of each save of ``Workload/w1b``.
  var batch: Int { max(1, employees / 100) }

  /// What each save of ``Workload/w12`` changes.
  func batches<T>(of all: [T]) -> [ArraySlice<T>] {
    stride(from: 0, to: all.count, by: batch).map { all[$0..<min($0 + batch, all.count)] }
  }

  /// How many read in ``Workload/w12`` while one saves.
  static let readers = 8
  /// How many saves ``Workload/w13`` has at most.
  static let smallSaves = 1000

  /// Bytes of the page cache of what writes, on both sides: the library's default, or what the environment variable
  /// `STORE_BENCHMARK_WRITER_CACHE` says.
  static let writerCache = getenv("STORE_BENCHMARK_WRITER_CACHE").flatMap { Int(String(cString: $0)) } ?? 16 << 20

  /// The keys of ``Workload/w4s``, one of a hundred.
  var sparseKeys: [Int64] { Array(permutation.prefix(max(1, employees / 100))) }

  /// All keys in a fixed random order.
  var permutation: [Int64] {
    var keys = (1...Int64(employees)).map { $0 }
    var state: UInt64 = 88_172_645_463_325_252
    for index in stride(from: keys.count - 1, to: 0, by: -1) {
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      keys.swapAt(index, Int(state % UInt64(index + 1)))
    }
    return keys
  }
}
