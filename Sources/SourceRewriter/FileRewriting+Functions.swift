/// `@NSManaged` functions: those that Core Data makes for to-many relationships.
extension FileRewriting {
  /// Gives a function a body: `public func addToItems(_ value: Item) { add(value, to: Self._members_items) }`.
  mutating func rewriteManagedFunction(_ declaration: Declaration, _ attribute: Declaration.Attribute) {
    guard let owner = owner(of: declaration), let signature = signature(declaration) else {
      return find(declaration.keywordIndex, "this @NSManaged function could not be read; give it a body")
    }
    let stated = file.objectiveCName(declaration)
    let selector = stated ?? signature.selector
    let accessor =
      (stated == nil ? ToManySelector(swiftName: signature.name, signature.labels) : nil) ?? ToManySelector(selector)
    guard let accessor, accessor.parameters == signature.parameters.count else {
      return find(
        declaration.keywordIndex,
        """
        Core Data has no accessor \(selector), so the function needs a body; those that it makes are add, remove, insert, \
        replace and intersect of a to-many relationship
        """)
    }
    replace(tokens: attribute.tokens, "")
    let key = module.property(named: accessor.name, of: owner.name)
    let isGeneric = module.isGeneric(owner.name)
    // One for each function, because functions may be in different branches of a condition.
    let member = "_members_\(accessor.operation)_\(key)"
    let subject = isGeneric ? "ManagedProperty<Any>(\"\(key)\")" : "Self.\(member)"
    var text = " { \(accessor.body(signature.parameters, subject)) }"
    if !isGeneric { text += "; nonisolated private static let \(member) = ManagedProperty<Any>(\"\(key)\")" }
    insert(text, at: file.tokens[signature.end - 1].range.upperBound)
  }

  /// The signature of a function.
  struct Signature {
    /// The name in Swift.
    var name: String
    var nameIndex: Int
    /// The labels, `_` for none.
    var labels: [String]
    /// The names of the parameters in the body.
    var parameters: [String]
    /// Whether each parameter is `inout`.
    var isInout: [Bool]
    /// The token behind the signature: that of the brace, where there is one.
    var end: Int
    var isAsync = false
    var isThrowing = false
    /// The name in Objective-C where none is stated.
    var selector: String {
      guard let first = labels.first else { return name }
      let prepositions = ["with", "for", "from", "in", "at", "of", "to", "by", "on", "as", "into", "using"]
      let isPreposition = prepositions.contains {
        first == $0 || first.hasPrefix($0) && first.dropFirst($0.count).first?.isUppercase == true
      }
      let joined = first == "_" ? "" : (isPreposition ? "" : "With") + first.prefix(1).uppercased() + first.dropFirst()
      return name + joined + ":" + labels.dropFirst().map { ($0 == "_" ? "" : $0) + ":" }.joined()
    }
  }

  func signature(_ declaration: Declaration) -> Signature? {
    let nameIndex = declaration.keywordIndex + 1
    guard file.tokens.indices.contains(nameIndex), file.tokens[nameIndex].kind == .word else { return nil }
    var index = nameIndex + 1
    if file.isMark(index, "<") { index = endOfGenerics(index) }
    guard file.isMark(index, "("), let close = file.closing(index) else { return nil }
    var signature = Signature(
      name: file.name(nameIndex), nameIndex: nameIndex, labels: [], parameters: [], isInout: [], end: close + 1)
    for part in parts(index + 1..<close) {
      let words = Array(part.prefix { !file.isMark($0, ":") }).filter { file.tokens[$0].kind == .word }
      guard let first = words.first, let last = words.last else { return nil }
      signature.labels.append(file.name(first))
      signature.parameters.append(file.text(last))
      signature.isInout.append(part.contains { file.isWord($0, "inout") })
    }
    // Effects, the result and conditions.
    index = close + 1
    while index < file.tokens.count, !file.isMark(index, "{"), !file.isMark(index, "}"), !file.isMark(index, ";") {
      let isEffect = ["async", "throws", "rethrows", "where"].contains(file.text(index))
      if file.isMark(index, "-") || file.text(index) == "where" {
        let start = file.isMark(index, "-") ? index + 2 : index + 1
        index = max(file.endOfType(start), index + 1)
      } else if isEffect {
        signature.isAsync = signature.isAsync || file.isWord(index, "async")
        signature.isThrowing = signature.isThrowing || file.text(index).hasSuffix("throws")
        index += 1
        if file.isMark(index, "("), let end = file.closing(index) { index = end + 1 }
      } else {
        break
      }
      signature.end = index
    }
    return signature
  }

  private func endOfGenerics(_ start: Int) -> Int {
    var (index, depth) = (start, 0)
    while index < min(file.tokens.count, start + 2000) {
      if file.isMark(index, "<") { depth += 1 }
      if file.isMark(index, ">"), !file.isMark(index - 1, "-") { depth -= 1 }
      index += 1
      if depth == 0 { return index }
    }
    return index
  }

