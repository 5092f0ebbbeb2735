import Foundation

/// The difference between two states of a controller's results, with the fewest removals and insertions.
///
/// The algorithm of the standard library is not used: its time and memory grow with the square of the number of
/// differences, because it does not rely on elements being distinct. Here the longest ascending sequence of the new
/// positions gives the largest set of objects that keep their order.
enum ResultsDifference {
  static func make(from old: ResultsLayout, to new: ResultsLayout) -> CollectionDifference<NSManagedObjectID> {
    make(old.objects.map(new.position), newCount: new.objects.count) {
      old.objects[$0].ownID
    } new: {
      new.objects[$0].ownID
    }
  }

  /// `given` are the new positions of the old elements, nil for removed ones. An element that occurs twice, as it may
  /// in a client's store, counts once. `old` and `new` return the elements at positions that changed.
  ///
  /// An element that moved is removed and inserted, and each of both changes names the position of the other.
  static func make<Element>(
    _ given: [Int?], newCount: Int, old: (Int) -> Element, new: (Int) -> Element
  ) -> CollectionDifference<Element> {
    var (positions, former) = (given, [Int?](repeating: nil, count: newCount))
    for (position, newPosition) in given.enumerated() {
      guard let newPosition else { continue }
      if former[newPosition] == nil { former[newPosition] = position } else { positions[position] = nil }
    }
    var (staysInOld, staysInNew) = (positions.map { _ in false }, former.map { _ in false })
    for position in longestAscending(positions) {
      staysInOld[position] = true
      if let newPosition = positions[position] { staysInNew[newPosition] = true }
    }
    var changes: [CollectionDifference<Element>.Change] = []
    for position in positions.indices where !staysInOld[position] {
      changes.append(.remove(offset: position, element: old(position), associatedWith: positions[position]))
    }
    for position in former.indices where !staysInNew[position] {
      changes.append(.insert(offset: position, element: new(position), associatedWith: former[position]))
    }
    guard let difference = CollectionDifference(changes) else {
      preconditionFailure("The changes of fetched results contradict each other.")
    }
    return difference
  }

  /// The positions of a longest ascending sequence of the numbers, the last position first.
  ///
  /// For each length it keeps the least number that ends a sequence of that length, and for each number the position of
  /// the number before it.
  private static func longestAscending(_ numbers: [Int?]) -> [Int] {
    var ends: [(number: Int, position: Int)] = []
    var before = [Int?](repeating: nil, count: numbers.count)
    for (position, number) in numbers.enumerated() {
      guard let number else { continue }
      let length = ends.partitioningIndex { $0.number >= number }
      before[position] = length > 0 ? ends[length - 1].position : nil
      if length == ends.count { ends.append((number, position)) } else { ends[length] = (number, position) }
    }
    var result: [Int] = []
    var next = ends.last?.position
    while let position = next {
      result.append(position)
      next = before[position]
    }
    return result
  }
}

extension Array {
  /// The first index at which a condition holds. It must hold for all later elements.
  fileprivate func partitioningIndex(_ belongs: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if belongs(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
