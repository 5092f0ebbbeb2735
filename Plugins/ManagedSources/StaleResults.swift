import Foundation

/// What an earlier build has made of a model or source that is gone, or has another name now.
///
/// Swift's package manager never removes a file from a resource bundle. A compiled model that stayed there would be
/// found by its name, and would be a part of merged models.
struct StaleResults {
  /// The folder of the results of a target.
  let folder: URL
  /// The name of the target's resource bundle, without its extension.
  let bundleName: String

  /// Removes the results of earlier builds that do not have one of these names, and the copies of compiled models in
  /// resource bundles. What cannot be removed stays: the build goes on.
  func remove(except names: Set<String>) {
    let stale = Self.names(in: folder).filter { !names.contains($0) && !$0.hasPrefix(".") }
    guard !stale.isEmpty else { return }
    let bundles = bundles()
    for name in stale {
      for folder in [folder] + (Self.isModel(name) ? bundles : []) {
        try? FileManager.default.removeItem(at: folder.appending(path: name))
      }
    }
  }

  /// The target's bundles of all platforms and configurations: `.build/<platform>/<configuration>/App_Model.resources`.
  /// Results are in `.build/plugins/outputs/…`. Where folders have other names no bundle is found.
  private func bundles() -> [URL] {
    var build = folder
    while build.lastPathComponent != "outputs" || build.deletingLastPathComponent().lastPathComponent != "plugins" {
      if build.path == "/" { return [] }
      build.deleteLastPathComponent()
    }
    build = build.deletingLastPathComponent().deletingLastPathComponent()
    let configurations = Self.names(in: build).flatMap { platform in
      ["debug", "release"].map { build.appending(path: platform).appending(path: $0) }
    }
    return configurations.flatMap { folder in
      ["resources", "bundle"].map { folder.appending(path: "\(bundleName).\($0)") }
    }
  }

  private static func isModel(_ name: String) -> Bool {
    [".momd", ".mom", ".cdm"].contains { name.hasSuffix($0) }
  }

  private static func names(in folder: URL) -> [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
  }
}
