import Foundation
import Testing

/// The files written by Apple's tools, in a shared folder beside the repository.
enum Corpus {
  static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "../shared/corpus").standardizedFileURL

  static let isPresent = FileManager.default.fileExists(atPath: root.path(percentEncoded: false))

  /// If OPENCOREDATA_REQUIRE_CORPUS is 1, the tests run without the folder too, and fail.
  static let isUsable = isPresent || ProcessInfo.processInfo.environment["OPENCOREDATA_REQUIRE_CORPUS"] == "1"

  static func files(under folder: String, where isWanted: (URL) -> Bool) -> [URL] {
    let start = root.appending(path: folder)
    let found = FileManager.default.enumerator(at: start, includingPropertiesForKeys: nil)?.compactMap { $0 as? URL }
    return (found ?? []).filter(isWanted).sorted { $0.path < $1.path }
  }

  static let condition: ConditionTrait = .enabled(
    if: isUsable, "The corpus is not beside the repository (../shared/corpus).")
}

/// The models of the corpus.
extension Corpus {
  static let sourceModels = files(under: "") { $0.lastPathComponent == "contents" }
    .map { $0.deletingLastPathComponent() }
  static let compiledModels = files(under: "") { $0.pathExtension == "mom" }

  /// The path relative to the corpus, for messages.
  static func name(_ url: URL) -> String {
    let prefix = root.path(percentEncoded: false) + "/"
    let path = url.path(percentEncoded: false)
    return path.hasPrefix(prefix) ? String(path.dropFirst(prefix.count)) : path
  }

  /// The rows of `models/manifest.tsv`, each with its kind and file.
  static func manifest() throws -> [(kind: String, file: URL)] {
    let text = try String(contentsOf: root.appending(path: "models/manifest.tsv"), encoding: .utf8)
    return text.split(separator: "\n").dropFirst().map { line in
      let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
      return (String(fields[0]), root.appending(path: "models").appending(path: String(fields[1])))
    }
  }
}

/// A small deterministic generator (SplitMix64), so that failures can be repeated.
struct SeededGenerator: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
