/// The changes of one file.
struct FileRewriting {
  let file: SourceFile
  let module: ModuleClasses
  let index: Int
  var changes: [Rewriter.Change] = []
  var findings: [Rewriter.Finding] = []

  init(_ file: SourceFile, module: ModuleClasses, file index: Int) {
    (self.file, self.module, self.index) = (file, module, index)
  }

  mutating func run() {
    // Attributes of whatever kind of declaration, in conditional parts too.
    for index in file.tokens.indices where file.tokens[index].kind == .attribute { removeAttribute(index) }
    for declaration in file.declarations { rewrite(declaration) }
    for body in file.types where body.kind == .protocol { rewriteProtocol(body) }
    rewriteExpressions()
    rewriteNamesOfFoundation()
    findUnread()
  }

  /// An `@NSManaged` that stays would fail when the program is linked, without a line.
  private mutating func findUnread() {
    let changed = Set(changes.map(\.range.lowerBound))
    let reported = Set(findings.map(\.line))
    for (index, token) in file.tokens.enumerated() where token.kind == .attribute && file.text(index) == "@NSManaged" {
      if changed.contains(token.range.lowerBound) || reported.contains(token.line) { continue }
      find(index, "this @NSManaged member could not be read; write it as a member of a class, or give it a body")
    }
  }

  mutating func replace(_ range: Range<Int>, _ text: String) {
    // Line ends of the original that the text does not have stay behind it.
    let lines = file.bytes[range].count { $0 == UInt8(ascii: "\n") } - text.utf8.count { $0 == UInt8(ascii: "\n") }
    changes.append(.init(range: range, text: text + String(repeating: "\n", count: max(0, lines))))
  }

  mutating func replace(tokens range: Range<Int>, _ text: String) {
    guard let first = range.first, let last = range.last else { return }
    replace(file.tokens[first].range.lowerBound..<file.tokens[last].range.upperBound, text)
  }

  mutating func insert(_ text: String, at offset: Int) { changes.append(.init(range: offset..<offset, text: text)) }

  mutating func find(_ token: Int, _ message: String) {
    let line = file.tokens.indices.contains(token) ? file.tokens[token].line : 1
    if file.skipped.contains(line) { return }
    findings.append(.init(path: file.path, line: line, message: message))
  }

  // MARK: Attributes

  private static let removed: Set<String> = ["@objc", "@objcMembers"]

  private mutating func removeAttribute(_ index: Int) {
    guard Self.removed.contains(file.text(index)) else { return }
    var end = index + 1
    if file.isMark(end, "("), let close = file.closing(end) { end = close + 1 }
    replace(tokens: index..<end, "")
  }

  // MARK: Declarations

  private mutating func rewrite(_ declaration: Declaration) {
    for modifier in declaration.modifiers where modifier.name == "dynamic" { replace(tokens: modifier.tokens, "") }
    switch declaration.keyword {
    case "import": rewriteImport(declaration)
    case "var":
      if let attribute = declaration.attribute("NSManaged") {
        rewriteManagedVariable(declaration, attribute)
      } else {
        rewriteOverride(declaration)
        moveOverridden(declaration)
        listAccessor(declaration)
        rewriteStoredProperty(declaration)
      }
    case "func":
      if let attribute = declaration.attribute("NSManaged") {
        rewriteManagedFunction(declaration, attribute)
      } else {
        rewriteOverride(declaration)
        moveOverridden(declaration)
        listValidation(declaration)
        listFunction(declaration)
      }
    case "let": listAccessor(declaration)
    case "init", "subscript": rewriteOverride(declaration)
    case "class", "extension": rewriteIsolation(declaration)
    default: break
    }
  }

  /// The type of a member. An extension has the name that the declaration of its class has.
  func owner(of declaration: Declaration) -> TypeBody? {
    guard var type = declaration.owner.map({ file.types[$0] }) else { return nil }
    type.name = module.canonical(type.name)
    return type
  }

