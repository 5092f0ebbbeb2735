import CoreData
import Foundation
import TestSupport
import Testing

/// Writes into stores that others made. A script that knows only the format checks the result.
@Suite struct WritingTests {
  @Test(Corpus.condition, arguments: Corpus.stores)
  func storesOfAppsStayWhatTheyWere(_ store: CorpusStore) throws {
    let url = try store.copy()
    defer { try? FileManager.default.removeItem(at: url.deletingLastPathComponent()) }
    let model = try store.model(at: url)
    try Judge.judge(url, model, store.referenceModelArgument)
  }

  @Test(arguments: Fixture.names) func fixturesStayWhatTheyWere(_ name: String) throws {
    let fixture = try Fixture(name)
    let url = try fixture.copy()
    defer { try? FileManager.default.removeItem(at: url.deletingLastPathComponent()) }
    try Judge.judge(url, NSManagedObjectModel.read(fixture.model), fixture.modelArgument)
  }
}

/// Exercises a copy of a store and checks it.
enum Judge {
  static func judge(_ url: URL, _ model: NSManagedObjectModel, _ modelArgument: [String]) throws {
    let folder = url.deletingLastPathComponent()
    let before = folder.appending(path: "before")
    try FileManager.default.createDirectory(at: before, withIntermediateDirectories: true)
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) where name != "before" {
      try FileManager.default.copyItem(at: folder.appending(path: name), to: before.appending(path: name))
    }
    let touched = try StoreExercise(url, model).run()
    let list = folder.appending(path: "touched.jsonl")
    try Data(touched.joined(separator: "\n").utf8).write(to: list)
    let verdict = try Python.result(
      ["coredata_format/check_store.py", url.path] + modelArgument + [
        // Replaced files stay for readers.
        "--grace", "3600", "--before", before.appending(path: url.lastPathComponent).path, "--touched", list.path,
      ])
    #expect(verdict.status == 0, "\(verdict.output)")
    // Both readers see the same content afterwards.
    let dump = try ToolRun(["store", "dump", url.path] + modelArgument)
    #expect(try dump.output == Python.run(["coredata_format/read_store.py", url.path] + modelArgument))
    #expect(dump.status == 0)
  }
}
