import Foundation
import Testing

/// The shared files that Apple's tools and real apps wrote. They lie beside the repository, and are not part of it.
package enum Corpus {
  package static let root = Repository.root.appending(path: "../shared/corpus").standardizedFileURL

  package static let isPresent = FileManager.default.fileExists(atPath: root.path(percentEncoded: false))

  /// If OPENCOREDATA_REQUIRE_CORPUS is 1, the tests run without the folder too, and fail.
  package static let isUsable =
    isPresent || ProcessInfo.processInfo.environment["OPENCOREDATA_REQUIRE_CORPUS"] == "1"

  package static let condition: ConditionTrait = .enabled(
    if: isUsable, "The corpus is not beside the repository (../shared/corpus).")

  package static func files(under folder: String, where isIncluded: (URL) -> Bool) -> [URL] {
    let start = root.appending(path: folder)
    let found = FileManager.default.enumerator(at: start, includingPropertiesForKeys: nil)?.compactMap { $0 as? URL }
    return (found ?? []).filter(isIncluded).sorted { $0.path < $1.path }
  }

  /// The path relative to the corpus, for messages.
  package static func name(_ url: URL) -> String {
    let prefix = root.path(percentEncoded: false) + "/"
    let path = url.path(percentEncoded: false)
    return path.hasPrefix(prefix) ? String(path.dropFirst(prefix.count)) : path
  }

  // MARK: Models

  package static let sourceModels = files(under: "") { $0.lastPathComponent == "contents" }
    .map { $0.deletingLastPathComponent() }

  package static let compiledModels = files(under: "") { $0.pathExtension == "mom" }

  /// The rows of `models/manifest.tsv`, each with its kind and file.
  package static func manifest() throws -> [(kind: String, file: URL)] {
    let text = try String(contentsOf: root.appending(path: "models/manifest.tsv"), encoding: .utf8)
    return text.split(separator: "\n").dropFirst().map { line in
      let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
      return (String(fields[0]), root.appending(path: "models").appending(path: String(fields[1])))
    }
  }

  // MARK: Predicates

  /// The format strings of real code, as written in its source and without comments. The columns before them are
  /// counts.
  package static func predicateLiterals() throws -> [String] {
    try String(contentsOf: root.appending(path: "predicates.txt"), encoding: .utf8).split(separator: "\n")
      .filter { !$0.hasPrefix("#") }
      .map { String($0.split(separator: "\t", maxSplits: 2, omittingEmptySubsequences: false).last ?? "") }
  }

  // MARK: Stores

  package static let stores: [CorpusStore] = {
    guard let data = try? Data(contentsOf: root.appending(path: "stores/manifest.json")),
      let manifest = try? JSONDecoder().decode(Manifest.self, from: data)
    else { return [] }
    return manifest.stores
  }()

  private struct Manifest: Decodable { let stores: [CorpusStore] }
}
