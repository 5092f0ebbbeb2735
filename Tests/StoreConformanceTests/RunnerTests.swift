import Foundation
import StoreConformance
import StoreProtocol
import Testing

@testable import StoreConformanceRunner

#if canImport(FoundationXML)
  import FoundationXML
#endif

/// How the runner classifies outcomes, and how it reports them.
@Suite struct RunnerTests {
  private static func result(_ id: String, _ outcome: Outcome) -> CaseResult {
    CaseResult(
      id: CaseID(id), backend: "memory", profile: .plain, requirements: [], outcome: outcome, seconds: 0.5, seed: 3)
  }

  static let outcomes: [Outcome] = [
    .passed, .failed(Failure("a < b & \"c\"\u{1}", labels: ["outer"])), .notApplicable("requires server"),
    .knownFailure("issue"), .unexpectedPass("issue"), .crashed(signal: 11), .timedOut, .harnessError("no room"),
  ]

  private static var report: Report {
    Report(outcomes.enumerated().map { result("ATT-00\($0.offset)", $0.element) }, [TestedStore.memory])
  }

  @Test(arguments: outcomes) func anOutcomeIsTheSameInJSON(_ outcome: Outcome) throws {
    let data = try JSONEncoder().encode(outcome)
    #expect(try JSONDecoder().decode(Outcome.self, from: data) == outcome)
  }

  @Test func aReportIsTheSameInJSON() throws {
    let again = try JSONDecoder().decode(Report.self, from: JSONEncoder().encode(Self.report))
    #expect(again.results == Self.report.results)
    #expect(again.capabilities == Self.report.capabilities)
  }

  @Test func jUnitIsWellFormedAndCountsRight() throws {
    let text = JUnitWriter(Self.report).text
    let parser = XMLParser(data: Data(text.utf8))
    let counter = ElementCounter()
    parser.delegate = counter
    #expect(parser.parse())
    #expect(counter.counts["testcase"] == 8)
    #expect(counter.counts["failure"] == 3)
    #expect(counter.counts["skipped"] == 2)
    #expect(counter.counts["error"] == 1)
    #expect(text.contains("<skipped message=\"requires server\"/>"))
    #expect(text.contains("a &lt; b &amp; &quot;c&quot;\u{FFFD}"))
  }

  private final class ElementCounter: NSObject, XMLParserDelegate {
    var counts: [String: Int] = [:]

    func parser(
      _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
      attributes: [String: String]
    ) { counts[name, default: 0] += 1 }
  }

  @Test func theTableSaysWhatFailedAndHowToRunItAgain() {
    let text = TableWriter(Self.report).text
    #expect(text.contains("failed: memory plain ATT-001: outer > a < b"))
    #expect(text.contains("store-conformance run --backend memory --profile plain --seed 3 --size L --only 'ATT-001'"))
    #expect(text.contains("not applicable: memory requires server: 1"))
    #expect(text.contains("known failure: memory plain ATT-003: issue"))
  }

  // MARK: Expectations

  private static var expectations: Expectations {
    Expectations(TestedStore.memory, ConformanceSuite.all, knownFailures: ["LIF-001": "why"])
  }

  @Test func whatFailsAsExpectedIsKnownAndWhatPassesIsNot() {
    let known = CaseID("LIF-001")
    #expect(Self.expectations.judged(.timedOut, of: known) == .knownFailure("why"))
    #expect(Self.expectations.judged(.failed(Failure("x")), of: known) == .knownFailure("why"))
    #expect(Self.expectations.judged(.passed, of: known) == .unexpectedPass("why"))
    #expect(Self.expectations.judged(.failed(Failure("x")), of: CaseID("LIF-002")) == .failed(Failure("x")))
  }

  @Test func driftInEitherDirectionIsSeen() throws {
    let now = Self.expectations
    #expect(now.drift(to: now) == [])
    var old = now
    old.capabilities.removeLast()
    old.counts["S", default: 0] += 1
    let reason = try #require(old.notApplicable.keys.min())
    let exempt = try #require(old.notApplicable[reason]?.first)
    old.notApplicable[reason]?.removeFirst()
    old.notApplicable["requires nothing"] = ["XXX-001"]
    let drift = old.drift(to: now)
    #expect(drift.count == 4)
    #expect(drift.contains("\(exempt) does not apply any more"))
    #expect(drift.contains("XXX-001 applies now, or is gone"))
  }

