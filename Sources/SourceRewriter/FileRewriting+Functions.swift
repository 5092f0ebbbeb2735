/// `@NSManaged` functions: those that Core Data makes for to-many relationships.
extension FileRewriting {
  /// Gives a function a body: `public func addToItems(_ value: Item) { add(value, to: Self._members_items) }`.
  mutating func rewriteManagedFunction(_ declaration: Declaration, _ attribute: Declaration.Attribute) {
    guard let owner = owner(of: declaration), let signature = file.signature(declaration) else {
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
    let isMoved = isOverriddenMember(declaration, named: signature.fullName, of: owner)
    if !isMoved { replace(tokens: attribute.tokens, "") }
    let key = module.property(named: accessor.name, of: owner.name)
    let isGeneric = module.isGeneric(owner.name)
    // One for each function, because functions may be in different branches of a condition.
    let member = "_members_\(accessor.operation)_\(key)"
    let subject = isGeneric ? "ManagedProperty<Any>(\"\(key)\")" : "Self.\(member)"
    var text = " { \(accessor.body(signature.parameters, subject)) }"
    if !isGeneric { text += "; nonisolated private static let \(member) = ManagedProperty<Any>(\"\(key)\")" }
    if isMoved {
      let header = file.oneLine(declaration.keywordIndex..<signature.end)
      return moveManaged(declaration, owner, header + text, end: signature.end)
    }
    insert(text, at: file.tokens[signature.end - 1].range.upperBound)
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
