/// The rules for which folders there are. `paths` are all files of the repository; each rule gives a sentence a breach.
struct LayoutRules {
  let paths: Set<String>
  var withoutTests = LayoutTable.withoutTests
  var besideTests = LayoutTable.besideTests

  var breaches: [String] { modules + tests + backends + tools + scripts }

  /// Each module has tests of its name, or a reason why not.
  var modules: [String] {
    let modules = moduleNames
    let untested = modules.filter { !isTested($0) && withoutTests[$0] == nil }
    let stale = withoutTests.keys.filter { !modules.contains($0) || isTested($0) }
    return untested.sorted().map { "the module \($0) has no Tests/\($0)Tests, and no reason in the layout table" }
      + stale.sorted().map { "the layout table says why the module \($0) has no tests; it has some, or is not there" }
  }

  /// Each folder of Tests belongs to a module, or has a reason.
  var tests: [String] {
    let modules = moduleNames
    let folders = names(in: "Tests")
    let foreign = folders.filter { folder in
      besideTests[folder] == nil && !(folder.hasSuffix("Tests") && modules.contains(String(folder.dropLast(5))))
    }
    let stale = besideTests.keys.filter { !folders.contains($0) }
    return foreign.sorted().map { "Tests/\($0) is named after no module, and has no reason in the layout table" }
      + stale.sorted().map { "the layout table has a reason for Tests/\($0), which is not there" }
  }

  /// Each backend says what it is, and has tests of its own.
  var backends: [String] {
    names(in: "Backends").sorted().flatMap { backend in
      let folder = "Backends/" + backend
      return (paths.contains(folder + "/README.md") ? [] : ["\(folder) has no README.md"])
        + (hasFiles(in: folder + "/Tests", [".swift"]) ? [] : ["\(folder) has no Tests"])
    }
  }

  /// Each tool says what it is, who calls it, and how it is tested.
  var tools: [String] {
    names(in: "Tools").sorted().compactMap { tool in
      paths.contains("Tools/\(tool)/README.md") ? nil : "Tools/\(tool) has no README.md"
    }
  }

  /// Scripts has what people call: files without an ending, in no folder.
  var scripts: [String] {
    paths.filter { $0.hasPrefix("Scripts/") && ($0.dropFirst(8).contains("/") || $0.contains(".")) }.sorted().map {
      "\($0) is nothing that people call; programs behind the scripts belong into Tools"
    }
  }

  // MARK: Folders

  /// The folders of Sources and Conformance that have sources.
  private var moduleNames: Set<String> {
    Set(
      ["Sources", "Conformance"].flatMap { folder in
        names(in: folder).filter { hasFiles(in: "\(folder)/\($0)", [".swift", ".c", ".h", ".modulemap"]) }
      })
  }

  private func isTested(_ module: String) -> Bool { hasFiles(in: "Tests/\(module)Tests", [".swift"]) }

  private func hasFiles(in folder: String, _ endings: [String]) -> Bool {
    paths.contains { path in path.hasPrefix(folder + "/") && endings.contains(where: path.hasSuffix) }
  }

  /// The names of the folders that lie in a folder.
  private func names(in folder: String) -> Set<String> {
    Set(
      paths.compactMap { path in
        let parts = path.split(separator: "/")
        return parts.count > 2 && parts[0] == folder ? String(parts[1]) : nil
      })
  }
}
