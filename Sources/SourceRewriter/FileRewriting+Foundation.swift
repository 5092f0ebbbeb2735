/// What is written otherwise with this module and Foundation of other platforms.
extension FileRewriting {
  /// Classes that Apple's Foundation has, and for which this module has its own.
  static let classesHere: Set<String> = [
    "NSComparisonPredicate", "NSCompoundPredicate", "NSExpression", "NSPredicate",
    "NSSecureUnarchiveFromDataTransformer",
    "NSSortDescriptor", "NSValueTransformer", "NSValueTransformerName", "ValueTransformer",
  ]

  mutating func rewriteNamesOfFoundation() {
    for index in file.tokens.indices where file.tokens[index].kind == .word {
      rewriteSetLiteral(behind: index)
      switch file.text(index) {
      case "Foundation" where file.isMark(index + 1, ".") && Self.classesHere.contains(file.name(index + 2)):
        replace(file.tokens[index].range, "CoreData")
      case "url"
      where hasLabels(index, ["forResource", "withExtension", "subdirectory"]) && file.isMark(index - 1, "."):
        // The receiver may be a type of the module that has such a function.
        let isOfModule = module.namesakes.contains("url(forResource:withExtension:subdirectory:)")
        if !isOfModule, !file.declares([("url", nil)]) { replace(file.tokens[index].range, "resourceURL") }
      case "urls" where hasLabels(index, ["forResourcesWithExtension", "subdirectory"]) && file.isMark(index - 1, "."):
        // That of Foundation gives NSURL. This one is added to the file.
        let isOfModule = module.namesakes.contains("urls(forResourcesWithExtension:subdirectory:)")
        if !isOfModule, !file.declares([("urls", nil)]) { replace(file.tokens[index].range, "resourceURLs") }
      case "NSClassFromString"
      where file.isMark(index + 1, "(") && !file.isMark(index - 1, ".") && !file.isWord(index - 1, "func"):
        // A function of the module is one of its own.
        if !module.namesakes.contains(where: { $0.hasPrefix("NSClassFromString(") }) {
          replace(file.tokens[index].range, "CoreData.ModelClasses.named")
        }
      case "NSStringFromClass"
      where file.isMark(index + 1, "(") && !file.isMark(index - 1, ".") && !file.isWord(index - 1, "func"):
        if !module.namesakes.contains(where: { $0.hasPrefix("NSStringFromClass(") }) {
          replace(tokens: index..<index + 2, "CoreData.ModelClasses.name(of: ")
        }
      case "NSFetchRequest": rewriteCast(index)
      case "value" where hasLabels(index, ["forKey"]) || hasLabels(index, ["forKeyPath"]): rewriteCastOfValue(index)
      case "switch": completeSwitch(index)
      default: break
      }
    }
  }

  /// Whether a call has these labels and no others.
  private func hasLabels(_ index: Int, _ labels: [String]) -> Bool {
    guard file.isMark(index + 1, "("), let close = file.closing(index + 1) else { return false }
    var (found, token): ([String], Int) = ([], index + 2)
    while token < close, found.count <= labels.count {
      // Of `a ? b : c` the second part begins behind no bracket or comma.
      if file.isMark(token + 1, ":"), file.isMark(token - 1, "(") || file.isMark(token - 1, ",") {
        found.append(file.name(token))
      }
      token = (file.closing(token) ?? token) + 1
    }
    return found == labels
  }

  /// `request as! NSFetchRequest<Student>` becomes `request.retyped(as: Student.self)`: a generic class of Swift cannot
  /// be cast so.
  private mutating func rewriteCast(_ index: Int) {
    if file.isWord(index - 2, "as"), file.isMark(index - 1, "?"), file.isMark(index + 1, "<") {
      find(index, "a cast of a fetch request to another type of results is nil; write .retyped(as: Type.self)")
    }
    guard file.isWord(index - 2, "as"), file.isMark(index - 1, "!"), file.isMark(index + 1, "<") else { return }
    // A list of type arguments of one request is short.
    var depth = 0
    for end in index + 1..<min(index + 64, file.tokens.count) {
      if file.isMark(end, "<") { depth += 1 }
      if file.isMark(end, ">"), !file.isMark(end - 1, "-") { depth -= 1 }
      guard depth == 0 else { continue }
      let type = file.oneLine(index + 2..<end)
      let metatype = type.allSatisfy { $0.isLetter || $0.isNumber || "._".contains($0) } ? type : "(\(type))"
      return replace(tokens: index - 2..<end + 1, ".retyped(as: \(metatype).self)")
    }
  }

