import Foundation
import PackagePlugin

/// `swift package generate-models [--target NAME]... [--output NAME]`: writes the compiled models, the generated
/// classes and the rewritten sources of targets into a folder of each, `Generated` unless named. A manifest that names
/// its folder `Sources` as the target's sources needs no build-tool plugin.
@main
struct GenerateModels: CommandPlugin {
  func performCommand(context: PluginContext, arguments: [String]) throws {
    var extractor = ArgumentExtractor(arguments)
    let names = extractor.extractOption(named: "target")
    let output = extractor.extractOption(named: "output").last ?? "Generated"
    let rest = extractor.remainingArguments
    guard rest.isEmpty, !output.isEmpty, !output.contains("/"), !output.hasPrefix(".") else {
      return Diagnostics.error("usage: swift package generate-models [--target NAME]... [--output NAME]")
    }
    let targets = context.package.targets(ofType: SwiftSourceModuleTarget.self)
    for name in names where !targets.contains(where: { $0.name == name }) {
      Diagnostics.error("\(context.package.displayName) has no Swift target \(name)")
    }
    for target in targets where names.isEmpty || names.contains(target.name) {
      let folder = target.directoryURL.appending(path: output)
      let compiled = target.sourceFiles.filter { $0.type == .source }.map(\.url.path)
        .filter { !$0.hasPrefix(folder.path + "/") }
      let others = context.package.targets.map(\.directoryURL.path).filter { $0 != target.directoryURL.path }
      let process = Process()
      process.executableURL = try context.tool(named: "BuildTool").url
      process.arguments =
        ["generate", "--module", target.moduleName, "--root", target.directoryURL.path, "--output", folder.path]
        + (compiled + others).flatMap { ["--without", $0] }
      try process.run()
      process.waitUntilExit()
      if process.terminationStatus != 0 { Diagnostics.error("\(target.name) was not generated") }
    }
  }
}
