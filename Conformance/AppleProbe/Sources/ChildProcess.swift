import Foundation

/// This program once more, in a process of its own: what stops a case stops no other. Swift cannot catch exceptions of
/// Objective-C.
enum ChildProcess {
  struct Result {
    var output: Data
    var errors: String
    /// Nil where the process ended by itself with status 0.
    var failure: String?
  }

  static func run(_ arguments: [String], seconds: Double) throws -> Result {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("apple-probe-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let (output, errors) = (folder.appendingPathComponent("output"), folder.appendingPathComponent("errors"))
    for file in [output, errors] { try Data().write(to: file) }
    let process = Process()
    process.executableURL = Bundle.main.executableURL ?? URL(fileURLWithPath: CommandLine.arguments[0])
    process.arguments = arguments
    // What a case leaves goes with the folder, also where the case stops.
    process.currentDirectoryURL = folder
    process.standardOutput = try FileHandle(forWritingTo: output)
    process.standardError = try FileHandle(forWritingTo: errors)
    // A report of a crash takes seconds, and nobody reads it.
    process.environment = ProcessInfo.processInfo.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
    try process.run()
    let end = Date(timeIntervalSinceNow: seconds)
    while process.isRunning, Date() < end { Thread.sleep(forTimeInterval: 0.01) }
    let isLate = process.isRunning
    if isLate { process.terminate() }
    process.waitUntilExit()
    let failure =
      isLate ? "did not end" : process.terminationReason == .exit && process.terminationStatus == 0 ? nil : "stopped"
    return Result(
      output: try Data(contentsOf: output), errors: String(decoding: try Data(contentsOf: errors), as: UTF8.self),
      failure: failure)
  }
}

extension ChildProcess.Result {
  /// The line of the errors that says why the process stopped.
  var reason: String? {
    let lines = errors.split(separator: "\n").map(String.init)
    let line = lines.first { $0.contains("reason:") || $0.contains("Fatal error") } ?? lines.last
    return line.map { String($0.prefix(300)) }
  }
}
