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
