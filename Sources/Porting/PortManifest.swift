import Foundation

/// The manifest of a package that is built on Apple's platforms with Apple's framework, and elsewhere through the
/// plugin ManagedSources.
///
/// The lines for elsewhere stand in a block at the end of the manifest, between two marks. They change targets that are
/// declared before, so that the rest of the manifest stays as its author wrote it.
public enum PortManifest {
  /// The source that a target keeps for Swift's package manager, which skips targets without any.
  public static let placeholder = "OpenCoreData.swift"
  /// The file in a target's folder that lists what the plugin leaves out.
  public static let settings = "ManagedSources.json"

  private static let begin = "// MARK: - OpenCoreData"
  private static let end = "// MARK: OpenCoreData -"

  /// The manifest for a project of Xcode or a folder, without the block.
  public static func base(name: String, _ plans: [PortPlan], in folder: URL) -> String {
    let names = Set(plans.map(\.target.name))
    let targets = plans.map { plan in
      let target = plan.target
      let function = [.test: "testTarget", .executable: "executableTarget"][target.kind] ?? "target"
      var arguments = ["name: \(quoted(target.name))"]
      let dependencies = target.dependencies.filter(names.contains)
      if !dependencies.isEmpty { arguments.append("dependencies: \(quoted(dependencies))") }
      arguments.append("path: \(quoted(target.root.path(in: folder) ?? target.root.path))")
      // Where Apple's framework is, models are resources, and what is left out here is left out there, too.
      let used = Set(target.sources + target.models + target.resources.map(\.url)).subtracting(plan.leftOut)
      let excluded = items(of: target, without: used).sorted()
      if !excluded.isEmpty { arguments.append("exclude: \(list(excluded.map(quoted), indent: 6))") }
      let resources = (target.models.map { PortResource($0, rule: "process") } + target.resources).map(text(target))
      if !resources.isEmpty { arguments.append("resources: \(list(resources, indent: 6))") }
      arguments.append("swiftSettings: [.swiftLanguageMode(.v\(target.languageMode))]")
      return "    .\(function)(\n      " + arguments.joined(separator: ",\n      ") + "),"
    }
    return "// swift-tools-version:6.1\nimport PackageDescription\n\n" + """
      let package = Package(
        name: \(quoted(name)),
        platforms: [.macOS(.v14), .iOS(.v17)],
        targets: [
      \(targets.joined(separator: "\n"))
        ]
      )

      """
  }

