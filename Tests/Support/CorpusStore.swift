import CoreData
import Foundation
import Testing

/// One store of the corpus, with the facts that a reader must find in it.
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
    /// Nil where the store contains no model.
    package let modelCacheMatchesHashes: Bool?
  }

  package struct EntityFacts: Decodable, Sendable {
    package let name: String
    /// The name in the file, where it is a former name.
    package let storedName: String?
    package let rows: Int
  }

  package var testDescription: String { id }
  package var folder: URL { Corpus.root.appending(path: "stores").appending(path: id) }

  /// A copy of the store's files in a new folder.
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

  /// The model of the store: its source, or the model in the store where there is no source.
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

  /// The tool's argument for the model, where the store contains none.
  package var modelArgument: [String] {
    if modelFile.hasSuffix(".json") { return [] }
    let file = folder.appending(path: modelFile)
    return ["--model", (file.lastPathComponent == "contents" ? file.deletingLastPathComponent() : file).path]
  }

  /// The same argument for the reference reader.
  package var referenceModelArgument: [String] {
    modelFile.hasSuffix(".json") ? [] : ["--model", folder.appending(path: modelFile).path]
  }

  /// The output of `Tools/coredata_format/read_store.py` for a file.
  package func reference(_ arguments: [String]) throws -> String {
    try Python.run(["coredata_format/read_store.py"] + arguments)
  }
}
