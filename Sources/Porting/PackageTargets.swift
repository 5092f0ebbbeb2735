import Foundation

/// The targets of a Swift package, as `swift package describe --type json` lists them.
public struct PackageTargets {
  private struct Description: Decodable {
    struct Target: Decodable {
      struct Resource: Decodable { var path: String }
      var c99name: String
      var name: String
      var path: String
      var type: String
      var module_type: String?
      var sources: [String]
      var resources: [Resource]?
      var target_dependencies: [String]?
    }
    var path: String
    var targets: [Target]
  }

  /// The Swift targets. Those that were ported already have only the placeholder as source: all files of their folders
  /// count then.
  public static func targets(_ json: Data) throws -> [PortTarget] {
    guard let description = try? JSONDecoder().decode(Description.self, from: json) else {
      throw PortError("the answer of swift package describe cannot be read")
    }
    let folder = URL(fileURLWithPath: description.path, isDirectory: true)
    let roots = description.targets.map { folder.appending(path: $0.path).standardizedFileURL }
    return zip(description.targets, roots).compactMap { target, root in
      let kinds: [String: PortTarget.Kind] = ["library": .library, "executable": .executable, "test": .test]
      guard let kind = kinds[target.type], target.module_type ?? "SwiftTarget" == "SwiftTarget" else { return nil }
      let others = roots.filter { $0 != root }.map(\.path)
      let contents = FolderContents(root, without: Set(others))
      let isPorted = target.sources == [PortManifest.placeholder]
      let sources = isPorted ? contents.sources : target.sources.map { root.appending(path: $0) }
      let resources = (target.resources ?? []).map {
        URL(fileURLWithPath: $0.path, relativeTo: root).standardizedFileURL
      }
      return PortTarget(
        name: target.name, kind: kind, root: root,
        sources: sources.filter { $0.lastPathComponent != PortManifest.placeholder }, models: contents.models,
        resources: resources.filter { !$0.isModel }, dependencies: target.target_dependencies ?? [])
    }
  }

  /// A folder as one library.
  public static func folder(_ url: URL) -> PortTarget {
    let contents = FolderContents(url)
    let name = XcodeProject.moduleName(url.standardizedFileURL.lastPathComponent)
    return PortTarget(
      name: name, kind: .library, root: url,
      sources: contents.sources.filter { $0.lastPathComponent != PortManifest.placeholder }, models: contents.models,
      isApp: true)
  }
}
