import CoreData
import Foundation

/// A coordinator with a store in a new folder, for tests of what must hold whatever other contexts do meanwhile.
final class AcknowledgedStack {
  let folder = FileManager.default.temporaryDirectory.appending(path: "acknowledged-\(UUID())")
  let coordinator = NSPersistentStoreCoordinator(managedObjectModel: AcknowledgedStack.model())

  init(_ type: NSPersistentStore.StoreType, options: [AnyHashable: Any]? = nil) throws {
    HookedTransformer.register()
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try coordinator.addPersistentStore(type: type, at: folder.appending(path: "store"), options: options)
  }

  deinit {
    for store in coordinator.persistentStores { try? coordinator.remove(store) }
    try? FileManager.default.removeItem(at: folder)
  }

  func context() -> NSManagedObjectContext {
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  func insert(_ entity: String, in context: NSManagedObjectContext) -> NSManagedObject {
    NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
  }

  /// The large values of all objects of an entity in the store at a URL, read by a separate coordinator; nil for a
  /// value that cannot be read.
  static func blobs(
    of entity: String, at url: URL, _ type: NSPersistentStore.StoreType, options: [AnyHashable: Any]? = nil
  ) throws -> [Data?] {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
    let store = try coordinator.addPersistentStore(type: type, at: url, options: options)
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    let found = try context.performAndWait {
      try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity)).map { $0.value(forKey: "blob") as? Data }
    }
    try coordinator.remove(store)
    return found
  }

  /// An owner with members for each delete rule, in to-one relationships and in pairs.
  static func model() -> NSManagedObjectModel {
    let (owner, member) = (NSEntityDescription(), NSEntityDescription())
    (owner.name, member.name) = ("Owner", "Member")
    owner.managedObjectClassName = "CoreDataTests.HookedOwner"
    for entity in [owner, member] {
      let name = NSAttributeDescription()
      (name.name, name.attributeType, name.isOptional) = ("name", .stringAttributeType, true)
      let list = NSAttributeDescription()
      (list.name, list.attributeType, list.isOptional) = ("list", .transformableAttributeType, true)
      list.valueTransformerName = HookedTransformer.name.rawValue
      let blob = NSAttributeDescription()
      (blob.name, blob.attributeType, blob.isOptional) = ("blob", .binaryDataAttributeType, true)
      blob.allowsExternalBinaryDataStorage = true
      entity.properties = [name, list, blob]
    }
    for (rule, name) in rules {
      for isPair in [false, true] {
        let (forth, back) = (NSRelationshipDescription(), NSRelationshipDescription())
        forth.name = name + (isPair ? "Pairs" : "Members")
        back.name = name + (isPair ? "Pairs" : "Owner")
        (forth.destinationEntity, back.destinationEntity) = (member, owner)
        (forth.inverseRelationship, back.inverseRelationship) = (back, forth)
        (forth.maxCount, back.maxCount) = (0, isPair ? 0 : 1)
        (forth.isOptional, back.isOptional, forth.deleteRule) = (true, true, rule)
        owner.properties.append(forth)
        member.properties.append(back)
      }
    }
    let model = NSManagedObjectModel()
    model.entities = [owner, member]
    return model
  }

  static let rules: [(NSDeleteRule, String)] = [
    (.nullifyDeleteRule, "nullify"), (.cascadeDeleteRule, "cascade"), (.denyDeleteRule, "deny"),
  ]
}

/// An owner that runs code whenever its deletion is validated, which is before each attempt of a save to commit.
final class HookedOwner: NSManagedObject {
  var hook: (() throws -> Void)?

  override func validateForDelete() throws {
    try super.validateForDelete()
    try hook?()
  }
}

/// A value that runs code when it is encoded, in the middle of a save.
final class HookedValue: NSObject {
  let action: () -> Void
  init(_ action: @escaping () -> Void) { self.action = action }
}

final class HookedTransformer: ValueTransformer {
  static let name = NSValueTransformerName("HookedTransformer")
  static func register() { ValueTransformer.setValueTransformer(HookedTransformer(), forName: name) }
  override class func allowsReverseTransformation() -> Bool { true }
  override func transformedValue(_ value: Any?) -> Any? {
    (value as? HookedValue)?.action()
    return Data([1])
  }
  override func reverseTransformedValue(_ value: Any?) -> Any? { nil }
}
