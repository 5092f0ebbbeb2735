/// `#keyPath`.
extension FileRewriting {
  mutating func rewriteExpressions() {
    for index in file.tokens.indices {
      switch file.tokens[index].kind {
      case .directive where file.text(index) == "#keyPath": rewriteKeyPath(index)
      case .directive where file.text(index) == "#selector": rewriteSelector(index)
      default: break
      }
    }
  }

  /// The words of a dotted name in parentheses, such as `Student.school.name`; nil for anything else.
  private func path(_ open: Int) -> (words: [Int], close: Int)? {
    guard file.isMark(open, "("), let close = file.closing(open), close > open + 1 else { return nil }
    var words: [Int] = []
    for (offset, token) in (open + 1..<close).enumerated() {
      if offset % 2 == 0, file.tokens[token].kind == .word {
        words.append(token)
      } else if !file.isMark(token, ".") {
        return nil
      }
    }
    return (words.count * 2 - 1 == close - open - 1) ? (words, close) : nil
  }

  /// `#keyPath(Student.school.name)` becomes
  /// `checkedKeyPath("school.name", CheckedKeyPath(\Student.school).then(\.name))`: a literal, and an expression that
  /// compiles only where there are such properties.
  private mutating func rewriteKeyPath(_ index: Int) {
    guard let (words, close) = path(index + 1) else {
      return find(index, "this #keyPath could not be read; write the key path as a text")
    }
    guard let text = checkedPath(words, at: index) else {
      return find(index, "the type of this #keyPath is not stated; write #keyPath(Type.property)")
    }
    replace(tokens: index..<close + 1, text)
  }

  func checkedPath(_ words: [Int], at index: Int) -> String? {
    var rest = words[...]
    var type: [String] = []
    // A type begins in upper case, as a property may too.
    while rest.count > 1, let first = rest.first, file.name(first).first?.isUppercase == true,
      type.isEmpty || !module.hasProperty(file.name(first), in: type.joined(separator: "."))
    {
      type.append(file.text(first))
      rest = rest.dropFirst()
    }
    if let first = rest.first, file.isWord(first, "self") { rest = rest.dropFirst() }
    let root =
      type.isEmpty || type == ["Self"] ? module.enclosingType(of: index, in: file) : type.joined(separator: ".")
    guard let root, let first = rest.first else { return nil }
    var (owner, isChecked): (String?, Bool) = (root, true)
    var (keys, steps): ([String], String) = ([], "")
    var label = ""
    for word in rest {
      if word != first, isChecked { steps += ".then(\(label)\\.\(file.text(word)))" }
      let step = module.step(file.name(word), from: owner)
      keys.append(step.objectiveCName)
      owner = step.destination
      label = step.label.map { $0 + ": " } ?? ""
      // What is behind a collection of Foundation has no type.
      isChecked = isChecked && !step.isUntyped
    }
    let properties = "CheckedKeyPath(\\\(root).\(file.text(first)))\(steps)"
    // Errors are on the line of the path.
    let line = file.tokens.indices.contains(index) ? file.tokens[index].line : 0
    let lines = String(repeating: "\n", count: max(0, file.tokens[words[0]].line - line))
    return "checkedKeyPath(\(lines)\"\(keys.joined(separator: "."))\", \(properties))"
  }
}
