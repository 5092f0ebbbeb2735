/// The rules for documents. Each rule gives a sentence for each breach.
struct DocumentRules {
  /// The texts of all documents, by path.
  let documents: [String: String]
  /// All files and folders of the repository.
  let paths: Set<String>

  static let decisions = "Documentation/Decisions"

  var breaches: [String] { links + records + entries }

  // MARK: Links

  /// Each relative link leads to a file or a folder.
  var links: [String] {
    documents.sorted { $0.key < $1.key }.flatMap { path, text in
      text.matches(of: #/\]\(([^)\s#]+)/#).map { String($0.output.1) }.filter { link in
        !link.contains(":") && !paths.contains(Self.path(of: link, in: path))
      }.map { "\(path): the link \($0) leads to no file" }
    }
  }

  /// The path that a link of a document leads to.
  private static func path(of link: String, in document: String) -> String {
    var parts = document.split(separator: "/").dropLast()
    for part in link.split(separator: "/") where part != "." {
      if part == ".." { parts = parts.dropLast() } else { parts.append(part) }
    }
    return parts.joined(separator: "/")
  }

  // MARK: Decisions

  /// A line of the index of decisions.
  private struct Entry {
    let number: String
    let file: String
    let title: String
    let status: String
  }

  /// Each record is in the index, once.
  var records: [String] {
    let entries = index.compactMap(Self.entry)
    return titles.keys.sorted().compactMap { file in
      let count = entries.count { $0.file == file }
      return count == 1 ? nil : "the index of decisions has \(count) entries for \(file)"
    }
  }

  /// Each entry of the index has the number and the title of its record, and a status that names records.
  var entries: [String] {
    let numbers = Set(titles.keys.map { String($0.prefix(3)) })
    return index.compactMap { line in
      guard let entry = Self.entry(line) else { return "the index of decisions has a line without a status: \(line)" }
      let others = Self.others(entry.status)
      if titles[entry.file] != entry.title || !entry.file.hasPrefix(entry.number) {
        return "the index of decisions has another number or title than \(entry.file)"
      }
      if others.map({ numbers.isSuperset(of: $0) && !$0.contains(entry.number) }) != true {
        return "the index of decisions has the status '\(entry.status)' for \(entry.file)"
      }
      return nil
    }
  }

  /// The lines of the index that begin with a link.
  private var index: [String] {
    let text = documents[Self.decisions + "/README.md"] ?? ""
    return text.split(separator: "\n").filter { $0.hasPrefix("- [") }.map(String.init)
  }

  /// The titles of the records, by the names of their files.
  private var titles: [String: String] {
    let folder = Self.decisions + "/"
    let records = documents.filter { $0.key.hasPrefix(folder) && $0.key != folder + "README.md" }
    return Dictionary(
      uniqueKeysWithValues: records.map { path, text in
        let heading = text.prefix { $0 != "\n" }
        let title = heading.wholeMatch(of: #/# [0-9]{3}[:.]? (.+)/#)?.output.1
        return (String(path.dropFirst(folder.count)), title.map(String.init) ?? "")
      })
  }

  private static func entry(_ line: String) -> Entry? {
    guard let match = line.wholeMatch(of: #/- \[([0-9]{3})\]\(([^)]+)\) (.+): \*\*([^*]+)\*\*/#) else { return nil }
    let (_, number, file, title, status) = match.output
    return Entry(number: String(number), file: String(file), title: String(title), status: String(status))
  }

  /// The numbers of the records that a status names; nil where it is no status.
  private static func others(_ status: String) -> [String]? {
    if status == "in force" { return [] }
    guard let match = status.wholeMatch(of: #/(?:changed|replaced) by ([0-9]{3}(?:, [0-9]{3})*)/#) else { return nil }
    return match.output.1.split(separator: ", ").map(String.init)
  }
}
