import CoreData
import Foundation
import StoreProtocol

/// `coredata store recover`: writes the readable content of a damaged store to a new one.
enum RecoverCommand {
  static let command = Command(
    words: ["store", "recover"], operands: ["SRC", "DST"],
    options: [
      Option(
        name: "--to", value: "TYPE",
        help: "the type of the new store, \(ConvertCommand.typeNames); otherwise by DST's extension"),
      Option(name: "--from", value: "TYPE", help: "the type of the damaged store, where it cannot be recognized"),
      .json, .model,
    ],
    summary: "Writes the readable content of a damaged store to a new one",
    discussion: """
      SRC is not changed. The new store contains each readable object, with its key and its links to other readable objects. Losses are
      listed, one on each line, {"kind":…,"entity":…,"key":…,"property":…,"text":…} with --json. The exit status is 1 if there are any.

      SQLite stores are read row by row, around pages that cannot be read; XML stores object by object; binary stores object by object
      if their table of objects is readable; LMDB stores entry by entry, each with its checksum. Other formats have no checksum for each
      object: a damaged value that still looks valid is copied. So check the recovered values.

      Give --model where the store contains no readable model.
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

  /// The type of a file that may be damaged: the first type that does not reject the file as foreign.
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
    throw ToolError(message: "The type of the file cannot be recognized; give --from.")
  }

  /// The given model, in the version of the store where that can be read; or the model in the store.
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
    throw ToolError(message: "The store contains no readable model; give --model.")
  }
}
