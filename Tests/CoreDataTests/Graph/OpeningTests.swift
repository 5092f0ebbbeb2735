import Foundation
import StoreProtocol
import TestSupport
import Testing

@testable import CoreData
@testable import SQLiteBackend

@Suite struct OpeningTests {
  private func model(_ attribute: String) -> NSManagedObjectModel {
    let entity = NSEntityDescription()
    entity.name = "Item"
    let description = NSAttributeDescription()
    description.name = attribute
    description.type = .string
    entity.properties = [description]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    return model
  }

  private func folder() throws -> URL {
    let url = FileManager.default.temporaryDirectory.appending(path: "opening-\(UUID())")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    return url
  }

  @Test func aStoreOfAnotherModelIsRefusedAndLeftAsItIs() throws {
    let url = try folder().appending(path: "a.sqlite")
    let first = NSPersistentStoreCoordinator(managedObjectModel: model("a"))
    try first.remove(first.addPersistentStore(type: .sqlite, at: url))
    let before = try Data(contentsOf: url)
    let second = NSPersistentStoreCoordinator(managedObjectModel: model("b"))
    let error = try #require(throws: CocoaError.self) { try second.addPersistentStore(type: .sqlite, at: url) }
    #expect(error.code.rawValue == NSPersistentStoreIncompatibleVersionHashError)
    let stored = try #require(error.userInfo["storeVersionHashes"] as? [String: Data])
    let required = try #require(error.userInfo["modelVersionHashes"] as? [String: Data])
    #expect(stored["Item"] != required["Item"] && stored.count == 1)
    #expect(try Data(contentsOf: url) == before)
    #expect(second.persistentStores.isEmpty)
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url)
    #expect(model("a").isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
    #expect(!model("b").isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
    let merged = NSManagedObjectModel(byMerging: [model("b"), model("a")], forStoreMetadata: metadata)
    #expect(merged?.entitiesByName["Item"]?.attributesByName.keys.sorted() == ["a"])
  }

  /// Feature 6.3: entities whose hash cannot be computed are compared by the model in the store, or by its columns.
  @Test(arguments: [true, false]) func entitiesWithoutAHashAreComparedByStructure(_ carriesModel: Bool) throws {
    func model(_ elements: [NSAttributeDescription], derivation: String = "canonical:(name)") -> NSManagedObjectModel {
      let derived = NSDerivedAttributeDescription()
      (derived.name, derived.type) = ("folded", .string)
      derived.derivationExpression = NSExpression(format: derivation)
      return Describing.model([
        Describing.entity("Item", [Describing.attribute("name"), derived, Describing.composite("size", elements)])
      ])
    }
    let (width, height) = ({ Describing.attribute("width", .double) }, { Describing.attribute("height", .double) })
    let url = try folder().appending(path: "a.sqlite")
    func open(_ model: NSManagedObjectModel) throws {
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
      let store = try coordinator.addPersistentStore(type: .sqlite, at: url)
      #expect(!store.isReadOnly)
      try coordinator.remove(store)
    }
    try open(model([width(), height()]))
    let file = try SQLiteConnection(url.path, .readWrite, timeout: 1)
    if !carriesModel { try file.execute("UPDATE Z_MODELCACHE SET Z_CONTENT = NULL") }
    // As Apple's framework writes it, with another hash.
    let metadata = try SQLiteFormat.metadata(on: file)
    var foreign = metadata
    foreign.versionHashes["Item"] = Array(repeating: 7, count: 32)
    try SQLiteFormat.write(foreign, on: file, isNew: false)
    try open(model([height(), width()]))
    #expect(try SQLiteFormat.metadata(on: file).versionHashes == foreign.versionHashes)
    var others = [model([width(), height(), Describing.attribute("depth", .double)])]
    if carriesModel {
      others += [
        model([width()]), model([width(), Describing.attribute("height", .integer64)]),
        model([width(), height()], derivation: "lowercase:(name)"),
      ]
    }
    for other in others {
      let error = #expect(throws: CocoaError.self) { try open(other) }
      #expect(error?.code.rawValue == NSPersistentStoreIncompatibleVersionHashError)
    }
  }

  @Test(arguments: ["hello, I am a text file that is no database", "SQLite format 3\u{0}garbage"])
  func aFileThatIsNoStoreIsRefusedAndLeftAsItIs(_ content: String) throws {
    let url = try folder().appending(path: "a.sqlite")
    try Data(content.utf8).write(to: url)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model("a"))
    #expect(throws: CocoaError.self) { try coordinator.addPersistentStore(type: .sqlite, at: url) }
    #expect(try Data(contentsOf: url) == Data(content.utf8))
  }

  @Test func readOnlyStoresRefuseSaves() throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      Person(context: context).name = "A"
      try context.save()
    }
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Company.model())
    let store = try coordinator.addPersistentStore(
      type: .sqlite, at: company.url, options: [NSReadOnlyPersistentStoreOption: true])
    #expect(store.isReadOnly)
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      let person = try #require(try context.all(Person.self).first)
      person.name = "B"
      #expect(throws: CocoaError.self) { try context.save() }
      #expect(person.name == "B" && context.hasChanges)
    }
  }

  @Test func metadataIsKeptWithTheNextSave() throws {
    let company = try CompanyStore()
    company.coordinator.setMetadata(
      ["app": "mine", "n": 7, "list": [1, 2], NSStoreUUIDKey: "forged"], for: company.store)
    try company.run { try $0.save() }
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: company.url)
    #expect(metadata["app"] as? String == "mine" && metadata["n"] as? Int == 7)
    #expect(metadata[NSStoreUUIDKey] as? String == company.store.identifier)
    #expect((metadata[NSStoreModelVersionHashesKey] as? [String: Data])?.count == 6)
  }

  @Test func aStoreCarriesItsModel() throws {
    let company = try CompanyStore()
    let model = try #require(try NSPersistentStoreCoordinator.cachedModel(forPersistentStoreAt: company.url))
    #expect(model.entityVersionHashesByName == Company.model().entityVersionHashesByName)
    #expect(model.versionChecksum == Company.model().versionChecksum)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(type: .sqlite, at: company.url)
  }

  /// https://developer.apple.com/documentation/coredata/nspersistentstorecoordinator/destroypersistentstore(at:type:options:)
  /// The empty file: decision 068.
  @Test func storesAreDestroyedAndReplaced() throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      Person(context: context).name = "A"
      try context.save()
    }
    let copy = company.url.deletingLastPathComponent().appending(path: "copy.sqlite")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Company.model())
    try coordinator.replacePersistentStore(at: copy, withPersistentStoreFrom: company.url, type: .sqlite)
    let store = try coordinator.addPersistentStore(type: .sqlite, at: copy)
    #expect(store.identifier == company.store.identifier)
    try coordinator.remove(store)
    try coordinator.destroyPersistentStore(at: copy, type: .sqlite)
    // An empty file stays: see the method.
    #expect(try Data(contentsOf: copy).isEmpty)
    let others = try FileManager.default.contentsOfDirectory(atPath: copy.deletingLastPathComponent().path)
    #expect(others.filter { $0.hasPrefix("copy") || $0.hasPrefix(".copy") } == ["copy.sqlite"])
    // A store may be made in it, or copied into it, and it may be removed.
    try coordinator.migratePersistentStore(
      coordinator.addPersistentStore(type: .sqlite, at: company.url), to: copy, options: nil, type: .sqlite)
    try coordinator.destroyPersistentStore(at: copy, type: .sqlite)
    try coordinator.destroyPersistentStore(at: copy, type: .sqlite)
    // Clients destroy a missing store, and remove the file again.
    try FileManager.default.removeItem(at: copy)
    try coordinator.destroyPersistentStore(at: copy, type: .sqlite)
    try FileManager.default.removeItem(at: copy)
  }

  /// Clients destroy the store in use, and add a new one there.
  @Test(arguments: [NSPersistentStore.StoreType.sqlite, .xml, .binary])
  func aStoreThatIsDestroyedLeavesItsCoordinator(_ type: NSPersistentStore.StoreType) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "opening-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let url = folder.appending(path: "store")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Company.model())
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    for name in ["A", "B"] {
      let store = try coordinator.addPersistentStore(type: type, at: url)
      try context.performAndWait {
        #expect(try context.all(Person.self).isEmpty)
        Person(context: context).name = name
        try context.save()
        #expect(try context.all(Person.self).map(\.name) == [name])
        context.reset()
      }
      try coordinator.destroyPersistentStore(at: url, type: type)
      #expect(coordinator.persistentStores.isEmpty && store.persistentStoreCoordinator == nil)
    }
  }

  @Test func aModelThatIsNotValidIsAnErrorWhenAStoreIsAdded() throws {
    let bad = model("a")
    let twin = NSEntityDescription()
    twin.name = "ITEM"
    bad.entities += [twin]
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: bad)
    let error = try #require(throws: CocoaError.self) {
      try coordinator.addPersistentStore(type: .sqlite, at: URL(filePath: "/dev/null"))
    }
    #expect(error.code.rawValue == NSPersistentStoreIncompatibleSchemaError)
  }

  @Test func aFrozenModelCannotBeChanged() async {
    await #expect(processExitsWith: .failure) {
      let model = Company.model()
      _ = NSPersistentStoreCoordinator(managedObjectModel: model)
      model.entities[0].name = "Other"
    }
  }

  @Test func aContainerSaysWhereItLookedForItsModel() throws {
    let container = NSPersistentContainer(name: "Nowhere")
    nonisolated(unsafe) var found: (any Error)?
    container.loadPersistentStores { found = $1 }
    let error = try #require(found as? CocoaError)
    #expect(error.localizedDescription.contains("Nowhere.momd"))
  }
}
