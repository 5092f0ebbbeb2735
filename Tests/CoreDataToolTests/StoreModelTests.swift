import CoreData
import Foundation
import TestSupport
import Testing

/// The commands for models, of a store that does not contain the model that it was made with.
@Suite struct StoreModelTests {
  private func model(_ attribute: String) -> NSManagedObjectModel {
    let entity = NSEntityDescription()
    (entity.name, entity.managedObjectClassName) = ("Entry", "NSManagedObject")
    let description = NSAttributeDescription()
    (description.name, description.attributeType, description.isOptional) = (attribute, .stringAttributeType, true)
    entity.properties = [description]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    return model
  }

  /// A store of the model, without the copy that SQLite stores have.
  private func store(_ folder: StoreFolder, _ model: NSManagedObjectModel) throws -> String {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let store = try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: folder.url)
    try coordinator.remove(store)
    let code = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('DROP TABLE Z_MODELCACHE'); c.commit()"
    let run = try ToolRun(["python3", "-c", code, folder.url.path], program: URL(filePath: "/usr/bin/env"))
    try #require(run.status == 0, "\(run.errors)")
    return folder.url.path
  }

  /// A source of the model.
  private func source(_ folder: StoreFolder, _ attribute: String) throws -> String {
    let url = folder.url.deletingLastPathComponent().appending(path: "\(attribute).xcdatamodel")
    let text = """
      <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
      <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" userDefinedModelVersionIdentifier="">
      <entity name="Entry"><attribute name="\(attribute)" optional="YES" attributeType="String"/></entity></model>
      """
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    try Data(text.utf8).write(to: url.appending(path: "contents"))
    return url.path
  }

  @Test func `it is compared only with the model that it was made with`() throws {
    let folder = try StoreFolder("store-model")
    defer { folder.remove() }
    let store = try store(folder, model("date"))
    let (same, other) = (try source(folder, "date"), try source(folder, "day"))
    for paths in [[store, same], [same, store]] {
      let run = try ToolRun(["model", "diff"] + paths)
      #expect((run.status, run.output, run.errors) == (0, "", ""))
    }
    for paths in [[store, other], [other, store], [store, store]] {
      let run = try ToolRun(["model", "diff"] + paths)
      #expect(run.status == 1 && run.output.isEmpty)
      #expect(run.errors.contains("\(store) contains no model that it was made with, and "))
    }
  }

  @Test func `it is described and drawn by its tables, which a sentence says, and not made a source`() throws {
    let folder = try StoreFolder("store-model")
    defer { folder.remove() }
    let store = try store(folder, model("date"))
    for command in ["describe", "diagram"] {
      let run = try ToolRun(["model", command, store])
      #expect(run.status == 0 && run.output.contains("DATE"))
      #expect(run.errors.contains("\(store) contains no model that it was made with; this one is inferred"))
    }
    let output = folder.url.deletingLastPathComponent().appending(path: "a.xcdatamodel")
    let run = try ToolRun(["model", "decompile", store, "-o", output.path])
    #expect(run.status == 1 && run.errors.contains("\(store) contains no model; give the model"), "\(run.errors)")
    #expect(!FileManager.default.fileExists(atPath: output.path))
  }
}
