import CoreData
import Foundation
import Testing

/// Observers of keys that the entity does not have, or that have several values.
@Suite struct ComputedKeyTests {
  @Test func eachElementOfACompositeIsSeen() throws {
    let stack = try UndoStack()
    let item = try stack.savedItem()
    let log = ObservationLog<Any>()
    log.observation = item.observe("address", options: [.new]) { _, change in log.note(change) }
    for floor in [1, 2, 2, 3] { stack.event { _ in item["address"] = ["city": "c", "floor": floor] } }
    #expect(log.changes.map { ($0.new as? [String: Any])?["floor"] as? Int } == [1, 2, 3])
  }

  @Test func computedKeysFollowTheirProperties() throws {
    try ObservedStack().run { context in
      let item = ObservedItem(context: context)
      let log = ObservationLog<Any>()
      log.observation = item.observe("fullName", options: [.old, .new]) { _, change in log.note(change) }
      let greeting = ObservationLog<Any>()
      greeting.observation = item.observe("greeting", options: [.new]) { _, change in greeting.note(change) }
      item.setValue("Ada", forKey: "first")
      item.setValue("Lovelace", forKey: "last")
      item.setValue("nothing", forKey: "other")
      #expect(log.changes.map { $0.new as? String } == ["Ada ", "Ada Lovelace"])
      #expect(log.changes.map { $0.old as? String } == [" ", "Ada "])
      #expect(greeting.changes.map { $0.new as? String } == ["Hello, Ada ", "Hello, Ada Lovelace"])
      // A value behind a relationship.
      let owner = ObservedItem(context: context)
      item.setValue(owner, forKey: "owner")
      let ownerName = ObservationLog<Any>()
      ownerName.observation = item.observe("ownerName", options: .new) { _, change in ownerName.note(change) }
      owner.setValue("Charles", forKey: "first")
      item.setValue(nil, forKey: "owner")
      #expect(ownerName.changes.map { $0.new as? String } == ["Charles", nil])
      // A key without properties, when the client reports its change.
      let count = ObservationLog<Any>()
      count.observation = item.observe("count", options: .new) { _, change in count.note(change) }
      item.willChangeValue(forKey: "count")
      item.count = 3
      item.didChangeValue(forKey: "count")
      #expect(count.changes.map { $0.new as? Int } == [3] && !item.isUpdated)
    }
  }
}

final class ObservedItem: NSManagedObject {
  var count = 0

  override class var keyValueMethods: KeyValueMethods {
    super.keyValueMethods.accessor("fullName", \ObservedItem.fullName).accessor("greeting", \ObservedItem.greeting)
      .accessor("ownerName", \ObservedItem.ownerName).accessor("count", \ObservedItem.count)
  }

  var fullName: String { "\(self["first"] as? String ?? "") \(self["last"] as? String ?? "")" }
  var greeting: String { "Hello, \(fullName)" }
  var ownerName: String? { (self["owner"] as? ObservedItem)?["first"] as? String }

  override class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
    switch key {
    case "fullName": ["first", "last"]
    case "greeting": ["fullName"]
    case "ownerName": ["owner.first"]
    default: super.keyPathsForValuesAffectingValue(forKey: key)
    }
  }
}

struct ObservedStack {
  private let coordinator: NSPersistentStoreCoordinator

  init() throws {
    let entity = NSEntityDescription()
    (entity.name, entity.managedObjectClassName) = ("ObservedItem", "CoreDataTests.ObservedItem")
    let attributes = ["first", "last", "other"].map { name in
      let attribute = NSAttributeDescription()
      (attribute.name, attribute.type) = (name, .string)
      return attribute
    }
    let owner = NSRelationshipDescription()
    (owner.name, owner.destinationEntity, owner.maxCount) = ("owner", entity, 1)
    entity.properties = attributes + [owner]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
  }

  func run(_ body: (NSManagedObjectContext) throws -> Void) throws {
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait { try body(context) }
  }
}