  /// A class of managed objects is of no actor, as its superclass is, also where the module's classes are of the main
  /// actor unless stated otherwise: its initializers could not override those of the superclass. So is an extension
  /// with members that the class calls or that have bodies now.
  private mutating func rewriteIsolation(_ declaration: Declaration) {
    guard let type = file.typesByKeyword[declaration.keywordIndex], module.isManaged(file.types[type].name),
      !declaration.has("nonisolated"), !module.isIsolated(file.types[type].name),
      !declaration.attributes.contains(where: { $0.name.hasSuffix("Actor") })
    else { return }
    if declaration.keyword == "extension" {
      let members = file.members[type] ?? []
      guard members.contains(where: { $0.attribute("NSManaged") != nil || $0.has("override") }) else { return }
    }
    insert("nonisolated ", at: file.tokens[declaration.keywordIndex].range.lowerBound)
  }

  // MARK: Protocols

  /// A protocol of Objective-C is for classes, and may have requirements that are optional.
  private mutating func rewriteProtocol(_ body: TypeBody) {
    guard body.attributes.contains("objc") else { return }
    let classes: Set<String> = ["AnyObject", "class", "NSObjectProtocol", "NSFetchRequestResult"]
    if !body.inherited.contains(where: classes.contains) {
      insert(body.inherited.isEmpty ? ": AnyObject" : " AnyObject,", at: body.inheritanceOffset)
    }
    for declaration in file.typesByKeyword[body.keyword].flatMap({ file.members[$0] }) ?? []
    where declaration.has("optional") {
      find(
        declaration.keywordIndex,
        """
        an optional requirement of a protocol needs Objective-C; write \(file.name(declaration.keywordIndex + 1)) as a \
        requirement, with an extension of the protocol that has a default
        """)
    }
  }

  // MARK: Imports

  /// Whether the import is in a branch that is compiled only where there is the module, or never here.
  private func isChecked(_ declaration: Declaration, _ module: String) -> Bool {
    file.skipped.contains(file.tokens[declaration.keywordIndex].line)
      || declaration.conditions.contains { $0.directives.last?.contains("canImport(\(module))") == true }
  }

  /// `import UIKit` is compiled only where there is such a module; `import class CoreData.X` becomes `import CoreData`.
  private mutating func rewriteImport(_ declaration: Declaration) {
    var index = declaration.keywordIndex + 1
    let kinds: Set<String> = ["class", "struct", "enum", "protocol", "func", "typealias", "let", "var"]
    if kinds.contains(file.text(index)) { index += 1 }
    let name = file.name(index)
    var end = index + 1
    while file.isMark(end, "."), !file.tokens[end].isFirstOnLine { end += 2 }
    end = min(end, file.tokens.count)
    let isDetailed = end > declaration.keywordIndex + 2
    if name == "CoreData" || name == "Foundation" && Self.classesHere.contains(file.name(end - 1)), isDetailed {
      return replace(tokens: declaration.keywordIndex..<end, "import CoreData")
    }
    // Foundation's headers are submodules on Apple's platforms only.
    if name == "Foundation", index == declaration.keywordIndex + 1, end > index + 1 {
      return replace(tokens: declaration.keywordIndex..<end, "import Foundation")
    }
    guard Rewriter.absentModules.contains(name) else { return }
    // What stands in for such a module here has no submodules.
    if isDetailed { replace(tokens: declaration.keywordIndex..<end, "import \(name)") }
    guard !isChecked(declaration, name) else { return }
    if file.isMark(end, ";"), !file.tokens[end].isFirstOnLine { end += 1 }
    let line = file.tokens[declaration.start].line
    let first = file.tokens[declaration.start].range.lowerBound
    // The directive needs a line of its own, so the lines are counted anew behind it.
    insert("\n#if canImport(\(name))\n\(file.location(line))\n", at: first)
    insert("\n#endif\n\(file.location(file.tokens[end - 1].line))\n", at: file.tokens[end - 1].range.upperBound)
  }
}
