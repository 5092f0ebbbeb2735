import Foundation
import ModelCompiler
import ModelFiles
import SourceRewriter

/// The work for one target.
///
/// Every file that is written has a name that depends on the names of sources and models alone, because the plugin has
/// to know it before. So the classes of a model are in one file.
struct BuildTask {
  /// The module that the sources belong to.
  private var module = ""
  /// The folder for all results.
  private var output = URL(fileURLWithPath: ".")
  /// The folder for the compiled models, where it is another one.
  private var modelsFolder: URL?
  /// The folder of the target; the names of results are made of paths in it.
  private var root = URL(fileURLWithPath: ".")
  private var inputs: [URL] = []

  struct UsageError: Error, CustomStringConvertible {
    var description: String
  }

  /// `--module NAME --output FOLDER [--models FOLDER] --root FOLDER INPUT...`, where an input is an `.xcdatamodeld`, an
  /// `.xcdatamodel`, an `.xcmappingmodel` or a Swift source.
  init(_ arguments: [String]) throws {
    var rest = arguments[...]
    while let word = rest.popFirst() {
      switch word {
      case "--module", "--output", "--models", "--root":
        guard let value = rest.popFirst() else { throw UsageError(description: "\(word) needs a value.") }
        if word == "--module" { module = value }
        if word == "--output" { output = URL(fileURLWithPath: value) }
        if word == "--models" { modelsFolder = URL(fileURLWithPath: value) }
        if word == "--root" { root = URL(fileURLWithPath: value) }
      default: inputs.append(URL(fileURLWithPath: word))
      }
    }
    if module.isEmpty { throw UsageError(description: "--module NAME is missing.") }
  }

  /// The names of the sources that are written.
  var sourceNames: [String] { inputs.flatMap(results).filter { $0.hasSuffix(".swift") } }

  /// The names of the compiled models that are written.
  var modelNames: [String] { inputs.flatMap(results).filter { !$0.hasSuffix(".swift") } }

  private func results(of input: URL) -> [String] {
    switch input.pathExtension {
    case "swift": [OutputNames.source(path(input))]
    case "xcmappingmodel": [OutputNames.compiled(input)]
    default: [OutputNames.compiled(input), OutputNames.classes(of: input.lastPathComponent)]
    }
  }

  /// Returns false where a model has an error. Warnings and errors go to standard error.
  func run() throws -> Bool {
    let named = Dictionary(grouping: inputs.flatMap { input in results(of: input).map { ($0, input) } }, by: \.0)
    if let (name, sharing) = named.filter({ $1.count > 1 }).min(by: { $0.key < $1.key }) {
      let paths = sharing.map(\.1.path).joined(separator: " and of ")
      throw UsageError(description: "\(name) would be made of \(paths); rename one.")
    }
    for folder in [output, modelsFolder ?? output] {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }
    let models = inputs.filter { ["xcdatamodeld", "xcdatamodel"].contains($0.pathExtension) }
    let mappings = inputs.filter { $0.pathExtension == "xcmappingmodel" }
    let files = inputs.filter { $0.pathExtension == "swift" }
    if let other = inputs.first(where: { !(models + mappings + files).contains($0) }) {
      throw UsageError(description: "\(other.path) is neither a model nor a Swift source.")
    }
    var sources = try files.map { Rewriter.Source(path: $0.path, bytes: Array(try Data(contentsOf: $0))) }
    sources += models.map(classes)
    let rewriter = Rewriter(sources)
    for finding in rewriter.findings { complain("\(finding)") }
    let isSound = try (models + mappings).map { try compile($0, classNames: rewriter.classNames) }.allSatisfy { $0 }
    guard isSound else { return false }
    let written =
      files.map { OutputNames.source(path($0)) } + models.map { OutputNames.classes(of: $0.lastPathComponent) }
    for (name, result) in zip(written, rewriter.outputs) { try write(Data(result.bytes), name) }
    return true
  }

  /// The path in the target's folder.
  private func path(_ url: URL) -> String {
    let (folder, file) = (root.standardizedFileURL.path + "/", url.standardizedFileURL.path)
    return file.hasPrefix(folder) ? String(file.dropFirst(folder.count)) : url.lastPathComponent
  }

  /// Writes the compiled model. Returns false where it has an error.
  private func compile(_ url: URL, classNames: [String: String]) throws -> Bool {
    var compiler = ModelCompiler(moduleName: module)
    compiler.classNames = classNames
    let compiled: ModelOutput
    do {
      compiled = try url.pathExtension == "xcmappingmodel" ? compiler.compile(mapping: url) : compiler.compile(url)
    } catch {
      for diagnostic in error.diagnostics where diagnostic.severity != .note { complain("\(diagnostic)") }
      return false
    }
    for diagnostic in compiled.diagnostics where diagnostic.severity == .warning { complain("\(diagnostic)") }
    try compiled.write(to: (modelsFolder ?? output).appending(path: compiled.name))
    return true
  }

  /// The classes that a model asks for, as one source. A model that cannot be read has none: its compilation says why.
  private func classes(_ url: URL) -> Rewriter.Source {
    let current = ClassGenerator.current(of: url, edition: .xcode16)
    if let (generator, path) = current {
      for diagnostic in generator.diagnostics(path: path) { complain("\(diagnostic)") }
    }
    // Messages name the result itself: there is no other file with this text.
    return .init(
      path: output.appending(path: OutputNames.classes(of: url.lastPathComponent)).path,
      text: current?.generator.buildSource ?? "")
  }

  private func complain(_ text: String) { FileHandle.standardError.write(Data((text + "\n").utf8)) }

  /// Leaves a file that has these bytes already as it is, so that it is not compiled again.
  private func write(_ data: Data, _ name: String) throws {
    let url = output.appending(path: name)
    if let known = try? Data(contentsOf: url), known == data { return }
    try data.write(to: url, options: .atomic)
  }
}

/// The names of results. The plugin makes the same names.
enum OutputNames {
  /// Of a source by its path in the target. The compiler requires that no two files of a module have the same name.
  /// Only a file with the name `main.swift` may have statements outside of functions.
  static func source(_ path: String) -> String {
    if path == "main.swift" || path.hasSuffix("/main.swift") { return "main.swift" }
    return "Rewritten+" + path.replacing("+", with: "++").replacing("/", with: "+")
  }

  /// Of a compiled model.
  static func compiled(_ model: URL) -> String {
    let extensions = ["xcdatamodeld": ".momd", "xcdatamodel": ".mom", "xcmappingmodel": ".cdm"]
    return model.deletingPathExtension().lastPathComponent + (extensions[model.pathExtension] ?? "")
  }

  /// Of the classes of a model.
  static func classes(of model: String) -> String { model.replacing(".", with: "+") + "+Classes.swift" }
}
