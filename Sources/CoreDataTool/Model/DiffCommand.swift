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
      OLD and NEW are models, or stores that contain their model; of several versions the current one is used. A store without a
      model can be compared only with the model that it was made with. A version of a bundle is given by its path, such as
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

  /// The two models. That of a store without one is the other, if the store was made with it: an inferred model has
  /// neither the names nor the types of the original.
  private static func models(_ old: String, _ new: String) throws -> (NSManagedObjectModel, NSManagedObjectModel) {
    let (first, second) = (try ToolModel.described(old), try ToolModel.described(new))
    switch (first.isInferred, second.isInferred) {
    case (false, false): return (first.model, second.model)
    case (true, false) where ToolModel.fits(second.model, first.metadata): return (second.model, second.model)
    case (false, true) where ToolModel.fits(first.model, second.metadata): return (first.model, first.model)
    default:
      throw ToolError(
        message: """
          \(first.isInferred ? old : new) contains no model, and its version hashes are not those of the other one; give \
          the model that it was made with in its place.
          """)
    }
  }
}
