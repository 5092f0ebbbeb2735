import Foundation
import StoreSchema

/// The differences between two states of a controller's results, as its delegate gets them.
struct ResultsChanges {
  struct ObjectChange {
    let object: NSManagedObject
    let type: NSFetchedResultsChangeType
    let from: IndexPath?
    let to: IndexPath?
  }

  struct SectionChange {
    let section: ResultsLayout.Section
    let index: Int
    let type: NSFetchedResultsChangeType
  }

  /// An object that was in the results, with its index path.
  struct Former {
    let object: NSManagedObject
    let path: IndexPath
    let sectionKey: Value
  }

  private(set) var sections: [SectionChange] = []
  private(set) var objects: [ObjectChange] = []
  var isEmpty: Bool { sections.isEmpty && objects.isEmpty }

  /// `former` are the objects that may have left, moved or changed, in the order that they had; `come` those that may
  /// be new in `layout`, or have moved. All other objects were in the results, and have kept their order.
  init(
    _ former: [Former], _ formerSections: [ResultsLayout.Section], _ come: [NSManagedObject], in layout: ResultsLayout
  ) {
    let keptSections = compareSections(formerSections, layout.sections)
    let known = Set(former.map { ObjectIdentifier($0.object) })
    let paths = Dictionary(
      come.compactMap { object in layout.indexPath(of: object).map { (ObjectIdentifier(object), $0) } },
      uniquingKeysWith: { first, _ in first })
    for old in former where paths[ObjectIdentifier(old.object)] == nil {
      objects.append(ObjectChange(object: old.object, type: .delete, from: old.path, to: nil))
    }
    let new = come.filter { !known.contains(ObjectIdentifier($0)) }
    let inserted = new.compactMap { object in paths[ObjectIdentifier(object)].map { (object, $0) } }
    for (object, path) in inserted.sorted(by: { $0.1 < $1.1 }) {
      objects.append(ObjectChange(object: object, type: .insert, from: nil, to: path))
    }
    let unmoved = Self.unmoved(former, paths, layout, keptSections)
    for old in former {
      guard let path = paths[ObjectIdentifier(old.object)] else { continue }
      let type: NSFetchedResultsChangeType = unmoved.contains(ObjectIdentifier(old.object)) ? .update : .move
      objects.append(ObjectChange(object: old.object, type: type, from: old.path, to: path))
    }
  }

  /// The same without updates of objects that are not among `changed`.
  func without(updatesBesides changed: Set<NSManagedObject>) -> ResultsChanges {
    var changes = self
    changes.objects.removeAll { $0.type == .update && !changed.contains($0.object) }
    return changes
  }

  /// Adds the changes of the sections. Returns the keys of those that have stayed; nil where all have.
  private mutating func compareSections(
    _ former: [ResultsLayout.Section], _ present: [ResultsLayout.Section]
  ) -> Set<Value>? {
    if former.elementsEqual(present, by: ===) { return nil }
    let kept = Self.kept(former, present)
    for (index, section) in former.enumerated() where !kept.contains(section.key) {
      sections.append(SectionChange(section: section, index: index, type: .delete))
    }
    for (index, section) in present.enumerated() where !kept.contains(section.key) {
      sections.append(SectionChange(section: section, index: index, type: .insert))
    }
    return kept
  }

