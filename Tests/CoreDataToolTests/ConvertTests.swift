import Foundation
import TestSupport
import Testing

/// `coredata store convert`: dumps are the same for all types.
@Suite struct ConvertTests {
  #if LMDB
    private static let types = ["sqlite", "xml", "binary", "lmdb"]
    private static let walk = [
      "sqlite", "xml", "xml", "lmdb", "lmdb", "sqlite", "lmdb", "binary", "binary", "sqlite", "binary", "lmdb", "xml",
      "binary",
      "xml", "sqlite",
    ]
  #else
    private static let types = ["sqlite", "xml", "binary"]
    private static let walk = ["sqlite", "xml", "xml", "binary", "binary", "sqlite", "binary", "xml", "sqlite"]
  #endif

  private func folder() throws -> URL {
    let folder = FileManager.default.temporaryDirectory.appending(path: "convert-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
  }

  /// Converts `source` from type to type, so that each ordered pair of types occurs once; all have the same dump.
  private func walk(_ source: URL, _ model: [String], _ body: (URL, String) throws -> Void = { _, _ in }) throws {
    let folder = try folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let expected = try ToolRun(["store", "dump", source.path] + model).output
    var last = source
    // Large stores are not converted between all pairs.
    let types = expected.utf8.count < 400_000 ? Self.walk : Array(Self.walk.suffix(Self.types.count))
    for (step, type) in types.enumerated() {
      let target = folder.appending(path: "\(step)-\(type)")
      let run = try ToolRun(["store", "convert", last.path, target.path, "--to", type] + model)
      #expect(run.status == 0, "\(target.lastPathComponent): \(run.errors)")
      let dump = try ToolRun(["store", "dump", target.path] + model)
      #expect(dump.status == 0 && dump.output == expected ? "equal" == "equal" : "\(target.lastPathComponent)" == "")
      try body(target, expected)
      last = target
    }
    // No files are left beside the stores.
    let left = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.contains(".copying-") }
    #expect(left == [])
  }

  @Test(arguments: Fixture.names) func everyPairOfTypesKeepsAFixture(_ name: String) throws {
    // Its planted faults are rejected; see below.
    if name == "migrated" { return }
    let fixture = try Fixture(name, .small)
    try walk(fixture.store, fixture.modelArgument) { store, expected in
      // The scripts know these formats only.
      guard ["sqlite", "xml"].contains(where: store.lastPathComponent.hasSuffix) else { return }
      let read = try Python.run(["coredata_format/read_store.py", store.path] + fixture.modelArgument)
      #expect(read == expected ? "equal" == "equal" : "\(store.lastPathComponent) is read otherwise" == "")
    }
  }

  @Test(Corpus.condition, arguments: Corpus.stores)
  func everyPairOfTypesKeepsTheStoreOfAnApp(_ store: CorpusStore) throws {
    let source = store.folder.appending(path: store.mainFile)
    let before = try traces(of: store.folder)
    try walk(source, store.modelArgument.isEmpty ? ["--model", source.path] : store.modelArgument)
    #expect(try traces(of: store.folder) == before)
  }

  @Test func keysAndMetadataStayAndTheUUIDIsNew() throws {
    let folder = try folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let fixture = try Fixture("links", .small)
    let target = folder.appending(path: "links.xml")
    #expect(try ToolRun(["store", "convert", fixture.store.path, target.path] + fixture.modelArgument).status == 0)
    let (old, new) = try (
      ToolRun(["store", "info", fixture.store.path, "--json"]).json(),
      ToolRun(["store", "info", target.path, "--json"]).json()
    )
    #expect(new["uuid"] as? String != old["uuid"] as? String && new["uuid"] is String)
    #expect(new["type"] as? String == "XML")
    let text = try String(contentsOf: target, encoding: .utf8)
    #expect(text.contains("<key>OpenCoreDataKeySpaces</key>"))
  }

  @Test func whatIsThereStays() throws {
    let folder = try folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let (fixture, target) = (try Fixture("blobs", .small), folder.appending(path: "there.xml"))
    let arguments = ["store", "convert", fixture.store.path, target.path] + fixture.modelArgument
    try Data("something else".utf8).write(to: target)
    for extra in [[], ["--replace"]] {
      let run = try ToolRun(arguments + extra)
      #expect(run.status == 1 && run.lines.isEmpty && run.errors.split(separator: "\n").count == 1)
      #expect(try Data(contentsOf: target) == Data("something else".utf8))
    }
    try FileManager.default.removeItem(at: target)
    #expect(try ToolRun(arguments).status == 0)
    #expect(try ToolRun(arguments).status == 1)
    let again = try ToolRun(arguments + ["--replace"])
    #expect(again.status == 0, "\(again.errors)")
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        == [".there.xml_EXTERNAL_DATA", "there.xml"])
  }

  @Test func aStoreOfTheSameTypeIsReplacedWithItsLargeData() throws {
    let folder = try folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let (fixture, target) = (try Fixture("blobs", .small), folder.appending(path: "blobs.sqlite"))
    let arguments = ["store", "convert", fixture.store.path, target.path, "--replace"] + fixture.modelArgument
    let files = folder.appending(path: ".blobs_SUPPORT/_EXTERNAL_DATA")
    var names: [Set<String>] = []
    for _ in 0..<2 {
      #expect(try ToolRun(arguments).status == 0)
      names.append(Set(try FileManager.default.contentsOfDirectory(atPath: files.path)))
      #expect(try ToolRun(["store", "dump", target.path] + fixture.modelArgument).output == fixture.expected())
    }
    #expect(!names[0].isEmpty && names[0].count == names[1].count && names[0].isDisjoint(with: names[1]))
  }

  @Test func whatCannotBeRightIsNotConverted() throws {
    let folder = try folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let fixture = try Fixture("migrated", .small)
    for type in Self.types {
      let run = try ToolRun(
        ["store", "convert", fixture.store.path, folder.path + "/x", "--to", type] + fixture.modelArgument)
      let isSound = try ToolRun(["store", "dump", fixture.store.path] + fixture.modelArgument).status == 0
      #expect(run.status == (isSound ? 0 : 1), "\(run.errors)")
      if !isSound { #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == []) }
      try? FileManager.default.removeItem(at: folder.appending(path: "x"))
    }
  }

  @Test func typesAreRecognizedByNameOrExtension() throws {
    let fixture = try Fixture("types", .small)
    let run = try ToolRun(
      ["store", "convert", fixture.store.path, "/nowhere/x", "--to", "floppy"] + fixture.modelArgument)
    #expect(run.status == 1 && run.errors.contains("binary") && run.errors.contains("sqlite"))
    #expect(try ToolRun(["store", "convert", fixture.store.path, "/nowhere/x"] + fixture.modelArgument).status == 1)
    #expect(
      try ToolRun(["store", "convert", fixture.store.path, "/nowhere/x.xml"] + fixture.modelArgument).status == 1)
  }
}
