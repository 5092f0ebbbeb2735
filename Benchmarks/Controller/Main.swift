import CoreData
import Foundation

/// Measures how long a fetched results controller takes for an event with 100 changes, by the number of its objects.
/// The time must grow with the logarithm of that number. Exit status 1 where it does not.
@main
enum Main {
  static func main() throws {
    let sizes = [1_000, 10_000, 100_000]
    var medians: [Double] = []
    for size in sizes {
      let without = try median(size, follows: false)
      let with = try median(size, follows: true)
      medians.append(with - without)
      print(
        "\(size) objects, 100 changes: \(text(with)) ms an event with a controller, \(text(without)) ms without")
    }
    // The logarithm grows by 1.7 from 1 000 to 100 000, and the memory is further away.
    let growth = medians[2] / medians[0]
    print("controller: \(text(growth)) times the time for 100 times the objects; at most 5")
    if growth > 5 { exit(1) }
  }

  private static func text(_ number: Double) -> String { String(format: "%.2f", number) }

  private final class Delegate: NSObject, NSFetchedResultsControllerDelegate {
    var changes = 0
    func controller(
      _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
      at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) { changes += 1 }
  }

  /// The median time of an event in milliseconds.
  private static func median(_ size: Int, follows: Bool) throws -> Double {
    let (name, section) = (NSAttributeDescription(), NSAttributeDescription())
    (name.name, name.type, section.name, section.type) = ("name", .string, "section", .integer32)
    let entity = NSEntityDescription()
    entity.name = "Item"
    entity.properties = [name, section]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    return try context.performAndWait {
      let items = (0..<size).map { index in
        let item = NSManagedObject(entity: entity, insertInto: context)
        item.setValue(String(format: "%08d", index), forKey: "name")
        item.setValue(index / (size / 20), forKey: "section")
        return item
      }
      try context.save()
      let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
      request.sortDescriptors = ["section", "name"].map { NSSortDescriptor(key: $0, ascending: true) }
      let controller = NSFetchedResultsController(
        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "section", cacheName: nil)
      let delegate = Delegate()
      if follows { controller.delegate = delegate }
      try controller.performFetch()
      var state: UInt64 = 7
      func next(_ limit: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(state >> 33) % limit
      }
      var times: [Double] = []
      for _ in 0..<40 {
        for _ in 0..<100 {
          let item = items[next(size)]
          item.setValue(String(format: "%08d", next(size)), forKey: "name")
          if next(4) == 0 { item.setValue(next(20), forKey: "section") }
        }
        let start = ContinuousClock.now
        context.processPendingChanges()
        let time = ContinuousClock.now - start
        times.append(Double(time.components.attoseconds) / 1e15 + Double(time.components.seconds) * 1e3)
      }
      if follows && delegate.changes < 3000 { fatalError("The controller has missed changes: \(delegate.changes).") }
      return times.sorted()[times.count / 2]
    }
  }
}
