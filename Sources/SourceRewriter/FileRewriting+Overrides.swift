/// Overrides in extensions, and members of extensions that are overridden.
extension FileRewriting {
  /// The member keeps its body in the extension under another name, and its class gets an override that calls it. So
  /// the body sees what is private in its file.
  mutating func rewriteOverride(_ declaration: Declaration) {
    guard declaration.has("override"), let owner = owner(of: declaration), owner.kind == .extension
    else { return }
    let token = declaration.keywordIndex
    guard declaration.keyword == "var" || declaration.keyword == "func" else {
      return find(
        token, "an extension cannot override \(declaration.keyword) without Objective-C; move it into \(owner.name)")
    }
    guard let member = classMember(declaration, owner) else {
      return find(token, "this override of an extension could not be read; move it into \(owner.name)")
    }
    guard module.add(member.text, to: owner.name, conditions: declaration.conditions) else {
      return find(
        token,
        """
        an extension cannot override a member of a class of another module, or under another condition, without \
        Objective-C; move it into \(owner.name), or override it in a subclass
        """)
    }
    rename(declaration, to: member.name, defaults: member.defaults)
  }

  /// A member of an extension that a subclass overrides is declared in its class, too: without Objective-C, members of
  /// extensions cannot be overridden.
  mutating func moveOverridden(_ declaration: Declaration) {
    guard let owner = owner(of: declaration), let name = file.memberName(declaration),
      isOverriddenMember(declaration, named: name, of: owner)
    else { return }
    let token = declaration.keywordIndex
    guard let member = classMember(declaration, owner) else {
      return find(token, "this member of an extension is overridden and could not be read; move it into \(owner.name)")
    }
    guard module.add(member.text, to: owner.name, conditions: declaration.conditions) else {
      return findImmovable(declaration, owner)
    }
    rename(declaration, to: member.name, defaults: member.defaults)
  }

  private mutating func findImmovable(_ declaration: Declaration, _ owner: TypeBody) {
    find(
      declaration.keywordIndex,
      """
      a subclass overrides this member of an extension, and \(owner.name) is a class of another module, which needs \
      Objective-C; declare the member in a subclass of \(owner.name), or give its override another name
      """)
  }

  /// Whether a member of an extension is overridden in the module.
  func isOverriddenMember(_ declaration: Declaration, named name: String, of owner: TypeBody) -> Bool {
    let hidden = ["override", "private", "fileprivate", "static", "final"]
    return owner.kind == .extension && module.isOverridden(name, of: owner.name)
      && !hidden.contains(where: declaration.has) && declaration.attribute("nonobjc") == nil
      && !owner.attributes.contains("nonobjc")
  }

  /// Takes from the member in the extension what the one in the class has.
  private mutating func rename(_ declaration: Declaration, to name: String, defaults: String) {
    for modifier in declaration.modifiers where ["override", "open", "public", "final"].contains(modifier.name) {
      replace(tokens: modifier.tokens, "")
    }
    replace(file.tokens[declaration.keywordIndex + 1].range, name)
    if !defaults.isEmpty { insert(defaults, at: file.tokens[declaration.start].range.lowerBound) }
  }

  /// Moves an `@NSManaged` member, which is one line now, from an extension into its class, because it is overridden.
  mutating func moveManaged(_ declaration: Declaration, _ owner: TypeBody, _ text: String, end: Int) {
    let modifiers = declaration.modifiers.filter { !["dynamic", "lazy"].contains($0.name) }
    let access = isShown(declaration, owner) ? "public " : ""
    let prefix = access + modifiers.map { file.oneLine($0.tokens) + " " }.joined()
    guard module.add(prefix + text, to: owner.name, conditions: declaration.conditions) else {
      return findImmovable(declaration, owner)
    }
    replace(tokens: declaration.start..<end, "")
  }

  // MARK: Members of classes

  private struct ClassMember {
    /// The member of the class. It calls the one of the extension.
    var text: String
    /// The name of the member in the extension.
    var name: String
    /// Functions of the extension that give default arguments.
    var defaults = ""
  }

  private func classMember(_ declaration: Declaration, _ owner: TypeBody) -> ClassMember? {
    let name = "_extension_\(owner.name.replacing(".", with: "_"))_\(file.name(declaration.keywordIndex + 1))"
    return declaration.keyword == "var"
      ? variable(declaration, owner, name) : function(declaration, owner, name)
  }

