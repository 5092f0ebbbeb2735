import Foundation
import StoreConformance
import Synchronization

/// A process of this same program, whose output is read line by line.
final class ChildProcess: StartedProcess, @unchecked Sendable {
  private let process = Process()
  private let output = Pipe()
  private let input = Pipe()
  private var buffer = Data()
  private let reading = NSLock()

  /// Starts this program again with other arguments. Its input ends after the text; without one, with this object and
  /// with this process, however that ends.
  init(_ arguments: [String], input text: String?) throws {
    process.executableURL = Self.program
    process.arguments = arguments
    process.standardOutput = output
    process.standardInput = input
    try process.run()
    try? output.fileHandleForWriting.close()
    guard let text else { return }
    if !text.isEmpty { try? input.fileHandleForWriting.write(contentsOf: Data(text.utf8)) }
    try? input.fileHandleForWriting.close()
  }

  static var program: URL {
    let own = "/proc/self/exe"
    if let path = try? FileManager.default.destinationOfSymbolicLink(atPath: own) { return URL(filePath: path) }
    return URL(filePath: CommandLine.arguments[0])
  }

  func line() -> String? {
    reading.lock()
    defer { reading.unlock() }
    while true {
      if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
        let text = String(decoding: buffer[buffer.startIndex..<end], as: UTF8.self)
        buffer = Data(buffer[(end + 1)...])
        return text
      }
      let part = output.fileHandleForReading.availableData
      if part.isEmpty { return nil }
      buffer.append(part)
    }
  }

  /// Ends the process at once, without waiting.
  func signalKill() { if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) } }

  func kill() {
    signalKill()
    process.waitUntilExit()
  }

  func stop() { if process.isRunning { Foundation.kill(process.processIdentifier, SIGSTOP) } }
  func resume() { if process.isRunning { Foundation.kill(process.processIdentifier, SIGCONT) } }

  func wait() -> Int32 {
    process.waitUntilExit()
    return process.terminationReason == .uncaughtSignal ? -process.terminationStatus : process.terminationStatus
  }
}

/// Starts roles of cases.
struct RoleStarter: ProcessStarter {
  func start(
    _ role: String, of id: CaseID, harness: String, at url: URL, seed: UInt64
  ) throws -> any StartedProcess {
    try ChildProcess(
      [
        "role", role, "--case", id.text, "--backend", harness, "--url", url.absoluteString, "--seed", "\(seed)",
        // Contexts look at who uses them, also where this is no debug build.
        "-com.apple.CoreData.ConcurrencyDebug", "1",
      ], input: nil)
  }
}
