import Foundation
import ModelCompiler
import SourceRewriter

/// What becomes of each file of a target, as far as the sources show it: the compiler has the last word.
public struct PortPlan {
  /// What becomes of a source.
  public enum Outcome: Hashable, Sendable {
    /// It is compiled as it is.
    case unchanged
    /// It is compiled, but these lines need a change by hand.
    case byHand([Rewriter.Finding])
    /// It is left out for this reason.
    case leftOut(String)
  }

  /// The target.
  public let target: PortTarget
  /// Each source with what becomes of it, in the order of their paths.
  public private(set) var outcomes: [(file: URL, outcome: Outcome)] = []
  /// What the models' compiler has found.
  public private(set) var diagnostics: [ModelDiagnostic] = []
  /// Modules that the target uses and that are neither here nor in its project. The manifest must name their packages.
  public private(set) var foreignModules: [String] = []

  /// The sources that are left out.
  public var leftOut: [URL] {
    outcomes.compactMap { if case .leftOut = $0.outcome { $0.file } else { nil } }
  }

  /// A source while its outcome is decided.
  private struct File {
    var url: URL
    var source: Rewriter.Source
    var survey: SourceSurvey
    var reason: String?
    var findings: [Rewriter.Finding] = []
  }

  /// Types of files that are left out, of this target and of those that it uses, with the target of each.
  public private(set) var lost: [String: String] = [:]

  /// A plan for a target.
  ///
  /// - Parameters:
  ///   - modules: The modules of the project.
  ///   - lost: Types of files that are left out of targets that this one uses, with their target.
  ///   - others: The folders of other targets. Those in this target's folder belong to them.
  public init(_ target: PortTarget, modules: Set<String>, lost: [String: String] = [:], others: [URL] = []) throws {
    self.target = target
    self.lost = lost
    let others = others.map(\.standardizedFileURL).filter {
      $0.path(in: target.root) != nil && $0 != target.root.standardizedFileURL
    }
    let folder = target.root
    var files: [File] = []
    let left = try PortManifest.leftOut(in: target.root).map(\.standardizedFileURL.path)
    for url in target.sources.sorted(by: { $0.path < $1.path }) {
      let data = try? Data(contentsOf: url)
      let source = Rewriter.Source(path: url.path, bytes: data.map { Array($0) } ?? [])
      var file = File(url: url, source: source, survey: SourceSurvey(source))
      let path = url.standardizedFileURL.path
      if data == nil { file.reason = "it cannot be read" }
      if left.contains(where: { path == $0 || path.hasPrefix($0 + "/") }) {
        file.reason = "\(PortManifest.settings) leaves it out"
      }
      if let other = others.first(where: { path.hasPrefix($0.path + "/") }) {
        file.reason = "it is in the folder of another target, \(other.path(in: folder) ?? other.path)"
      }
      files.append(file)
    }
    let generated = target.models.filter { $0.pathExtension != "xcmappingmodel" }.compactMap { model in
      ClassGenerator.current(of: model, edition: .xcode16).map {
        Rewriter.Source(path: model.path, text: $0.generator.buildSource)
      }
    }
    let own = (files.map(\.survey) + generated.map(SourceSurvey.init)).reduce(into: Set()) { $0.formUnion($1.declared) }
    leaveOutFrameworks(&files, own: own)
    leaveOutUsers(&files, own: own)
    if target.isApp { leaveOutUnreached(&files) }
    leaveOutDependents(&files)
    let kept = files.filter { $0.reason == nil }
    let present = kept.reduce(into: Set<String>()) { $0.formUnion($1.survey.declared) }
    for file in files where file.reason != nil {
      for name in file.survey.declared where !present.contains(name) { self.lost[name] = target.name }
    }
    let all = kept.flatMap(\.findings) + Rewriter(kept.map(\.source) + generated).findings
    let findings = Dictionary(grouping: all, by: \.path)
    outcomes = files.map { file in
      if let reason = file.reason { return (file.url, .leftOut(reason)) }
      return (file.url, findings[file.url.path].map { .byHand($0) } ?? .unchanged)
    }
    let known = Framework.present.union(Rewriter.absentModules).union(modules)
    foreignModules = Set(kept.flatMap(\.survey.imports).map(\.module)).subtracting(known).sorted()
    let compiler = ModelCompiler(moduleName: target.name)
    diagnostics = target.models.filter { $0.pathExtension != "xcmappingmodel" }.flatMap(compiler.check)
      .filter { $0.severity != .note }
  }

