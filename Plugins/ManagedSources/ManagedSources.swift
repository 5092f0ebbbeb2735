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
    // Where the manifest names the `sources:` of the target, all other files are listed, too, as unknown ones.
    let compiled = Set(target.sourceFiles.filter { $0.type == .source }.map { $0.url.standardizedFileURL.path })
    // A folder in that of the target may be that of another target.
    let others = context.package.targets.map { $0.directoryURL.standardizedFileURL.path }.filter { $0 != root.path }
    let found = LayerFiles(in: root, without: Set(others + (try Settings.leftOut(in: root))))
    let sources = found.sources.filter { !compiled.contains($0.standardizedFileURL.path) }
    let mains = sources.filter { $0.lastPathComponent == "main.swift" }
    guard mains.count < 2 else {
      Diagnostics.error("a module has one main.swift, not \(mains.map(\.path).joined(separator: " and "))")
      return []
    }
    let output = context.pluginWorkDirectoryURL.appending(path: "Results")
    let named =
      found.models.map { (Self.compiledName($0), $0) }
      + found.models.filter { $0.pathExtension != "xcmappingmodel" }.map { (Self.classesName($0), $0) }
      + sources.map { (Self.sourceName(Self.path(of: $0, in: root)), $0) }
    // The files and bundles of a module are in one folder, so that their names must differ.
    let sharing = Dictionary(grouping: named, by: \.0).filter { $1.count > 1 }
    for (name, inputs) in sharing.sorted(by: { $0.key < $1.key }) {
      Diagnostics.error("\(name) would be made of \(inputs.map(\.1.path).joined(separator: " and of ")); rename one")
    }
    if !sharing.isEmpty { return [] }
    let results = named.map { output.appending(path: $0.0) }
    let stale = StaleResults(folder: output, bundleName: "\(context.package.displayName)_\(target.name)")
    stale.remove(except: Set(results.map(\.lastPathComponent)))
    guard !results.isEmpty else { return [] }
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
    if path == "main.swift" || path.hasSuffix("/main.swift") { return "main.swift" }
    return "Rewritten+" + path.replacingOccurrences(of: "+", with: "++").replacingOccurrences(of: "/", with: "+")
  }

  private static func path(of file: URL, in root: URL) -> String {
    let (folder, path) = (root.path + "/", file.standardizedFileURL.path)
    return path.hasPrefix(folder) ? String(path.dropFirst(folder.count)) : file.lastPathComponent
  }
}

/// What a target can state in the file `ManagedSources.json` of its folder.
private struct Settings: Decodable {
  /// The paths of files and folders that the plugin leaves out, such as those of a user interface.
  var leftOut: [String]?

  static func leftOut(in root: URL) throws -> [String] {
    let file = root.appending(path: "ManagedSources.json")
    guard FileManager.default.fileExists(atPath: file.path) else { return [] }
    let settings = try JSONDecoder().decode(Settings.self, from: Data(contentsOf: file))
    return (settings.leftOut ?? []).map { root.appending(path: $0).standardizedFileURL.path }
  }
}
