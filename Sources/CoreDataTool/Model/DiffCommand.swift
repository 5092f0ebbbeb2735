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
      OLD and NEW are models or stores, as for `model describe`; of several versions the current one is used. A version of a bundle is
      given by its path, such as App.xcdatamodeld/App 2.xcdatamodel. Each difference is a line that begins with what becomes of the
      data: none, migrated, loses, mayFail, or needsMapping.
      """
  ) { invocation, output in
    let (old, new) = (try record(invocation.operands[0]), try record(invocation.operands[1]))
    for change in ModelChange.changes(from: old, to: new) {
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

  private static func record(_ path: String) throws -> ModelRecord {
    try ModelArchive.record(of: ToolModel.described(path).model)
  }
}
