import Foundation
import StoreConformance
import StoreProtocol
import Testing

/// Checks of the suite itself.
@Suite struct SuiteTests {
  @Test func everyIDIsThereOnce() {
    let ids = ConformanceSuite.all.map(\.id.text)
    #expect(Set(ids).count == ids.count)
    #expect(Dictionary(grouping: ids, by: { $0 }).filter { $0.value.count > 1 }.keys.sorted() == [])
  }

  @Test func noCaseNamesAStore() throws {
    let folder = Repository.root.appending(path: "Conformance/StoreConformance/Cases")
    let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    #expect(files.count > 8)
    for file in files {
      let text = try String(contentsOf: file, encoding: .utf8)
      for name in [
        "Backend()", "SQLiteBackend", "BinaryBackend", "XMLBackend", "InMemory", "storeType ==", "harness.name",
      ] {
        #expect(!text.contains(name), "\(file.lastPathComponent) names \(name)")
      }
    }
  }

  @Test func patternsSelectCases() {
    let id = CaseID("ATT-004/int64/min")
    for pattern in ["ATT-004/int64/min", "ATT-*", "*", "ATT-004", "*/min", "ATT-*int64*"] {
      #expect(id.matches(pattern))
    }
    for pattern in ["ATT-005", "ATT", "IDN-*", "*/max", "ATT-004/int6"] { #expect(!id.matches(pattern)) }
    #expect(id.row == "ATT-004")
    #expect(id.area == "ATT")
  }

  @Test func whatIsRequiredAndNotDeclaredIsMissing() {
    #expect(CapabilityFloor.missing(TestedStore.memory.backend) == [])
    let missing: Capabilities = [.batchRequests, .queryGenerations, .migrationInPlace]
    #expect(CapabilityFloor.missing(TestedStore.sqlite.backend) == missing)
    for store in TestedStore.allCases { #expect(CapabilityFloor.of(store.backend) != nil) }
  }

  @Test func capabilitiesHaveNamesOfTheirOwn() {
    let named = Capabilities.named
    #expect(Set(named.map(\.name)).count == named.count)
    #expect(named.reduce(0) { $0 | $1.capability.rawValue }.nonzeroBitCount == named.count)
    for (name, capability) in named {
      #expect(Capabilities(name: name) == capability)
      #expect(capability.names == [name])
    }
  }

  @Test func aSeedGivesTheSameNumbersEverywhere() {
    var random = SplitMix64(seed: 1_234_567)
    #expect(
      (0..<3).map { _ in random.next() } == [
        6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423,
      ])
    #expect(ModelOperation.stream(count: 50, seed: 7) == ModelOperation.stream(count: 50, seed: 7))
    #expect(ModelOperation.stream(count: 50, seed: 7) != ModelOperation.stream(count: 50, seed: 8))
  }

  @Test(arguments: TestedStore.allCases) func randomOperationsLeaveWhatTheyShould(_ store: TestedStore) throws {
    let divergence = try ModelRun(store).run(ModelOperation.stream(count: 60, seed: 11))
    #expect(divergence?.text == nil, "\(divergence?.text ?? "")")
  }
}
