import Foundation
import PackagePlugin

/// Builds an app's model layer where there is no Objective-C: compiles the models in a target's folder, generates the
/// classes that they ask for, and compiles the rewritten Swift sources of the folder in place of the originals.
///
/// The sources to be rewritten are those that the target excludes: `exclude: ["Model"]` in the manifest. Those that the
/// target compiles itself stay as they are.
@main
struct ManagedSources: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
    guard let target = target as? SwiftSourceModuleTarget else { return [] }
    let root = target.directoryURL.standardizedFileURL
    let compiled = Set(target.sourceFiles.map { $0.url.standardizedFileURL.path })
    // A folder in that of the target may be that of another target.
    let others = context.package.targets.map { $0.directoryURL.standardizedFileURL.path }.filter { $0 != root.path }
    let found = Self.inputs(in: root, without: Set(others + (try Self.leftOut(in: root))))
    let sources = found.sources.filter { !compiled.contains($0.standardizedFileURL.path) }
    guard !sources.isEmpty || !found.models.isEmpty else { return [] }
    // The bundles of a module are in one folder, so that their names must differ.
    let names = Dictionary(grouping: found.models, by: Self.compiledName)
    for (name, models) in names.sorted(by: { $0.key < $1.key }) where models.count > 1 {
      Diagnostics.error("\(name) would be made of \(models.map(\.path).joined(separator: " and of ")); rename one")
    }
    if names.count < found.models.count { return [] }
    let output = context.pluginWorkDirectoryURL.appending(path: "Results")
    let results =
      found.models.map { output.appending(path: Self.compiledName($0)) }
      + found.models.filter { $0.pathExtension != "xcmappingmodel" }.map {
        output.appending(path: Self.classesName($0))
      }
      + sources.map { output.appending(path: Self.sourceName(Self.path(of: $0, in: root))) }
    let arguments = ["--module", target.moduleName, "--output", output.path, "--root", root.path]
    return [
      .buildCommand(
        displayName: "Model layer of \(target.name)", executable: try context.tool(named: "BuildTool").url,
        arguments: arguments + (found.models + sources).map(\.path),
        inputFiles: found.modelFiles + sources, outputFiles: results)
    ]
  }

  // MARK: Names, as BuildTool makes them

  private static func compiledName(_ model: URL) -> String {
    let extensions = ["xcdatamodeld": ".momd", "xcdatamodel": ".mom", "xcmappingmodel": ".cdm"]
    return model.deletingPathExtension().lastPathComponent + (extensions[model.pathExtension] ?? "")
  }

  private static func classesName(_ model: URL) -> String {
    model.lastPathComponent.replacingOccurrences(of: ".", with: "+") + "+Classes.swift"
  }

  private static func sourceName(_ path: String) -> String {
    "Rewritten+" + path.replacingOccurrences(of: "+", with: "++").replacingOccurrences(of: "/", with: "+")
  }

  private static func path(of file: URL, in root: URL) -> String {
    let (folder, path) = (root.path + "/", file.standardizedFileURL.path)
    return path.hasPrefix(folder) ? String(path.dropFirst(folder.count)) : file.lastPathComponent
  }

  // MARK: Files

  /// What a target can state in the file `ManagedSources.json` of its folder.
  private struct Settings: Decodable {
    /// The paths of files and folders that the plugin leaves out, such as those of a user interface.
    var leftOut: [String]?
  }

  private static func leftOut(in root: URL) throws -> [String] {
    let file = root.appending(path: "ManagedSources.json")
    guard FileManager.default.fileExists(atPath: file.path) else { return [] }
    let settings = try JSONDecoder().decode(Settings.self, from: Data(contentsOf: file))
    return (settings.leftOut ?? []).map { root.appending(path: $0).standardizedFileURL.path }
  }

  /// The models in a folder, all files of theirs, and the Swift sources, in the order of their paths. Hidden folders,
  /// such as those of builds, and manifests belong to no target.
  private static func inputs(in root: URL, without others: Set<String>) -> (
    models: [URL], modelFiles: [URL], sources: [URL]
  ) {
    var (models, modelFiles, sources): ([URL], [URL], [URL]) = ([], [], [])
    var pending = [root]
    while let folder = pending.popLast() {
      let items =
        (try? FileManager.default.contentsOfDirectory(
          at: folder, includingPropertiesForKeys: [.isDirectoryKey])) ?? []
      for item in items where !item.lastPathComponent.hasPrefix(".") && item.lastPathComponent != "Package.swift" {
        if others.contains(item.standardizedFileURL.path) { continue }
        switch item.pathExtension {
        case "xcdatamodeld", "xcdatamodel", "xcmappingmodel":
          models.append(item)
          modelFiles += files(in: item)
        case "swift": sources.append(item)
        default:
          let isFolder = (try? item.resourceValues(forKeys: [.isDirectoryKey]).isDirectory) ?? false
          if isFolder { pending.append(item) }
        }
      }
    }
    func sorted(_ urls: [URL]) -> [URL] { urls.sorted { $0.path < $1.path } }
    return (sorted(models), sorted(modelFiles), sorted(sources))
  }

  private static func files(in folder: URL) -> [URL] {
    guard let enumerator = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil) else {
      return []
    }
    return enumerator.compactMap { $0 as? URL }.filter { !$0.hasDirectoryPath }
  }
}
