import Foundation

/// A temporary folder for one store.
package struct StoreFolder {
  /// Where the store is to be. There is nothing yet.
  package let url: URL

  package init(_ name: String, file: String = "store") throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "\(name)-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    url = folder.appending(path: file)
  }

  package func remove() { try? FileManager.default.removeItem(at: url.deletingLastPathComponent()) }
}
