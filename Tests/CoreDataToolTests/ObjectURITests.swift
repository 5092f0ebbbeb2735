import CoreData
import Foundation
import TestSupport
import Testing

/// The URIs that the tool prints are those of `NSManagedObjectID.uriRepresentation()`, and the tool reads them.
@Suite struct ObjectURITests {
  @Test(arguments: ["Fußgänger", "本"])
  func namesOfEntitiesArePercentEncoded(_ name: String) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "uri-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: "store.sqlite")
    let coordinator = NSPersistentStoreCoordinator(
      managedObjectModel: Describing.model([Describing.entity(name, [Describing.attribute("text")])]))
    let store = try coordinator.addPersistentStore(type: .sqlite, at: file)
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    let uri = try context.performAndWait {
      let object = NSEntityDescription.insertNewObject(forEntityName: name, into: context)
      try context.save()
      let uri = object.objectID.uriRepresentation()
      #expect(coordinator.managedObjectID(forURIRepresentation: uri) == object.objectID)
      return uri.absoluteString
    }
    try coordinator.remove(store)

    let fetched = try ToolRun(["store", "fetch", file.path, "--entity", name])
    #expect(try fetched.json()["objectID"] as? String == uri, "\(fetched.errors)")
    for object in [uri, "\(name)/p1"] {
      let operation = #"{"op":"set","object":"\#(object)","values":{"text":"\#(object)"}}"#
      let changed = try ToolRun(["store", "apply", file.path, "-"], input: operation)
      #expect(changed.status == 0, "\(changed.errors)")
      #expect(try ToolRun(["store", "fetch", file.path, "--entity", name]).json()["text"] as? String == object)
    }
  }
}
