import CoreData
import Foundation
import ModelCompiler
import ModelFiles

/// `coredata model compile`: source models to compiled models.
enum CompileCommand {
  static let command = Command(
    words: ["model", "compile"], operands: ["PATH"],
    options: [
      .output("where to write; otherwise App.momd or App.mom in the current folder"),
      Option(
        name: "--module", value: "NAME", help: "the module of the classes that the model names with a leading \".\""),
      Option(name: "--no-warnings", help: "do not write warnings"),
      Option(name: "--source", value: "MODEL", help: "of a mapping model: the older model"),
      Option(name: "--destination", value: "MODEL", help: "of a mapping model: the newer model"),
    ],
    summary: "Compiles a source model or a mapping model, as Xcode does",
    discussion: """
      PATH is an .xcdatamodeld, which becomes a .momd with all its versions, an .xcdatamodel, which becomes a .mom, or an
      .xcmappingmodel, which becomes a .cdm. The models of a mapping model are looked for by the paths in it. Errors and
      warnings go to standard error, each with file and element, in the form of Apple's compiler. After an error nothing is
      written. In a .momd that is there, models of other versions are removed; everything else stays.
      """
  ) { invocation, output in
    let compiler = ModelCompiler(moduleName: invocation.value("--module"))
    let result: ModelOutput
    do throws(CompilationFailure) { result = try compile(invocation, compiler) } catch {
      Findings.write(error.diagnostics, warnings: !invocation.has("--no-warnings"))
      return false
    }
    Findings.write(result.diagnostics, warnings: !invocation.has("--no-warnings"))
    let path = invocation.value("-o") ?? result.name
    let ending = URL(fileURLWithPath: path).pathExtension
    if FileManager.default.fileExists(atPath: path), ending != URL(fileURLWithPath: result.name).pathExtension {
      throw ToolError(message: "There is something at \(path) that is no compiled model; give another place with -o.")
    }
    try Findings.write(result, to: path)
    output.line(path)
    return true
  }
}

extension CompileCommand {
  private static func compile(
    _ invocation: Invocation, _ compiler: ModelCompiler
  ) throws(CompilationFailure) -> ModelOutput {
    let url = URL(fileURLWithPath: invocation.operands[0])
    guard url.pathExtension == "xcmappingmodel" else { return try compiler.compile(url) }
    return try compiler.compile(
      mapping: url, from: invocation.value("--source").map { URL(fileURLWithPath: $0) },
      to: invocation.value("--destination").map { URL(fileURLWithPath: $0) })
  }
}

/// `coredata model lint`: what a compilation would report, and nothing else.
enum LintCommand {
  static let command = Command(
    words: ["model", "lint"], operands: ["PATH"], options: [.json],
    summary: "Checks a source model for errors and for what its author probably did not intend",
    discussion: """
      PATH is an .xcdatamodeld or an .xcdatamodel. The exit status is 1 where there is an error. Documentation/Tool.md lists
      the rules.
      """
  ) { invocation, output in
    let findings = ModelCompiler().check(URL(fileURLWithPath: invocation.operands[0])).filter { $0.severity != .note }
    for finding in findings { output.line(invocation.has("--json") ? json(finding) : Terminal.harmless("\(finding)")) }
    return !findings.contains { $0.severity == .error }
  }

  private static func json(_ finding: ModelDiagnostic) -> String {
    JSONText.ordered([
      ("severity", JSONText.string(finding.severity.rawValue)),
      ("rule", JSONText.optional(finding.rule?.rawValue)),
      ("path", JSONText.string(finding.path)), ("element", JSONText.string(finding.element)),
      ("message", JSONText.string(finding.message)),
    ])
  }
}

/// `coredata model decompile`: models of any kind to source models.
enum DecompileCommand {
  static let command = Command(
    words: ["model", "decompile"], operands: ["PATH"],
    options: [
      .output("where to write; otherwise App.xcdatamodeld or App.xcdatamodel in the current folder")
    ],
    summary: "Writes the source of a compiled model, or of the model in a store",
    discussion: """
      PATH is a .momd, whose versions all become sources, a .mom, or a store that contains its model. The source is formatted as
      Xcode does. Standard error gets what a compiled model does not have: the diagram, the kind of code generation, and scalar
      types, which become those of new attributes. Nothing is written over a file or folder.
      """
  ) { invocation, output in
    let url = URL(fileURLWithPath: invocation.operands[0])
    let result = try source(url)
    let path = invocation.value("-o") ?? result.name
    if FileManager.default.fileExists(atPath: path) {
      throw ToolError(message: "There is something at \(path) already; give another place with -o.")
    }
    try Findings.write(result, to: path)
    Findings.write(result.diagnostics, warnings: true)
    for sentence in ModelDecompiler.notCompiled { Tool.complain(sentence) }
    output.line(path)
    return true
  }

  private static func source(_ url: URL) throws -> ModelOutput {
    if url.pathExtension == "momd", !url.isFile { return try ModelDecompiler.decompile(ModelBundle(url)) }
    let name = url.deletingPathExtension().lastPathComponent
    return ModelDecompiler.decompile(try ModelArchive.record(of: ToolModel.read(url.path)[0]), name: name)
  }
}

/// Findings and files of the commands for models.
enum Findings {
  static func write(_ findings: [ModelDiagnostic], warnings: Bool) {
    let shown = findings.filter { $0.severity != .warning || warnings }
    let text = shown.map { Terminal.harmless("\($0)") + "\n" }.joined()
    try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
  }

  static func write(_ result: ModelOutput, to path: String) throws {
    do { try result.write(to: URL(fileURLWithPath: path)) } catch {
      throw ToolError(message: "\(path) cannot be written: \(error.localizedDescription)")
    }
  }
}
