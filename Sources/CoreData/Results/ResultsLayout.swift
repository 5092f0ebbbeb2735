import Foundation

/// The objects of a controller in order, divided into sections.
struct ResultsLayout {
  final class Section: NSFetchedResultsSectionInfo {
    let name: String
    let indexTitle: String?
    let members: ArraySlice<NSManagedObject>

    init(name: String, indexTitle: String?, members: ArraySlice<NSManagedObject>) {
      self.name = name
      self.indexTitle = indexTitle
      self.members = members
    }

    var numberOfObjects: Int { members.count }
    var objects: [Any]? { Array(members) }
    /// The same section without objects.
    var emptied: Section { Section(name: name, indexTitle: indexTitle, members: []) }
  }

  let objects: [NSManagedObject]
  let sections: [Section]
  private let positions: [ObjectIdentifier: Int]
  /// The section of each object.
  private let sectionIndexes: [Int]

  /// `names` returns the section name of each object; without it, all objects are in one section. If the order of the
  /// request does not keep the objects of a section together, ``tornSection`` names that section.
  init(_ objects: [NSManagedObject], names: ((NSManagedObject) -> String)?, title: (String) -> String?) {
    self.objects = objects
    positions = Dictionary(
      objects.enumerated().map { (ObjectIdentifier($1), $0) }, uniquingKeysWith: { first, _ in first })
    guard let names else {
      // Without section names, an empty result still has one section.
      sections = [Section(name: "", indexTitle: nil, members: objects[...])]
      sectionIndexes = Array(repeating: 0, count: objects.count)
      return
    }
    var sections: [Section] = []
    var indexes: [Int] = []
    var start = 0
    let all = objects.map(names)
    for index in objects.indices {
      indexes.append(sections.count)
      if index + 1 == objects.count || all[index + 1] != all[index] {
        sections.append(Section(name: all[index], indexTitle: title(all[index]), members: objects[start...index]))
        start = index + 1
      }
    }
    self.sections = sections
    sectionIndexes = indexes
  }

  /// The name of a section whose objects are not all adjacent.
  var tornSection: String? {
    var seen: Set<String> = []
    return sections.first { !seen.insert($0.name).inserted }?.name
  }

  func contains(_ object: NSManagedObject) -> Bool { positions[ObjectIdentifier(object)] != nil }

  /// The object's index among all objects.
  func position(of object: NSManagedObject) -> Int? { positions[ObjectIdentifier(object)] }

  func indexPath(of object: NSManagedObject) -> IndexPath? { positions[ObjectIdentifier(object)].map(indexPath) }

  func indexPath(_ position: Int) -> IndexPath {
    let section = sectionIndexes[position]
    return IndexPath(item: position - sections[section].members.startIndex, section: section)
  }

  func sectionName(of object: NSManagedObject) -> String? {
    positions[ObjectIdentifier(object)].map { sections[sectionIndexes[$0]].name }
  }

  /// The object at an index path; nil outside of the results.
  func object(at path: IndexPath) -> NSManagedObject? {
    guard path.count == 2, sections.indices.contains(path.section) else { return nil }
    let members = sections[path.section].members
    let position = members.startIndex + path.item
    return path.item >= 0 && position < members.endIndex ? members[position] : nil
  }
}
