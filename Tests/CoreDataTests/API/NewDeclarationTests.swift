import Foundation
import StoreProtocol
import TestSupport
import Testing

@testable import CoreData

/// Apple's declarations that have an effect here, used as clients write them. Each is in Apple's documentation under
/// its name.
@Suite struct NewDeclarationTests {
  private func notes(_ entities: [NSEntityDescription]? = nil) throws -> NSManagedObjectContext {
    try Describing.context(
      Describing.model(entities ?? [Describing.entity("Note", [Describing.attribute("text")])]))
  }

  private func insert(_ entity: String, _ context: NSManagedObjectContext) -> NSManagedObject {
    NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
  }

  // MARK: Validation

  /// "Validates a property value for a given key": nsmanagedobject/validatevalue(_:forkey:)
  @Test func oneValueIsValidated() throws {
    let name = Describing.attribute("name")
    name.isOptional = false
    name.setValidationPredicates([NSPredicate(format: "length <= 3")], withValidationWarnings: ["1660"])
    let size = Describing.attribute("size", .integer16)
    let position = Describing.composite(
      "place", [Describing.attribute("city"), Describing.attribute("number", .integer16)])
    position.elements[0].isOptional = false
    let entity = Describing.entity("A", [name, size, position])
    let other = Describing.entity("B")
    Describing.relate(entity, "others", toMany: true, other, "owner", toManyBack: false)
    entity.relationshipsByName["others"]?.maxCount = 2
    other.relationshipsByName["owner"]?.isOptional = false
    let context = try notes([entity, other])
    context.performAndWait {
      let object = insert("A", context)
      func code(_ value: Any?, _ key: String, _ object: NSManagedObject) -> Int? {
        var value = value.map { $0 as AnyObject }
        do { try object.validateValue(&value, forKey: key) } catch { return (error as? CocoaError)?.errorCode }
        return nil
      }
      #expect(code("abc", "name", object) == nil && code(nil, "name", object) == 1570)
      #expect(code("abcd", "name", object) == 1660 && code(5, "name", object) == 1550)
      #expect(code(70000, "size", object) == 1610 && code(7, "size", object) == nil && code(nil, "size", object) == nil)
      #expect(code(["city": "Bonn"], "place", object) == nil && code(["number": 1], "place", object) == 1570)
      #expect(code(["town": "Bonn"], "place", object) == 1550)
      let others = (0..<3).map { _ in insert("B", context) }
      #expect(code(NSSet(array: others), "others", object) == 1590)
      #expect(code(NSSet(array: [others[0]]), "others", object) == nil)
      #expect(code(nil, "owner", others[0]) == 1570 && code(object, "owner", others[0]) == nil)
      #expect(code("anything", "unknown", object) == nil)
    }
  }

  /// "you should override": for a class that overrides the method, it is called at each save for each property.
  @Test func anOverrideIsCalledAtTheSave() throws {
    let entity = Describing.entity("TrimmedNote", [Describing.attribute("text"), Describing.attribute("title")])
    entity.managedObjectClassName = "CoreDataTests.TrimmedNote"
    let context = try notes([entity])
    try context.performAndWait {
      let note = insert("TrimmedNote", context)
      note.setValue("  a ", forKey: "text")
      try context.save()
      #expect(note.value(forKey: "text") as? String == "a")
      context.refreshAllObjects()
      #expect(note.value(forKey: "text") as? String == "a")
      note.setValue("bad", forKey: "title")
      #expect(throws: CocoaError(.featureUnsupported)) { try context.save() }
      note.setValue("good", forKey: "title")
      try context.save()
    }
  }

  /// For a saved object it is called for the transients that were set, for a new object for all.
  @Test func anOverrideIsCalledForTransients() throws {
    let entity = Describing.entity(
      "RequestNote", ["text", "first", "second"].map { Describing.attribute($0) })
    for name in ["first", "second"] { entity.attributesByName[name]?.isTransient = true }
    entity.managedObjectClassName = "CoreDataTests.RequestNote"
    let context = try notes([entity])
    try context.performAndWait {
      let note = try #require(insert("RequestNote", context) as? RequestNote)
      try context.save()
      #expect(Set(note.requested) == ["text", "first", "second"])
      note.requested = []
      note.setValue("a", forKey: "text")
      note.setValue("b", forKey: "second")
      try context.save()
      #expect(Set(note.requested) == ["text", "second"])
    }
  }

