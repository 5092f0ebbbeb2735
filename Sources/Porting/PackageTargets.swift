import Foundation

/// The targets of a Swift package.
public struct PackageTargets {
  private struct Description: Decodable {
    struct Target: Decodable {
      var c99name: String
      var name: String
      var path: String
      var type: String
      var module_type: String?
      var sources: [String]
      var target_dependencies: [String]?
    }
    var path: String
    var targets: [Target]
  }

  /// What a manifest declares of a target.
  private struct Declared {
    var resources: [(path: String, rule: String, localization: String?)] = []
    var usesPlugin = false
  }

  /// The Swift targets, from what `swift package describe --type json` and `swift package dump-package` print. Targets
  /// whose manifest names the plugin are left out, but for those that were ported by a block: these have only the
  /// placeholder as source, and all files of their folders count.
  public static func targets(described: Data, dumped: Data) throws -> [PortTarget] {
    guard let description = try? JSONDecoder().decode(Description.self, from: described) else {
      throw PortError("the answer of swift package describe cannot be read")
    }
    let declared = try declarations(dumped)
    let folder = URL(fileURLWithPath: description.path, isDirectory: true)
    let roots = description.targets.map { folder.appending(path: $0.path).standardizedFileURL }
    return zip(description.targets, roots).compactMap { target, root in
      let kinds: [String: PortTarget.Kind] = ["library": .library, "executable": .executable, "test": .test]
      guard let kind = kinds[target.type], target.module_type ?? "SwiftTarget" == "SwiftTarget" else { return nil }
      let isPorted = target.sources == [PortManifest.placeholder]
      let known = declared[target.name] ?? Declared()
      if known.usesPlugin && !isPorted { return nil }
      let others = roots.filter { $0 != root }.map(\.path)
      let contents = FolderContents(root, without: Set(others))
      let sources = isPorted ? contents.sources : target.sources.map { root.appending(path: $0) }
      let resources = known.resources.map {
        PortResource(root.appending(path: $0.path).standardizedFileURL, rule: $0.rule, localization: $0.localization)
      }
      return PortTarget(
        name: target.name, kind: kind, root: root,
        sources: sources.filter { $0.lastPathComponent != PortManifest.placeholder }, models: contents.models,
        resources: resources.filter { !$0.url.isModel }, dependencies: target.target_dependencies ?? [])
    }
  }

  private static func declarations(_ dumped: Data) throws -> [String: Declared] {
    guard let content = try? JSONSerialization.jsonObject(with: dumped) as? [String: Any],
      let targets = content["targets"] as? [[String: Any]]
    else { throw PortError("the answer of swift package dump-package cannot be read") }
    if let version = (content["toolsVersion"] as? [String: Any])?["_version"] as? String {
      let parts = version.split(separator: ".").compactMap { Int($0) }
      if parts.lexicographicallyPrecedes([5, 6]) {
        throw PortError("the manifest is one of Swift \(version), which has no plugins; begin it with 5.6 or later")
      }
    }
    var result: [String: Declared] = [:]
    for target in targets {
      guard let name = target["name"] as? String else { continue }
      var declared = Declared()
      for resource in target["resources"] as? [[String: Any]] ?? [] {
        guard let path = resource["path"] as? String, let rule = resource["rule"] as? [String: Any],
          let function = rule.keys.sorted().first
        else { continue }
        let localization = (rule[function] as? [String: Any])?["localization"] as? String
        declared.resources.append((path, function, localization))
      }
      declared.usesPlugin = (target["pluginUsages"] as? [Any]).map { "\($0)".contains("ManagedSources") } ?? false
      result[name] = declared
    }
    return result
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
