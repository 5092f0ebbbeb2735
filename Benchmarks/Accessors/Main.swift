import CoreData
import Foundation

/// Measures what it costs to read a property of a managed object by the accessor that rewritten classes have, as a
/// ratio to a stored property of a final class. Exit status 1 where a scalar takes more than 2 times, or a string more
/// than 6 times as long.
@main
enum Main {
  static func main() throws {
    let (context, objects) = try managedObjects(1_000)
    let plain = (0..<1_000).map { PlainItem(number: Int64($0), name: name($0)) }
    let passes = context.performAndWait {
      [
        report("scalar", most: 2, plain: { sum(plain) { $0.number } }, managed: { sum(objects) { $0.number } }),
        report(
          "string", most: 6, plain: { sum(plain) { length($0.name) } }, managed: { sum(objects) { length($0.name) } }),
      ]
    }
    if passes.contains(false) { exit(1) }
  }

  /// Longer than what Swift keeps without memory of its own.
  private static func name(_ number: Int) -> String { "a name of some length \(number)" }
  private static func length(_ text: String?) -> Int64 { Int64(text?.utf8.count ?? 0) }

  @inline(never)
  private static func sum<Object>(_ objects: [Object], _ value: (Object) -> Int64) -> Int64 {
    var sum: Int64 = 0
    for _ in 0..<100 {
      for object in objects { sum &+= value(object) }
    }
    return sum
  }

  private static func report(_ kind: String, most: Double, plain: () -> Int64, managed: () -> Int64) -> Bool {
    guard plain() == managed() else { fatalError("The \(kind)s differ.") }
    var ratios: [Double] = []
    var times: [(plain: Double, managed: Double)] = []
    for _ in 0..<31 {
      let one = nanoseconds(plain)
      let other = nanoseconds(managed)
      times.append((one, other))
      ratios.append(other / one)
    }
    let ratio = ratios.sorted()[ratios.count / 2]
    let (one, other) = (times.map(\.plain).sorted()[15], times.map(\.managed).sorted()[15])
    print(
      String(
        format: "accessors: a %@ in %.2f ns, stored %.2f ns: %.2f times, at most %.0f: %@", kind, other, one, ratio,
        most,
        ratio <= most ? "ok" : "MISS"))
    return ratio <= most
  }

  /// The time of one read.
  private static func nanoseconds(_ work: () -> Int64) -> Double {
    let start = ContinuousClock.now
    let result = work()
    let time = ContinuousClock.now - start
    withExtendedLifetime(result) {}
    return (Double(time.components.attoseconds) / 1e9 + Double(time.components.seconds) * 1e9) / 100_000
  }
}

/// What the accessors are compared with.
final class PlainItem {
  var number: Int64
  var name: String?
  init(number: Int64, name: String?) { (self.number, self.name) = (number, name) }
}

/// As the plugin rewrites a generated class.
final class Item: NSManagedObject {
  var number: Int64 {
    get { self[Self._key_number] }
    set { self[Self._key_number] = newValue }
  }
  nonisolated private static let _key_number = ManagedProperty<Int64>("number")
  var name: String? {
    get { self[Self._key_name] }
    set { self[Self._key_name] = newValue }
  }
  nonisolated private static let _key_name = ManagedProperty<String?>("name")
}

extension Main {
  /// An object does not hold its context.
  private static func managedObjects(_ count: Int) throws -> (NSManagedObjectContext, [Item]) {
    let (number, name) = (NSAttributeDescription(), NSAttributeDescription())
    (number.name, number.type, name.name, name.type) = ("number", .integer64, "name", .string)
    let entity = NSEntityDescription()
    (entity.name, entity.managedObjectClassName) = ("Item", NSStringFromClass(Item.self))
    entity.properties = [number, name]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    let objects = try context.performAndWait {
      let items = (0..<count).map { index in
        let item = Item(context: context)
        (item.number, item.name) = (Int64(index), Self.name(index))
        return item
      }
      try context.save()
      return items
    }
    return (context, objects)
  }
}
