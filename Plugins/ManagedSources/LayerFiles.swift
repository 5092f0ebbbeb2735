import Foundation

/// The models and Swift sources in a target's folder. Hidden folders, such as those of builds, and manifests belong to
/// no target.
///
/// Symbolic links are followed, as Swift's package manager does. A folder that several links lead to is read once.
struct LayerFiles {
  /// The models, in the order of their paths.
  private(set) var models: [URL] = []
  /// The files of all models.
  private(set) var modelFiles: [URL] = []
  /// The Swift sources, in the order of their paths.
  private(set) var sources: [URL] = []

  /// `others` are the paths of folders that belong to other targets, and of files and folders that are left out.
  init(in root: URL, without others: Set<String>) {
    // The folder itself is read in any case.
    var known = others.union([Self.realPath(root)])
    var pending = [root]
    while let folder = pending.popLast() {
      for item in Self.items(in: folder) where !others.contains(item.standardizedFileURL.path) {
        switch item.pathExtension {
        case "xcdatamodeld", "xcdatamodel", "xcmappingmodel":
          models.append(item)
          modelFiles += Self.files(in: item)
        case "swift": sources.append(item)
        default:
          let path = Self.realPath(item)
          if Self.isFolder(path), known.insert(path).inserted { pending.append(item) }
        }
      }
    }
    models.sort { $0.path < $1.path }
    modelFiles.sort { $0.path < $1.path }
    sources.sort { $0.path < $1.path }
  }

  /// In the order of their names, so that of two links to a folder always the same one is followed.
  private static func items(in folder: URL) -> [URL] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return names.filter { !$0.hasPrefix(".") && $0 != "Package.swift" }.sorted().map { folder.appending(path: $0) }
  }

  private static func files(in model: URL) -> [URL] {
    let folder = URL(fileURLWithPath: realPath(model))
    let paths = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
    return paths.map { folder.appending(path: $0) }.filter { !isFolder($0.path) }
  }

  private static func realPath(_ url: URL) -> String { url.resolvingSymlinksInPath().standardizedFileURL.path }

  private static func isFolder(_ path: String) -> Bool {
    var isFolder: ObjCBool = false
    return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
  }
}
