import CoreData
import Foundation
import StoreProtocol

/// `coredata store recover`: what can still be read of a damaged store, in a new one.
enum RecoverCommand {
  static let command = Command(
    words: ["store", "recover"], operands: ["SRC", "DST"],
    options: [
      Option(
        name: "--to", value: "TYPE",
        help: "the type of the new store, \(ConvertCommand.typeNames); otherwise as DST's extension says"),
      Option(name: "--from", value: "TYPE", help: "the type of the damaged store, where its file no longer tells"),
      .json, .model,
    ],
    summary: "Writes what can be read of a damaged store to a new one",
    discussion: """
      SRC stays as it is. Each object that can be read is in the new store, under its key and with its links to others that are there. What
      is left out is listed, one a line, {"kind":…,"entity":…,"key":…,"property":…,"text":…} with --json, and the exit status is 1 then.

      SQLite stores are read row by row, around pages that cannot be read; XML stores object by object; binary stores object by object
      as long as their table of objects is there; LMDB stores entry by entry, each with its checksum. Other formats have none for their parts: a
      value that is damaged and still looks like one is taken for sound. Have a look at what was recovered.

      Give --model where the store carries no model, or none that can be read.
      """
  ) { invocation, output in
    let (source, path) = (URL(fileURLWithPath: invocation.operands[0]), invocation.operands[1])
    let type = try ConvertCommand.type(invocation.value("--to"), path)
    let sourceType = try invocation.value("--from").map { try ConvertCommand.type($0, path) } ?? Self.type(of: source)
    let model = try model(invocation.value("--model"), for: source, sourceType)
    ToolModel.keepStoredBytes(model)
    let metadata = try? NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: sourceType, at: source)
    let configuration = metadata.flatMap { ToolModel.configuration(model, $0) }
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let report = FindingReport(output, isJSON: invocation.has("--json"))
    let progress = Progress("objects")
    let count = try coordinator.writeSalvage(
      ofStoreAt: source, ofType: sourceType, configuration: configuration, to: URL(fileURLWithPath: path), ofType: type,
      lost: report.add, progress: { progress.step() })
    progress.end()
    if !invocation.has("--json") { output.line("\(count) object\(count == 1 ? "" : "s").") }
    report.end("loss", "losses")
    return report.count == 0
  }

  /// The type of a file that may be damaged: the first that does not say that the file is none of its own.
  private static func type(of source: URL) throws -> String {
    guard FileManager.default.fileExists(atPath: source.path) else {
      throw ToolError(message: "There is no file \(source.path).")
    }
    for type in NSPersistentStoreCoordinator.registeredPersistentTypes {
      do { _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: source) } catch {
        if ToolError.storeCode(of: error) == .notAStore { continue }
      }
      return type
    }
    throw ToolError(message: "The file does not tell its type any more; give --from.")
  }

  /// The model that is given, of its versions the store's where that can be told; or the one that the store carries.
  private static func model(_ path: String?, for source: URL, _ type: String) throws -> NSManagedObjectModel {
    let metadata = try? NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: source)
    if let path {
      let models = try ToolModel.read(path)
      let fitting = metadata.flatMap { metadata in models.first { ToolModel.fits($0, metadata) } }
      guard let model = fitting ?? models.first else { throw ToolError(message: "There is no model in \(path).") }
      return model
    }
    if let carried = try? NSPersistentStoreCoordinator.cachedModel(forPersistentStoreAt: source, ofType: type) {
      return carried
    }
    throw ToolError(message: "The store carries no model that can be read; give --model.")
  }
}
