import CoreData
import Foundation
import ModelCompiler
import ModelFiles

/// `coredata model diff`: two versions of a model, and what a migration between them would do.
enum DiffCommand {
  static let command = Command(
    words: ["model", "diff"], operands: ["OLD", "NEW"], options: [.json],
    summary: "Says in words how two models differ, and what a migration from the one to the other would do",
    discussion: """
      OLD and NEW are models, or stores that contain their model; of several versions the current one is used. For a store without a
      model the other must have the version that the store was made with. A version of a bundle is given by its path, such as
      App.xcdatamodeld/App 2.xcdatamodel. Each difference is a line that begins with what becomes of the data: none, migrated, loses,
      mayFail, or needsMapping.
      """
  ) { invocation, output in
    let paths = invocation.operands
    let (old, new) = try models(paths[0], paths[1])
    for change in ModelChange.changes(from: try ModelArchive.record(of: old), to: try ModelArchive.record(of: new)) {
      if invocation.has("--json") {
        output.line(
          JSONText.ordered([
            ("element", JSONText.string(change.element)), ("effect", JSONText.string(change.effect.rawValue)),
            ("description", JSONText.string(change.description)),
          ]))
      } else {
        output.line(Terminal.harmless("\(change.effect.rawValue): \(change)"))
      }
    }
    return true
  }

  /// The two models. That of a store without one is the version of the other that the store was made with: an inferred
  /// model has neither the names nor the types of the original.
  private static func models(_ old: String, _ new: String) throws -> (NSManagedObjectModel, NSManagedObjectModel) {
    let (first, second) = (try ToolModel.described(old), try ToolModel.described(new))
    switch (first.isInferred, second.isInferred) {
    case (false, false): return (first.model, second.model)
    case (true, false):
      if let made = try ToolModel.read(new).first(where: { ToolModel.fits($0, first.metadata) }) {
        return (made, second.model)
      }
    case (false, true):
      if let made = try ToolModel.read(old).first(where: { ToolModel.fits($0, second.metadata) }) {
        return (first.model, made)
      }
    case (true, true): break
    }
    let (store, other) = first.isInferred ? (old, new) : (new, old)
    throw ToolError(
      message:
        "\(store) contains no model that it was made with, and \(other) has no such version; name a file with that "
        + "model instead.")
  }
}
