/// `@NSManaged` variables.
extension FileRewriting {
  /// Gives a variable an accessor over a typed key:
  /// `public var name: String? { get { value(of: Self._key_name) } set { setValue(newValue, of: Self._key_name) } }`.
  mutating func rewriteManagedVariable(_ declaration: Declaration, _ attribute: Declaration.Attribute) {
    guard let owner = owner(of: declaration) else {
      return find(declaration.keywordIndex, "@NSManaged is for members of a class; move the property into one")
    }
    guard owner.kind == .class || owner.kind == .extension else {
      return find(declaration.keywordIndex, "@NSManaged is for classes, and \(owner.name) is none")
    }
    let bindings = file.bindings(declaration.keywordIndex)
    guard let last = bindings.last, let end = last.type.last else {
      return find(
        declaration.keywordIndex, "the type of this @NSManaged property could not be read; write it behind a colon")
    }
    let isMoved = bindings.contains { isOverriddenMember(declaration, named: file.name($0.name), of: owner) }
    if !isMoved { replace(tokens: attribute.tokens, "") }
    let modifiers = declaration.modifiers.filter { $0.name != "dynamic" && $0.name != "lazy" }
    let prefix = modifiers.map { file.text(tokens: $0.tokens) + " " }.joined()
    // The modifiers of the first variable stand before the keyword already.
    var text = ""
    for (number, binding) in bindings.enumerated() {
      let name = file.name(binding.name)
      let key = file.objectiveCName(declaration) ?? name
      text += number == 0 ? "var " : "; \(prefix)var "
      text += accessor(
        file.text(binding.name), key: key, type: file.oneLine(binding.type), class: owner.name)
    }
    if isMoved { return moveManaged(declaration, owner, text, end: end + 1) }
    replace(tokens: declaration.keywordIndex..<end + 1, text)
  }

  private func accessor(_ name: String, key: String, type: String, class owner: String) -> String {
    let valueType = type.hasSuffix("!") ? type.dropLast() + "?" : type
    let plain = primitiveKey(key)
    let (value, setValue) = plain == nil ? ("value", "setValue") : ("primitiveValue", "setPrimitiveValue")
    let property = "ManagedProperty<\(valueType)>(\"\(plain ?? key)\")"
    // A generic class has no stored properties of the class.
    let isGeneric = module.isGeneric(owner)
    let subject = isGeneric ? property : "Self._key_\(key)"
    let text = "\(name): \(type) { get { \(value)(of: \(subject)) } set { \(setValue)(newValue, of: \(subject)) } }"
    return isGeneric ? text : "\(text); nonisolated private static let _key_\(key) = \(property)"
  }

  /// `name` for `primitiveName`: Core Data's name for the primitive value of a property.
  private func primitiveKey(_ key: String) -> String? {
    let rest = key.dropFirst("primitive".count)
    guard key.hasPrefix("primitive"), let first = rest.first, first.isUppercase else { return nil }
    return first.lowercased() + rest.dropFirst()
  }
}
