import Foundation
import TestSupport
import Testing

/// `coredata store recover`: the readable content is in a new store.
@Suite struct RecoverTests {
  #if LMDB
    private static let types = ["sqlite", "xml", "binary", "lmdb"]
  #else
    private static let types = ["sqlite", "xml", "binary"]
  #endif

  /// A fixture as a store of a type, in a new folder.
  private func store(_ fixture: Fixture, _ type: String) throws -> URL {
    let folder = FileManager.default.temporaryDirectory.appending(path: "recover-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let store = folder.appending(path: "store")
    let run = try ToolRun(["store", "convert", fixture.store.path, store.path, "--to", type] + fixture.modelArgument)
    #expect(run.status == 0, "\(run.errors)")
    return store
  }

  private func dump(_ store: URL, _ fixture: Fixture) throws -> String {
    try ToolRun(["store", "dump", store.path] + fixture.modelArgument).output
  }

  @Test(arguments: Fixture.names.filter { $0 != "migrated" }, types)
  func nothingIsLostOfASoundStore(_ name: String, _ type: String) throws {
    let fixture = try Fixture(name, .small)
    let store = try store(fixture, type)
    defer { try? FileManager.default.removeItem(at: store.deletingLastPathComponent()) }
    let target = store.deletingLastPathComponent().appending(path: "new.xml")
    let run = try ToolRun(["store", "recover", store.path, target.path] + fixture.modelArgument)
    #expect(run.status == 0 && run.output.hasSuffix("No losses.\n"), "\(run.output)\(run.errors)")
    #expect(try dump(target, fixture) == dump(store, fixture) ? "equal" == "equal" : "\(name) \(type)" == "")
  }

  @Test(arguments: types) func whatIsLostIsListedAndTheSourceStays(_ type: String) throws {
    let fixture = try Fixture("links", .small)
    let store = try store(fixture, type)
    defer { try? FileManager.default.removeItem(at: store.deletingLastPathComponent()) }
    let before = Set(try dump(store, fixture).split(separator: "\n"))
    var bytes = try Data(contentsOf: store)
    // In a binary store the end lists the positions of all other parts.
    for position in bytes.count / 2..<bytes.count / 2 + 300 { bytes[position] = 0xFF }
    try bytes.write(to: store)
    let target = store.deletingLastPathComponent().appending(path: "new.sqlite")
    let run = try ToolRun(["store", "recover", store.path, target.path, "--json"] + fixture.modelArgument)
    #expect(run.status == 1 && run.errors.isEmpty, "\(run.errors)")
    #expect(run.output.contains(#""kind":"#))
    #expect(try Data(contentsOf: store) == bytes)
    let verified = try ToolRun(["store", "verify", target.path] + fixture.modelArgument)
    #expect(verified.status == 0, "\(verified.output)")
    // Objects that have lost links have different lines.
    let after = Set(try dump(target, fixture).split(separator: "\n"))
    #expect(after.intersection(before).count >= before.count / 4, "\(after.count) of \(before.count) lines")
    let again = try ToolRun(["store", "recover", store.path, target.path] + fixture.modelArgument)
    #expect(again.status == 1 && again.errors.contains("already"))
  }

  @Test func theTypeIsRequestedWhereTheFileDoesNotTell() throws {
    let fixture = try Fixture("links", .small)
    let store = try store(fixture, "xml")
    defer { try? FileManager.default.removeItem(at: store.deletingLastPathComponent()) }
    var text = try String(contentsOf: store, encoding: .utf8)
    text = "~~~" + text.dropFirst(3)
    try Data(text.utf8).write(to: store)
    let target = store.deletingLastPathComponent().appending(path: "new.xml")
    let arguments = ["store", "recover", store.path, target.path] + fixture.modelArgument
    let unknown = try ToolRun(arguments)
    #expect(unknown.status == 1 && unknown.errors.contains("--from"), "\(unknown.errors)")
    let known = try ToolRun(arguments + ["--from", "xml"])
    #expect(known.status == 1 && known.output.contains("objects."), "\(known.output)\(known.errors)")
  }
}
