import Testing

/// Checks the repository against the rules.
@Suite struct HouseTests {
  @Test func theSourcesAreFound() {
    #expect(Repository.sources.count > 100)
    #expect(Repository.manifests.contains { $0.path == "Package.swift" })
    #expect(Repository.cModules["SQLite"]?.contains("CSQLite") == true)
  }

  @Test func everyImportIsInTheTable() {
    #expect(Repository.sources.flatMap { HouseRules.imports($0, cModules: Repository.cModules) } == [])
  }

  @Test func aBackendStandsOnOneEngine() { #expect(HouseRules.engines(Repository.sources) == []) }

  @Test func noTypeBelowCoreDataCarriesApplesPrefix() {
    #expect(Repository.sources.flatMap(HouseRules.names) == [])
  }

  @Test func onlyOriginsAskForKindsOfStore() { #expect(Repository.sources.flatMap(HouseRules.kindsOfStore) == []) }

  @Test func filesAreShort() { #expect((Repository.sources + Repository.tests).flatMap(HouseRules.length) == []) }
  @Test func commentsAreNarrow() {
    #expect((Repository.sources + Repository.tests).flatMap(HouseRules.wideComments) == [])
  }

  @Test func nothingIsForced() { #expect(Repository.sources.flatMap(HouseRules.traps) == []) }

  @Test func noManifestHasUnsafeFlags() { #expect(Repository.manifests.flatMap(HouseRules.unsafeFlags) == []) }

  @Test func enginesAndBackendsUsePublicDeclarationsOnly() throws {
    let backends = Set(Repository.sources.filter(\.isBackend).map(\.folderOfBackend))
    #expect(backends.contains("Backends/SQLite/Sources") && backends.contains("Backends/LMDB/Registration"))
    let manifest = try #require(Repository.manifests.first { $0.path == "Package.swift" })
    #expect(HouseRules.packageAccess(manifest, backends: backends) == [])
  }

  @Test func everythingStandsWhereTheLayoutSays() {
    #expect(Repository.paths.contains("Tools/rows/README.md"))
    #expect(LayoutRules(paths: Repository.paths).breaches == [])
  }

  @Test func linksLeadToFilesAndDecisionsHaveAStatus() {
    #expect(Repository.documents.keys.contains(DocumentRules.decisions + "/README.md"))
    #expect(DocumentRules(documents: Repository.documents, paths: Repository.linkTargets).breaches == [])
  }

  @Test func everyMarkHasAReason() throws {
    let files = Repository.sources.filter { !$0.path.hasPrefix("Conformance/") }
    #expect(MarkRules.breaches(files, table: try #require(Repository.tableOfMarks)) == [])
  }

  @Test func noOpenEnds() { #expect(Repository.sources.flatMap(HouseRules.leftovers) == []) }
}
