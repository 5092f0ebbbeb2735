import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Programs with different main threads, run as separate processes; see Tests/QueuePrograms.
@Suite struct QueueProgramTests {
  private struct Ending {
    let status: Int32
    let output: String
    let messages: [Substring]
  }

  /// Runs a program that was built beside the tests. A program that hangs is ended after 30 seconds.
  private func run(_ name: String, _ arguments: [String] = []) throws -> Ending {
    let process = Process()
    let folder = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
    process.executableURL = URL(filePath: "/usr/bin/timeout")
    process.arguments = ["30", folder.appending(path: name).path] + arguments
    // A stopped program need not print a backtrace, which takes seconds.
    process.environment = ProcessInfo.processInfo.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
    let (output, errors) = (Pipe(), Pipe())
    (process.standardOutput, process.standardError) = (output, errors)
    try process.run()
    // Both outputs are short: neither pipe fills while the other is read.
    let text = output.text()
    let said = errors.text()
    process.waitUntilExit()
    return Ending(status: process.terminationStatus, output: text, messages: said.split(separator: "\n"))
  }

  @Test(arguments: ["queue-run-loop", "queue-dispatch-main", "queue-async-main"])
  func theMainQueueAndOtherThreadsShareTheViewContext(program: String) throws {
    let ending = try run(program)
    #expect(ending.status == 0 && ending.output.hasSuffix(" ok\n"))
    #expect(ending.messages.isEmpty)
  }

  /// A thread that uses a child waits for the parent, while the parent's thread waits for the child.
  @Test func contextsOfFiveLevelsNeverWaitForEachOtherForever() throws {
    let ending = try run("queue-family", ["3"])
    #expect(ending.status == 0 && ending.output.hasSuffix(" ok\n"))
    #expect(ending.messages.isEmpty)
  }

  @Test func aBlockedMainQueueIsReportedOnceAndHoldsUpBlocksOnly() throws {
    let ending = try run("queue-undrained")
    #expect(ending.status == 0 && ending.output == "undrained ok\n")
    #expect(ending.messages.count == 1)
    #expect(ending.messages.first?.contains("named \"view\" has waited 5 seconds") == true)
  }

  @Test(arguments: ["insert", "read", "change", "list"])
  func theWrongQueueIsReportedOnceAndStopsOnlyOnRequest(use: String) throws {
    let name = "-com.apple.CoreData.ConcurrencyDebug"
    let (warned, stopped, silent) = (
      try run("queue-wrong", [use]), try run("queue-wrong", [use, name, "1"]), try run("queue-wrong", [use, name, "0"])
    )
    #expect(warned.status == 0 && warned.messages.count == 1)
    #expect(warned.messages.first?.contains("used on the wrong queue") == true)
    #expect(stopped.status != 0 && stopped.output.isEmpty)
    #expect(silent.status == 0 && silent.messages.isEmpty)
  }

  @Test func theArgumentSaysWhatTheQueueCheckDoes() {
    let name = "-com.apple.CoreData.ConcurrencyDebug"
    #expect(QueueCheck.mode(["program", name, "1"], otherwise: .off) == .stops)
    #expect(QueueCheck.mode(["program", name, "0"], otherwise: .warns) == .off)
    #expect(QueueCheck.mode(["program"], otherwise: .off) == .off)
    #expect(QueueCheck.mode(["program", name], otherwise: .warns) == .warns)
  }
}
