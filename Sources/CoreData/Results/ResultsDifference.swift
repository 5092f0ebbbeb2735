import Foundation

/// The difference between two states of a controller's results, with the fewest removals and insertions.
///
/// The algorithm of the standard library is not used: its time and memory grow with the square of the number of
/// differences, because it does not rely on elements being distinct. Here the longest ascending sequence of the new
/// positions gives the largest set of objects that keep their order.
enum ResultsDifference {
  static func make(from old: ResultsLayout, to new: ResultsLayout) -> CollectionDifference<NSManagedObjectID> {
    make(old.objects.map(new.place), newCount: new.objects.count) {
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
    var (places, former) = (given, [Int?](repeating: nil, count: newCount))
    for (place, newPlace) in given.enumerated() {
      guard let newPlace else { continue }
      if former[newPlace] == nil { former[newPlace] = place } else { places[place] = nil }
    }
    var (staysInOld, staysInNew) = (places.map { _ in false }, former.map { _ in false })
    for place in longestAscending(places) {
      staysInOld[place] = true
      if let newPlace = places[place] { staysInNew[newPlace] = true }
    }
    var changes: [CollectionDifference<Element>.Change] = []
    for place in places.indices where !staysInOld[place] {
      changes.append(.remove(offset: place, element: old(place), associatedWith: places[place]))
    }
    for place in former.indices where !staysInNew[place] {
      changes.append(.insert(offset: place, element: new(place), associatedWith: former[place]))
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
    var ends: [(number: Int, place: Int)] = []
    var before = [Int?](repeating: nil, count: numbers.count)
    for (place, number) in numbers.enumerated() {
      guard let number else { continue }
      let length = ends.partitioningIndex { $0.number >= number }
      before[place] = length > 0 ? ends[length - 1].place : nil
      if length == ends.count { ends.append((number, place)) } else { ends[length] = (number, place) }
    }
    var result: [Int] = []
    var next = ends.last?.place
    while let place = next {
      result.append(place)
      next = before[place]
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
