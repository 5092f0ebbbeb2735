import CoreData
import Foundation
import Testing

/// One store of the corpus with the facts that a reader must find in it.
package struct CorpusStore: Decodable, Sendable, CustomTestStringConvertible {
  package let id: String
  package let mainFile: String
  package let modelFile: String
  package let frameworkVersion: Int
  package let facts: Facts
  package let files: [FileFacts]

  package struct FileFacts: Decodable, Sendable {
    package let name: String
    package let sha256: String
  }

  package struct Facts: Decodable, Sendable {
    package let storeUUID: String
    package let journalMode: String
    package let entities: [EntityFacts]
    package let versionHashes: [String: String]
    /// Nil where the store carries no model.
    package let modelCacheMatchesHashes: Bool?
  }

  package struct EntityFacts: Decodable, Sendable {
    package let name: String
    /// The name in the file, where it is a former one.
    package let storedName: String?
    package let rows: Int
  }

  package var testDescription: String { id }
  package var folder: URL { Corpus.root.appending(path: "stores").appending(path: id) }

  /// The store's files copied to a folder of its own.
  package func copy() throws -> URL {
    let target = FileManager.default.temporaryDirectory.appending(path: "corpus-\(id)-\(UUID())")
    try FileManager.default.createDirectory(at: target, withIntermediateDirectories: true)
    for suffix in ["", "-wal", "-shm"] {
      let source = folder.appending(path: mainFile + suffix)
      guard FileManager.default.fileExists(atPath: source.path) else { continue }
      let copy = target.appending(path: mainFile + suffix)
      try FileManager.default.copyItem(at: source, to: copy)
      try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: copy.path)
    }
    return target.appending(path: mainFile)
  }

  /// The model that belongs to the store: its source, or the one embedded in the store where there is none.
  package func model(at url: URL) throws -> NSManagedObjectModel {
    if modelFile.hasSuffix(".json") {
      guard let model = try NSPersistentStoreCoordinator.cachedModel(forPersistentStoreAt: url) else {
        throw CocoaError(.fileReadCorruptFile)
      }
      return model
    }
    var file = folder.appending(path: modelFile)
    if file.lastPathComponent == "contents" { file.deleteLastPathComponent() }
    return try NSManagedObjectModel.read(file)
  }

  /// The argument that gives the tool the model, where the store carries none of its own.
  package var modelArgument: [String] {
    if modelFile.hasSuffix(".json") { return [] }
    let file = folder.appending(path: modelFile)
    return ["--model", (file.lastPathComponent == "contents" ? file.deletingLastPathComponent() : file).path]
  }

  /// The same for the reference reader.
  package var referenceModelArgument: [String] {
    modelFile.hasSuffix(".json") ? [] : ["--model", folder.appending(path: modelFile).path]
  }

  /// What `Tools/coredata_format/read_store.py` says of a file.
  package func reference(_ arguments: [String]) throws -> String {
    try Python.run(["coredata_format/read_store.py"] + arguments)
  }
}
