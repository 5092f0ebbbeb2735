import CoreData
import Foundation
import StoreConformance
import StoreProtocol
import StoreSchema
import Testing

@testable import GraphConformance

/// The cases about objects in contexts.
@Suite struct GraphTests {
  /// All cases that the program of this package runs.
  static let all = CaseList(adding: GraphSuite.all)

  @Test func noCaseOfAGraphHasTheIDOfAnother() {
    let ids = GraphSuite.all.map(\.id.text)
    #expect(Set(ids).count == ids.count)
    #expect(Set(ids).intersection(ConformanceSuite.all.map(\.id.text)) == [])
    #expect(Self.all.all.count == ConformanceSuite.all.count + ids.count)
    for one in Self.all.all { #expect(Self.all.find(one.id.text)?.title == one.title) }
  }

  @Test func aCaseWhoseIDIsTakenIsLeftOut() throws {
    let taken = try #require(ConformanceSuite.all.first)
    let list = CaseList(adding: [ConformanceCase(taken.id.text, "another") { _ in }])
    #expect(list.all.count == ConformanceSuite.all.count)
    #expect(list.find(taken.id.text)?.title == taken.title)
  }

  @Test func everyRowOfTheSpecificationIsACaseOrListed() {
    let listed = (NotYet.rows + NotYet.checks).map(\.id)
    let covered = SpecificationRows.covered(by: Self.all.all)
    #expect(SpecificationRows.all.count == 486)
    #expect(Set(listed).count == listed.count)
    #expect(Set(SpecificationRows.all).subtracting(covered.union(listed)).sorted() == [])
    #expect(covered.subtracting(SpecificationRows.all).sorted() == [])
    #expect(covered.intersection(listed).sorted() == [])
  }

  @Test func whoRunsTheCasesOfStoresAloneIsRemindedOfTheOthers() {
    let open = SpecificationRows.open(of: ConformanceSuite.all)
    #expect(open["REL-001"]?.contains("GraphConformance") == true)
    #expect(open["BAT-001"]?.hasPrefix("step 11: ") == true && open["CAP-005"]?.contains("sabotage") == true)
    #expect(open["REL-003"] == nil)
    #expect(SpecificationRows.open(of: Self.all.all)["REL-001"] == nil)
  }

  /// With this restriction the cases can run on every implementation of Core Data.
  @Test func casesUseCoreDataAloneAndNameNoStore() throws {
    let folder = Repository.root.appending(path: "Conformance/GraphConformance")
    let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
      .compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }
      // The races open stores directly and read their contents.
      .filter { $0.deletingLastPathComponent().lastPathComponent != "Races" }
    let frame: Set = ["ContextStack.swift", "Graph.swift", "GraphCase.swift", "GraphSuite.swift"]
    #expect(files.count > 15)
    for file in files {
      let text = try String(contentsOf: file, encoding: .utf8)
      for name in [
        "NSSQLiteStoreType", "NSXMLStoreType", "NSBinaryStoreType", "NSInMemoryStoreType", ".sqlite", "\"SQLite\"",
        "SQLiteBackend", "BinaryBackend", "XMLBackend", "InMemory", "harness.name", "storeType ==",
      ] {
        #expect(!text.contains(name), "\(file.lastPathComponent) names \(name)")
      }
      if frame.contains(file.lastPathComponent) { continue }
      let imports = text.split(separator: "\n").filter { $0.hasPrefix("import ") }.map { $0.dropFirst(7) }
      #expect(
        Set(imports).subtracting(["CoreData", "Dispatch", "Foundation"]) == [], "\(file.lastPathComponent) imports more"
      )
    }
  }

  private static let models: [(model: NSManagedObjectModel, schema: @Sendable () throws -> Schema)] = [
    (Models.people, { try Fixtures.people() }), (Models.inheritance, { try Fixtures.inheritance() }),
    (Models.ordered, { try Fixtures.ordered() }), (Models.wide, { try Fixtures.wide() }),
    (Models.names, { try Fixtures.names() }), (Models.otherPeople, { try Fixtures.otherPeople() }),
  ]

  @Test func theModelsAreThoseOfTheCasesOfStores() throws {
    for (model, schema) in Self.models {
      #expect(model.entityVersionHashesByName == (try schema().versionHashes.mapValues { Data($0) }))
    }
  }

  /// Runs in this process and in one profile only; the program runs all cases in every profile.
  @Test(arguments: TestedStore.allCases) func everyCasePasses(_ store: TestedStore) throws {
    let known = try store.knownFailures
    var passed = 0
    for one in GraphSuite.all
    where one.size == .small && !one.needsProcesses && !one.disturbsFiles
      && !known.contains(one.id.text)
    {
      switch CaseRun.run(one, store, .plain, peers: TestedStore.allCases) {
      case .passed: passed += 1
      case .notApplicable: continue
      case let outcome: Issue.record("\(one): \(outcome.name) \(outcome.reason ?? "")")
      }
    }
    #expect(passed > 150)
  }
}
