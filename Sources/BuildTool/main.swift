import Foundation

// What the plugins run: for a target, compiles its models, generates their classes, and rewrites its sources, in a
// build or into the target's folder; or ports a project.

do {
  let arguments = CommandLine.arguments.dropFirst()
  if arguments.first == "port" {
    try PortCommand(arguments.dropFirst()).run()
    exit(0)
  }
  if arguments.first == "generate" { exit(try GenerateCommand(arguments.dropFirst()).run() ? 0 : 1) }
  exit(try BuildTask(Array(arguments)).run() ? 0 : 1)
} catch {
  FileHandle.standardError.write(Data("error: \(error)\n".utf8))
  exit(1)
}
