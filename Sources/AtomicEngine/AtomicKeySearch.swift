extension Array<Int64> {
  /// The index of a key in ascending keys without duplicates.
  ///
  /// The distances of the key to the first and last key bound its index. Without gaps between the keys they give the
  /// index itself.
  func position(ofKey key: Int64) -> Int? {
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
  /// Whether each element is greater than the one before it.
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
