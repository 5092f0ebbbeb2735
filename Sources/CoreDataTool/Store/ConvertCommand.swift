import CoreData
import Foundation
import StoreProtocol

/// `coredata store convert`: copies the objects to a store of another type.
enum ConvertCommand {
  static let command = Command(
    words: ["store", "convert"], operands: ["SRC", "DST"],
    options: [
      Option(
        name: "--to", value: "TYPE", help: "the type of the new store, \(typeNames); otherwise by DST's extension"),
      Option(name: "--replace", help: "replace a store of this type at DST"),
      .model,
    ],
    summary: "Writes everything that a store holds to a new store of any type",
    discussion: """
      Objects keep their keys, so that `store dump` of both stores is the same; relationships keep their order, and the metadata the
      application's entries. The new store has its own UUID. Versions of objects start again, and history is not copied; a message
      on standard error says so where there is history.

      DST is replaced when the new store is complete: after an error, or if the command is killed, the former DST is unchanged. A
      store with invalid values or references is not converted; `store verify` lists them. XML and binary stores contain no model:
      give --model to read them.
      """
  ) { invocation, output in
    let (source, path) = (invocation.operands[0], invocation.operands[1])
    let type = try type(invocation.value("--to"), path)
    let store = try OpenedStore(source, model: invocation.value("--model"))
    if store.modelSource == .inferred {
      throw ToolError(
        message: "The store contains no model, and an inferred model does not suffice for writing; give --model.")
    }
    let progress = Progress("objects")
    defer { progress.end() }
    try store.coordinator.writeCopy(
      of: store.store, to: URL(fileURLWithPath: path), ofType: type, replaces: invocation.has("--replace")
    ) { progress.step() }
    if store.engine.hasHistory { Tool.complain("The history of the store was not carried over.") }
    return true
  }

  private static let extensions = ["sqlite": "SQLite", "db": "SQLite", "xml": "XML", "bin": "Binary", "mdb": "LMDB"]

  static var typeNames: String {
    NSPersistentStoreCoordinator.registeredPersistentTypes.map { $0.lowercased() }.joined(separator: ", ")
  }

  static func type(_ name: String?, _ path: String) throws -> String {
    let required = name ?? extensions[URL(fileURLWithPath: path).pathExtension.lowercased()] ?? ""
    let types = NSPersistentStoreCoordinator.registeredPersistentTypes
    if let type = types.first(where: { $0.lowercased() == required.lowercased() }) { return type }
    throw ToolError(
      message: name.map { "There is no type \($0) to convert to; there are \(typeNames)." }
        ?? "The extension of \(path) is not that of a store type; give --to.")
  }
}
