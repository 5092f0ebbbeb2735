import Foundation
import Synchronization

/// A store that `Tools/coredata_fixtures/make_fixtures.py` wrote only from the description of the format.
package struct Fixture: Sendable {
  package static let names = [
    "types", "family", "links", "blobs", "history", "legacy", "legacy-history", "migrated", "wal",
  ]

  /// The approximate number of objects in a fixture.
  package enum Size: String { case small = "500", usual = "10000" }

  /// Made once for all tests, and removed when they end.
  private static let folder = make(.usual)
  private static let smallFolder = make(.small)

  private static func make(_ size: Size) -> Result<URL, any Error> {
    Result {
      let folder = FileManager.default.temporaryDirectory.appending(path: "fixtures-\(UUID())")
      made.withLock { made in
        if made.isEmpty {
          atexit {
            for folder in Fixture.made.withLock({ $0 }) { try? FileManager.default.removeItem(at: folder) }
          }
        }
        made.append(folder)
      }
      _ = try Python.run(["coredata_fixtures/make_fixtures.py", folder.path, "--rows", size.rawValue])
      return folder
    }
  }
  private static let made = Mutex<[URL]>([])

  package struct Facts: Decodable {
    package let storeUUID: String
    package let modelCache: String
    package let entities: [EntityFacts]

    package struct EntityFacts: Decodable {
      package let name: String
      package let rows: Int
    }
  }

  package let name: String
  private let folder: URL

  package init(_ name: String, _ size: Size = .usual) throws {
    self.name = name
    folder = try (size == .usual ? Self.folder : Self.smallFolder).get().appending(path: name)
  }

  package var store: URL { folder.appending(path: name + ".sqlite") }
  package var model: URL { folder.appending(path: name + ".xcdatamodel") }
  package var modelArgument: [String] { ["--model", model.path] }

  /// The dump that the writer expects, made from its objects in memory.
  package func expected() throws -> String {
    try String(contentsOf: folder.appending(path: "expected.jsonl"), encoding: .utf8)
  }

  package func facts() throws -> Facts {
    try JSONDecoder().decode(Facts.self, from: Data(contentsOf: folder.appending(path: "facts.json")))
  }

  /// A copy of the store's files in a new folder.
  package func copy() throws -> URL {
    let target = FileManager.default.temporaryDirectory.appending(path: "fixture-\(name)-\(UUID())")
    try FileManager.default.createDirectory(at: target, withIntermediateDirectories: true)
    for file in try FileManager.default.contentsOfDirectory(atPath: folder.path)
    where file.hasPrefix(name + ".sqlite") || file.hasPrefix(".") {
      try FileManager.default.copyItem(at: folder.appending(path: file), to: target.appending(path: file))
    }
    return target.appending(path: name + ".sqlite")
  }
}