  /// The parts between commas that are in no bracket.
  func parts(_ range: Range<Int>) -> [Range<Int>] {
    var result: [Range<Int>] = []
    var (start, index, depth) = (range.lowerBound, range.lowerBound, 0)
    while index < range.upperBound {
      if let close = file.closing(index) {
        index = close
      } else if file.isMark(index, "<") {
        depth += 1
      } else if file.isMark(index, ">"), !file.isMark(index - 1, "-") {
        depth -= 1
      } else if depth <= 0, file.isMark(index, ",") {
        result.append(start..<index)
        start = index + 1
      }
      index += 1
    }
    if start < range.upperBound { result.append(start..<range.upperBound) }
    return result
  }
}

/// A function of a to-many relationship by its name in Objective-C
/// ([Accessor Search Patterns](https://developer.apple.com/library/archive/documentation/Cocoa/Conceptual/KeyValueCoding/SearchImplementation.html)).
struct ToManySelector {
  enum Operation {
    case add, remove, addAll, removeAll, intersect, insert, removeAt, insertAll, removeAtAll, replace, replaceAll
  }

  var operation: Operation
  /// The name of the relationship as it is in the selector, with its first letter in upper case.
  var name: String

  private static let patterns: [(prefix: String, suffix: String, operation: Operation)] = [
    ("insertObject:in", "AtIndex:", .insert), ("removeObjectFrom", "AtIndex:", .removeAt),
    ("replaceObjectIn", "AtIndex:withObject:", .replace), ("insert", ":atIndexes:", .insertAll),
    ("remove", "AtIndexes:", .removeAtAll), ("add", "Object:", .add), ("remove", "Object:", .remove),
    ("intersect", ":", .intersect), ("add", ":", .addAll), ("remove", ":", .removeAll),
  ]

  /// Nil for a name that Core Data has no function for.
  init?(_ selector: String) {
    for pattern in Self.patterns where selector.hasPrefix(pattern.prefix) && selector.hasSuffix(pattern.suffix) {
      let name = selector.dropFirst(pattern.prefix.count).dropLast(pattern.suffix.count)
      guard selector.count > pattern.prefix.count + pattern.suffix.count, !name.contains(":"),
        name.first?.isUppercase == true || name.first == "_"
      else { continue }
      (operation, self.name) = (pattern.operation, String(name))
      return
    }
    // replaceItemsAtIndexes:withItems:
    guard selector.hasPrefix("replace"), let end = selector.range(of: "AtIndexes:with") else { return nil }
    let name = String(selector[selector.index(selector.startIndex, offsetBy: 7)..<end.lowerBound])
    guard !name.isEmpty, selector == "replace\(name)AtIndexes:with\(name):" else { return nil }
    (operation, self.name) = (.replaceAll, name)
  }

  /// The names that Xcode gives such functions in Swift, where the name in Objective-C is not stated.
  init?(swiftName: String, _ labels: [String]) {
    for (prefix, operation) in [("addTo", Operation.add), ("removeFrom", .remove)]
    where swiftName.hasPrefix(prefix) && labels == ["_"] && swiftName.dropFirst(prefix.count).first?.isUppercase == true
    {
      (self.operation, name) = (operation, String(swiftName.dropFirst(prefix.count)))
      return
    }
    return nil
  }

  var parameters: Int {
    switch operation {
    case .insert, .insertAll, .replace, .replaceAll: 2
    default: 1
    }
  }

  /// The body of the function. `parameters` are their names, `key` the expression of the relationship's key.
  func body(_ parameters: [String], _ key: String) -> String {
    let first = parameters[0]
    let second = parameters.last ?? first
    switch operation {
    case .add: return "add(\(first), to: \(key))"
    case .remove: return "remove(\(first), from: \(key))"
    case .addAll: return "add(contentsOf: \(first), to: \(key))"
    case .removeAll: return "remove(contentsOf: \(first), from: \(key))"
    case .intersect: return "intersect(\(key), with: \(first))"
    case .insert: return "insert(\(first), into: \(key), at: \(second))"
    case .insertAll: return "insert(contentsOf: \(first), into: \(key), at: \(second))"
    case .removeAt: return "remove(at: \(first), from: \(key))"
    case .removeAtAll: return "remove(at: \(first), from: \(key))"
    case .replace: return "replace(at: \(first), in: \(key), with: \(second))"
    case .replaceAll: return "replace(at: \(first), in: \(key), withContentsOf: \(second))"
    }
  }
}

extension String {
  /// The first occurrence of a text.
  fileprivate func range(of text: String) -> Range<Index>? { firstRange(of: text) }
}
