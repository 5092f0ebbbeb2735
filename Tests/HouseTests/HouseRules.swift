import Foundation

/// The rules for source files. Each rule returns one sentence for each breach.
enum HouseRules {
  static func imports(_ file: SourceFile, cModules: [String: Set<String>]) -> [String] {
    let found = file.imports
    guard let own = allowed(file, cModules) else {
      return ["\(file.path): the module \(file.module) has no row in the import table"]
    }
    let known = own.union(ImportTable.toolchain).union(ImportTable.platforms)
    var breaches = found.filter { !known.contains($0) }.map { "\(file.path) may not import \($0)" }
    if !file.name.hasPrefix("Platform") {
      breaches += found.filter(ImportTable.platforms.contains).map {
        "\(file.path) imports \($0), which only Platform*.swift files may"
      }
    }
    return breaches
  }

  private static func allowed(_ file: SourceFile, _ cModules: [String: Set<String>]) -> Set<String>? {
    if file.isBackend {
      return cModules[file.module].map {
        $0.union(ImportTable.backend).union(ImportTable.engines).union(ImportTable.exceptions[file.path] ?? [])
      }
    }
    return ImportTable.sources[file.module].map { $0.union(ImportTable.exceptions[file.path] ?? []) }
  }

  /// A backend uses at most one engine, counted over all of its files.
  static func engines(_ files: [SourceFile]) -> [String] {
    Dictionary(grouping: files.filter(\.isBackend), by: \.module).compactMap { backend, files in
      let engines = Set(files.flatMap(\.imports)).intersection(ImportTable.engines)
      return engines.count > 1 ? "Backends/\(backend) imports \(engines.sorted().joined(separator: " and "))" : nil
    }
  }

  /// In the modules below CoreData no type has an NS prefix.
  static func names(_ file: SourceFile) -> [String] {
    guard file.isBackend || !ImportTable.withAppleNames.contains(file.module) else { return [] }
    return breaches(of: /\b(class|struct|enum|protocol|actor|typealias)\s+NS[A-Z]/, in: file, "declares an NS type")
  }

  /// Only row origins may depend on the kind of a context's store (decision 071). The coordinator makes the stores.
  static func kindsOfStore(_ file: SourceFile) -> [String] {
    guard file.path.hasPrefix("Sources/CoreData/"),
      !["CustomStores", "Coordinator", "Context/Origins"].contains(where: file.path.dropFirst(17).hasPrefix)
    else { return [] }
    return breaches(
      of: /\.custom\b|openIncremental|NS(Incremental|Atomic)Store\b|\.view\(\)/, in: file,
      "asks what kind of store there is, or takes a view of its own")
  }

  static func length(_ file: SourceFile) -> [String] {
    let lines = file.text.split(separator: "\n", omittingEmptySubsequences: false).count - 1
    guard lines > ImportTable.longestFile, !ImportTable.longFiles.contains(file.path) else { return [] }
    return ["\(file.path) has \(lines) lines; \(ImportTable.longestFile) are allowed"]
  }

  /// The formatter wraps code, and leaves comments as they are. Links and tables cannot be wrapped.
  static func wideComments(_ file: SourceFile) -> [String] {
    file.text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().compactMap { number, line in
      let isComment = line.drop(while: \.isWhitespace).hasPrefix("//")
      if !isComment || line.count <= 120 || line.contains("http") || line.contains(" | ") { return nil }
      return "\(file.path):\(number + 1): the comment has \(line.count) columns; 120 are allowed"
    }
  }

  static func traps(_ file: SourceFile) -> [String] {
    breaches(of: /\btry!|\bas!/, in: file, "may trap on data")
  }

  static func unsafeFlags(_ manifest: SourceFile) -> [String] {
    breaches(of: /\bunsafeFlags\b/, in: manifest, "uses unsafe flags, so nobody could depend on it by version")
  }

  /// An engine or backend is compiled without access to `package` declarations, as a third party's is: the compiler
  /// refuses their use. So the manifest must declare each of them by `publicOnly`.
  static func packageAccess(_ manifest: SourceFile, backends: Set<String>) -> [String] {
    let text = manifest.codeLines.joined(separator: " ").split(separator: " ").joined(separator: " ")
      .replacing("( ", with: "(")
    let declared =
      ImportTable.engines.sorted().map { "publicOnly(\"\($0)\"," }
      + backends.sorted().map { "path: \"\($0)\"" }
    var breaches = declared.filter { words in
      guard let found = text.range(of: words) else { return true }
      return !text[..<found.upperBound].contains(/publicOnly\("\w+",( path: "[^"]*")?$/)
    }.map { "\(manifest.path): nothing is declared by publicOnly as \($0)" }
    if !text.contains(/func publicOnly\([^{]*\{[^}]*packageAccess: false/) {
      breaches.append("\(manifest.path): publicOnly gives access to package declarations")
    }
    return breaches
  }

  /// Looks at comments too: open work is recorded in the README's table or in an issue.
  static func leftovers(_ file: SourceFile) -> [String] {
    guard file.text.contains(/\bTODO\b|\bFIXME\b/) else { return [] }
    return ["\(file.path) has an open end marked in its text"]
  }

  private static func breaches(of pattern: Regex<some Any>, in file: SourceFile, _ what: String) -> [String] {
    file.codeLines.enumerated().compactMap { number, line in
      line.contains(pattern) ? "\(file.path):\(number + 1) \(what)" : nil
    }
  }
}
