/// What other files and extensions add to classes.
extension ModuleClasses {
  /// A text for the body of a class, with the branches of `#if` around the member that it is made of.
  struct Addition {
    var conditions: [Branch]
    var text: String
  }

  /// Adds a member to the bodies of a class that are in the same branches. Returns false where the module has no such
  /// body.
  func add(_ member: String, to name: String, conditions: [Branch]) -> Bool {
    let addition = Addition(conditions: conditions, text: member)
    guard bodies(of: name).contains(where: { rest(of: addition, in: $0) != nil }) else { return false }
    members[name, default: []].append(addition)
    return true
  }

  /// Lists an accessor or a validation method of a class. Returns false where the module has no such body.
  func list(_ call: String, of name: String, conditions: [Branch]) -> Bool {
    let addition = Addition(conditions: conditions, text: call)
    guard bodies(of: name).contains(where: { rest(of: addition, in: $0) != nil }) else { return false }
    methods[name, default: []].append(addition)
    return true
  }

  /// The branches that an addition needs around it in a body; nil where it does not belong there.
  private func rest(of addition: Addition, in known: Known) -> [Branch]? {
    let (own, others) = (known.body.conditions, addition.conditions)
    guard known.body.close != nil, others.allSatisfy(\.isComplete) else { return nil }
    if others.starts(with: own) { return Array(others.dropFirst(own.count)) }
    return own.starts(with: others) ? [] : nil
  }

  /// The changes of a file that come from members and from other files.
  func insertions(in file: Int, _ findings: inout [Rewriter.Finding]) -> [Rewriter.Change] {
    var changes: [Rewriter.Change] = []
    for (name, known) in bodies(in: file) {
      guard let close = known.body.close else { continue }
      var (plain, conditional) = texts(members[name] ?? [], in: known)
      if let calls = methods[name] { plain += methodTable(calls, known, &findings) }
      guard !plain.isEmpty || !conditional.isEmpty else { continue }
      let token = files[file].tokens[close]
      // A member that ends on this line is separated from the next one.
      let separator = token.isFirstOnLine || close == known.body.open + 1 ? "" : ";"
      let offset = token.range.lowerBound
      var text = separator + " " + plain.joined(separator: "; ") + " "
      conditional = conditional.map { "\n\($0)\n" }
      text += conditional.joined()
      // Behind a directive the lines are counted anew.
      if text.contains("\n") { text += "\(conditional.isEmpty ? "\n" : "")\(files[file].location(token.line))\n" }
      changes.append(.init(range: offset..<offset, text: text))
    }
    return changes
  }

  /// The additions that a body has in any case, and those that are within branches, in these.
  private func texts(_ additions: [Addition], in known: Known) -> (plain: [String], conditional: [String]) {
    var (plain, conditional): ([String], [String]) = ([], [])
    for addition in additions {
      guard let rest = rest(of: addition, in: known) else { continue }
      if rest.isEmpty { plain.append(addition.text) } else { conditional.append(rest.around(addition.text)) }
    }
    return (plain, conditional)
  }

  private func methodTable(_ calls: [Addition], _ known: Known, _ findings: inout [Rewriter.Finding]) -> [String] {
    let (file, name) = (files[known.file], known.body.name)
    let (plain, conditional) = texts(calls, in: known)
    guard !plain.isEmpty || !conditional.isEmpty else { return [] }
    if listingThemselves.contains(name) {
      findings.append(
        .init(
          path: file.path, line: file.tokens[known.body.keyword].line,
          message: "\(name) lists its keyValueMethods itself; add \(calls.map(\.text).joined()) to them"))
      return []
    }
    let access = known.body.isPublic ? "public " : ""
    let lines = conditional.map { "\n\($0)" }.joined() + (conditional.isEmpty ? "" : "\n")
    return [
      "\(access)override class var keyValueMethods: KeyValueMethods { super.keyValueMethods\(plain.joined())\(lines) }"
    ]
  }
}
