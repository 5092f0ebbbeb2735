import Foundation
import StoreSchema
import Synchronization
import TestSupport
import Testing

@testable import CoreData

/// A class without coding and transformer.
private final class Opaque: NSObject {
  let number: Int
  init(_ number: Int) { self.number = number }
}

/// Counts its calls.
private final class CountingTransformer: NSSecureUnarchiveFromDataTransformer {
  static let calls = Mutex(0)
  override func transformedValue(_ value: Any?) -> Any? {
    Self.calls.withLock { $0 += 1 }
    return super.transformedValue(value)
  }
  override func reverseTransformedValue(_ value: Any?) -> Any? {
    Self.calls.withLock { $0 += 1 }
    return super.reverseTransformedValue(value)
  }
}

/// A store in memory keeps the values of transformable attributes as objects. Apple's pages do not describe it. Each
/// test cites observations of Apple's framework by others, or the list of features.
@Suite struct ObjectValueTests {
  private func model(_ transformer: String? = "no such transformer") -> NSManagedObjectModel {
    let list = Describing.attribute("list", .transformable)
    list.valueTransformerName = transformer
    let entity = Describing.entity("Thing", [Describing.attribute("name"), list])
    return Describing.model([entity])
  }

  private func context(
    _ type: NSPersistentStore.StoreType = .inMemory, _ model: NSManagedObjectModel? = nil
  ) throws -> NSManagedObjectContext {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model ?? self.model())
    try coordinator.addPersistentStore(type: type, at: URL(fileURLWithPath: "/dev/null"))
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  @discardableResult
  private func add(_ name: String, _ value: Any?, to context: NSManagedObjectContext) -> NSManagedObject {
    let thing = NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context)
    thing.setValue(name, forKey: "name")
    thing.setValue(value, forKey: "list")
    return thing
  }

  private func request(_ format: String? = nil) -> NSFetchRequest<NSManagedObject> {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Thing")
    request.predicate = format.map { NSPredicate(format: $0) }
    request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
    return request
  }

  /// "It does not call valueTransformer's methods during context's save (if store is in-memory type)":
  /// https://github.com/mentrena/SyncKit/issues/177
  @Test func theVeryObjectComesBackAndNoTransformerIsCalled() throws {
    let context = try context()
    let other = NSManagedObjectContext(.privateQueue)
    other.persistentStoreCoordinator = context.persistentStoreCoordinator
    let opaque = Opaque(1)
    try context.performAndWait {
      let thing = add("a", opaque, to: context)
      try context.save()
      context.refresh(thing, mergeChanges: false)
      #expect(thing.value(forKey: "list") as? Opaque === opaque)
      thing.setValue("b", forKey: "name")
      try context.save()
      #expect(thing.committedValues(forKeys: ["list"])["list"] as? Opaque === opaque)
      context.reset()
    }
    try other.performAndWait {
      let thing = try #require(try other.fetch(request()).first)
      #expect(thing.value(forKey: "list") as? Opaque === opaque && thing.value(forKey: "name") as? String == "b")
      thing.setValue(nil, forKey: "list")
      try other.save()
    }
    let list = try context.performAndWait { try context.fetch(request()).first?.value(forKey: "list") }
    #expect(list == nil)
  }

  /// A transformer that could transform the value is not called either. A store in a file calls it both ways.
  @Test func aTransformerThatIsThereIsNotCalled() throws {
    let name = "CountingTransformer-\(UUID())"
    ValueTransformer.setValueTransformer(CountingTransformer(), forName: NSValueTransformerName(name))
    func calls(_ type: NSPersistentStore.StoreType) throws -> Int {
      let before = CountingTransformer.calls.withLock { $0 }
      let context = try context(type, model(name))
      try context.performAndWait {
        let thing = add("a", ["x"], to: context)
        try context.save()
        context.refresh(thing, mergeChanges: false)
        #expect(thing.value(forKey: "list") as? [String] == ["x"])
        thing.setValue(["y"], forKey: "list")
        try context.save()
        #expect(thing.committedValues(forKeys: ["list"])["list"] as? [String] == ["y"])
        context.reset()
        #expect(try context.fetch(request()).first?.value(forKey: "list") as? [String] == ["y"])
      }
      return CountingTransformer.calls.withLock { $0 } - before
    }
    #expect(try calls(.inMemory) == 0)
    #expect(try calls(.sqlite) >= 4)
  }

  @Test func otherStoresStillNeedTheTransformer() throws {
    let context = try context(.sqlite)
    context.performAndWait {
      add("a", ["x"], to: context)
      #expect(throws: CocoaError.self) { try context.save() }
    }
  }

  /// Features 29.14: predicates read arrays of transformable attributes, only in memory.
  @Test func predicatesLookIntoThem() throws {
    let context = try context()
    try context.performAndWait {
      add("a", [10, 20], to: context)
      add("b", [30], to: context)
      add("c", nil, to: context)
      try context.save()
      context.reset()
      func names(_ format: String) throws -> [String] {
        try context.fetch(request(format)).compactMap { $0.value(forKey: "name") as? String }
      }
      #expect(try names("ANY list == 20") == ["a"])
      #expect(try names("list[FIRST] == 30 OR name == 'c'") == ["b", "c"])
      #expect(try names("average:(list) == 15") == ["a"])
      #expect(try names("list == nil") == ["c"] && names("list != nil AND name != 'a'") == ["b"])
      #expect(try context.count(for: request("ANY list > 5")) == 2)
      let limited = request("ANY list > 5")
      limited.fetchLimit = 1
      limited.fetchOffset = 1
      #expect(try context.fetch(limited).map { $0.value(forKey: "name") as? String } == ["b"])
    }
  }

  /// Features 29.14, as for predicates, and features 30.7: a function of a dictionary fetch applies to a key path.
  @Test func expressionsOfDictionariesLookIntoThem() throws {
    let context = try context()
    try context.performAndWait {
      add("a", [10, 20], to: context)
      add("b", [30], to: context)
      try context.save()
      let average = NSExpressionDescription()
      average.name = "average"
      average.expression = NSExpression(format: "average:(list)")
      average.expressionResultType = .doubleAttributeType
      let request = NSFetchRequest<NSDictionary>(entityName: "Thing")
      request.resultType = .dictionaryResultType
      request.propertiesToFetch = ["name", average]
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: false)]
      let found = try context.fetch(request)
      #expect(found.map { $0["name"] as? String } == ["b", "a"] && found.map { $0["average"] as? Double } == [30, 15])
      request.propertiesToFetch = ["list"]
      #expect(try context.fetch(request).map { $0["list"] as? [Int] } == [[30], [10, 20]])
      request.predicate = NSPredicate(format: "ANY list == 10")
      #expect(try context.fetch(request).map { $0["list"] as? [Int] } == [[10, 20]])
      request.propertiesToGroupBy = ["name"]
      request.propertiesToFetch = ["name"]
      #expect(throws: CocoaError.self) { try context.fetch(request) }
    }
  }

  /// The values of dictionaries live until the dictionaries are made, even if others delete them meanwhile.
  @Test func aDictionaryHasItsObjectWhileOthersDelete() throws {
    let context = try context()
    let isDone = Mutex(false)
    let hasEnded = DispatchSemaphore(value: 0)
    let writer = Thread {
      while !isDone.withLock({ $0 }) {
        context.performAndWait {
          let things = (0..<20).map { add("t", Opaque($0), to: context) }
          #expect(throws: Never.self) { try context.save() }
          for thing in things { context.delete(thing) }
          #expect(throws: Never.self) { try context.save() }
          context.reset()
        }
      }
      hasEnded.signal()
    }
    writer.start()
    defer {
      isDone.withLock { $0 = true }
      hasEnded.wait()
    }
    let reader = NSManagedObjectContext(.privateQueue)
    reader.persistentStoreCoordinator = context.persistentStoreCoordinator
    let request = NSFetchRequest<NSDictionary>(entityName: "Thing")
    request.resultType = .dictionaryResultType
    request.propertiesToFetch = ["name", "list"]
    var (found, lost, rounds) = (0, 0, 0)
    let end = Date() + 60
    while (rounds < 100 || found == 0) && Date() < end {
      rounds += 1
      let results = Mutex<[(found: Int, lost: Int)]>([])
      func count(_ dictionaries: [NSDictionary]) {
        let found = dictionaries.count { $0["list"] is Opaque }
        results.withLock { $0.append((found, dictionaries.count - found)) }
      }
      try reader.performAndWait { count(try reader.fetch(request)) }
      let isRead = DispatchSemaphore(value: 0)
      let asynchronous = NSAsynchronousFetchRequest(fetchRequest: request) { result in
        count(result.finalResult ?? [])
        isRead.signal()
      }
      try reader.performAndWait { _ = try reader.execute(asynchronous) }
      isRead.wait()
      for result in results.withLock({ $0 }) { (found, lost) = (found + result.found, lost + result.lost) }
    }
    #expect(lost == 0 && found > 0, "\(lost) of \(found + lost) are lost")
  }

  /// Stores of other entities are not used.
  @Test func aStoreOfOtherEntitiesIsNoMatter() throws {
    let model = model()
    model.entities += [Describing.entity("Other", [Describing.attribute("name")])]
    let (thing, other) = (model.entitiesByName["Thing"], model.entitiesByName["Other"])
    model.setEntities([thing].compactMap { $0 }, forConfigurationName: "memory")
    model.setEntities([other].compactMap { $0 }, forConfigurationName: "file")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let location = URL(fileURLWithPath: "/dev/null")
    try coordinator.addPersistentStore(type: .inMemory, configuration: "memory", at: location)
    try coordinator.addPersistentStore(type: .sqlite, configuration: "file", at: location)
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      add("a", [20], to: context)
      try context.save()
      #expect(try context.fetch(request("ANY list == 20")).count == 1)
    }
  }

  @Test func anEqualValueIsNoChange() throws {
    let context = try context()
    try context.performAndWait {
      let thing = add("a", ["x"], to: context)
      try context.save()
      let other = NSManagedObjectContext(.privateQueue)
      other.persistentStoreCoordinator = context.persistentStoreCoordinator
      try other.performAndWait {
        let same = try other.existingObject(with: thing.objectID)
        same.setValue("b", forKey: "name")
        try other.save()
      }
      // Only one of the two has changed anything: there is no conflict over the list.
      thing.setValue(["x"], forKey: "list")
      context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      try context.save()
      context.refresh(thing, mergeChanges: false)
      #expect(thing.value(forKey: "name") as? String == "b" && thing.value(forKey: "list") as? [String] == ["x"])
    }
  }

  /// Where no transformer is called, an unregistered one causes no failure:
  /// https://github.com/mentrena/SyncKit/issues/177
  @Test func aSaveThatFailedIsTriedAgain() throws {
    let model = model()
    model.entities[0].attributesByName["name"]?.isOptional = false
    let context = try context(.inMemory, model)
    try context.performAndWait {
      let thing = add("a", Opaque(1), to: context)
      let wrong = add("b", Opaque(2), to: context)
      wrong.setValue(nil, forKey: "name")
      #expect(throws: CocoaError.self) { try context.save() }
      wrong.setValue("b", forKey: "name")
      try context.save()
      context.refreshAllObjects()
      #expect((thing.value(forKey: "list") as? Opaque)?.number == 1)
      #expect((wrong.value(forKey: "list") as? Opaque)?.number == 2)
    }
  }

  private func savedList(_ context: NSManagedObjectContext) throws -> [String]? {
    try context.performAndWait {
      context.reset()
      return try context.fetch(request()).first?.value(forKey: "list") as? [String]
    }
  }

  @Test func aCopyInAFileHasWhatTheTransformerMakesOfThem() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    for (transformer, isKnown) in [(nil, true), ("no such transformer", false)] as [(String?, Bool)] {
      for type in [NSPersistentStore.StoreType.sqlite, .xml, .binary] {
        let context = try context(.inMemory, model(transformer))
        try context.performAndWait {
          add("a", ["x", "y"] as NSArray, to: context)
          try context.save()
        }
        let coordinator = try #require(context.persistentStoreCoordinator)
        let store = try #require(coordinator.persistentStores.first)
        let url = folder.appending(path: UUID().uuidString)
        if !isKnown {
          #expect(throws: CocoaError.self) {
            try coordinator.migratePersistentStore(store, to: url, options: nil, type: type)
          }
          #expect(!FileManager.default.fileExists(atPath: url.path) && coordinator.persistentStores == [store])
          continue
        }
        try coordinator.migratePersistentStore(store, to: url, options: nil, type: type)
        #expect(try savedList(context) == ["x", "y"])
        // And back: bytes stay bytes, which the transformer reads.
        let file = try #require(coordinator.persistentStores.first)
        try coordinator.migratePersistentStore(
          file, to: URL(fileURLWithPath: "/dev/null"), options: nil, type: .inMemory)
        #expect(try savedList(context) == ["x", "y"])
      }
    }
  }

  @Test func contextsThatChangeOneObjectAtOnceKeepOneOfBoth() throws {
    let context = try context()
    let id = try context.performAndWait {
      let thing = add("a", Opaque(0), to: context)
      try context.save()
      return thing.objectID
    }
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      let own = NSManagedObjectContext(.privateQueue)
      own.persistentStoreCoordinator = context.persistentStoreCoordinator
      own.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      for round in 1...50 {
        own.performAndWait {
          guard let thing = try? own.existingObject(with: id) else { return }
          #expect(thing.value(forKey: "list") is Opaque)
          thing.setValue(Opaque(thread * 1000 + round), forKey: "list")
          #expect(throws: Never.self) { try own.save() }
          own.refreshAllObjects()
        }
      }
    }
    context.performAndWait {
      context.refreshAllObjects()
      #expect(((try? context.existingObject(with: id))?.value(forKey: "list") as? Opaque)?.number ?? 0 > 0)
    }
  }
}

