import CoreData
import Foundation

extension GraphCase {
  private static func exists(_ url: URL) -> String {
    guard let size = try? FileManager.default.attributesOfItem(atPath: url.path)[.size] as? NSNumber else {
      return "none"
    }
    return size.intValue == 0 ? "empty" : "there"
  }

  /// Keys of the metadata of a new store.
  private static func metadataKeys(_ type: String) throws -> String {
    let world = try World(type: type)
    _ = try world.saved("Tag", "a")
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      ofType: type, at: world.url, options: nil)
    return metadata.keys.sorted().joined(separator: ", ")
  }

  /// The URI of a saved object with the UUID of the store left out.
  private static func uri(_ type: String) throws -> String {
    let world = try World(type: type)
    let id = try world.saved("Tag", "a").objectID.uriRepresentation()
    let store = world.coordinator.persistentStores[0].identifier ?? "?"
    return "\(id.absoluteString.replacingOccurrences(of: store, with: "UUID"))"
  }

  private static func add(
    _ type: String, _ url: URL, _ model: NSManagedObjectModel, _ options: [AnyHashable: Any]? = nil
  )
    -> String
  {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    return Text.of(trying: {
      _ = try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url, options: options)
    })
  }

  static let stores = [
    GraphCase("store/description-url", "the URL of NSPersistentStoreDescription()") {
      Text.of(NSPersistentStoreDescription().url?.absoluteString)
    },
    GraphCase("store/description-defaults", "what NSPersistentStoreDescription() switches on") {
      let description = NSPersistentStoreDescription()
      return "type \(description.type), migrate \(description.shouldMigrateStoreAutomatically), "
        + "infer \(description.shouldInferMappingModelAutomatically), "
        + "asynchronous \(description.shouldAddStoreAsynchronously), "
        + "read only \(description.isReadOnly), timeout \(description.timeout), "
        + "options \(description.options.keys.sorted())"
    },
    GraphCase("store/destroy", "files of an SQLite store after destroyPersistentStore") {
      let world = try World()
      _ = try world.saved("Tag", "a")
      try world.coordinator.remove(world.coordinator.persistentStores[0])
      try world.coordinator.destroyPersistentStore(at: world.url, ofType: NSSQLiteStoreType, options: nil)
      let files = ["", "-wal", "-shm"].map { "store\($0) \(exists(URL(fileURLWithPath: world.url.path + $0)))" }
      return files.joined(separator: ", ")
    },
    GraphCase("store/destroy-xml", "the file of an XML store after destroyPersistentStore") {
      let world = try World(type: NSXMLStoreType)
      _ = try world.saved("Tag", "a")
      try world.coordinator.remove(world.coordinator.persistentStores[0])
      try world.coordinator.destroyPersistentStore(at: world.url, ofType: NSXMLStoreType, options: nil)
      return "store \(exists(world.url))"
    },
    GraphCase("store/destroy-nothing", "destroyPersistentStore where there is no file") {
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: CaseModel.make())
      let url = World.newURL()
      let result = Text.of(trying: {
        try coordinator.destroyPersistentStore(at: url, ofType: NSSQLiteStoreType, options: nil)
      })
      return "\(result), file \(exists(url))"
    },
    GraphCase("store/empty-file", "opening an empty file as an SQLite store, and as an XML store") {
      let url = World.newURL()
      try Data().write(to: url)
      let xml = add(NSXMLStoreType, url, CaseModel.make())
      return "\(add(NSSQLiteStoreType, url, CaseModel.make())), \(xml)"
    },
    GraphCase("store/metadata-sqlite", "keys of the metadata of a new SQLite store") {
      try metadataKeys(NSSQLiteStoreType)
    },
    GraphCase("store/metadata-xml", "keys of the metadata of a new XML store") { try metadataKeys(NSXMLStoreType) },
    GraphCase("store/metadata-binary", "keys of the metadata of a new binary store") {
      try metadataKeys(NSBinaryStoreType)
    },
    GraphCase("store/twice", "the same file added twice to a coordinator") {
      let world = try World()
      let again = Text.of(trying: {
        _ = try world.coordinator.addPersistentStore(
          ofType: NSSQLiteStoreType, configurationName: nil, at: world.url, options: nil)
      })
      return "\(again), \(world.coordinator.persistentStores.count) stores"
    },
    GraphCase("store/wrong-type", "an SQLite file opened as XML, as binary, and an XML file as SQLite") {
      let (sqlite, xml) = (try World(), try World(type: NSXMLStoreType))
      _ = try sqlite.saved("Tag", "a")
      _ = try xml.saved("Tag", "a")
      return [
        add(NSXMLStoreType, sqlite.url, CaseModel.make()), add(NSBinaryStoreType, sqlite.url, CaseModel.make()),
        add(NSSQLiteStoreType, xml.url, CaseModel.make()),
      ].joined(separator: ", ")
    },
    GraphCase("store/other-model", "an SQLite file opened with another model") {
      let world = try World()
      return add(NSSQLiteStoreType, world.url, Describe.model([Describe.entity("Tag")]))
    },
    GraphCase("store/unknown-type", "a store of a type that nobody knows") {
      add("Nothing", URL(fileURLWithPath: "/dev/null"), CaseModel.make())
    },
    GraphCase("store/no-folder", "an SQLite store in a folder that does not exist") {
      add(NSSQLiteStoreType, URL(fileURLWithPath: "/nowhere/at/all/store"), CaseModel.make())
    },
    GraphCase("store/read-only", "a save to a store that was opened to read only") {
      let world = try World()
      _ = try world.saved("Tag", "a")
      let reader = try World(folder: world.folder, options: [NSReadOnlyPersistentStoreOption: NSNumber(value: true)])
      reader.insert("Tag", "b")
      return Text.of(trying: { try reader.context.save() })
    },
    GraphCase("store/no-store", "a save without a store, and a fetch") {
      let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
      context.persistentStoreCoordinator = NSPersistentStoreCoordinator(managedObjectModel: CaseModel.make())
      let fetched = Text.of(trying: {
        try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Tag")).count
      })
      NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context).setValue("a", forKey: "name")
      return "fetch: \(fetched), save: \(Text.of(trying: { try context.save() }))"
    },
    GraphCase("store/history", "number of transactions and changes of a store with history after two saves") {
      let world = try World(options: [NSPersistentHistoryTrackingKey: NSNumber(value: true)])
      try world.saved("Tag", "a").setValue("b", forKey: "name")
      try world.context.save()
      let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
      let result = try world.context.execute(request) as? NSPersistentHistoryResult
      let transactions = result?.result as? [NSPersistentHistoryTransaction] ?? []
      return transactions.map { "\($0.changes?.count ?? 0) changes" }.joined(separator: ", ")
    },
  ]

  static let identity = [
    GraphCase("identity/sqlite", "the URI of the first object of an SQLite store") { try uri(NSSQLiteStoreType) },
    GraphCase("identity/binary", "the URI of the first object of a binary store") { try uri(NSBinaryStoreType) },
    GraphCase("identity/temporary", "IDs of an object before and after its save") {
      let world = try World()
      let object = world.insert("Tag", "a")
      let before = object.objectID
      try world.context.save()
      return "temporary \(before.isTemporaryID), then \(object.objectID.isTemporaryID), "
        + "equal \(before == object.objectID), "
        + "old ID finds \(world.context.registeredObject(for: before) == nil ? "nil" : "it")"
    },
    GraphCase("identity/permanent-before-save", "obtainPermanentIDs of an unsaved object: what other contexts find") {
      let world = try World()
      let object = world.insert("Tag", "a")
      try world.context.obtainPermanentIDs(for: [object])
      return "temporary \(object.objectID.isTemporaryID), inserted \(object.isInserted), "
        + Text.of(trying: { try world.secondContext().own(object) })
    },
    GraphCase("identity/unknown-uri", "the ID of a URI of an unknown store, and of one that is no object") {
      let world = try World()
      let unknown = URL(string: "x-coredata://00000000-0000-0000-0000-000000000000/Tag/p1")!
      return "\(world.coordinator.managedObjectID(forURIRepresentation: unknown) == nil ? "nil" : "an ID")"
    },
    GraphCase("identity/object-with-unknown", "object(with:) of an ID whose row is gone: whether it is a fault") {
      let world = try World()
      let object = try world.saved("Tag", "a")
      let id = object.objectID
      world.context.delete(object)
      try world.context.save()
      let found = world.secondContext().object(with: id)
      return
        "fault \(found.isFault), existing: \(Text.of(trying: { try world.secondContext().existingObject(with: id) }))"
    },
    GraphCase("model/entity-of-class", "entity() of a class that no model names") {
      Text.of(WithoutModel.entity().name)
    },
    GraphCase("model/user-info", "userInfo of a new entity and a new property") {
      let (entity, property) = (NSEntityDescription().userInfo, NSAttributeDescription().userInfo)
      return "\(entity.map { "\($0.count)" } ?? "nil"), \(property.map { "\($0.count)" } ?? "nil")"
    },
    GraphCase("model/in-use", "a change of a model that a coordinator has") {
      let model = CaseModel.make()
      _ = NSPersistentStoreCoordinator(managedObjectModel: model)
      model.entities.first?.name = "Other"
      return "no error"
    },
    GraphCase("model/inherited", "attributesByName of a subentity in a model that nothing uses") {
      let (parent, child) = (Describe.entity("Parent"), NSEntityDescription())
      child.name = "Child"
      child.properties = [Describe.attribute("own", .stringAttributeType)]
      parent.subentities = [child]
      _ = Describe.model([parent, child])
      return child.attributesByName.keys.sorted().joined(separator: ", ")
    },
    GraphCase("model/default-class", "class name of an entity for which none was set") {
      Text.of(NSEntityDescription().managedObjectClassName)
    },
  ]
}
