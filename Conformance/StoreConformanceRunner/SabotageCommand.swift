import Foundation
import StoreConformance
import StoreProtocol

/// `sabotage`: every store that is wrong on purpose is caught, by exactly the cases that are listed for it.
struct SabotageCommand {
  private let arguments: Arguments
  private let stores: [SabotagedHarness]
  /// Those that are run on harmless stores.
  private let allCases: [ConformanceCase]

  init(_ arguments: Arguments, _ all: [SabotagedHarness], _ allCases: [ConformanceCase]) throws {
    self.arguments = arguments
    self.allCases = allCases
    let names = arguments.values("--backend")
    stores = names.isEmpty ? all : all.filter { names.contains($0.harness.name) }
    if stores.isEmpty { throw UsageError("there are no sabotaged stores here") }
  }

  /// Cases that run other processes or read damaged files are left out: what they need is not sabotaged. So are races,
  /// which notice some faults only sometimes.
  private func cases(isHarmless: Bool) -> [ConformanceCase] {
    (isHarmless ? allCases : ConformanceSuite.all).filter {
      $0.size == .small && !$0.needsProcesses && !$0.races && $0.profiles.contains(.plain)
        && !["COR", "SEC"].contains($0.id.area)
    }
  }

  func run() throws -> Int32 {
    var harnesses: [String: any StoreHarness] = [:]
    for store in stores { for harness in [store.harness, store.sound] { harnesses[harness.name] = harness } }
    let harmless = Set(stores.filter(\.isHarmless).map(\.harness.name))
    let jobs = harnesses.values.sorted { $0.name < $1.name }.flatMap { harness in
      cases(isHarmless: harmless.contains(harness.name)).filter { $0.exemption(of: harness) == nil }.map {
        CasePool.Job(conformanceCase: $0, harness: harness.name, profile: .plain, seed: 1)
      }
    }
    let workers = try arguments.number("--jobs", default: ProcessInfo.processInfo.activeProcessorCount)
    let results = CasePool(jobs: workers, timeout: 60).run(jobs) { _ in }
    if let error = results.first(where: { if case .harnessError = $0.outcome { true } else { false } }) {
      print("\(error.backend) \(error.id.text): \(error.outcome.reason ?? "")")
      return 2
    }
    let caught = Dictionary(grouping: results.filter(\.outcome.isBad), by: \.backend).mapValues {
      Set($0.map(\.id.text))
    }
    let sound = Set(stores.map(\.sound.name)).sorted().flatMap { name in (caught[name] ?? []).map { "\(name) \($0)" } }
    if !sound.isEmpty {
      print("These fail without any sabotage, so that they prove nothing: \(sound.sorted().joined(separator: ", "))")
      return 1
    }
    if let path = arguments.value("--output") { try write(caught, URL(filePath: path)) }
    return judge(caught)
  }

  private func judge(_ caught: [String: Set<String>]) -> Int32 {
    var isRight = true
    for store in stores {
      let (name, found) = (store.harness.name, caught[store.harness.name] ?? [])
      print("\(name): \(store.fault): caught by \(found.count)")
      if found.isEmpty && !store.isHarmless { print("  nothing notices it") }
      for id in store.caughtBy.subtracting(found).sorted() { print("  \(id) should notice it") }
      for id in found.subtracting(store.caughtBy).sorted() { print("  \(id) fails and is not listed") }
      if found.isEmpty != store.isHarmless || found != store.caughtBy { isRight = false }
    }
    print("\(stores.count) sabotaged stores, \(isRight ? "each caught by exactly its cases" : "not all as listed")")
    return isRight ? 0 : 1
  }

  private func write(_ caught: [String: Set<String>], _ url: URL) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    try (encoder.encode(caught.mapValues { $0.sorted() }) + Data("\n".utf8)).write(to: url)
  }
}
