/// Overrides in extensions.
extension FileRewriting {
  /// The member keeps its body in the extension under another name, and its class gets an override that calls it. So
  /// the body sees what is private in its file.
  mutating func rewriteOverride(_ declaration: Declaration) {
    guard let modifier = declaration.modifiers.first(where: { $0.name == "override" }),
      let owner = owner(of: declaration), owner.kind == .extension
    else { return }
    let token = declaration.keywordIndex
    guard declaration.keyword == "var" || declaration.keyword == "func" else {
      return find(
        token, "an extension cannot override \(declaration.keyword) without Objective-C; move it into \(owner.name)")
    }
    guard !declaration.isConditional else {
      return find(
        token, "an override in an extension cannot be moved out of #if; move it into \(owner.name) where it is compiled"
      )
    }
    let name = "_extension_\(owner.name.replacing(".", with: "_"))_\(file.name(token + 1))"
    guard
      let member = declaration.keyword == "var"
        ? variable(declaration, owner, name) : function(declaration, owner, name)
    else {
      return find(token, "this override of an extension could not be read; move it into \(owner.name)")
    }
    guard module.add(member, to: owner.name, conditions: owner.conditions) else {
      return find(
        token,
        """
        an extension cannot override a member of a class of another module, or under another condition, without \
        Objective-C; move it into \(owner.name), or override it in a subclass
        """)
    }
    replace(tokens: modifier.tokens, "")
    for modifier in declaration.modifiers where ["open", "public", "final"].contains(modifier.name) {
      replace(tokens: modifier.tokens, "")
    }
    replace(file.tokens[token + 1].range, name)
  }

  /// Attributes and modifiers of the override in the class.
  private func prefix(_ declaration: Declaration, _ owner: TypeBody) -> String {
    let attributes = declaration.attributes.filter { $0.name == "discardableResult" || $0.name.hasSuffix("Actor") }
    let kept = declaration.modifiers.filter { !["dynamic", "override"].contains($0.name) }
    let levels: Set<String> = ["open", "public", "package", "internal", "fileprivate", "private"]
    // The members of a public extension are public unless they say otherwise.
    let access = owner.isPublic && !kept.contains { levels.contains($0.name) } ? "public " : ""
    return attributes.map { file.oneLine($0.tokens) + " " }.joined() + access
      + kept.map { file.oneLine($0.tokens) + " " }.joined() + "override "
  }

  /// The override of a function for the class.
  private func function(_ declaration: Declaration, _ owner: TypeBody, _ name: String) -> String? {
    guard let signature = signature(declaration) else { return nil }
    // An expression in it may be one that is rewritten.
    let range = declaration.keywordIndex..<signature.end
    if range.contains(where: { file.tokens[$0].kind == .directive }) { return nil }
    let arguments = signature.parameters.indices.map { index in
      let label = signature.labels[index]
      return (label == "_" ? "" : label + ": ") + (signature.isInout[index] ? "&" : "") + signature.parameters[index]
    }
    let call =
      (signature.isThrowing ? "try " : "") + (signature.isAsync ? "await " : "")
      + "\(name)(\(arguments.joined(separator: ", ")))"
    return "\(prefix(declaration, owner))\(file.oneLine(range)) { \(call) }"
  }

  /// The override of a computed variable for the class.
  private func variable(_ declaration: Declaration, _ owner: TypeBody, _ name: String) -> String? {
    let nameIndex = declaration.keywordIndex + 1
    guard file.isMark(nameIndex + 1, ":") else { return nil }
    let end = file.endOfType(nameIndex + 2)
    guard file.isMark(end, "{"), let close = file.closing(end) else { return nil }
    let accessors = accessors(end + 1..<close)
    // Observers belong to the property of the superclass.
    guard accessors.isDisjoint(with: ["willSet", "didSet"]) else { return nil }
    let body = accessors.contains("set") ? "get { \(name) } set { \(name) = newValue }" : name
    return "\(prefix(declaration, owner))\(file.oneLine(declaration.keywordIndex..<end)) { \(body) }"
  }

  /// The accessors of a computed variable. A body that does not begin with one is that of a getter.
  private func accessors(_ range: Range<Int>) -> Set<String> {
    let known: Set<String> = ["get", "set", "_read", "_modify", "willSet", "didSet", "nonmutating", "mutating"]
    var index = range.lowerBound
    while index < range.upperBound, file.tokens[index].kind == .attribute { index += 1 }
    guard index < range.upperBound, known.contains(file.text(index)) else { return [] }
    var words: Set<String> = []
    while index < range.upperBound {
      if file.tokens[index].kind == .word { words.insert(file.text(index)) }
      index = (file.closing(index) ?? index) + 1
    }
    return words.intersection(known)
  }
}
