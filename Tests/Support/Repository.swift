import Foundation

/// The folder of this repository, which the tests read beside their own sources.
package enum Repository {
  package static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  /// The programs behind the scripts.
  package static let tools = root.appending(path: "Tools")
}
