import CoreData
import Foundation
import Synchronization

/// The tool: finds the command, runs it, and reports its outcome.
enum Tool {
  static let version = "0.1.0"

  static let commands: [Command] = [
    InfoCommand.command, FetchCommand.command, DumpCommand.command, ApplyCommand.command, ConvertCommand.command,
    VerifyCommand.command, RecoverCommand.command,
    CompileCommand.command, DecompileCommand.command, DescribeCommand.command, DiagramCommand.command,
    DiffCommand.command, GenerateCommand.command, LintCommand.command, ShellTexts.completions, ShellTexts.manual,
  ]

  /// Runs the command that `words` name. Returns the exit status: 0, 1 for faults in the data, 2 for an error in the
  /// call.
  static func run(_ words: [String]) -> Int32 {
    diagnosticsAreSilent.store(true, ordering: .relaxed)
    let output = Output()
    do {
      let isSound = try run(words, output)
      try output.flush()
      return isSound ? 0 : 1
    } catch let error as UsageError {
      complain(error.message, "usage: \(error.command.map(Help.usage) ?? "coredata COMMAND …, see coredata --help")")
      return 2
    } catch {
      // Output that was produced before the error is valid, so it is written.
      try? output.flush()
      complain(ErrorText.sentence(error))
      return 1
    }
  }

  private static func run(_ words: [String], _ output: Output) throws -> Bool {
    guard let first = words.first else { throw UsageError(message: "A command is missing.") }
    switch first {
    case "--version":
      output.line("coredata \(version)")
      return true
    case "--help", "-h", "help":
      let command = try words.count > 1 ? find(words.dropFirst()) : nil
      output.write(command.map(Help.text) ?? Help.overview)
      return true
    default: break
    }
    let command = try find(words[...])
    let rest = words.dropFirst(command.words.count)
    if rest.prefix(while: { $0 != "--" }).contains(where: { $0 == "--help" || $0 == "-h" }) {
      output.write(Help.text(command))
      return true
    }
    return try command.run(CommandParser.parse(rest, for: command), output)
  }

  private static func find(_ words: ArraySlice<String>) throws -> Command {
    if let command = commands.first(where: { words.starts(with: $0.words) }) { return command }
    let group = commands.filter { $0.words.first == words.first && $0.words.count > 1 }
    if let name = words.first, !group.isEmpty {
      let names = group.compactMap(\.words.last).joined(separator: ", ")
      throw UsageError(message: "\"\(name)\" must be followed by one of \(names).")
    }
    throw UsageError(message: "There is no command \"\(words.first ?? "")\".")
  }

  static func complain(_ message: String, _ more: String? = nil) {
    let label = Terminal.styled("coredata:", .error, on: .standardError)
    let text = ["\(label) \(Terminal.harmless(message))", more].compactMap { $0 }.joined(separator: "\n") + "\n"
    try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
  }
}
