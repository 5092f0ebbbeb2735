import Foundation
import TestSupport
import Testing

/// The output of the read commands for real stores, and that they leave no trace.
@Suite(Corpus.condition) struct ReadingTests {
  private static func readCommands(_ path: String, entity: String) -> [[String]] {
    [
      ["store", "info", path], ["store", "info", path, "--json"], ["store", "dump", path, "--json"],
      ["store", "fetch", path, "--entity", entity], ["store", "fetch", path, "--entity", entity, "--csv", "--decode"],
      ["store", "verify", path, "--apple"], ["model", "describe", path], ["model", "describe", path, "--json"],
    ]
  }

  @Test(arguments: Corpus.stores)
  func aStoreIsReadWholeAndStaysAsItIs(_ store: CorpusStore) throws {
    let url = try store.copy()
    let folder = url.deletingLastPathComponent()
    defer { try? FileManager.default.removeItem(at: folder) }
    let before = try traces(of: folder)
    for command in Self.readCommands(url.path, entity: try #require(store.facts.entities.first).name) {
      let run = try ToolRun(command)
      // One store of the corpus has a stray row and a highest key that is too low, and some have names for which no
      // rule is known.
      let isListed = store.id == "artsy-partner-1.3" || run.findingsAreOfNames
      #expect(run.status == 0 || command[1] == "verify" && isListed, "\(command) \(run.errors)")
      #expect(try traces(of: folder) == before, "\(command)")
    }
    let dump = try ToolRun(["store", "dump", url.path] + store.modelArgument)
    #expect(dump.status == 0 && dump.errors.isEmpty)
    #expect(try dump.output == store.reference([url.path] + store.referenceModelArgument))
  }

  @Test(arguments: Corpus.stores)
  func informationIsThatOfTheManifest(_ store: CorpusStore) throws {
    let url = store.folder.appending(path: store.mainFile)
    let info = try ToolRun(["store", "info", url.path, "--json"] + store.modelArgument).json()
    #expect(info["type"] as? String == "SQLite")
    #expect(info["uuid"] as? String == store.facts.storeUUID)
    #expect(info["inferredModel"] as? Bool == false)
    let entities = try #require(info["entities"] as? [[String: Any]])
    let counts = Dictionary(entities.map { ($0["name"] as? String ?? "", $0["count"] as? Int ?? -1) }) { $1 }
    #expect(counts == Dictionary(store.facts.entities.map { ($0.name, $0.rows) }) { $1 })
    let files = try #require(info["files"] as? [[String: Any]])
    let digests = Dictionary(files.map { ($0["name"] as? String ?? "", $0["sha256"] as? String ?? "") }) { $1 }
    #expect(digests == Dictionary(store.files.map { (URL(filePath: $0.name).lastPathComponent, $0.sha256) }) { $1 })
  }

  @Test(arguments: Corpus.stores)
  func describedHashesAreThoseOfTheStore(_ store: CorpusStore) throws {
    if store.facts.modelCacheMatchesHashes == nil { return }
    let described = try ToolRun(["model", "describe", store.folder.appending(path: store.mainFile).path, "--json"])
      .json()
    let entities = try #require(described["entities"] as? [[String: Any]])
    #expect(Set(entities.compactMap { $0["name"] as? String }) == Set(store.facts.versionHashes.keys))
    for entity in entities {
      let hash = entity["storedHash"] as? String
      #expect(hash == store.facts.versionHashes[entity["name"] as? String ?? ""])
    }
  }

  /// The five stores whose rows are wholly or partly in the log.
  private static let logged = Corpus.stores.filter { $0.files.contains { $0.name.hasSuffix("-wal") } }

  @Test func fiveStoresHaveALog() { #expect(Self.logged.count >= 5) }

  @Test(arguments: logged, [true, false])
  func theLogIsSeenWithAndWithoutSharedMemory(_ store: CorpusStore, hasSharedMemory: Bool) throws {
    let url = try store.copy()
    let folder = url.deletingLastPathComponent()
    defer { try? FileManager.default.removeItem(at: folder) }
    if !hasSharedMemory { try? FileManager.default.removeItem(atPath: url.path + "-shm") }
    let expected = try store.reference([url.path] + store.referenceModelArgument)
    // For all users except the superuser the folder is not writable.
    try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: folder.path)
    defer { try? FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path) }
    let before = try traces(of: folder)
    let dump = try ToolRun(["store", "dump", url.path] + store.modelArgument)
    #expect(dump.status == 0 && dump.output == expected, "\(dump.errors)")
    #expect(try traces(of: folder) == before)
  }

  @Test func fetchedObjectsAreJSONAndCSV() throws {
    let store = try #require(Corpus.stores.first { $0.id == "cdplus-sample2-v2" })
    let path = store.folder.appending(path: store.mainFile).path
    let run = try ToolRun(
      ["store", "fetch", path, "--entity", "Book", "--sort", "title:desc", "--limit", "2", "--predicate", "price > 1"])
    #expect(run.status == 0)
    #expect(run.lines.count == 2)
    let first = try #require(
      try JSONSerialization.jsonObject(with: Data((run.lines.first ?? "").utf8)) as? [String: Any])
    let uri = try #require(first["objectID"] as? String)
    #expect(uri.hasPrefix("x-coredata://\(store.facts.storeUUID)/"))
    #expect((first["pages"] as? [String])?.isEmpty == false)
    let table = try ToolRun(["store", "fetch", path, "--entity", "Book", "--csv"]).output
    #expect(table.hasPrefix("objectID,author,"))
    let decoded = try ToolRun(["store", "fetch", path, "--entity", "Book", "--decode"])
    #expect(decoded.status == 0)
    let explained = try ToolRun(
      [
        "store", "fetch", path, "--entity", "Book", "--sort", "title", "--limit", "2", "--predicate", "pagesCount > 1",
        "--explain",
      ])
    #expect(explained.status == 0)
    #expect(
      Array(explained.lines.prefix(3)) == [
        "predicate: in the store", "sort: in the store", "offset and limit: in the store",
      ])
    #expect(explained.lines.dropFirst(3).first?.contains("t0.ZPAGESCOUNT > ?") == true)
    #expect(explained.lines.last?.hasPrefix("  ") == true)
    let wrong = try ToolRun(["store", "fetch", path, "--entity", "Book", "--predicate", "price >"])
    #expect(wrong.status == 1 && wrong.errors.contains("predicate"))
    #expect(try ToolRun(["store", "fetch", path, "--entity", "Nothing"]).errors.contains("Book"))
    #expect(try ToolRun(["store", "fetch", path, "--entity", "Book", "--sort", "nothing"]).status == 1)
  }
}

extension ToolRun {
  /// Whether a verification has listed only names that Apple's framework may choose differently.
  fileprivate var findingsAreOfNames: Bool {
    let findings = output.split(separator: "\n").filter { !$0.hasSuffix("finding.") && !$0.hasSuffix("findings.") }
    return !findings.isEmpty && findings.allSatisfy { $0.contains("Apple's framework may") }
  }
}