  /// Files that use a framework of Apple's. `own` are the types of the target, generated ones among them.
  private func leaveOutFrameworks(_ files: inout [File], own: Set<String>) {
    for index in files.indices where files[index].reason == nil {
      let survey = files[index].survey
      let imported = survey.imports.flatMap { Framework.parts[$0.module] ?? [$0.module] }
      // The word that stands first, so that two runs give the same reason.
      let words = survey.words.filter { !own.contains($0.key) && !survey.types.contains($0.key) }
        .sorted { ($0.value, $0.key) < ($1.value, $1.key) }
      // A file that asks for a module can do without, and without what the module brings.
      let checked = survey.checkedModules.reduce(into: survey.checkedModules) {
        $0.formUnion(Framework.parts[$1] ?? [])
      }
      if let other = survey.imports.first(where: {
        Framework.others.contains($0.module) && !checked.contains($0.module)
      }) {
        files[index].reason = "it imports \(other.module) in line \(other.line)"
        continue
      }
      for framework in imported.compactMap({ Framework.all[$0] }) where !checked.contains(framework.name) {
        guard let (word, line) = words.first(where: { framework.isNeeded(by: $0.key) }) else { continue }
        if framework.isReplaceable {
          let message =
            "there is no \(word) of \(framework.name) here; write #if canImport(\(framework.name)), or declare one"
          files[index].findings.append(.init(path: files[index].source.path, line: line, message: message))
          continue
        }
        files[index].reason = "it uses \(word) of \(framework.name) in line \(line)"
        break
      }
    }
  }

  /// Files that use a type that another target has lost.
  private func leaveOutUsers(_ files: inout [File], own: Set<String>) {
    for index in files.indices where files[index].reason == nil {
      let words = files[index].survey.words.filter {
        lost[$0.key] != nil && !own.contains($0.key) && !files[index].survey.types.contains($0.key)
      }
      guard let name = words.min(by: { ($0.value, $0.key) < ($1.value, $1.key) })?.key else { continue }
      files[index].reason = "it uses \(name) of \(lost[name] ?? ""), which is left out there"
    }
  }

  /// Files of an app that have nothing to do with Core Data, and that no file needs that has.
  private func leaveOutUnreached(_ files: inout [File]) {
    var declaring: [String: [Int]] = [:]
    for (index, file) in files.enumerated() {
      for name in file.survey.declared.union(file.survey.members) { declaring[name, default: []].append(index) }
    }
    let managed = files.indices.filter { files[$0].survey.imports.contains { $0.module == "CoreData" } }
    var reached = Set(managed.filter { files[$0].reason == nil })
    if target.kind == .test { reached = Set(files.indices) }
    var pending = Array(reached)
    while let index = pending.popLast() {
      for word in files[index].survey.words.keys {
        for other in declaring[word] ?? [] where files[other].reason == nil && reached.insert(other).inserted {
          pending.append(other)
        }
      }
    }
    for index in files.indices where !reached.contains(index) && files[index].reason == nil {
      files[index].reason = "nothing of Core Data needs it"
    }
  }

  /// Files that use a type of a file that is left out.
  private func leaveOutDependents(_ files: inout [File]) {
    // The number of files that declare a type and are not left out, and the files that use it.
    var declarers: [String: Int] = [:]
    var users: [String: [Int]] = [:]
    for file in files {
      for name in file.survey.declared { declarers[name, default: 0] += file.reason == nil ? 1 : 0 }
    }
    for (index, file) in files.enumerated() {
      for word in file.survey.words.keys where declarers[word] != nil && !file.survey.types.contains(word) {
        users[word, default: []].append(index)
      }
    }
    var pending = files.indices.filter { files[$0].reason != nil }
    while let index = pending.popLast() {
      for name in files[index].survey.declared.sorted() where declarers[name] == 0 {
        for user in users[name] ?? [] where files[user].reason == nil {
          files[user].reason = "it uses \(name) of \(files[index].url.lastPathComponent), which is left out"
          for lost in files[user].survey.declared { declarers[lost, default: 1] -= 1 }
          pending.append(user)
        }
      }
    }
  }
}

extension PortPlan: CustomStringConvertible {
  /// The report for people.
  public var description: String {
    var (unchanged, byHand, left): (Int, [String], [String]) = (0, [], [])
    for (file, outcome) in outcomes {
      switch outcome {
      case .unchanged: unchanged += 1
      case .byHand(let findings):
        byHand += findings.map { "    \(target.path(file)):\($0.line): \($0.message)" }
      case .leftOut(let reason): left.append("    \(target.path(file)): \(reason)")
      }
    }
    var lines = [
      "\(target.name): \(target.kind == .executable ? "an" : "a") \(target.kind.rawValue), "
        + "Swift sources: \(outcomes.count), models: \(target.models.count)"
    ]
    lines.append("  compiled as they are: \(unchanged)")
    if !byHand.isEmpty { lines += ["  lines to change by hand: \(byHand.count)"] + byHand }
    if !left.isEmpty { lines += ["  left out: \(left.count)"] + left }
    if !target.otherFiles.isEmpty {
      lines += ["  other files, which are not ported: \(target.otherFiles.count)"]
      lines += target.otherFiles.map { "    \(target.path($0))" }
    }
    if !foreignModules.isEmpty {
      lines.append(
        "  modules of other packages, which the manifest must name: \(foreignModules.joined(separator: ", "))")
    }
    if !diagnostics.isEmpty { lines += ["  models:"] + diagnostics.map { "    \($0)" } }
    return lines.joined(separator: "\n")
  }
}