  /// The manifest with the block for these targets, in place of one that it has already.
  ///
  /// `library` is where this package is. Throws where the manifest does not declare `let package`.
  public static func ported(
    _ manifest: String, _ plans: [PortPlan], in folder: URL, library: PortLibrary
  ) throws -> String {
    // Lines may end as on Windows.
    var lines = manifest.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    // The last such line before the end: an earlier one may be the author's.
    if let last = lines.lastIndex(of: end[...]), let first = lines[..<last].lastIndex(of: begin[...]) {
      lines.removeSubrange(first...last)
    }
    let newline = manifest.contains("\r\n") ? "\r\n" : "\n"
    var text = lines.joined(separator: newline)
    guard text.contains("let package = Package(") else {
      throw PortError("the manifest has no `let package = Package(`; declare the package so")
    }
    while text.last?.isWhitespace == true { text.removeLast() }
    let rows = plans.map { plan in
      let target = plan.target
      let resources = target.resources.map(self.text(target))
      let excluded = items(of: target, without: Set(target.resources.map(\.url))).sorted()
      return """
            (
              \(quoted(target.name)),
              \(list(excluded.map(quoted), indent: 6)),
              \(list(resources, indent: 6))
            ),
        """
    }
    let dependency =
      switch library {
      case .folder(let url): #"name: "OpenCoreData", path: "# + quoted(relative(url, to: folder))
      case .repository(let url, let version, let revision):
        "url: \(quoted(url)), " + (isNumber(version) ? "from: \(quoted(version))" : "revision: \(quoted(revision))")
      }
    let block = """


      \(begin)
      // Where there is no Objective-C, a plugin compiles the models of these targets and rewrites their sources, so
      // that only the placeholder is theirs. `swift package port --apply` writes this block anew.
      #if !os(macOS)
        if !package.dependencies.contains(where: { "\\($0.kind)".contains("OpenCoreData") }) {
          package.dependencies.append(.package(\(dependency)))
        }
        let managed: [(target: String, excluded: [String], resources: [Resource])] = [
      \(rows.joined(separator: "\n"))
        ]
        for (name, excluded, resources) in managed {
          guard let target = package.targets.first(where: { $0.name == name }) else { continue }
          (target.sources, target.exclude, target.resources) = (["\(placeholder)"], excluded, resources)
          target.dependencies.append(.product(name: "CoreData", package: "OpenCoreData"))
          target.plugins = (target.plugins ?? []) + [.plugin(name: "ManagedSources", package: "OpenCoreData")]
        }
      #endif
      \(end)

      """
    return text + block.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: newline)
  }

  private static func isNumber(_ version: String) -> Bool {
    version.split(separator: ".", omittingEmptySubsequences: false).count == 3 && version.first?.isNumber == true
  }

  /// The settings of the plugin for a target: whatever is in its folder and not compiled is left out, as the plugin
  /// would take it, and so is what the settings that are there leave out.
  public static func settings(_ plan: PortPlan) throws -> Data {
    let target = plan.target
    let known = try leftOut(in: target.root)
    let taken = Set(known.map(\.standardizedFileURL.path))
    let contents = FolderContents(target.root, without: taken)
    let kept = Set(target.sources + target.models).subtracting(plan.leftOut).map(\.standardizedFileURL.path)
    let more = (contents.sources + contents.models).filter {
      !kept.contains($0.standardizedFileURL.path) && $0.lastPathComponent != placeholder
    }
    let around = Set(kept.flatMap { folders(of: URL(fileURLWithPath: $0), in: target.root) })
    let whole = more.map { file in
      // A folder with nothing that is compiled is left out as a whole.
      folders(of: file, in: target.root).last { !around.contains($0) && $0 != target.root.standardizedFileURL.path }
        .map { URL(fileURLWithPath: $0) } ?? file
    }
    let left = Set((known + whole).map(target.path)).sorted()
    return try JSONSerialization.data(withJSONObject: ["leftOut": left], options: [.prettyPrinted, .sortedKeys]) + [
      0x0A
    ]
  }

  /// What the settings in a target's folder leave out; nothing where there are none.
  public static func leftOut(in folder: URL) throws -> [URL] {
    let file = folder.appending(path: settings)
    guard FileManager.default.fileExists(atPath: file.path) else { return [] }
    guard let content = try? JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: [String]] else {
      throw PortError("\(file.path) cannot be read; write {\"leftOut\": [\"a path\"]}")
    }
    return (content["leftOut"] ?? []).map { folder.appending(path: $0) }
  }

  /// The items of a target's folder that are none of these files; folders that contain none of them as wholes.
  private static func items(of target: PortTarget, without files: Set<URL>) -> [String] {
    let paths = Set(files.map { $0.standardizedFileURL.path })
    let around = Set(files.flatMap { folders(of: $0, in: target.root) })
    var (found, pending): ([String], [URL]) = ([], [target.root])
    // A target's folder may be that of the package, whose manifest is a file of no target.
    let ours = [placeholder, settings, "Package.swift"]
    while let folder = pending.popLast() {
      let items = (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
      for item in items where !item.lastPathComponent.hasPrefix(".") && !ours.contains(item.lastPathComponent) {
        let path = item.standardizedFileURL.path
        if paths.contains(path) { continue }
        if around.contains(path) { pending.append(item) } else { found.append(target.path(item)) }
      }
    }
    return found + [settings]
  }

  /// The folders between a target's and a file.
  private static func folders(of file: URL, in root: URL) -> [String] {
    var (result, folder): ([String], URL) = ([], file.standardizedFileURL.deletingLastPathComponent())
    while folder.path(in: root) != nil, result.count < 256 {
      result.append(folder.path)
      folder.deleteLastPathComponent()
    }
    return result
  }

  /// An array on one line, or on several where it is long.
  private static func list(_ items: [String], indent: Int) -> String {
    let line = "[" + items.joined(separator: ", ") + "]"
    if line.count <= 100 { return line }
    let space = String(repeating: " ", count: indent)
    return "[\n" + items.map { "\(space)  \($0),\n" }.joined() + "\(space)]"
  }

  /// The text of a resource in the manifest.
  private static func text(_ target: PortTarget) -> (PortResource) -> String {
    { resource in
      let localization = resource.localization.map { ", localization: .\($0)" } ?? ""
      return ".\(resource.rule)(\(quoted(target.path(resource.url)))\(localization))"
    }
  }

  private static func relative(_ url: URL, to folder: URL) -> String {
    let (target, start) = (real(url), real(folder))
    let common = zip(target, start).prefix { $0 == $1 }.count
    let parts = Array(repeating: "..", count: start.count - common) + target[common...]
    return parts.isEmpty ? "." : parts.joined(separator: "/")
  }

  /// Of two ways to a folder, the one without links: `..` leads out of where a link leads.
  private static func real(_ url: URL) -> [String] {
    url.resolvingSymlinksInPath().standardizedFileURL.pathComponents
  }

  private static func quoted(_ text: String) -> String {
    let escapes: [Character: String] = ["\\": "\\\\", "\"": "\\\"", "\n": "\\n", "\r": "\\r", "\r\n": "\\r\\n"]
    return "\"" + text.map { escapes[$0] ?? String($0) }.joined() + "\""
  }

  private static func quoted(_ texts: [String]) -> String { "[" + texts.map(quoted).joined(separator: ", ") + "]" }
}
