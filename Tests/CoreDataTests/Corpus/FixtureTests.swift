import Foundation
import TestSupport
import Testing

/// Stores written without this library are read as their writer expects.
@Suite struct FixtureTests {
  @Test(arguments: Fixture.names) func fixturesReadAsTheirWriterExpects(_ name: String) throws {
    let fixture = try Fixture(name)
    let facts = try fixture.facts()
    let expected = try fixture.expected()
    var arguments = [fixture.modelArgument]
    if facts.modelCache == "valid" { arguments.append([]) }
    for argument in arguments {
      let dump = try ToolRun(["store", "dump", fixture.store.path] + argument)
      #expect(dump.status == 0 && dump.errors.isEmpty)
      // Not the texts themselves, because a difference would be printed in full.
      #expect(dump.output == expected ? "equal" == "equal" : difference(dump.output, expected) == "")
    }
    let info = try ToolRun(["store", "info", fixture.store.path, "--json"] + fixture.modelArgument).json()
    #expect(info["uuid"] as? String == facts.storeUUID)
    let counts = (info["entities"] as? [[String: Any]] ?? []).map { "\($0["name"] ?? "") \($0["count"] ?? "")" }
    #expect(counts.sorted() == facts.entities.map { "\($0.name) \($0.rows)" }.sorted())
  }

  /// The first line in which two texts differ.
  private func difference(_ a: String, _ b: String) -> String {
    let (x, y) = (a.split(separator: "\n"), b.split(separator: "\n"))
    guard let line = x.indices.first(where: { !y.indices.contains($0) || x[$0] != y[$0] }) else {
      return "missing lines"
    }
    return "\(x[line]) <> \(y.indices.contains(line) ? y[line] : "")"
  }

  /// Names are those in the file then, but the whole content is read.
  @Test(arguments: ["legacy", "legacy-history", "migrated", "wal", "blobs"])
  func withoutAModelEverythingIsRead(_ name: String) throws {
    let fixture = try Fixture(name)
    let info = try ToolRun(["store", "info", fixture.store.path, "--json"]).json()
    #expect(info["inferredModel"] as? Bool == true)
    let dump = try ToolRun(["store", "dump", fixture.store.path])
    #expect(dump.status == 0 && dump.errors.isEmpty)
    let expected = try objects(fixture.expected())
    let found = try objects(dump.output)
    #expect(found.count == expected.count)
    let keys = { (objects: [[String: Any]]) in Set(objects.compactMap { $0["key"] as? Int }) }
    #expect(keys(found) == keys(expected))
    // Only strings are compared: the file declares their type.
    func texts(_ objects: [[String: Any]]) -> [String] {
      objects.flatMap { ($0["attributes"] as? [String: Any] ?? [:]).values.compactMap { $0 as? String } }.sorted()
    }
    #expect(texts(found).count >= texts(expected).count)
    #expect(Set(texts(expected)).isSubset(of: Set(texts(found))))
  }

  private func objects(_ dump: String) throws -> [[String: Any]] {
    try dump.split(separator: "\n").compactMap {
      try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
    }
  }
}
