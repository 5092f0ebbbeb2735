import Foundation

/// A file of the repository: its path relative to the root, and its text.
struct SourceFile: Sendable {
  let path: String
  let text: String

  var name: String { String(path.split(separator: "/").last ?? "") }

  /// The folder that defines the module: `CoreData` in `Sources/CoreData/Model/X.swift`.
  var module: String {
    let parts = path.split(separator: "/")
    return parts.count > 2 ? String(parts[1]) : ""
  }

  var isBackend: Bool { path.hasPrefix("Backends/") }

  /// The folder of a backend's module: `Backends/SQLite/Sources`.
  var folderOfBackend: String { path.split(separator: "/").prefix(3).joined(separator: "/") }

  /// The lines without the text after `//`. This is enough here, because no rule looks for text in strings.
  var codeLines: [Substring] {
    text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      line.range(of: "//").map { line[..<$0.lowerBound] } ?? line
    }
  }

  /// The imported modules. Handles attributes, access levels and kinds of declaration in import statements.
  var imports: [String] {
    codeLines.flatMap { $0.split(separator: ";") }.compactMap { statement in
      let words = statement.split(whereSeparator: \.isWhitespace)
      guard let start = words.firstIndex(of: "import"), words[..<start].allSatisfy(Self.mayPrecedeImport) else {
        return nil
      }
      var rest = words[(start + 1)...]
      if let kind = rest.first, Self.importKinds.contains(String(kind)) { rest = rest.dropFirst() }
      return rest.first.flatMap { $0.split(separator: ".").first }.map(String.init)
    }
  }

  private static let importKinds: Set = ["struct", "class", "enum", "protocol", "typealias", "func", "var", "let"]
  private static let accessLevels: Set = ["public", "package", "internal", "fileprivate", "private"]

  private static func mayPrecedeImport(_ word: Substring) -> Bool {
    word.hasPrefix("@") || accessLevels.contains(String(word))
  }
}

/// The repository that contains this test.
enum Repository {
  static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  static let sources = files(in: ["Sources", "Backends", "Conformance"]) {
    $0.hasSuffix(".swift") && !$0.hasSuffix("/Package.swift") && !$0.hasPrefix("Backends/_Template/") && !isTest($0)
  }
  static let tests = files(in: ["Tests", "Backends"]) { $0.hasSuffix(".swift") && isTest($0) }
  static let manifests = files(in: ["", "Backends", "Benchmarks", "Conformance", "Examples", "Tests"]) {
    $0 == "Package.swift" || $0.hasSuffix("/Package.swift")
  }

  /// The files of all folders that the layout is about.
  static let paths = Set(
    paths(in: ["Backends", "Conformance", "Scripts", "Sources", "Tests", "Tools"]).filter {
      !$0.contains("/__pycache__")
    })

  /// The texts of the documents, by path.
  static let documents = Dictionary(
    uniqueKeysWithValues: files(in: [""] + foldersOfDocuments) { $0.hasSuffix(".md") }.map { ($0.path, $0.text) })

  /// The text of the table of marks; see ``MarkRules``.
  static let tableOfMarks = try? String(contentsOf: root.appending(path: MarkRules.path), encoding: .utf8)

  /// What links of documents may lead to.
  static let linkTargets = Set(paths(in: [""] + foldersOfDocuments))

  private static let foldersOfDocuments = [
    "Backends", "Benchmarks", "Conformance", "Documentation", "Examples", "Scripts", "Sources", "Tests", "Tools",
  ]

  private static func isTest(_ path: String) -> Bool {
    path.hasPrefix("Tests/") || path.hasPrefix("Backends/") && path.split(separator: "/").dropFirst(2).first == "Tests"
  }

  /// The C modules of each backend: the folders beside its sources whose names begin with C.
  static let cModules: [String: Set<String>] = {
    var result: [String: Set<String>] = [:]
    for backend in names(in: "Backends") {
      result[backend] = Set(names(in: "Backends/" + backend).filter { $0.hasPrefix("C") && !$0.contains(".") })
    }
    return result
  }()

  private static func names(in folder: String) -> [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: root.appending(path: folder).path)) ?? []
  }

  /// The selected files below the folders; of the root folder, only the files directly in it. Build folders are
  /// skipped.
  private static func files(in folders: [String], where isRequired: (String) -> Bool) -> [SourceFile] {
    paths(in: folders).filter(isRequired).sorted().compactMap { path in
      (try? String(contentsOf: root.appending(path: path), encoding: .utf8)).map { SourceFile(path: path, text: $0) }
    }
  }

  /// Folders and files below the folders, without those of builds.
  private static func paths(in folders: [String]) -> [String] {
    folders.flatMap { folder in
      folder.isEmpty
        ? names(in: "")
        : (FileManager.default.subpaths(atPath: root.appending(path: folder).path) ?? []).map { folder + "/" + $0 }
    }.filter { !$0.contains(".build/") }
  }
}
