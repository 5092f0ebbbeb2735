import CoreData
import Foundation

/// Measures what it costs to read a property of a managed object by the accessor that rewritten classes have, as a
/// ratio to a stored property of a final class. Exit status 1 where a scalar takes more than 2 times, or a string more
/// than 6 times as long.
///
/// These reads are in functions that the compiler may not put into their callers: otherwise it reads the stored
/// properties of several objects at once in the loop, and the ratio is one of loops. That is printed too.
@main
enum Main {
  static func main() throws {
    let (context, objects) = try managedObjects(1_000)
    let plain = (0..<1_000).map { PlainItem(number: Int64($0), name: name($0)) }
    let passes = context.performAndWait {
      [
        report("scalar", most: 2, { sum(plain) { $0.readNumber() } }, { sum(objects) { $0.readNumber() } }),
        report("string", most: 6, { sum(plain) { length($0.readName()) } }, { sum(objects) { length($0.readName()) } }),
        report("scalar in a loop", most: nil, { sum(plain) { $0.number } }, { sum(objects) { $0.number } }),
        report("string in a loop", most: nil, { sum(plain) { length($0.name) } }, { sum(objects) { length($0.name) } }),
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

  private static func report(
    _ kind: String, most: Double?, _ plain: () -> Int64, _ managed: () -> Int64
  ) -> Bool {
    guard plain() == managed() else { fatalError("The values of each \(kind) differ.") }
    let times = (0..<31).map { _ in (nanoseconds(plain), nanoseconds(managed)) }
    func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
    let ratio = median(times.map { $0.1 / $0.0 })
    let figures = String(
      format: "%.2f ns, stored %.2f ns: %.2f times", median(times.map(\.1)), median(times.map(\.0)), ratio)
    let passes = most.map { ratio <= $0 } ?? true
    let verdict = most.map { ", at most \(Int($0)): \(passes ? "ok" : "MISS")" } ?? ""
    print("accessors: a \(kind) in \(figures)\(verdict)")
    return passes
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
  @inline(never) func readNumber() -> Int64 { number }
  @inline(never) func readName() -> String? { name }
}

/// As the plugin rewrites a generated class.
final class Item: NSManagedObject {
  var number: Int64 {
    get { value(of: Self._key_number) }
    set { setValue(newValue, of: Self._key_number) }
  }
  nonisolated private static let _key_number = ManagedProperty<Int64>("number")
  var name: String? {
    get { value(of: Self._key_name) }
    set { setValue(newValue, of: Self._key_name) }
  }
  nonisolated private static let _key_name = ManagedProperty<String?>("name")
  @inline(never) func readNumber() -> Int64 { number }
  @inline(never) func readName() -> String? { name }
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
