/// Overrides in extensions, and what key-value coding finds by name.
extension FileRewriting {
  /// The member keeps its body in the extension under another name, and its class gets an override that calls it. So
  /// the body sees what is private in its file.
  mutating func rewriteOverride(_ declaration: Declaration) {
    guard let modifier = declaration.modifiers.first(where: { $0.name == "override" }),
      let owner = owner(of: declaration),
      owner.kind == .extension
    else { return }
    let token = declaration.keywordIndex
    guard declaration.keyword == "var" || declaration.keyword == "func" else {
      return find(
        token, "an extension cannot override \(declaration.keyword) without Objective-C; move it into \(owner.name)")
    }
    guard !declaration.isConditional, !owner.isConditional else {
      return find(
        token, "an override in an extension cannot be moved out of #if; move it into \(owner.name) where it is compiled"
      )
    }
    guard let member = declaration.keyword == "var" ? variable(declaration) : function(declaration) else {
      return find(token, "this override of an extension could not be read; move it into \(owner.name)")
    }
    guard module.add(member, to: owner.name) else {
      return find(
        token,
        """
        an extension cannot override a member of a class of another module without Objective-C; move it into \
        \(owner.name), or override it in a subclass
        """)
    }
    replace(tokens: modifier.tokens, "")
    for modifier in declaration.modifiers where ["open", "public", "final"].contains(modifier.name) {
      replace(tokens: modifier.tokens, "")
    }
    let name = file.tokens[declaration.keywordIndex + 1].range
    replace(name, "_extension_" + file.name(declaration.keywordIndex + 1))
  }

  private func modifiers(_ declaration: Declaration) -> String {
    let kept = declaration.modifiers.filter { !["dynamic", "override"].contains($0.name) }
    return kept.map { file.text(tokens: $0.tokens) + " " }.joined() + "override "
  }

  private func oneLine(_ range: Range<Int>) -> String {
    file.text(tokens: range).split(whereSeparator: \.isNewline).joined(separator: " ")
  }

  /// The override of a function for the class.
  private func function(_ declaration: Declaration) -> String? {
    guard let signature = signature(declaration) else { return nil }
    let arguments = signature.parameters.indices.map { index in
      let label = signature.labels[index]
      return (label == "_" ? "" : label + ": ") + (signature.isInout[index] ? "&" : "") + signature.parameters[index]
    }
    let call =
      (signature.isThrowing ? "try " : "") + (signature.isAsync ? "await " : "")
      + "_extension_\(signature.name)(\(arguments.joined(separator: ", ")))"
    return "\(modifiers(declaration))\(oneLine(declaration.keywordIndex..<signature.end)) { \(call) }"
  }

  /// The override of a computed variable for the class.
  private func variable(_ declaration: Declaration) -> String? {
    let nameIndex = declaration.keywordIndex + 1
    guard file.isMark(nameIndex + 1, ":") else { return nil }
    let end = endOfType(nameIndex + 2)
    guard file.isMark(end, "{"), let close = file.closing(end) else { return nil }
    let words = Set(accessorWords(end + 1..<close))
    // Observers belong to the property of the superclass.
    guard words.isDisjoint(with: ["willSet", "didSet"]) else { return nil }
    let name = "_extension_\(file.name(nameIndex))"
    let body = words.contains("set") ? "get { \(name) } set { \(name) = newValue }" : name
    return "\(modifiers(declaration))\(oneLine(declaration.keywordIndex..<end)) { \(body) }"
  }

  /// The words of a body that stand in no inner bracket and begin a line or follow a brace.
  private func accessorWords(_ range: Range<Int>) -> [String] {
    var words: [String] = []
    var index = range.lowerBound
    while index < range.upperBound {
      if let close = file.closing(index) {
        index = close + 1
        continue
      }
      if file.tokens[index].kind == .word { words.append(file.text(index)) }
      index += 1
    }
    return words
  }

  // MARK: Key-value coding

  /// A property that Objective-C sees is an accessor of its key.
  mutating func listAccessor(_ declaration: Declaration) {
    guard let owner = visibleOwner(declaration) else { return }
    let name = file.name(declaration.keywordIndex + 1)
    let key = objectiveCName(declaration) ?? name
    list(".accessor(\"\(key)\", \\\(owner.name).\(file.text(declaration.keywordIndex + 1)))", declaration, owner)
  }

  /// `validateAge(_:)` validates the property `age`.
  mutating func listValidation(_ declaration: Declaration) {
    guard let owner = visibleOwner(declaration), let signature = signature(declaration), signature.isThrowing,
      signature.labels == ["_"]
    else { return }
    let selector = objectiveCName(declaration) ?? signature.name + ":error:"
    let name = selector.dropFirst("validate".count).dropLast(":error:".count)
    let parameters = file.text(tokens: signature.nameIndex..<signature.end)
    guard selector.hasPrefix("validate"), selector.hasSuffix(":error:"), let first = name.first, first.isUppercase,
      parameters.contains("AutoreleasingUnsafeMutablePointer")
    else { return }
    let key = module.property(String(name), of: owner.name)
    list(".validation(\"\(key)\", \(owner.name).\(signature.name))", declaration, owner)
  }

  /// The class of managed objects whose member Objective-C sees; nil for other members.
  private func visibleOwner(_ declaration: Declaration) -> TypeBody? {
    guard let owner = owner(of: declaration), owner.kind == .class || owner.kind == .extension,
      module.isManaged(owner.name), !declaration.has("static"), !declaration.has("class"),
      file.tokens.indices.contains(declaration.keywordIndex + 1)
    else { return nil }
    let isHidden =
      declaration.attribute("nonobjc") != nil || declaration.has("private") || declaration.has("fileprivate")
    let isInherited =
      owner.attributes.contains("objcMembers") || owner.attributes.contains("objc") && owner.kind == .extension
    let isOfMembers = module.named(owner.name)?.body.attributes.contains("objcMembers") ?? false
    return declaration.attribute("objc") != nil || (isInherited || isOfMembers) && !isHidden ? owner : nil
  }

  private mutating func list(_ call: String, _ declaration: Declaration, _ owner: TypeBody) {
    let isPrivate = declaration.has("private") || declaration.has("fileprivate")
    let isElsewhere = module.named(owner.name).map { $0.file != index } ?? true
    if isPrivate && isElsewhere || declaration.isConditional || owner.isConditional
      || !module.list(call, of: owner.name)
    {
      find(
        declaration.keywordIndex,
        "key-value coding finds this by its name on Apple's platforms; add \(call) to the keyValueMethods of \(owner.name)"
      )
    }
  }
}