/// Objects that rows own, without a store.
@Suite struct RowObjectTests {
  private final class Watched {
    let gone: () -> Void
    init(_ gone: @escaping () -> Void) { self.gone = gone }
    deinit { gone() }
  }

  private func row(_ token: Data) -> Row {
    let builder = RowBuilder()
    builder.begin(slots: 2)
    builder.set(0, .data(token))
    return builder.finish(key: 1, entity: 0, version: 1)
  }

  @Test func anObjectLivesAsLongAsARowHasIt() {
    var hasGone = false
    var owner: RowObject? = RowObject(Watched { hasGone = true })
    let token = owner?.token ?? Data()
    var first: Row? = row(token)
    owner = nil
    #expect(RowObjects.object(token) is Watched && !hasGone)
    var second = first?.copy(version: 2)
    first = nil
    #expect(second?.data(0) == token && RowObjects.object(token) is Watched)
    let builder = RowBuilder()
    builder.begin(slots: 2)
    if let second { builder.copy(0, .transformable, from: second) }
    var third: Row? = builder.finish(key: 1, entity: 0, version: 3)
    second = nil
    #expect(RowObjects.object(token) is Watched && !hasGone)
    #expect(third?.data(0) == token)
    third = nil
    #expect(RowObjects.object(token) == nil && hasGone)
  }

  @Test func otherBytesNameNoObject() {
    #expect(RowObjects.object(Data()) == nil && RowObjects.object(Data(repeating: 0, count: 24)) == nil)
    let owner = RowObject("x")
    #expect(RowObjects.object(owner.token + [0]) == nil && RowObjects.object(owner.token.dropLast()) == nil)
    #expect(RowObjects.object(owner.token) as? String == "x")
  }
}
