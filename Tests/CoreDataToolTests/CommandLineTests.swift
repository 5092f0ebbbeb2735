import Foundation
import LMDBStore
import TestSupport
import Testing

@testable import CoreDataTool

/// The command line of the tool, and its help.
@Suite struct CommandLineTests {
  /// As the program does: its help lists the registered types of stores.
  init() {
    #if LMDB
      LMDBStore.register()
    #endif
  }

  @Test func everyCommandAndOptionIsExplainedEverywhere() throws {
    let overview = try ToolRun(["--help"]).output
    let manual = try ToolRun(["manual"]).output.replacing("\\-", with: "-")
    for command in Tool.commands {
      #expect(overview.contains(command.name))
      #expect(manual.contains(command.name))
      let help = try ToolRun(command.words + ["--help"])
      #expect(help.status == 0 && help.errors.isEmpty)
      #expect(help.output == Help.text(command))
      #expect(try ToolRun(["help"] + command.words).output == help.output)
      for option in command.options {
        #expect(help.output.contains(option.name) && manual.contains(option.name))
        #expect(!option.help.isEmpty)
        for shell in ["bash", "zsh", "fish"] {
          let name = shell == "fish" ? "-l \(option.name.dropFirst(2))" : option.name
          #expect(try ToolRun(["completions", shell]).output.contains(name), "\(shell)")
        }
      }
    }
  }

  @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/bin/bash")))
  func bashCompletesCommandsAndOptions() throws {
    func complete(_ words: String) throws -> String {
      let process = Process()
      process.executableURL = URL(filePath: "/bin/bash")
      process.arguments = [
        "-c",
        """
        source <("\(ToolRun.executable.path)" completions bash)
        COMP_WORDS=(coredata \(words)); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _coredata_words; echo "${COMPREPLY[*]}"
        """,
      ]
      let pipe = Pipe()
      process.standardOutput = pipe
      try process.run()
      defer { process.waitUntilExit() }
      return pipe.text().trimmingCharacters(in: .newlines)
    }
    #expect(try complete("sto") == "store")
    #expect(try complete("store d") == "dump")
    #expect(try complete("store fetch x.sqlite --pre") == "--predicate")
  }

  @Test(arguments: [
    [], ["nonsense"], ["store"], ["store", "nonsense"], ["store", "info"], ["store", "info", "a", "b"],
    ["store", "info", "a", "--nonsense"], ["store", "dump", "a", "--model"], ["store", "dump", "a", "--json=1"],
    ["store", "fetch", "a"], ["store", "fetch", "a", "--entity", "E", "--limit", "-1"],
    ["store", "fetch", "a", "--entity", "E", "--json", "--csv"], ["store", "info", "a", "--json", "--json"],
    ["completions", "nonsense"],
  ])
  func aCallThatMakesNoSenseIsExplained(_ words: [String]) throws {
    let run = try ToolRun(words)
    #expect(run.status == 2)
    #expect(run.output.isEmpty)
    #expect(run.errors.hasPrefix("coredata: ") && run.errors.contains("usage: coredata"))
  }

  @Test(arguments: [
    ["store", "info", "/nonsense"], ["store", "dump", "/nonsense"], ["store", "info", "/"],
    ["store", "info", "/dev/zero"], ["model", "describe", "/nonsense.mom"], ["store", "verify", "/bin/sh"],
  ])
  func badDataIsOneSentence(_ words: [String]) throws {
    let run = try ToolRun(words)
    #expect(run.status == 1)
    #expect(run.output.isEmpty)
    #expect(run.errors.hasPrefix("coredata: ") && run.errors.split(separator: "\n").count == 1)
  }

  @Test func whatIsNoTerminalGetsNoColour() throws {
    #expect(!(try ToolRun(["nonsense"]).errors.contains("\u{1b}")))
  }

  /// `script` provides a terminal.
  @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/script")))
  func coloursAreForTerminalsThatWantThem() throws {
    func output(_ environment: [String: String]) throws -> String {
      let process = Process()
      process.executableURL = URL(filePath: "/usr/bin/script")
      process.arguments = ["-qec", "'\(ToolRun.executable.path)' nonsense", "/dev/null"]
      process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
      let pipe = Pipe()
      (process.standardOutput, process.standardInput) = (pipe, FileHandle.nullDevice)
      try process.run()
      defer { process.waitUntilExit() }
      return pipe.text()
    }
    #expect(try output(["NO_COLOR": ""]).contains("\u{1b}[31;1mcoredata:"))
    #expect(!(try output(["NO_COLOR": "1"]).contains("\u{1b}")))
  }

  @Test func doublesAreTheShortestTextWithAFraction() {
    let texts: [Double: String] = [
      5: "5.0", 1e22: "1e+22", 1e16: "1e+16", 9_007_199_254_740_994: "9007199254740994.0", 0.1: "0.1", 1e-5: "1e-05",
      0.0001: "0.0001", -.infinity: #"{"$double":"-inf"}"#, Double.leastNonzeroMagnitude: "5e-324",
      1e15: "1000000000000000.0",
    ]
    for (number, text) in texts { #expect(JSONText.number(number) == text) }
  }

  @Test func datesAreISO8601() {
    let texts: [Double: String] = [
      0: "2001-01-01T00:00:00.000Z", 0.5: "2001-01-01T00:00:00.500Z", -0.25: "2000-12-31T23:59:59.750Z",
      0.123456: "2001-01-01T00:00:00.123456Z", 99_999_999.999_999_9: "2004-03-03T09:46:40.000Z",
      -62_135_769_600 + 172_800 - 978_307_200: "0001-01-01T00:00:00.000Z", 1e300: "1e+300",
      94_694_400: "2004-01-02T00:00:00.000Z", 1_709_164_800 - 978_307_200: "2024-02-29T00:00:00.000Z",
    ]
    for (seconds, text) in texts { #expect(DateText.iso8601(seconds) == text) }
  }

  @Test func fieldsThatNeedItAreQuoted() {
    #expect(CSVText.line(["a", "b,c", "d\"e", "f\ng", ""]) == "a,\"b,c\",\"d\"\"e\",\"f\ng\",\r\n")
  }

  @Test func nestedCompositesAreNestedObjects() {
    let text = CompositeText.object([("b", "1"), ("a.y", "2"), ("a.x.z", "3"), ("a.x.w", "4")])
    #expect(text == #"{"a":{"x":{"w":4,"z":3},"y":2},"b":1}"#)
  }
}
