import Foundation
import StoreConformance
import StoreProtocol

/// A store of this package.
struct RepositoryHarness: StoreHarness {
  let backend: any StoreBackend
  let name: String
  private let folder: String
  private let companion: String?

  /// `folder` is the one below `Backends`, `companion` what the name of a file has that stays beside the store.
  init(_ backend: any StoreBackend, _ folder: String, name: String? = nil, companion: String? = nil) {
    self.backend = backend
    self.folder = folder
    self.companion = companion
    self.name = name ?? folder.lowercased()
  }

  /// Beside the sources that this program was built from.
  var expectations: URL? {
    URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Backends/\(folder)/Expectations.json")
  }

  /// The store, and external data in a hidden folder beside it, of which each type has its own.
  func belongs(_ file: String, to location: StoreLocation) -> Bool {
    let name = location.url.lastPathComponent
    if let companion, file == name + companion { return true }
    return file == name || [".\(name)_SUPPORT", ".\(name)_EXTERNAL_DATA"].contains(file)
  }

  func execute(_ statements: [String], at url: URL) throws { try SQLFile.execute(statements, at: url) }
}
