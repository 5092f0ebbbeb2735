/// What key-value coding finds by its name in Objective-C.
extension FileRewriting {
  /// A property that Objective-C sees is an accessor of its key. Its override in a subclass is called by the same
  /// accessor.
  mutating func listAccessor(_ declaration: Declaration) {
    guard let owner = visibleOwner(declaration), file.tokens[declaration.keywordIndex + 1].kind == .word else { return }
    let name = file.name(declaration.keywordIndex + 1)
    let key = file.objectiveCName(declaration) ?? name
    list(".accessor(\"\(key)\", \\\(owner.name).\(file.text(declaration.keywordIndex + 1)))", declaration, owner)
  }

  /// So is a function that has no parameters and a result.
  mutating func listFunction(_ declaration: Declaration) {
    guard let owner = visibleOwner(declaration), let signature = file.signature(declaration),
      signature.parameters.isEmpty, let result = signature.result, !signature.isAsync, !signature.isThrowing,
      !signature.isGeneric, !["Void", "()", "Never"].contains(file.oneLine(result))
    else { return }
    let key = file.objectiveCName(declaration) ?? signature.name
    let call = "object.\(file.text(signature.nameIndex))()"
    list(".accessor(\"\(key)\", get: { (object: \(owner.name)) in \(call) })", declaration, owner)
  }

  /// `validateAge(_:)` validates the property `age`.
  mutating func listValidation(_ declaration: Declaration) {
    guard let owner = visibleOwner(declaration), let signature = file.signature(declaration), signature.isThrowing,
      signature.labels == ["_"]
    else { return }
    let selector = file.objectiveCName(declaration) ?? signature.name + ":error:"
    let name = selector.dropFirst("validate".count).dropLast(":error:".count)
    let parameters = file.text(tokens: signature.nameIndex..<signature.end)
    guard selector.hasPrefix("validate"), selector.hasSuffix(":error:"), let first = name.first, first.isUppercase,
      parameters.contains("AutoreleasingUnsafeMutablePointer")
    else { return }
    let key = module.property(named: String(name), of: owner.name)
    list(".validation(\"\(key)\", \(owner.name).\(signature.name))", declaration, owner)
  }

  /// The class of managed objects whose member Objective-C sees; nil for other members.
  private func visibleOwner(_ declaration: Declaration) -> TypeBody? {
    guard let owner = owner(of: declaration), owner.kind == .class || owner.kind == .extension,
      module.isManaged(owner.name), !declaration.has("static"), !declaration.has("class"),
      file.tokens.indices.contains(declaration.keywordIndex + 1)
    else { return nil }
    let isUnavailable = declaration.attribute("available")?.arguments.map { file.oneLine($0).contains("unavailable") }
    if isUnavailable == true { return nil }
    let isHidden =
      declaration.attribute("nonobjc") != nil || declaration.has("private") || declaration.has("fileprivate")
    let showsAll =
      module.showsAllMembers(owner.name) || owner.attributes.contains("objcMembers")
      || owner.attributes.contains("objc") && owner.kind == .extension
    let isRequired = module.requiredMembers(of: owner.name).contains(file.name(declaration.keywordIndex + 1))
    return declaration.attribute("objc") != nil || (showsAll || isRequired) && !isHidden ? owner : nil
  }

  private mutating func list(_ call: String, _ declaration: Declaration, _ owner: TypeBody) {
    let isPrivate = declaration.has("private") || declaration.has("fileprivate")
    let isElsewhere = !module.bodies(of: owner.name).contains { $0.file == index }
    // A member of an actor is read by that actor only.
    let isIsolated =
      module.isIsolated(owner.name) || declaration.attributes.contains { $0.name.hasSuffix("Actor") }
    if isPrivate && isElsewhere || isIsolated || !module.list(call, of: owner.name, conditions: declaration.conditions)
    {
      find(
        declaration.keywordIndex,
        """
        key-value coding finds this by its name on Apple's platforms; add \(call) to the keyValueMethods of \
        \(owner.name)
        """)
    }
  }
}
