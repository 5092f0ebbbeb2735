import Foundation
import StoreSchema

/// The results of a fetched results controller at one moment: the IDs of the objects, in sections.
///
/// It takes the place of `NSDiffableDataSourceSnapshot`, which belongs to Apple's user interface libraries, and has the
/// names of its members.
/// https://developer.apple.com/documentation/uikit/nsdiffabledatasourcesnapshot
public struct FetchedResultsSnapshot: Sendable, Equatable {
  private let sections: [(name: String, items: [NSManagedObjectID])]
  /// The IDs of the objects whose values have changed since the snapshot before, and which were in that one too.
  public let reloadedItemIdentifiers: [NSManagedObjectID]

  init(_ layout: ResultsLayout, reloaded: [NSManagedObject]) {
    sections = layout.sections.map { ($0.name, $0.order.objects.map(\.ownID)) }
    reloadedItemIdentifiers = reloaded.map(\.ownID)
  }

  private init(
    _ sections: [(name: String, items: [NSManagedObjectID])], reloadedItemIdentifiers: [NSManagedObjectID]
  ) { (self.sections, self.reloadedItemIdentifiers) = (sections, reloadedItemIdentifiers) }

  /// The same snapshot, with other reloaded objects.
  func reloading(_ isReloaded: (NSManagedObjectID) -> Bool) -> FetchedResultsSnapshot {
    FetchedResultsSnapshot(sections, reloadedItemIdentifiers: itemIdentifiers.filter(isReloaded))
  }

  /// The number of objects.
  public var numberOfItems: Int { sections.reduce(0) { $0 + $1.items.count } }
  /// The number of sections; 1 for a controller without sections.
  public var numberOfSections: Int { sections.count }
  /// The names of the sections, in order.
  public var sectionIdentifiers: [String] { sections.map(\.name) }
  /// The IDs of all objects, in order.
  public var itemIdentifiers: [NSManagedObjectID] { sections.flatMap(\.items) }

  /// The number of objects in a section; zero for a name that no section has.
  public func numberOfItems(inSection identifier: String) -> Int { itemIdentifiers(inSection: identifier).count }

  /// The IDs of the objects in a section, in order; none for a name that no section has.
  public func itemIdentifiers(inSection identifier: String) -> [NSManagedObjectID] {
    sections.first { UTF8Order.areEqual($0.name, identifier) }?.items ?? []
  }

  /// The name of the section of an object; nil for an object that is not in the results.
  public func sectionIdentifier(containingItem identifier: NSManagedObjectID) -> String? {
    sections.first { $0.items.contains(identifier) }?.name
  }

  /// The position of an object among all; nil for an object that is not in the results.
  public func indexOfItem(_ identifier: NSManagedObjectID) -> Int? { itemIdentifiers.firstIndex(of: identifier) }

  /// The position of a section; nil for a name that no section has.
  public func indexOfSection(_ identifier: String) -> Int? {
    sections.firstIndex { UTF8Order.areEqual($0.name, identifier) }
  }

  public static func == (a: FetchedResultsSnapshot, b: FetchedResultsSnapshot) -> Bool {
    a.reloadedItemIdentifiers == b.reloadedItemIdentifiers && a.sections.elementsEqual(b.sections, by: ==)
  }
}
