import Foundation

/// Runs the suite of another package: its executable product, with the same arguments.
enum ForeignPackage {
  static func run(_ folder: String, _ words: [String]) throws -> Int32 {
    var rest: [String] = []
    var skips = false
    for word in words {
      if skips { skips = false } else if word == "--package" { skips = true } else { rest.append(word) }
    }
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["swift", "run", "--package-path", folder, "--quiet"] + [try executable(folder)] + rest
    try process.run()
    process.waitUntilExit()
    return process.terminationReason == .exit ? process.terminationStatus : 2
  }

  /// The name of the package's only executable.
  private static func executable(_ folder: String) throws -> String {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["swift", "package", "--package-path", folder, "describe", "--type", "json"]
    process.standardOutput = output
    try process.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    let names = try JSONDecoder().decode(Description.self, from: data).targets.filter { $0.type == "executable" }
    guard process.terminationStatus == 0, names.count == 1, let name = names.first?.name else {
      throw UsageError("the package at \(folder) is to have one executable, not \(names.count)")
    }
    return name
  }

  private struct Description: Decodable {
    struct Target: Decodable {
      let name, type: String
    }
    let targets: [Target]
  }
}