  @Test(arguments: TestedStore.allCases) func theCommittedExpectationsAreThoseOfToday(_ store: TestedStore) throws {
    let folder = ["sqlite": "SQLite", "binary": "Binary", "xml": "XML", "memory": "InMemory"][store.name] ?? ""
    let file = Repository.root.appending(path: "Backends/\(folder)/Expectations.json")
    let expected = try Expectations.read(file)
    let cases = GraphTests.all.all
    let now = Expectations(store, cases, knownFailures: expected.knownFailures)
    #expect(expected.drift(to: now) == [])
    #expect(Set(expected.knownFailures.keys).subtracting(cases.map(\.id.text)) == [])
  }

  // MARK: Outcomes of cases

  private func outcome(
    requires: Capabilities = [], absent: Capabilities = [], _ body: @escaping @Sendable (CaseContext) throws -> Void
  ) -> Outcome {
    CaseRun.run(
      ConformanceCase("TST-001", "a test", requires: requires, absent: absent, body: body), TestedStore.memory, .plain)
  }

  @Test func whatBecomesOfACase() {
    #expect(outcome { $0.expect(true, "") } == .passed)
    #expect(outcome { $0.expect(false, "bad") } == .failed(Failure("bad")))
    #expect(outcome { c in _ = c.label("a") { c.expect(false, "bad") } }.isBad)
    #expect(outcome { _ in }.reason == "the case expected nothing")
    #expect(outcome(requires: .server) { _ in }.name == "notApplicable")
    #expect(outcome(absent: .uniqueness) { _ in }.name == "notApplicable")
    #expect(outcome { _ in throw StoreError(.io, "A disk.") }.isBad)
    #expect(outcome { _ in throw CocoaError(.fileNoSuchFile) }.name == "harnessError")
    #expect(outcome { c in try c.refuses(.closed) {} }.isBad)
    #expect(outcome { c in try c.refuses(.closed) { throw StoreError(.io, "A disk.") } }.isBad)
  }

  @Test func aFileThatIsLeftBehindIsAProblem() {
    let outcome = outcome { c in
      c.expect(true, "")
      try Data().write(to: c.url.appendingPathExtension("left"))
    }
    #expect(outcome.reason?.contains("U4: the file store.left is left behind") == true)
  }

  // MARK: Command line

  private static let commands: [(words: [String], status: Int32)] = [
    (["list"], 0), (["matrix"], 0), (["help"], 0), (["nonsense"], 2), (["run", "--backend", "none"], 2),
    (["run", "--profile", "none"], 2), (["run", "--nonsense"], 2), (["run", "--seed", "x"], 2), (["report"], 2),
    (["replay", "/nowhere"], 2), (["run", "--only", "NONE-*"], 2), ([], 2), (["run", "--size"], 2),
    (["model", "--operations", "20", "--seed", "5"], 0), (["differential", "--operations", "10", "--seed", "5"], 0),
  ]

  @Test func aProgramRunsTheCasesThatItAdds() {
    let added = ConformanceCase("TST-001", "a test") { $0.expect(true, "") }
    func status(_ words: String...) -> Int32 {
      ConformanceCommand.run(words, harnesses: [TestedStore.memory], cases: [added])
    }
    #expect(status("list") == 0)
    #expect(ConformanceCommand.run(["run", "--only", "TST-*"], harnesses: [TestedStore.memory]) == 2)
    #expect(Report([], [TestedStore.memory], CaseList(adding: [added])).notYet["REL-001"] != nil)
  }

  @Test(arguments: commands)
  func exitStatuses(_ words: [String], _ status: Int32) {
    #expect(ConformanceCommand.run(words, harnesses: [TestedStore.memory, TestedStore.xml]) == status)
  }
}
