import Foundation
import StoreSchema

/// The objects of a controller in order, divided into sections. Each object is in it once.
///
/// Changes to a few objects take logarithmic time. Sections that come or go take time in proportion to the number of
/// sections.
final class ResultsLayout {
  final class Section: NSFetchedResultsSectionInfo {
    let name: String
    private let title: (String) -> String?
    /// Requested when it is first read: the code of the client that returns it may end an event, and so change the
    /// results.
    private(set) lazy var indexTitle = title(name)
    fileprivate(set) var order = ResultsOrder() { didSet { listed = nil } }
    private var listed: [Any]?
    /// Its index among the sections.
    fileprivate(set) var index = 0

    init(name: String, title: @escaping (String) -> String?) { (self.name, self.title) = (name, title) }

    var numberOfObjects: Int { order.count }
    var objects: [Any]? {
      let objects = listed ?? order.objects
      listed = objects
      return objects
    }

    /// The name as a key. Names are compared by their bytes, as the texts that the results are sorted by.
    var key: Value { .string(name) }
    func isNamed(_ other: String) -> Bool { UTF8Order.areEqual(name, other) }

    /// The same section without objects.
    var emptied: Section { Section(name: name, title: title) }
  }

  private(set) var sections: [Section] = []
  /// Counts the changes of the objects and their order.
  private(set) var revision = 0
  private var byName: [Value: Section] = [:]
  private var nodes: [ObjectIdentifier: ResultsOrder.Node] = [:]
  /// Sections that lost their last object.
  private var emptied: [Section] = []
  /// Whether the sections have names. Without them there is always one section.
  private let hasNames: Bool
  /// The index title of a section name.
  private let title: (String) -> String?

  /// `names` are the section names of the objects; without them, all objects are in one section. If the order of the
  /// request does not keep the objects of a section together, ``tornSection`` names that section.
  init(_ objects: [NSManagedObject], names: [String]?, title: @escaping (String) -> String?) {
    (hasNames, self.title) = (names != nil, title)
    nodes.reserveCapacity(objects.count)
    if names == nil { sections = [Section(name: "") { _ in nil }] }
    var run: [ResultsOrder.Node] = []
    for (index, object) in objects.enumerated() {
      if let name = names?[index], sections.last?.isNamed(name) != true {
        sections.last?.order.append(run)
        run = []
        sections.append(Section(name: name, title: title))
      }
      guard let section = sections.last, nodes[ObjectIdentifier(object)] == nil else { continue }
      let node = ResultsOrder.Node(object, section)
      nodes[ObjectIdentifier(object)] = node
      run.append(node)
    }
    sections.last?.order.append(run)
    sections.removeAll { hasNames && $0.order.count == 0 }
    number()
  }

  private func number() {
    for (index, section) in sections.enumerated() { section.index = index }
    byName = Dictionary(sections.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// The name of a section whose objects are not all adjacent.
  var tornSection: String? {
    var seen: Set<Value> = []
    return sections.first { !seen.insert($0.key).inserted }?.name
  }

  var objects: [NSManagedObject] {
    sections.count == 1 ? sections[0].order.objects : sections.flatMap(\.order.objects)
  }

  func contains(_ object: NSManagedObject) -> Bool { nodes[ObjectIdentifier(object)] != nil }

  func section(of object: NSManagedObject) -> Section? { nodes[ObjectIdentifier(object)]?.section }

  func indexPath(of object: NSManagedObject) -> IndexPath? {
    guard let node = nodes[ObjectIdentifier(object)] else { return nil }
    return IndexPath(item: node.section.order.position(of: node), section: node.section.index)
  }

  /// The object at an index path; nil outside of the results.
  func object(at path: IndexPath) -> NSManagedObject? {
    guard path.count == 2, sections.indices.contains(path.section) else { return nil }
    let order = sections[path.section].order
    return (0..<order.count).contains(path.item) ? order.node(at: path.item)?.object : nil
  }

  // MARK: Changes

  /// The objects among `objects` that are in the results, with their index paths, in order.
  func former(of objects: Set<NSManagedObject>) -> [ResultsChanges.Former] {
    objects.compactMap { object in
      indexPath(of: object).map { path in
        ResultsChanges.Former(object: object, path: path, sectionKey: sections[path.section].key)
      }
    }.sorted { $0.path < $1.path }
  }

  /// Removes an object. A section without objects stays until ``removeEmptySections()``.
  func remove(_ object: NSManagedObject) {
    guard let node = nodes.removeValue(forKey: ObjectIdentifier(object)) else { return }
    revision += 1
    node.section.order.remove(node)
    if hasNames && node.section.order.count == 0 { emptied.append(node.section) }
  }

  func removeEmptySections() {
    let gone = Set(emptied.filter { $0.order.count == 0 }.map(ObjectIdentifier.init))
    emptied = []
    if gone.isEmpty { return }
    sections.removeAll { gone.contains(ObjectIdentifier($0)) }
    number()
  }

  /// Inserts an object in the order of the results. No section may be empty. Returns false where the object is not
  /// beside the other objects of its section, or the others are in another order. Then the caller must remove it again,
  /// because the results are in no order.
  func insert(
    _ object: NSManagedObject, name: String, where precedes: (NSManagedObject, NSManagedObject) -> Bool
  ) -> Bool {
    // Code of the client may read the results meanwhile.
    defer { revision += 1 }
    let section = byName[.string(name)] ?? newSection(name, object, precedes)
    let node = ResultsOrder.Node(object, section)
    nodes[ObjectIdentifier(object)] = node
    section.order.insert(node, where: precedes)
    let position = section.order.position(of: node)
    let before = section.order.node(at: position - 1) ?? neighbour(section.index - 1)?.order.last
    let after = section.order.node(at: position + 1) ?? neighbour(section.index + 1)?.order.first
    if let before, precedes(object, before.object) { return false }
    if let after, precedes(after.object, object) { return false }
    return true
  }

  private func neighbour(_ index: Int) -> Section? { sections.indices.contains(index) ? sections[index] : nil }

  /// Whether each object is where its values belong, leaving out those of a set.
  func isOrdered(
    besides others: Set<NSManagedObject>, by precedes: (NSManagedObject, NSManagedObject) -> Bool
  ) -> Bool {
    let objects = objects.filter { !others.contains($0) }
    return !zip(objects, objects.dropFirst()).contains { precedes($1, $0) }
  }

  /// A new section at the position of its first object.
  private func newSection(
    _ name: String, _ object: NSManagedObject, _ precedes: (NSManagedObject, NSManagedObject) -> Bool
  ) -> Section {
    let section = Section(name: name, title: title)
    var (low, high) = (0, sections.count)
    while low < high {
      let middle = (low + high) / 2
      if let first = sections[middle].order.first, precedes(object, first.object) {
        high = middle
      } else {
        low = middle + 1
      }
    }
    sections.insert(section, at: low)
    number()
    return section
  }

  /// Undoes changes: removes `objects`, and puts `former` back into the sections.
  func restore(_ sections: [Section], _ former: [ResultsChanges.Former], without objects: [NSManagedObject]) {
    for object in objects { remove(object) }
    (self.sections, emptied) = (sections, [])
    revision += 1
    number()
    for old in former {
      let section = sections[old.path.section]
      let node = ResultsOrder.Node(old.object, section)
      nodes[ObjectIdentifier(old.object)] = node
      section.order.insert(node, at: old.path.item)
    }
  }
}
