import Foundation
import SabotagedStores
import StoreConformance
import Testing

@testable import StoreConformanceRunner

/// The commands `replay` and `report`, on the files that runs write.
@Suite final class ReplayTests {
  private let folder = FileManager.default.temporaryDirectory.appending(path: "replays-\(UUID())")

  init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

  deinit { try? FileManager.default.removeItem(at: folder) }

  private func file(_ name: String) -> URL { folder.appending(path: name) }

  private func sabotaged(_ name: String) throws -> any StoreHarness {
    try #require(try SabotagedStores.all().first { $0.harness.name == name }).harness
  }

  // MARK: Model runs

  @Test func aFailedModelRunIsMadeShortAndFailsAgainUntilTheStoreIsMended() throws {
    let store = try sabotaged("sabotage-deletes")
    let kept = file("model.json")
    let words = ["model", "--operations", "300", "--seed", "7", "--replay-to", kept.path]
    #expect(ConformanceCommand.run(words, harnesses: [store]) == 1)
    var replay = try JSONDecoder().decode(ModelReplay.self, from: Data(contentsOf: kept))
    #expect((replay.backend, replay.seed) == (store.name, 7))
    #expect((1...20).contains(replay.model.count))
    #expect(ConformanceCommand.run(["replay", kept.path], harnesses: [store]) == 1)
    replay.backend = "memory"
    try JSONEncoder().encode(replay).write(to: kept)
    #expect(ConformanceCommand.run(["replay", kept.path], harnesses: [TestedStore.memory]) == 0)
    #expect(ConformanceCommand.run(["replay", kept.path], harnesses: [store]) == 2)
  }

  // MARK: Reports, which need the program, because it runs cases in separate processes

  private func run(_ words: [String]) throws -> (status: Int32, text: String) {
    let (process, output) = (Process(), Pipe())
    process.executableURL = Self.program
    process.arguments = words
    process.standardOutput = output
    process.standardError = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return (process.terminationStatus, text)
  }

  /// The program that is built beside the tests.
  private static let program = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
    .appending(path: "store-conformance")

  private func write(_ name: String, _ results: [(id: String, store: String, outcome: Outcome)]) throws -> String {
    let report = Report(
      results.map {
        CaseResult(
          id: CaseID($0.id), backend: $0.store, profile: .plain, requirements: [], outcome: $0.outcome, seconds: 0,
          seed: 1)
      }, [], seconds: 2)
    try JSONEncoder().encode(report).write(to: file(name))
    return file(name).path
  }

  @Test func failuresOfAReportAreRunAgainAndNothingElse() throws {
    let failed = Outcome.failed(Failure("it was wrong"))
    let mended = try write(
      "mended.json", [("LIF-001", "memory", failed), ("LIF-003", "memory", .passed)])
    let again = try run(["replay", mended])
    #expect(again.status == 0)
    #expect(again.text.contains("memory plain LIF-001: passed"))
    #expect(!again.text.contains("LIF-003"))
    let broken = try write("broken.json", [("DEL-001", "sabotage-deletes", failed), ("LIF-001", "memory", failed)])
    let still = try run(["replay", broken])
    #expect(still.status == 1)
    #expect(still.text.contains("sabotage-deletes plain DEL-001: failed"))
    #expect(still.text.contains("memory plain LIF-001: passed"))
  }

  @Test func whatCannotBeRunAgainIsAnError() throws {
    let failed = Outcome.failed(Failure("it was wrong"))
    #expect(try run(["replay", write("none.json", [("LIF-001", "memory", .passed)])]).status == 2)
    #expect(try run(["replay", write("case.json", [("XXX-001", "memory", failed)])]).status == 2)
    #expect(try run(["replay", write("store.json", [("LIF-001", "nowhere", failed)])]).status == 2)
    try Data("{}".utf8).write(to: file("empty.json"))
    #expect(try run(["replay", file("empty.json").path]).status == 2)
  }

  @Test func reportsOfSeveralRunsAreOneTable() throws {
    for store in ["memory", "xml"] {
      let ran = try run([
        "run", "--backend", store, "--profile", "plain", "--only", "LIF-001", "--only", "LIF-003", "--format", "json",
        "--output", file("\(store).json").path,
      ])
      #expect(ran.status == 0)
    }
    let good = try run(["report", file("memory.json").path, file("xml.json").path])
    #expect(good.status == 0)
    #expect(good.text.contains("area  memory  xml\nLIF   3/3     3/3"))
    #expect(good.text.contains("6 of 6 passed"))
    let failed = try write("failed.json", [("LIF-001", "sqlite", .failed(Failure("it was wrong")))])
    let bad = try run(["report", file("memory.json").path, failed])
    #expect(bad.status == 1)
    #expect(bad.text.contains("area  memory  sqlite\nLIF   3/3     0/1"))
    #expect(bad.text.contains("failed: sqlite plain LIF-001: it was wrong"))
    #expect(bad.text.contains("3 of 4 passed"))
  }

  @Test func aReportOfAnotherFormIsRefused() throws {
    let path = try write("form.json", [("LIF-001", "memory", .failed(Failure("it was wrong")))])
    var report = try JSONDecoder().decode(Report.self, from: Data(contentsOf: URL(filePath: path)))
    report.schema = 2
    try JSONEncoder().encode(report).write(to: URL(filePath: path))
    #expect(try run(["report", path]).status == 2)
    #expect(try run(["replay", path]).status == 2)
  }
}
