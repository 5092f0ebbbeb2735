import Foundation
import ModelCompiler
import ModelFiles
import SourceRewriter

// What the build-tool plugin runs for a target: compiles its models, generates their classes, and rewrites its sources.

do {
  let task = try BuildTask(Array(CommandLine.arguments.dropFirst()))
  exit(try task.run() ? 0 : 1)
} catch {
  FileHandle.standardError.write(Data("error: \(error)\n".utf8))
  exit(1)
}
