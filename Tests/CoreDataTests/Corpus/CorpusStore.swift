import CoreData
import Foundation
import Testing

/// The shared stores that real apps wrote, beside the repository.
enum Corpus {
  static let repository = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
  static let root = repository.appending(path: "../shared/corpus").standardizedFileURL
  static let isPresent = FileManager.default.fileExists(atPath: root.path)
  /// With OPENCOREDATA_REQUIRE_CORPUS=1 the tests run and fail where the folder is missing.
  static let isUsable = isPresent || ProcessInfo.processInfo.environment["OPENCOREDATA_REQUIRE_CORPUS"] == "1"
  static let condition: ConditionTrait = .enabled(
    if: isUsable, "The corpus is not beside the repository (../shared/corpus).")

  static let stores: [CorpusStore] = {
    guard let data = try? Data(contentsOf: root.appending(path: "stores/manifest.json")),
      let manifest = try? JSONDecoder().decode(Manifest.self, from: data)
    else { return [] }
    return manifest.stores
  }()

  private struct Manifest: Decodable { let stores: [CorpusStore] }
}

/// One store of the corpus with the facts that a reader must find in it.
struct CorpusStore: Decodable, Sendable, CustomTestStringConvertible {
  let id: String
  let mainFile: String
  let modelFile: String
  let frameworkVersion: Int
  let facts: Facts
  let files: [FileFacts]

  struct FileFacts: Decodable, Sendable {
    let name: String
    let sha256: String
  }

  struct Facts: Decodable, Sendable {
    let storeUUID: String
    let journalMode: String
    let entities: [EntityFacts]
    let versionHashes: [String: String]
    /// Nil where the store carries no model.
    let modelCacheMatchesHashes: Bool?
  }

  struct EntityFacts: Decodable, Sendable {
    let name: String
    /// The name in the file, where it is a former one.
    let storedName: String?
    let rows: Int
  }

  var testDescription: String { id }
  var folder: URL { Corpus.root.appending(path: "stores").appending(path: id) }

  /// The store's files copied to a folder of its own.
  func copy() throws -> URL {
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
  func model(at url: URL) throws -> NSManagedObjectModel {
    if modelFile.hasSuffix(".json") {
      return try #require(try NSPersistentStoreCoordinator.cachedModel(forPersistentStoreAt: url))
    }
    var file = folder.appending(path: modelFile)
    if file.lastPathComponent == "contents" { file.deleteLastPathComponent() }
    return try NSManagedObjectModel.read(file)
  }

  /// How the tool is told the model, where the store carries none of its own.
  var modelArgument: [String] {
    if modelFile.hasSuffix(".json") { return [] }
    let file = folder.appending(path: modelFile)
    return ["--model", (file.lastPathComponent == "contents" ? file.deletingLastPathComponent() : file).path]
  }

  /// The same for the reference reader.
  var referenceModelArgument: [String] {
    modelFile.hasSuffix(".json") ? [] : ["--model", folder.appending(path: modelFile).path]
  }

  /// What `Tools/coredata_format/read_store.py` says of a file.
  func reference(_ arguments: [String]) throws -> String {
    try Python.run(["coredata_format/read_store.py"] + arguments)
  }
}

/// Runs the repository's Python programs, by their paths in Tools.
enum Python {
  struct Failure: Error { let message: String }

  /// What a script prints. Throws what it complains of where it fails.
  static func run(_ arguments: [String]) throws -> String {
    let result = try result(arguments)
    guard result.status == 0 else { throw Failure(message: result.errors) }
    return result.output
  }

  static func result(_ arguments: [String]) throws -> (status: Int32, output: String, errors: String) {
    let script = Corpus.repository.appending(path: "Tools").appending(path: arguments[0]).path
    let run = try ToolRun(["python3", script] + arguments.dropFirst(), program: URL(filePath: "/usr/bin/env"))
    return (run.status, run.output, run.errors)
  }
}
