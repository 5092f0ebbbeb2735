import Foundation

/// Finds a model by name: in the main bundle and in resource bundles beside the executable.
enum ModelSearch {
  static func model(named name: String) -> Result<NSManagedObjectModel, any Error> {
    var looked: [String] = []
    for folder in folders() {
      for suffix in ["momd", "mom", "xcdatamodeld", "xcdatamodel"] {
        let url = folder.appendingPathComponent(name + "." + suffix)
        looked.append(url.path)
        guard FileManager.default.fileExists(atPath: url.path) else { continue }
        return Result { try NSManagedObjectModel.read(url) }
      }
    }
    return .failure(
      CocoaError(
        .fileReadNoSuchFile,
        userInfo: [
          NSLocalizedDescriptionKey:
            "The model '\(name)' was not found. Add it to the target's resources, or pass a model to the container. Looked for:\n"
            + looked.joined(separator: "\n")
        ]))
  }

  /// The files in bundles whose names end so. Nil is the main bundle; where it has none, the resource folders of
  /// packages beside the program.
  static func files(in bundles: [Bundle]?, _ suffixes: Set<String>) -> [URL] {
    func files(_ folders: [URL]) -> [URL] {
      folders.flatMap { folder -> [URL] in
        let items = (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
        return items.filter { suffixes.contains($0.pathExtension) }.sorted { $0.path < $1.path }
      }
    }
    let given = files((bundles ?? [Bundle.main]).compactMap { $0.resourceURL ?? $0.bundleURL })
    return bundles == nil && given.isEmpty ? files(resourceFolders()) : given
  }

  /// The main bundle's resources, the executable's folder, and the resource folders in it.
  private static func folders() -> [URL] {
    let result =
      [Bundle.main.resourceURL, Bundle.main.bundleURL, executableFolder].compactMap { $0 } + resourceFolders()
    var seen: Set<String> = []
    return result.filter { seen.insert($0.standardizedFileURL.path).inserted }
  }

  private static var executableFolder: URL {
    Bundle.main.executableURL?.deletingLastPathComponent() ?? URL(fileURLWithPath: CommandLine.arguments.first ?? "/")
  }

  /// Every `.resources` or `.bundle` folder beside the executable, by their names: Swift's package manager puts the
  /// resources of each target into one.
  static func resourceFolders() -> [URL] {
    let inside =
      (try? FileManager.default.contentsOfDirectory(at: executableFolder, includingPropertiesForKeys: nil)) ?? []
    return inside.filter { ["resources", "bundle"].contains($0.pathExtension) }.sorted { $0.path < $1.path }
  }
}
