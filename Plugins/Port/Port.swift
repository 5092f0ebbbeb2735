import Foundation
import PackagePlugin

/// `swift package port [--apply] [PATH]`: reports what it takes to build a package, a folder or a project of Xcode
/// where there is no Objective-C, and writes the manifest for it. Without PATH it is the package of the command.
@main
struct Port: CommandPlugin {
  func performCommand(context: PluginContext, arguments: [String]) throws {
    let packages = [context.package] + context.package.dependencies.map(\.package)
    guard let library = packages.first(where: { $0.displayName == "OpenCoreData" }) else {
      return Diagnostics.error("the package OpenCoreData is no dependency of \(context.package.displayName)")
    }
    let hasPath = arguments.contains { !$0.hasPrefix("-") }
    let process = Process()
    process.executableURL = try context.tool(named: "BuildTool").url
    process.arguments =
      ["port"] + self.library(library) + arguments + (hasPath ? [] : [context.package.directoryURL.path])
    try process.run()
    process.waitUntilExit()
    if process.terminationStatus != 0 { Diagnostics.error("nothing was ported") }
  }

  /// Where the library is: in a folder, or where the package that has the plugin gets it from. A checkout of a
  /// repository is in a folder that is removed with the build.
  private func library(_ library: Package) -> [String] {
    guard case .repository(let url, let version, let revision) = library.origin else {
      return ["--library", library.directoryURL.path]
    }
    return ["--repository", url, version, revision]
  }
}
