import Foundation
import Synchronization

/// A run of the built `coredata`, or of another program.
package struct ToolRun {
  package let status: Int32
  package let output: String
  package let errors: String

  /// Runs the program. A run that takes longer than two minutes is stopped; its status is then not an exit status.
  package init(
    _ arguments: [String], input: String? = nil, environment: [String: String] = [:], program: URL = Self.executable
  ) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "run-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let process = Process()
    process.executableURL = program
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    // Files, because a pipe that is not emptied would block the tool.
    func handle(_ name: String) throws -> FileHandle {
      let url = folder.appending(path: name)
      _ = FileManager.default.createFile(atPath: url.path, contents: nil)
      return try FileHandle(forUpdating: url)
    }
    let (output, errors) = (try handle("output"), try handle("errors"))
    (process.standardOutput, process.standardError) = (output, errors)
    try Data((input ?? "").utf8).write(to: folder.appending(path: "input"))
    process.standardInput = try FileHandle(forReadingFrom: folder.appending(path: "input"))
    try Self.launch(process)
    let watch = DispatchWorkItem { process.terminate() }
    DispatchQueue.global().asyncAfter(deadline: .now() + 120, execute: watch)
    process.waitUntilExit()
    watch.cancel()
    status = process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
    func text(_ handle: FileHandle) throws -> String {
      try handle.seek(toOffset: 0)
      defer { try? handle.close() }
      return String(decoding: try handle.readToEnd() ?? Data(), as: UTF8.self)
    }
    self.output = try text(output)
    self.errors = try text(errors)
  }

  package static func launch(_ process: Process) throws { try launching.withLock { _ in try process.run() } }

  /// One at a time: Foundation's launching reads outside of its memory when several threads do it.
  private static let launching = Mutex(())

  /// Beside the tests.
  package static let executable = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
    .appending(path: "coredata")

  package var lines: [Substring] { output.split(separator: "\n") }

  /// The output as one JSON object.
  package func json() throws -> [String: Any] {
    try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any] ?? [:]
  }
}
