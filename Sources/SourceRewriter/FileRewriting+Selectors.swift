/// `#selector`.
extension FileRewriting {
  /// What stands in the parentheses of `#selector`.
  private struct Reference {
    /// The type in front of the function as it is written, with generic arguments; empty for none or `self`.
    var type = ""
    /// The name of the type alone.
    var typeName = ""
    var name = ""
    /// The labels with the parentheses, such as `(_:at:)`; nil where they are not written.
    var labels: String?
    /// The type behind `as`.
    var functionType: String?
  }

  /// Comparisons that sort descriptors know, getters and setters of properties, and functions: these become
  /// `Selector("name:", Type.name)`, which the program can call.
  mutating func rewriteSelector(_ index: Int) {
    let open = index + 1
    guard file.isMark(open, "("), let close = file.closing(open), close > open + 1 else {
      return find(index, "this #selector could not be read; write Selector(\"name:\", Type.name)")
    }
    if file.isMark(open + 2, ":"), ["getter", "setter"].contains(file.text(open + 1)) {
      let words = Array(stride(from: open + 3, to: close, by: 2))
      let isPath = words.allSatisfy { file.tokens[$0].kind == .word }
      if isPath, words.count * 2 - 1 == close - open - 3, let path = checkedPath(words, at: index) {
        let isGetter = file.isWord(open + 1, "getter")
        return replace(tokens: index..<close + 1, isGetter ? "Selector(\(path))" : "Selector(setterOf: \(path))")
      }
    }
    guard let reference = reference(open + 1..<close) else {
      return find(
        index,
        "#selector of this expression needs Objective-C; write Selector(\"name:\", Type.name), or pass a closure")
    }
    let comparing: Set<String> = ["NSString", "String", "NSNumber", "NSDate", "Date"]
    if comparing.contains(reference.typeName), reference.name.lowercased().hasSuffix("compare") {
      return replace(tokens: index..<close + 1, "Selector(\"\(reference.name):\")")
    }
    rewriteFunction(reference, at: index, close: close)
  }

  private mutating func rewriteFunction(_ reference: Reference, at index: Int, close: Int) {
    let enclosing = module.enclosingType(of: index, in: file)
    let isOwn = reference.type.isEmpty || reference.type == "Self"
    guard let type = isOwn ? enclosing : reference.type,
      let owner = isOwn ? enclosing : module.canonical(reference.typeName)
    else {
      return find(index, "the type of this #selector is not stated; write #selector(Type.name)")
    }
    let named = module.functions(reference.name, of: owner)
    let known = named.first { reference.labels == nil || $0.fullName == reference.name + (reference.labels ?? "") }
    if known?.isOfType == true {
      return find(
        index,
        "#selector of a function of a class needs Objective-C; use one of its objects, or pass a closure")
    }
    let selector = known?.selector ?? selectorOfUnknown(reference)
    var function = "\(type).\(quoted(reference.name))\(reference.labels ?? "")"
    // With one function of a name the compiler does not have to choose.
    if reference.labels == nil, named.count == 1, let known { function += known.fullName.drop { $0 != "(" }.nonEmpty }
    // The type of an object's function becomes that of the class's, which has the object as a parameter.
    if let stated = reference.functionType {
      function += reference.type.isEmpty ? " as (\(type)) -> \(stated)" : " as \(stated)"
    }
    let isCallable = (known?.parameters ?? selector.filter { $0 == ":" }.count) < 2
    let text = "Selector(\"\(selector)\", \(isCallable ? "" : "checking: ")\(function))"
    replace(tokens: index..<close + 1, text)
  }

  /// The name in Objective-C of a function that the module's sources do not contain.
  private func selectorOfUnknown(_ reference: Reference) -> String {
    guard let labels = reference.labels?.dropFirst().dropLast() else { return reference.name }
    let names = labels.split(separator: ":").map(String.init)
    return SourceFile.Signature(name: reference.name, labels: names).selector
  }

  private func quoted(_ name: String) -> String { ["init", "self", "default"].contains(name) ? "`\(name)`" : name }

  /// Nil for an expression that is no name of a function.
  private func reference(_ range: Range<Int>) -> Reference? {
    var reference = Reference()
    var end = range.upperBound
    if let index = range.first(where: { file.isWord($0, "as") }) {
      reference.functionType = file.oneLine(index + 1..<range.upperBound)
      end = index
    }
    var index = range.lowerBound
    var start = index
    while index < end, file.tokens[index].kind == .word {
      let word = index
      index += 1
      if file.isMark(index, "<") { index = file.endOfGenerics(index) }
      guard index < end, file.isMark(index, ".") else {
        reference.name = file.name(word)
        index = word + 1
        break
      }
      if file.isWord(word, "self") || file.isWord(word, "super") {
        start = index + 1
      } else if file.name(word).first?.isUppercase != true {
        return nil
      } else {
        reference.type = file.oneLine(start..<index)
        reference.typeName += (reference.typeName.isEmpty ? "" : ".") + file.name(word)
      }
      index += 1
    }
    if index < end, file.isMark(index, "("), let close = file.closing(index), close == end - 1 {
      reference.labels = (index...close).map { file.text($0) }.joined()
      index = close + 1
    }
    return reference.name.isEmpty || index != end ? nil : reference
  }
}

extension Substring {
  /// The text, but nothing for empty parentheses: a function without parameters is named without them.
  fileprivate var nonEmpty: String { self == "()" ? "" : String(self) }
}
