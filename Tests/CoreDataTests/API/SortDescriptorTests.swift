import CoreData
import Foundation
import Testing

/// Sort descriptors as client code makes them, for any objects.
@Suite struct SortDescriptorTests {
  @Test func theyCompareByTheirKey() {
    let rows: [NSDictionary] = [
      ["name": "b", "age": 2], ["name": "B", "age": 1], ["age": 3], ["name": "a", "age": 10],
    ]
    func ages(_ descriptors: NSSortDescriptor...) -> [Int] {
      (rows as NSArray).sortedArray(using: descriptors).compactMap { ($0 as? NSDictionary)?["age"] as? Int }
    }
    #expect(ages(NSSortDescriptor(key: "age", ascending: true)) == [1, 2, 3, 10])
    #expect(ages(NSSortDescriptor(key: "age", ascending: false)) == [10, 3, 2, 1])
    // Nil comes first, capital letters before small ones.
    #expect(ages(NSSortDescriptor(key: "name", ascending: true)) == [3, 1, 10, 2])
    #expect(ages(NSSortDescriptor(key: "name", ascending: false)) == [2, 10, 1, 3])
    let folded = NSSortDescriptor(key: "name", ascending: true, selector: "caseInsensitiveCompare:")
    #expect(ages(folded, NSSortDescriptor(key: "age", ascending: false)) == [3, 10, 2, 1])
    #expect(folded.compare(rows[0], to: rows[1]) == .orderedSame)
  }

  @Test func numbersInTextsCountByTheStandardComparison() {
    let names: NSArray = ["file10", "File9", "file1"]
    let standard = NSSortDescriptor(key: "self", ascending: true, selector: Selector("localizedStandardCompare:"))
    #expect(names.sortedArray(using: [standard]) as? [String] == ["file1", "File9", "file10"])
    #expect((NSSet(array: names as? [Any] ?? [])).sortedArray(using: [standard]).count == 3)
  }

  @Test func theyKnowWhatTheyAreMadeOf() {
    let plain = NSSortDescriptor(key: "a.b", ascending: false)
    #expect(plain.key == "a.b" && plain.selector == nil && !plain.ascending)
    let named = NSSortDescriptor(key: "a", ascending: true, selector: NSSelectorFromString("localizedCompare:"))
    #expect(named.selector.map(NSStringFromSelector) == "localizedCompare:")
    #expect(named != NSSortDescriptor(key: "a", ascending: true))
    #expect(named == NSSortDescriptor(key: "a", ascending: true, selector: "localizedCompare:"))
    let reversed = named.reversedSortDescriptor as? NSSortDescriptor
    #expect(reversed?.key == "a" && reversed?.selector == named.selector && reversed?.ascending == false)
  }

  /// With Foundation's initializer of that form, a fetch would sort by the key alone.
  @Test func comparatorsOverKeyPathsAreKept() throws {
    let model = NSManagedObjectModel()
    let entity = NSEntityDescription()
    let title = NSAttributeDescription()
    (title.name, title.attributeType, title.isOptional) = ("title", .stringAttributeType, true)
    (entity.name, entity.managedObjectClassName) = ("Song", String(reflecting: Song.self))
    entity.properties = [title]
    model.entities = [entity]
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    _ = try coordinator.addPersistentStore(type: .inMemory, at: URL(fileURLWithPath: "/dev/null"))
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      for title in ["bb", "a", "ccc"] {
        NSManagedObject(entity: entity, insertInto: context).setValue(title, forKey: "title")
      }
      try context.save()
      let request = NSFetchRequest<NSManagedObject>(entityName: "Song")
      request.sortDescriptors = [
        NSSortDescriptor(keyPath: \Song.title, ascending: false) { a, b in
          let (x, y) = ((a as? String)?.count ?? 0, (b as? String)?.count ?? 0)
          return x < y ? .orderedAscending : x > y ? .orderedDescending : .orderedSame
        }
      ]
      #expect(try context.fetch(request).map { $0.value(forKey: "title") as? String } == ["ccc", "bb", "a"])
    }
  }

  @Test func aKeyPathWithoutANameIsNoSortKey() async {
    await #expect(processExitsWith: .failure) {
      _ = NSSortDescriptor(keyPath: \Song.title?.count, ascending: true)
    }
  }

  @Test func sortDescriptorsOfSwiftAreTaken() {
    let forward = NSSortDescriptor(SortDescriptor(\Song.title))
    #expect(forward == NSSortDescriptor(key: "title", ascending: true))
    #expect(
      NSSortDescriptor(SortDescriptor(\Song.length, order: .reverse))
        == NSSortDescriptor(key: "length", ascending: false))
    #expect(NSSortDescriptor(keyPath: \Song.title, ascending: true, selector: "localizedCompare:").key == "title")
  }
}

private final class Song: NSManagedObject {
  static let titleProperty = ManagedProperty<String?>("title")
  static let lengthProperty = ManagedProperty<Double>("length")
  var title: String? { value(of: Self.titleProperty) }
  var length: Double { value(of: Self.lengthProperty) }
}