  /// The keys of the sections that have kept their order. A section with unchanged objects has kept it. A section
  /// whose objects have all changed may have another position; then it counts as deleted and inserted.
  private static func kept(_ former: [ResultsLayout.Section], _ present: [ResultsLayout.Section]) -> Set<Value> {
    let unchanged = Set(former.map(ObjectIdentifier.init)).intersection(present.map(ObjectIdentifier.init))
    func unchangedBefore(_ sections: [ResultsLayout.Section]) -> [Value: (count: Int, index: Int)] {
      var count = 0
      var result: [Value: (count: Int, index: Int)] = [:]
      for (index, section) in sections.enumerated() {
        result[section.key] = (count, index)
        if unchanged.contains(ObjectIdentifier(section)) { count += 1 }
      }
      return result
    }
    let (old, new) = (unchangedBefore(former), unchangedBefore(present))
    var kept: Set<Value> = []
    var gaps: [Int: [(key: Value, index: Int)]] = [:]
    for section in former {
      guard let before = old[section.key]?.count, let present = new[section.key] else { continue }
      if unchanged.contains(ObjectIdentifier(section)) {
        kept.insert(section.key)
      } else if present.count == before {
        gaps[before, default: []].append((section.key, present.index))
      }
    }
    for members in gaps.values {
      for index in AscendingSequence.longest(members.map(\.index)) { kept.insert(members[index].key) }
    }
    return kept
  }

  /// The objects that have kept their order among themselves, and to the objects that did not change.
  ///
  /// An object can only have kept its order if it is in the same section, with the same number of unchanged objects
  /// before it. Among the objects with the same number, the longest sequence that is in the same order as before counts
  /// as unmoved.
  private static func unmoved(
    _ former: [Former], _ paths: [ObjectIdentifier: IndexPath], _ layout: ResultsLayout, _ keptSections: Set<Value>?
  ) -> Set<ObjectIdentifier> {
    struct Gap: Hashable {
      let section: Value
      let unchangedBefore: Int
    }
    // How many of the changed objects are before each one, in its section.
    var (oldBefore, section) = (0, Int?.none)
    let olds = former.map { old in
      if section != old.path.section { (section, oldBefore) = (old.path.section, 0) }
      defer { oldBefore += 1 }
      return Gap(section: old.sectionKey, unchangedBefore: old.path.item - oldBefore)
    }
    var newGaps: [IndexPath: Gap] = [:]
    var (newBefore, newSection) = (0, Int?.none)
    for path in paths.values.sorted() {
      if newSection != path.section { (newSection, newBefore) = (path.section, 0) }
      newGaps[path] = Gap(section: layout.sections[path.section].key, unchangedBefore: path.item - newBefore)
      newBefore += 1
    }
    var gaps: [Gap: [(ObjectIdentifier, item: Int)]] = [:]
    for (old, gap) in zip(former, olds) {
      guard let path = paths[ObjectIdentifier(old.object)], newGaps[path] == gap,
        keptSections?.contains(gap.section) ?? true
      else { continue }
      gaps[gap, default: []].append((ObjectIdentifier(old.object), path.item))
    }
    var unmoved: Set<ObjectIdentifier> = []
    for members in gaps.values {
      for index in AscendingSequence.longest(members.map(\.item)) { unmoved.insert(members[index].0) }
    }
    return unmoved
  }

  /// The changes of results without sections. An object that moved is removed and inserted, and each of both changes
  /// names the position of the other.
  var difference: CollectionDifference<NSManagedObjectID> {
    var changes: [CollectionDifference<NSManagedObjectID>.Change] = []
    for change in objects where change.type != .update {
      let (from, to) = (change.from?.item, change.to?.item)
      let id = change.object.ownID
      if let from { changes.append(.remove(offset: from, element: id, associatedWith: to)) }
      if let to { changes.append(.insert(offset: to, element: id, associatedWith: from)) }
    }
    guard let difference = CollectionDifference(changes) else {
      preconditionFailure("The changes of fetched results contradict each other.")
    }
    return difference
  }
}

/// Ascending sequences in numbers.
enum AscendingSequence {
  /// The positions of a longest ascending sequence of the numbers, the last position first.
  ///
  /// For each length it keeps the least number that ends a sequence of that length, and for each number the position of
  /// the number before it.
  static func longest(_ numbers: [Int]) -> [Int] {
    var ends: [(number: Int, position: Int)] = []
    var before = [Int?](repeating: nil, count: numbers.count)
    for (position, number) in numbers.enumerated() {
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
