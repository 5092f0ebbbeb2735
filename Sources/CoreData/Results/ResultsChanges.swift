import Foundation

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

  private(set) var sections: [SectionChange] = []
  private(set) var objects: [ObjectChange] = []
  var isEmpty: Bool { sections.isEmpty && objects.isEmpty }

  /// `touched` are the objects whose values may have changed; only they can have moved.
  init(from old: ResultsLayout, to new: ResultsLayout, touched: Set<NSManagedObject>) {
    let oldNames = Set(old.sections.map(\.name))
    let newNames = Set(new.sections.map(\.name))
    for (index, section) in old.sections.enumerated() where !newNames.contains(section.name) {
      sections.append(SectionChange(section: section, index: index, type: .delete))
    }
    for (index, section) in new.sections.enumerated() where !oldNames.contains(section.name) {
      sections.append(SectionChange(section: section, index: index, type: .insert))
    }
    for object in old.objects where !new.contains(object) {
      objects.append(ObjectChange(object: object, type: .delete, from: old.indexPath(of: object), to: nil))
    }
    for object in new.objects where !old.contains(object) {
      objects.append(ObjectChange(object: object, type: .insert, from: nil, to: new.indexPath(of: object)))
    }
    let moved = Self.moved(from: old, to: new, touched: touched)
    for object in old.objects where touched.contains(object) && new.contains(object) {
      let type: NSFetchedResultsChangeType = moved.contains(object) ? .move : .update
      objects.append(
        ObjectChange(object: object, type: type, from: old.indexPath(of: object), to: new.indexPath(of: object)))
    }
  }

  /// The touched objects that have moved in the order of the objects, or to another section.
  ///
  /// Objects that were not touched keep their order. A touched object has not moved if the number of unmoved objects
  /// before it is the same as before.
  private static func moved(
    from old: ResultsLayout, to new: ResultsLayout, touched: Set<NSManagedObject>
  ) -> Set<NSManagedObject> {
    var stayingOld: [Int] = []
    var stayingNew: [Int] = []
    for (position, object) in old.objects.enumerated() where !touched.contains(object) {
      guard let newPosition = new.position(of: object) else { continue }
      stayingOld.append(position)
      stayingNew.append(newPosition)
    }
    var moved: Set<NSManagedObject> = []
    for (position, object) in old.objects.enumerated() where touched.contains(object) {
      guard let newPosition = new.position(of: object) else { continue }
      let before = count(below: position, stayingOld)
      if old.sectionName(of: object) == new.sectionName(of: object) && before == count(below: newPosition, stayingNew) {
        stayingOld.insert(position, at: before)
        stayingNew.insert(newPosition, at: before)
      } else {
        moved.insert(object)
      }
    }
    return moved
  }

  /// How many numbers in ascending order are below `limit`.
  private static func count(below limit: Int, _ numbers: [Int]) -> Int {
    var (low, high) = (0, numbers.count)
    while low < high {
      let middle = (low + high) / 2
      if numbers[middle] < limit { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
