import Foundation
import ModelCompiler
import ModelFiles

/// `coredata model generate`: the Swift classes of a model.
enum GenerateCommand {
  static let command = Command(
    words: ["model", "generate"], operands: ["PATH"],
    options: [
      .output("the folder to write to; otherwise the current folder"),
      Option(name: "--all", help: "classes for all entities, whatever code the model generates during builds"),
      Option(name: "--xcode", value: "16|26|27", help: "the form of the text: that of Xcode 16, 26 (otherwise) or 27"),
    ],
    summary: "Writes the Swift classes of a source model, as Xcode does",
    discussion: """
      PATH is an .xcdatamodeld, whose current version is used, or an .xcdatamodel. Entities get files as their code generation says:
      Class Definition a class and its properties, Category/Extension the properties, Manual/None nothing. The names of the files
      are printed. A file with properties is replaced only where it says that it was generated; one with a class is never
      replaced, because people write in it.
      """
  ) { invocation, output in
    let edition = try edition(invocation.value("--xcode"))
    let (source, path) = try source(URL(fileURLWithPath: invocation.operands[0]))
    let generator = ClassGenerator(source, edition: edition)
    Findings.write(generator.diagnostics(path: path), warnings: true)
    let folder = URL(fileURLWithPath: invocation.value("-o") ?? ".")
    let files = generator.files(invocation.has("--all") ? .all : .build)
    for file in files where !file.isClass { try check(folder.appending(path: file.name)) }
    for file in files {
      let url = folder.appending(path: file.name)
      // Other code may have been added to the class.
      if file.isClass, FileManager.default.fileExists(atPath: url.path) { continue }
      do { try Data(file.text.utf8).write(to: url, options: .atomic) } catch {
        throw ToolError(message: "\(url.path) cannot be written: \(error.localizedDescription)")
      }
      output.line(file.name)
    }
    return true
  }

  private static func edition(_ name: String?) throws -> ClassGenerator.Edition {
    guard let name else { return .xcode26 }
    if let edition = ClassGenerator.Edition(rawValue: name) { return edition }
    throw UsageError(message: "--xcode is 16, 26 or 27, not \(name).", command: command)
  }

  static func source(_ url: URL) throws -> (ModelSource, path: String) {
    do {
      let version = try ModelBundle.currentVersion(url)
      return (try ModelSourceReader().readSource(folder: version), version.path)
    } catch {
      throw ToolError(message: "\(error)")
    }
  }

  /// A file of the user is not replaced.
  private static func check(_ url: URL) throws {
    guard FileManager.default.fileExists(atPath: url.path) else { return }
    let text = (try? String(contentsOf: url, encoding: .utf8)) ?? ""
    guard text.contains(ClassGenerator.mark) else {
      throw ToolError(message: "\(url.path) was not generated, so it is not replaced; move it or give another folder.")
    }
  }
}
