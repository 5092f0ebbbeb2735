import Foundation

/// `crash`, `fault` and `powerloss`: what is left of this repository's stores when programs are killed, calls fail, or
/// power goes.
///
/// The scripts of these names do it to the program `crash-writer`, which is built beside this one: who judges stands
/// outside, and reads SQLite's files without any of our code.
enum ScriptCommand {
  static let usage = """

    Of this repository's stores only:
      crash [--store TYPE] [--cycles N] [--seed S]       kills a writer at random instants; nothing acknowledged is lost
      fault [--store TYPE] [--jobs N]                    lets each call fail that changes a file, or kills the writer there
      powerloss [--store TYPE] [--images N] [--seed S] [--self-test] [--disk [--cycles N]]   what a disk may hold when power goes
    TYPE is SQLite, Binary, XML or LMDB; all of them one after another without it.
    """

  /// Runs a command that is one of these, and gives the worst exit status; nil for any other.
  static func run(_ words: [String]) throws -> Int32? {
    guard let name = words.first, ["crash", "fault", "powerloss"].contains(name) else { return nil }
    let options = Array(words.dropFirst())
    if options.contains("--store") || options.contains("--help") { return try run(name, options) }
    var status: Int32 = 0
    for type in ["SQLite", "Binary", "XML", "LMDB"] {
      status = max(status, try run(name, options + ["--store", type]))
    }
    return status
  }

  private static func run(_ name: String, _ options: [String]) throws -> Int32 {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    guard let program = Bundle.main.executableURL else { return 2 }
    let process = Process()
    process.executableURL = root.appending(path: "Scripts/\(name)")
    process.arguments = [program.deletingLastPathComponent().appending(path: "crash-writer").path] + options
    try process.run()
    process.waitUntilExit()
    return process.terminationStatus
  }
}
