/// `@NSManaged` variables.
extension FileRewriting {
  /// Gives a variable an accessor over a typed key:
  /// `public var name: String? { get { self[Self._key_name] } set { self[Self._key_name] = newValue } }`.
  mutating func rewriteManagedVariable(_ declaration: Declaration, _ attribute: Declaration.Attribute) {
    guard let owner = owner(of: declaration) else {
      return find(declaration.keywordIndex, "@NSManaged is for members of a class; move the property into one")
    }
    guard owner.kind == .class || owner.kind == .extension else {
      return find(declaration.keywordIndex, "@NSManaged is for classes, and \(owner.name) is none")
    }
    let bindings = self.bindings(declaration.keywordIndex)
    guard let last = bindings.last, let end = last.type.last else {
      return find(
        declaration.keywordIndex, "the type of this @NSManaged property could not be read; write it behind a colon")
    }
    replace(tokens: attribute.tokens, "")
    let modifiers = declaration.modifiers.filter { $0.name != "dynamic" && $0.name != "lazy" }
    let prefix = modifiers.map { file.text(tokens: $0.tokens) + " " }.joined()
    // The modifiers of the first variable stand before the keyword already.
    var text = ""
    for (number, binding) in bindings.enumerated() {
      let name = file.name(binding.name)
      let key = objectiveCName(declaration) ?? name
      text += number == 0 ? "var " : "; \(prefix)var "
      text += accessor(
        file.text(binding.name), key: key, type: file.text(tokens: binding.type), class: owner.name)
    }
    replace(tokens: declaration.keywordIndex..<end + 1, text)
  }

  private mutating func accessor(_ name: String, key: String, type: String, class owner: String) -> String {
    var valueType = type
    if valueType.hasSuffix("!") { valueType = valueType.dropLast() + "?" }
    let oneLine = { (text: String) in
      text.split(whereSeparator: \.isNewline).map { $0.drop { $0 == " " || $0 == "\t" } }.joined(separator: " ")
    }
    var subject = "self[Self._key_\(key)]"
    var declared = key
    if let plain = primitiveKey(key) {
      declared = "primitive_" + plain
      subject = "self[primitive: Self._key_\(declared)]"
      return """
        \(name): \(oneLine(type)) { get { \(subject) } set { \(subject) = newValue } }\
        \(keyDeclaration(declared, plain, oneLine(valueType), owner))
        """
    }
    return """
      \(name): \(oneLine(type)) { get { \(subject) } set { \(subject) = newValue } }\
      \(keyDeclaration(declared, key, oneLine(valueType), owner))
      """
  }

  /// The declaration of a key, once for each class in a file.
  private mutating func keyDeclaration(_ name: String, _ key: String, _ type: String, _ owner: String) -> String {
    guard keys.insert([owner, name]).inserted else { return "" }
    return "; nonisolated private static let _key_\(name) = ManagedProperty<\(type)>(\"\(key)\")"
  }

  /// `name` for `primitiveName`: Core Data's name for the primitive value of a property.
  private func primitiveKey(_ key: String) -> String? {
    let rest = key.dropFirst("primitive".count)
    guard key.hasPrefix("primitive"), let first = rest.first, first.isUppercase else { return nil }
    return first.lowercased() + rest.dropFirst()
  }

  /// The name in `@objc(name)`.
  func objectiveCName(_ declaration: Declaration) -> String? {
    file.objectiveCName(declaration)
  }

  // MARK: Types

  struct Binding {
    var name: Int
    var type: Range<Int>
  }

  /// The variables of a declaration with their types: `var a, b: Int, c: String`.
  private func bindings(_ keyword: Int) -> [Binding] {
    var result: [Binding] = []
    var names: [Int] = []
    var index = keyword + 1
    while index < file.tokens.count, file.tokens[index].kind == .word {
      names.append(index)
      index += 1
      if file.isMark(index, ",") {
        index += 1
        continue
      }
      guard file.isMark(index, ":") else { return [] }
      let end = endOfType(index + 1)
      guard end > index + 1 else { return [] }
      result += names.map { Binding(name: $0, type: index + 1..<end) }
      names = []
      index = end
      guard file.isMark(index, ",") else { break }
      index += 1
    }
    return names.isEmpty ? result : []
  }

  /// The token behind a type. A type goes on in the next line only behind or before one of its own marks.
  func endOfType(_ start: Int) -> Int {
    var index = start
    var depth = 0
    while index < file.tokens.count {
      let token = file.tokens[index]
      if index > start, token.isFirstOnLine, depth == 0, !continues(index) { break }
      if token.kind == .mark {
        switch file.bytes[token.range.lowerBound] {
        case UInt8(ascii: "("), UInt8(ascii: "["):
          guard let close = file.closing(index) else { return index }
          index = close
        case UInt8(ascii: "<"): depth += 1
        case UInt8(ascii: ">") where !isArrow(index): depth -= 1
        case UInt8(ascii: ","), UInt8(ascii: "="): if depth <= 0 { return index }
        case UInt8(ascii: "{"), UInt8(ascii: "}"), UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: ";"): return index
        default: break
        }
      } else if token.kind == .directive {
        return index
      }
      index += 1
    }
    return index
  }

  private func isArrow(_ index: Int) -> Bool { file.isMark(index - 1, "-") && !file.tokens[index].followsSpace }

  /// Whether a type goes on over a line end before the token.
  private func continues(_ index: Int) -> Bool {
    let marks: [Character] = [".", "?", "!", "&", ":", "<", ","]
    if marks.contains(where: { file.isMark(index, $0) && $0 != ":" && $0 != "," }) { return true }
    if file.isMark(index, "-"), file.isMark(index + 1, ">") { return true }
    return [".", "&", ":", "<"].contains { file.isMark(index - 1, $0) } || isArrow(index - 1)
      || ["any", "some", "inout"].contains(file.text(index - 1))
  }
}