  /// `value(forKey: "courses") as? NSMutableSet` becomes `mutableValue(forKey: "courses") as? NSMutableSet`: the value
  /// of a relationship can be changed on Apple's platforms, and is an `NSSet` here.
  private mutating func rewriteCastOfValue(_ index: Int) {
    // In an override, `super.mutableValue(forKey:)` would call the override again.
    guard !file.isWord(index - 2, "super"), var cast = file.closing(index + 1).map({ $0 + 1 }) else { return }
    if file.isMark(cast, "!") { cast += 1 }
    guard file.isWord(cast, "as"), file.isMark(cast + 1, "?") || file.isMark(cast + 1, "!"),
      ["NSMutableSet", "NSMutableOrderedSet"].contains(file.text(cast + 2))
    else { return }
    if module.namesakes.contains("value(\(file.name(index + 2)):)") {
      let function = file.text(cast + 2) == "NSMutableSet" ? "mutableSetValue" : "mutableOrderedSetValue"
      return find(
        index,
        "if this is the value of a relationship, it cannot be changed; write \(function)(\(file.name(index + 2)):)")
    }
    replace(file.tokens[index].range, "mutableValue")
  }

  /// `student.courses = [a, b]` and `let courses: NSSet = [a, b]`: Foundation's sets have no literals on other
  /// platforms.
  private mutating func rewriteSetLiteral(behind index: Int) {
    guard file.isMark(index + 1, "="), file.isMark(index + 2, "["), let close = file.closing(index + 2) else { return }
    let isStated = file.isMark(index - 1, ":") && ["NSSet", "NSMutableSet"].contains(file.text(index))
    guard isStated || file.isMark(index - 1, ".") && module.isSet(file.name(index)) else { return }
    // A dictionary, as in `= [:]`.
    if file.isMark(index + 3, ":") { return }
    // `= [a, b].sorted()` is no literal.
    if close + 1 < file.tokens.count, file.isMark(close + 1, ".") || file.isMark(close + 1, "[") { return }
    let type = file.text(index) == "NSMutableSet" ? "NSMutableSet" : "NSSet"
    insert("\(type)(array: ", at: file.tokens[index + 2].range.lowerBound)
    insert(")", at: file.tokens[close].range.upperBound)
  }

  /// The cases of `NSAttributeType`.
  private static let attributeTypes: Set<String> = [
    "undefinedAttributeType", "integer16AttributeType", "integer32AttributeType", "integer64AttributeType",
    "decimalAttributeType", "doubleAttributeType", "floatAttributeType", "stringAttributeType", "booleanAttributeType",
    "dateAttributeType", "binaryDataAttributeType", "UUIDAttributeType", "URIAttributeType",
    "transformableAttributeType", "objectIDAttributeType", "compositeAttributeType",
  ]

  /// A switch over `NSAttributeType` without the newer cases and without `default` is an error for an enumeration that
  /// is not one of Objective-C. There, a value that no case has stops the program.
  private mutating func completeSwitch(_ index: Int) {
    // An operand has no brace outside of brackets.
    var open = index + 1
    while open < min(index + 32, file.tokens.count), !file.isMark(open, "{") { open = (file.closing(open) ?? open) + 1 }
    guard file.isMark(open, "{"), let close = file.closing(open) else { return }
    var named: Set<String> = []
    var token = open + 1
    var isCase = false
    while token < close {
      if file.isWord(token, "default") || file.isWord(token, "where") { return }
      if file.isWord(token, "case") { isCase = true }
      if file.isMark(token, ":") { isCase = false }
      if isCase, file.isMark(token - 1, "."), Self.attributeTypes.contains(file.name(token)) {
        named.insert(file.name(token))
      }
      token = (file.closing(token) ?? token) + 1
    }
    guard !named.isEmpty, named != Self.attributeTypes else { return }
    insert(
      "default: fatalError(\"This type of attributes is newer than the switch.\") ",
      at: file.tokens[close].range.lowerBound)
  }

  /// A property that Objective-C sees has a name for key-value coding. Where there is no Objective-C, Swift tells the
  /// names of stored properties that are final.
  mutating func rewriteStoredProperty(_ declaration: Declaration) {
    guard declaration.attribute("objc") != nil || declaration.has("dynamic"), let owner = owner(of: declaration),
      owner.kind == .class, !["open", "override", "final", "static", "class"].contains(where: declaration.has)
    else { return }
    let name = declaration.keywordIndex + 1
    guard file.isMark(name + 1, ":") || file.isMark(name + 1, "="),
      !module.isOverridden(file.name(name), of: owner.name)
    else { return }
    if file.isMark(name + 1, ":") {
      let end = file.endOfType(name + 2)
      if file.isMark(end, "{") { return }
    }
    insert("final ", at: file.tokens[declaration.keywordIndex].range.lowerBound)
  }
}