  /// Attributes and modifiers of the member in the class.
  private func prefix(_ declaration: Declaration, _ owner: TypeBody) -> String {
    let attributes = declaration.attributes.filter { $0.name == "discardableResult" || $0.name.hasSuffix("Actor") }
    let kept = declaration.modifiers.filter { !["dynamic", "override"].contains($0.name) }
    return attributes.map { file.oneLine($0.tokens) + " " }.joined() + (isShown(declaration, owner) ? "public " : "")
      + kept.map { file.oneLine($0.tokens) + " " }.joined() + (declaration.has("override") ? "override " : "")
  }

  /// Whether the member is public because its extension is: the members of a public extension are public unless they
  /// say otherwise.
  private func isShown(_ declaration: Declaration, _ owner: TypeBody) -> Bool {
    let levels = ["open", "public", "package", "internal", "fileprivate", "private"]
    return owner.isPublic && !levels.contains(where: declaration.has)
  }

  private func function(_ declaration: Declaration, _ owner: TypeBody, _ name: String) -> ClassMember? {
    guard let signature = file.signature(declaration) else { return nil }
    let arguments = signature.parameters.indices.map { index in
      let label = signature.labels[index]
      return (label == "_" ? "" : label + ": ") + (signature.isInout[index] ? "&" : "") + signature.parameters[index]
    }
    let call =
      (signature.isThrowing ? "try " : "") + (signature.isAsync ? "await " : "")
      + "\(name)(\(arguments.joined(separator: ", ")))"
    var member = ClassMember(text: prefix(declaration, owner), name: name)
    var position = declaration.keywordIndex
    for (number, part) in signature.parts.enumerated() {
      guard let sign = part.first(where: { file.isMark($0, "=") }) else { continue }
      let value = sign + 1..<part.upperBound
      guard !isPlain(value) else { continue }
      guard let text = defaultArgument(value) else { return nil }
      // The class may be in another file, and does not see what is private in this one.
      guard let colon = (part.lowerBound..<sign).first(where: { file.isMark($0, ":") }) else { return nil }
      let type = file.oneLine(colon + 1..<sign)
      let function = "_default\(number)_\(declaration.keywordIndex)\(name)"
      let isPublic = declaration.has("public") || declaration.has("open") || isShown(declaration, owner)
      member.defaults += "\(isPublic ? "@usableFromInline " : "")static func \(function)() -> \(type) { \(text) }; "
      member.text += "\(file.oneLine(position..<sign + 1)) \(owner.name).\(function)()"
      position = part.upperBound
    }
    member.text += "\(file.oneLine(position..<signature.end)) { \(call) }"
    return member
  }

  /// Whether a default argument means the same in every file: a literal, a member without its type, or what the
  /// compiler knows of the caller, such as `#line`.
  private func isPlain(_ range: Range<Int>) -> Bool {
    let words = ["nil", "true", "false"]
    let directives = ["#file", "#fileID", "#filePath", "#line", "#column", "#function"]
    switch (range.count, file.tokens[range.lowerBound].kind) {
    case (1, .number), (1, .string): return true
    case (1, .word): return words.contains(file.text(range.lowerBound))
    case (1, .directive): return directives.contains(file.text(range.lowerBound))
    case (2, .mark):
      let isEmptyArray = file.isMark(range.lowerBound, "[") && file.isMark(range.lowerBound + 1, "]")
      return isEmptyArray || file.isMark(range.lowerBound, ".") || file.isMark(range.lowerBound, "-")
    default: return false
    }
  }

  /// The text of a default argument; nil where it contains what is rewritten.
  private func defaultArgument(_ range: Range<Int>) -> String? {
    range.contains { file.tokens[$0].kind == .directive } ? nil : file.oneLine(range)
  }

  /// A computed variable.
  private func variable(_ declaration: Declaration, _ owner: TypeBody, _ name: String) -> ClassMember? {
    let nameIndex = declaration.keywordIndex + 1
    guard file.isMark(nameIndex + 1, ":") else { return nil }
    let end = file.endOfType(nameIndex + 2)
    guard file.isMark(end, "{"), let close = file.closing(end) else { return nil }
    let accessors = accessors(end + 1..<close)
    // Observers belong to the property of the superclass.
    guard accessors.isDisjoint(with: ["willSet", "didSet"]) else { return nil }
    let body = accessors.contains("set") ? "get { \(name) } set { \(name) = newValue }" : name
    let text = "\(prefix(declaration, owner))\(file.oneLine(declaration.keywordIndex..<end)) { \(body) }"
    return ClassMember(text: text, name: name)
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
