import BinaryBackend
import Foundation
import InMemoryBackend
import SQLiteBackend
import StoreConformance
import StoreProtocol
import Testing
import XMLBackend

@testable import store_conformance

/// The stores of this package, configured as in the program `store-conformance`.
enum TestedStore: String, CaseIterable, StoreHarness {
  case sqlite, binary, xml, memory

  var name: String { rawValue }

  var backend: any StoreBackend {
    switch self {
    case .sqlite: SQLiteBackend()
    case .binary: BinaryBackend()
    case .xml: XMLBackend()
    case .memory: InMemoryBackend()
    }
  }

  func belongs(_ file: String, to location: StoreLocation) -> Bool {
    let name = location.url.lastPathComponent
    return file == name || [".\(name)_SUPPORT", ".\(name)_EXTERNAL_DATA"].contains(file)
  }

  func execute(_ statements: [String], at url: URL) throws { try SQLFile.execute(statements, at: url) }

  /// The known failures that are accepted.
  var knownFailures: Set<String> {
    get throws {
      let folder = ["sqlite": "SQLite", "binary": "Binary", "xml": "XML", "memory": "InMemory"][rawValue] ?? ""
      let file = Repository.root.appending(path: "Backends/\(folder)/Expectations.json")
      let text = try JSONDecoder().decode(Known.self, from: Data(contentsOf: file))
      return Set(text.knownFailures.keys)
    }
  }

  private struct Known: Decodable {
    let knownFailures: [String: String]
  }
}

enum Repository {
  static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
}

/// The small cases that cannot affect other tests in this process. The program runs all cases, in separate processes.
@Suite struct StoreTests {
  static let cases = ConformanceSuite.all.filter {
    $0.size == .small && !$0.needsProcesses && !$0.disturbsFiles
      && !["COR", "SEC"].contains($0.id.area) && $0.profiles.contains(.plain)
  }

  @Test(arguments: TestedStore.allCases) func everySmallCasePasses(_ store: TestedStore) throws {
    let known = try store.knownFailures
    var passed = 0
    for one in Self.cases where !known.contains(one.id.text) {
      switch CaseRun.run(one, store, .plain) {
      case .passed: passed += 1
      case .notApplicable: continue
      case let outcome: Issue.record("\(one): \(outcome.name) \(outcome.reason ?? "")")
      }
    }
    #expect(passed > 150)
  }
}
