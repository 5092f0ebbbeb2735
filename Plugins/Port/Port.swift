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
      ["port", "--library", library.directoryURL.path] + arguments
      + (hasPath ? [] : [context.package.directoryURL.path])
    try process.run()
    process.waitUntilExit()
    if process.terminationStatus != 0 { Diagnostics.error("nothing was ported") }
  }
}
