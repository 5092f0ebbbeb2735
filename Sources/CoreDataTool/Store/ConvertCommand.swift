import CoreData
import Foundation
import StoreProtocol

/// `coredata store convert`: the same objects in a store of another type.
enum ConvertCommand {
  static let command = Command(
    words: ["store", "convert"], operands: ["SRC", "DST"],
    options: [
      Option(
        name: "--to", value: "TYPE", help: "the type of the new store, \(typeNames); otherwise as DST's extension says"),
      Option(name: "--replace", help: "a store of this type that is at DST may go"),
      .model,
    ],
    summary: "Writes everything that a store holds to a new store of any type",
    discussion: """
      Objects keep their keys, so that `store dump` of both stores is the same; relationships keep their order, and the metadata the
      application's entries. The new store has a UUID of its own; versions of objects begin anew, and history is not carried over,
      which is said on the standard error where there is some.

      The new store takes its place when it is complete: on any error, and when the command is killed, what was at DST is still
      there. A store with values or references that cannot be right is not converted; `store verify` lists them. XML and binary stores
      carry no model: give --model to read them.
      """
  ) { invocation, output in
    let (source, path) = (invocation.operands[0], invocation.operands[1])
    let type = try type(invocation.value("--to"), path)
    let store = try OpenedStore(source, model: invocation.value("--model"))
    if store.modelSource == .inferred {
      throw ToolError(
        message: "The store carries no model, and one inferred from it is not good enough to write with; give --model.")
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
    let wanted = name ?? extensions[URL(fileURLWithPath: path).pathExtension.lowercased()] ?? ""
    let types = NSPersistentStoreCoordinator.registeredPersistentTypes
    if let type = types.first(where: { $0.lowercased() == wanted.lowercased() }) { return type }
    throw ToolError(
      message: name.map { "There is no type \($0) to convert to; there are \(typeNames)." }
        ?? "The extension of \(path) does not tell the type of the new store; give --to.")
  }
}