  /// Fails if a toolchain lays out classes differently.
  @Test func anOverrideIsFoundInTheClass() {
    #expect(NSManagedObject.checksValues(TrimmedNote.self))
    #expect(!NSManagedObject.checksValues(NSManagedObject.self))
    #expect(!NSManagedObject.checksValues(OpenNote.self))
    #expect(NSManagedObject.checksValues(TrimmedTrimmedNote.self))
  }

  /// nsmanagedobject/contextshouldignoreunmodeledpropertychanges
  @Test func changesOfOtherPropertiesAreIgnoredOrNot() throws {
    let entity = Describing.entity("OpenNote", [Describing.attribute("text")])
    entity.managedObjectClassName = "CoreDataTests.OpenNote"
    let context = try notes([entity, Describing.entity("Note", [Describing.attribute("text")])])
    try context.performAndWait {
      let objects = [insert("Note", context), insert("OpenNote", context)]
      try context.save()
      for object in objects {
        object.willChangeValue(forKey: "colour")
        object.didChangeValue(forKey: "colour")
      }
      #expect(!objects[0].hasChanges && objects[1].hasChanges)
      #expect(NSManagedObject.contextShouldIgnoreUnmodeledPropertyChanges)
    }
  }

  @Test func theObservationInfoStays() throws {
    let context = try notes()
    try context.performAndWait {
      let note = insert("Note", context)
      try context.save()
      let pointer = UnsafeMutableRawPointer(bitPattern: 16)
      note.setObservationInfo(pointer)
      note.setValue("a", forKey: "text")
      context.rollback()
      context.refresh(note, mergeChanges: false)
      #expect(note.observationInfo() == pointer && note.value(forKey: "text") == nil)
    }
  }

  // MARK: Coordinators

