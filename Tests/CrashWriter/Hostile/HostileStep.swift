import CoreData
import Foundation

/// One step on a store: fetches the objects of all entities, makes changes and saves, in a new context.
///
/// An error stops only the part that it concerns: objects of an entity that cannot be fetched are left out, and the
/// rest is saved.
final class HostileStep {
  private let name: String
  private let coordinator: NSPersistentStoreCoordinator
  private let mistake: HostileMistake?
  private var objects: [String: [NSManagedObject]] = [:]
  private var errors: [[String: Any]] = []

  init(_ name: String, _ coordinator: NSPersistentStoreCoordinator, _ mistake: HostileMistake?) {
    (self.name, self.coordinator, self.mistake) = (name, coordinator, mistake)
  }

  /// Returns the report: `outcome` is read, saved or failed; `error` is the error of a failed save; the changes of the
  /// save; and `errors` of the fetches.
  func run() -> [String: Any] {
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    var report: [String: Any] = context.performAndWait {
      if name == "make" {
        HostileModel.insertObjects(in: context)
      } else {
        fetch(in: context)
      }
      if name == "read" { return ["outcome": "read", "values": readAll()] }
      if name == "dump" { return ["outcome": "read", "objects": all.map(HostileReport.describeWhole)] }
      for part in name == "all" ? ["change", "link", "insert", "delete"] : [name] { change(part, in: context) }
      return save(context)
    }
    report["errors"] = errors
    return report
  }

  private func save(_ context: NSManagedObjectContext) -> [String: Any] {
    mistake?.beforeSave(context)
    let report = HostileReport(context)
    do { try context.save() } catch {
      return ["outcome": "failed", "phase": "save", "error": HostileReport.describe(error)]
    }
    mistake?.afterSave(coordinator)
    return report.finished
  }

  private func fetch(in context: NSManagedObjectContext) {
    for entity in HostileModel.entities {
      let request = NSFetchRequest<NSManagedObject>(entityName: entity)
      do { objects[entity] = try context.fetch(request).sorted { key($0) < key($1) } } catch {
        errors.append(HostileReport.describe(error))
      }
    }
  }

  private func key(_ object: NSManagedObject) -> Int64 { HostileReport.key(object.objectID) }

  /// Reads all values and all related objects. Returns their count.
  private func readAll() -> Int {
    var count = 0
    for object in objects.values.joined() {
      for name in object.entity.attributesByName.keys where object.value(forKey: name) != nil { count += 1 }
      for (name, relationship) in object.entity.relationshipsByName {
        if !relationship.isToMany {
          count += (object.value(forKey: name) as? NSManagedObject)?.value(forKey: "mark") == nil ? 0 : 1
        } else if relationship.isOrdered {
          count += object.mutableOrderedSetValue(forKey: name).count
        } else {
          count += object.mutableSetValue(forKey: name).count
        }
      }
    }
    return count
  }

  // MARK: Changes

  private func change(_ part: String, in context: NSManagedObjectContext) {
    switch part {
    case "change": for object in all { object.setValue("changed", forKey: "mark") }
    case "over": for (n, object) in all.enumerated() { HostileModel.fill(object, 100 + n) }
    case "link": link()
    case "insert": insert(in: context)
    case "delete": for object in ["Item", "Box", "Tag", "Desk"].compactMap({ self[$0, 3] }) { context.delete(object) }
    default: break
    }
  }

  private var all: [NSManagedObject] {
    // A fetch of items also returns the subitems, if items can be fetched.
    HostileModel.entities.filter { $0 != "SubItem" || objects["Item"] == nil }.flatMap { objects[$0, default: []] }
  }

  private subscript(_ entity: String, _ index: Int) -> NSManagedObject? {
    guard let objects = objects[entity], index < objects.count else { return nil }
    return objects[index]
  }

  /// Links the second and the fourth object, whose rows are hostile, with objects whose rows are not.
  private func link() {
    let (first, second, last) = (self["Item", 0], self["Item", 1], objects["Item"]?.last)
    if let first, let second, let last {
      second.setValue(last, forKey: "parent")
      second.mutableSetValue(forKey: "friends").add(last)
      first.mutableOrderedSetValue(forKey: "likes").insert(second, at: 0)
      if let box = self["Box", 0] {
        second.setValue(box, forKey: "box")
        box.mutableOrderedSetValue(forKey: "items").insert(last, at: 0)
      }
      if let tag = objects["Tag"]?.last { second.mutableOrderedSetValue(forKey: "tags").insert(tag, at: 0) }
    }
    if let box = self["Box", 1], let desk = objects["Desk"]?.last {
      box.mutableOrderedSetValue(forKey: "desks").insert(desk, at: 0)
    }
    if let subItem = self["SubItem", 0], let desk = self["Desk", 1] { subItem.setValue(desk, forKey: "desk") }
  }

  /// Inserts an object of each entity and links it with existing objects.
  private func insert(in context: NSManagedObjectContext) {
    for (n, entity) in HostileModel.entities.enumerated() {
      let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
      HostileModel.fill(object, 200 + n)
      guard entity == "Item" || entity == "SubItem" else { continue }
      if let box = self["Box", 1] { object.setValue(box, forKey: "box") }
      if let tag = self["Tag", 1] { object.mutableOrderedSetValue(forKey: "tags").add(tag) }
      if let item = self["Item", 1] { object.setValue(item, forKey: "parent") }
    }
  }
}
