/// Holds the marks that take a check from the compiler or the runtime against a table of them, with a reason for each.
enum MarkRules {
  static let marks = [
    "@exclusivity(unchecked)", "@unchecked Sendable", "nonisolated(unsafe)", "unsafeBitCast", "unsafeDowncast",
    "_withUnsafeGuaranteedRef", "@_silgen_name",
  ]

  /// The table: a line for each file and mark, with the number of marks and the reason, separated by tabs.
  static let path = "Sources/RuntimeAccess/Marks.tsv"

  /// One sentence for each file whose marks are not those of the table, and for each line that is not understood.
  static func breaches(_ files: [SourceFile], table: String) -> [String] {
    var (listed, breaches) = ([Key: Int](), [String]())
    for line in table.split(separator: "\n").dropFirst() {
      let parts = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
      guard parts.count == 4, let count = Int(parts[2]), count > 0, parts[3].count > 10, marks.contains(parts[1]),
        listed.updateValue(count, forKey: Key(path: parts[0], mark: parts[1])) == nil
      else {
        breaches.append("\(path) has a line that is not understood: \(line)")
        continue
      }
    }
    var found: [Key: Int] = [:]
    for file in files {
      let code = file.codeLines.joined(separator: "\n")
      for mark in marks {
        let count = code.ranges(of: mark).count
        if count > 0 { found[Key(path: file.path, mark: mark)] = count }
      }
    }
    let keys = Set(found.keys).union(listed.keys).sorted { ($0.path, $0.mark) < ($1.path, $1.mark) }
    return breaches
      + keys.filter { found[$0] != listed[$0] }.map {
        "\($0.path) has \(found[$0] ?? 0) of \($0.mark), the table of marks \(listed[$0] ?? 0)"
      }
  }

  private struct Key: Hashable {
    let path: String
    let mark: String
  }
}