  @Test func aCoordinatorRunsRequestsAndBlocks() async throws {
    let context = try notes()
    let coordinator = try #require(context.persistentStoreCoordinator)
    try context.performAndWait {
      insert("Note", context).setValue("a", forKey: "text")
      try context.save()
      let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Note")
      let found = try #require(try coordinator.execute(request, with: context) as? [NSManagedObject])
      #expect(found.map { $0.value(forKey: "text") as? String } == ["a"])
      request.resultType = .countResultType
      #expect(try coordinator.execute(request, with: context) as? [Int] == [1])
      #expect(throws: CocoaError.self) {
        try coordinator.execute(NSPersistentHistoryChangeRequest.fetchHistory(after: Date()), with: context)
      }
    }
    let stores = await coordinator.perform { coordinator.persistentStores.count }
    #expect(stores == 1)
    await #expect(throws: CocoaError.self) { try await coordinator.perform { throw CocoaError(.featureUnsupported) } }
  }

  @Test func aStoreIsAddedAndItsModelFound() async throws {
    let model = Describing.model([Describing.entity("Note", [Describing.attribute("text")])])
    let folder = FileManager.default.temporaryDirectory.appending(path: "declared-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    for type in [NSSQLiteStoreType, NSBinaryStoreType, NSXMLStoreType] {
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
      let description = NSPersistentStoreDescription(url: folder.appending(path: type))
      description.type = type
      let added = try await coordinator.addPersistentStore(with: description)
      #expect(added === description && coordinator.persistentStores.count == 1)
      let url = try #require(description.url)
      if type != NSSQLiteStoreType {
        // These stores contain no model.
        #expect(throws: CocoaError.self) { try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: url) }
      } else {
        let found = try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: url)
        #expect(found.entityVersionHashesByName == model.entityVersionHashesByName)
      }
      await #expect(throws: CocoaError.self) { _ = try await coordinator.addPersistentStore(with: description) }
    }
    try Data("text".utf8).write(to: folder.appending(path: "other"))
    #expect(throws: CocoaError.self) {
      try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: folder.appending(path: "other"))
    }
  }

  /// `url`, `identifier` and `isReadOnly` of a store can be set: "get set".
  @Test(.ofRootContexts) func whatIsSetOfAStoreMovesNothing() throws {
    let company = try CompanyStore()
    let (store, coordinator) = (company.store, company.coordinator)
    let (url, uuid) = (store.url, store.identifier)
    store.url = URL(fileURLWithPath: "/elsewhere")
    store.identifier = "other"
    #expect(store.url?.path == "/elsewhere" && store.identifier == "other")
    #expect(url.flatMap(coordinator.persistentStore(for:)) === store)
    try company.run { (context) throws in
      let person = Person(context: context)
      try context.save()
      #expect(person.objectID.uriRepresentation().host == uuid)
      store.isReadOnly = true
      person.name = "A"
      let error = try #require(throws: CocoaError.self) { try context.save() }
      #expect((error.userInfo[NSUnderlyingErrorKey] as? StoreError)?.code == .readOnly && store.isReadOnly)
      store.isReadOnly = false
      try context.save()
    }
    #expect(try company.reopened().run { try $0.all(Person.self).first?.name } == "A")
  }

  @Test func theDefaultFolderIsAProperty() {
    #expect(NSPersistentContainer.defaultDirectoryURL == NSPersistentContainer.defaultDirectoryURL())
    #expect(OwnFolderContainer.defaultDirectoryURL.path == "/own")
  }

  // MARK: Requests

  /// nsasynchronousfetchrequest/completionblock
  @Test func theCompletionBlockIsHandedOut() async throws {
    let context = try notes()
    let calls = Seen()
    await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
      context.performAndWait {
        let request = NSAsynchronousFetchRequest(
          fetchRequest: NSFetchRequest<any NSFetchRequestResult>(entityName: "Note")
        ) {
          calls.add("\($0.finalResult?.count ?? -1)")
          if calls.all.count == 2 { done.resume() }
        }
        let block: NSPersistentStoreAsynchronousFetchResultCompletionBlock? = request.completionBlock
        let result = (try? context.execute(request)) as? NSAsynchronousFetchResult<any NSFetchRequestResult>
        nonisolated(unsafe) let known = (block, result)
        context.perform { if let result = known.1 { known.0?(result) } }
      }
    }
    #expect(calls.all.sorted() == ["-1", "0"] || calls.all == ["0", "0"])
    let typed = NSAsynchronousFetchRequest(fetchRequest: NSFetchRequest<NSManagedObject>(entityName: "Note")) { _ in }
    #expect(typed.completionBlock != nil)
  }

  // MARK: Coding

  private func coded<T: NSObject & NSCoding>(_ object: T) throws -> T? {
    let archiver = NSKeyedArchiver(requiringSecureCoding: false)
    archiver.encode(object, forKey: NSKeyedArchiveRootObjectKey)
    archiver.finishEncoding()
    let reader = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
    reader.requiresSecureCoding = false
    return reader.decodeObject(forKey: NSKeyedArchiveRootObjectKey) as? T
  }

  @Test func indexesAreCoded() throws {
    let (text, size) = (Describing.attribute("text"), Describing.attribute("size", .integer16))
    let elements = [
      NSFetchIndexElementDescription(property: text, collationType: .binary),
      NSFetchIndexElementDescription(property: size, collationType: .binary),
    ]
    elements[1].isAscending = false
    let index = NSFetchIndexDescription(name: "bySize", elements: elements)
    index.partialIndexPredicate = NSPredicate(format: "size > 3")
    _ = Describing.entity("Note", [text, size])
    let read = try #require(try coded(index))
    #expect(read == index && read.elements.map(\.isAscending) == [true, false])
    #expect(read.elements.allSatisfy { $0.indexDescription === read })
    let element = try #require(try coded(elements[1]))
    #expect(element == elements[1] && element.property?.name == "size")
  }

  @Test func tokensAreCodedSecurely() throws {
    let token = NSPersistentHistoryToken(["A": 7, "B": 1])
    let data = try NSKeyedArchiver.archivedData(withRootObject: token, requiringSecureCoding: true)
    let read = try NSKeyedUnarchiver.unarchivedObject(ofClass: NSPersistentHistoryToken.self, from: data)
    #expect(read == token && read != NSPersistentHistoryToken(["A": 8, "B": 1]) && read?.hash == token.hash)
    let current = try NSKeyedArchiver.archivedData(
      withRootObject: NSQueryGenerationToken.current, requiringSecureCoding: true)
    #expect(
      try NSKeyedUnarchiver.unarchivedObject(ofClass: NSQueryGenerationToken.self, from: current) == .current)
  }

  @Test func aContextIsCodedWithoutItsObjects() throws {
    let context = try notes()
    context.name = "reader"
    context.transactionAuthor = "tests"
    let read = try #require(try coded(context))
    #expect(
      read.name == "reader" && read.transactionAuthor == "tests" && read.concurrencyType == context.concurrencyType)
    #expect(read.persistentStoreCoordinator == nil && read.registeredObjects.isEmpty)
  }

  // MARK: Locks

  @available(*, deprecated) private func useLocks(_ context: NSManagedObjectContext) -> [Bool] {
    guard let coordinator = context.persistentStoreCoordinator else { return [] }
    let locks: [any NSLocking] = [context, coordinator]
    for lock in locks { lock.lock() }
    // The same thread may lock again.
    let again = [context.tryLock(), coordinator.tryLock()]
    context.unlock()
    coordinator.unlock()
    for lock in locks { lock.unlock() }
    return again
  }

  @available(*, deprecated) @Test func contextsAndCoordinatorsAreLocks() throws {
    #expect(useLocks(try notes()) == [true, true])
  }

  /// "prevents other threads": https://developer.apple.com/documentation/foundation/nslocking
  @available(*, deprecated) @Test func aLockKeepsOtherThreadsOut() throws {
    let context = try notes()
    let coordinator = try #require(context.persistentStoreCoordinator)
    let locks: [(any NSLocking, () -> Bool)] = [(context, context.tryLock), (coordinator, coordinator.tryLock)]
    for (lock, tryLock) in locks {
      nonisolated(unsafe) let (lock, tryLock) = (lock, tryLock)
      let entered = DispatchSemaphore(value: 0)
      nonisolated(unsafe) var isFree = true
      lock.lock()
      Thread.detachNewThread {
        isFree = tryLock()
        entered.signal()
        lock.lock()
        entered.signal()
        lock.unlock()
      }
      #expect(entered.wait(timeout: .now() + 10) == .success && !isFree)
      #expect(entered.wait(timeout: .now() + 0.1) == .timedOut)
      lock.unlock()
      #expect(entered.wait(timeout: .now() + 10) == .success)
    }
  }

  private final class Seen: @unchecked Sendable {
    private let lock = NSLock()
    private var list: [String] = []
    func add(_ text: String) { lock.withLock { list.append(text) } }
    var all: [String] { lock.withLock { list } }
  }
}

/// Trims its text, and rejects one title.
class TrimmedNote: NSManagedObject {
  override func validateValue(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, forKey key: String) throws {
    try super.validateValue(value, forKey: key)
    let text = value.pointee as? String
    if key == "text", let text { value.pointee = text.trimmingCharacters(in: .whitespaces) as NSString }
    if key == "title" && text == "bad" { throw CocoaError(.featureUnsupported) }
  }
}

final class TrimmedTrimmedNote: TrimmedNote {}

/// Notes the keys that it validates.
final class RequestNote: NSManagedObject {
  var requested: [String] = []
  override func validateValue(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, forKey key: String) throws {
    requested.append(key)
    try super.validateValue(value, forKey: key)
  }
}

final class OpenNote: NSManagedObject {
  override class var contextShouldIgnoreUnmodeledPropertyChanges: Bool { false }
}

private final class OwnFolderContainer: NSPersistentContainer, @unchecked Sendable {
  override class func defaultDirectoryURL() -> URL { URL(fileURLWithPath: "/own") }
}
