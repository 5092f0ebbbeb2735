extension Array<Int64> {
  /// Where a key is among keys in ascending order, each once.
  ///
  /// Their distances to the ends bound the place, which among keys without gaps is the place itself.
  func place(ofKey key: Int64) -> Int? {
    withUnsafeBufferPointer { keys in
      guard let first = keys.first, let last = keys.last, key >= first, key <= last else { return nil }
      var low = Swift.max(0, keys.count - 1 - Int(clamping: last.subtractingReportingOverflow(key).partialValue))
      var high = Swift.min(keys.count - 1, Int(clamping: key.subtractingReportingOverflow(first).partialValue))
      while low < high {
        let middle = (low + high) / 2
        if keys[middle] < key { low = middle + 1 } else { high = middle }
      }
      return keys[low] == key ? low : nil
    }
  }
}

extension UnsafeBufferPointer<Int64> {
  /// Whether each is above the one before it.
  var isAscending: Bool {
    var index = 1
    while index < count {
      if self[index - 1] >= self[index] { return false }
      index += 1
    }
    return true
  }
}

extension Array<Int64> {
  var isAscending: Bool { withUnsafeBufferPointer { $0.isAscending } }
}

extension ArraySlice<Int64> {
  var isAscending: Bool { withUnsafeBufferPointer { $0.isAscending } }
}
