import SourceRewriter
import Testing

/// What is written otherwise with this module and Foundation of other platforms.
@Suite struct FoundationNamesTests {
  private func output(_ text: String) -> String {
    String(decoding: Rewriter([.init(path: "a.swift", text: text)]).outputs[0].bytes, as: UTF8.self)
  }

  /// The rewritten line, behind the line that names the original.
  private func rewritten(_ line: String) -> String {
    let lines = output("import CoreData\n" + line).split(separator: "\n", omittingEmptySubsequences: false)
    return lines.dropFirst(2).joined(separator: "\n")
  }

  @Test(arguments: [
    ("Foundation.ValueTransformer.names()", "CoreData.ValueTransformer.names()"),
    ("var p: Foundation.NSPredicate?", "var p: CoreData.NSPredicate?"), ("Foundation.Date()", "Foundation.Date()"),
    ("x.Foundation", "x.Foundation"),
    ("import class Foundation.NSPredicate", "import CoreData"),
    ("NSClassFromString(name)", "CoreData.ModelClasses.named(name)"),
    ("let f = NSClassFromString", "let f = NSClassFromString"),
    ("Foundation.NSClassFromString(name)", "Foundation.NSClassFromString(name)"),
    ("func NSClassFromString(_ name: String)", "func NSClassFromString(_ name: String)"),
    ("NSStringFromClass(A.self)", "CoreData.ModelClasses.name(of: A.self)"),
    ("x.NSStringFromClass(A.self)", "x.NSStringFromClass(A.self)"),
    ("import class Foundation.Bundle", "import class Foundation.Bundle"),
  ])
  func `classes of Foundation that are here`(_ line: String, _ expected: String) {
    #expect(rewritten(line) == expected)
  }

  @Test(arguments: [
    ("let r = A.fetchRequest() as! NSFetchRequest<A>", "let r = A.fetchRequest() .retyped(as: A.self)"),
    ("r as! NSFetchRequest<any NSFetchRequestResult>", "r .retyped(as: (any NSFetchRequestResult).self)"),
    ("r as! NSFetchRequest<Pair<A, B>>", "r .retyped(as: (Pair<A, B>).self)"),
    ("r as? NSFetchRequest<A>", "r as? NSFetchRequest<A>"), ("r as! NSFetchRequest<A", "r as! NSFetchRequest<A"),
    ("let r: NSFetchRequest<A>", "let r: NSFetchRequest<A>"),
    ("\"r as! NSFetchRequest<A>\"", "\"r as! NSFetchRequest<A>\""),
  ])
  func `casts of fetch requests`(_ line: String, _ expected: String) { #expect(rewritten(line) == expected) }

  @Test(arguments: [
    (
      "let s = student.value(forKey: \"courses\") as? NSMutableSet",
      "let s = student.mutableValue(forKey: \"courses\") as? NSMutableSet"
    ),
    ("value(forKeyPath: a.name) as! NSMutableSet", "mutableValue(forKeyPath: a.name) as! NSMutableSet"),
    ("value(forKey: f(a, b: c)) as! NSMutableOrderedSet", "mutableValue(forKey: f(a, b: c)) as! NSMutableOrderedSet"),
    ("value(forKey: a)! as! NSMutableSet", "mutableValue(forKey: a)! as! NSMutableSet"),
    ("value(forKey: a) as? NSSet", "value(forKey: a) as? NSSet"),
    ("value(forKey: a, in: b) as? NSMutableSet", "value(forKey: a, in: b) as? NSMutableSet"),
    ("value(forKey: a)?.set as? NSMutableSet", "value(forKey: a)?.set as? NSMutableSet"),
    ("super.value(forKey: a) as? NSMutableSet", "super.value(forKey: a) as? NSMutableSet"),
    ("primitiveValue(forKey: a) as? NSMutableSet", "primitiveValue(forKey: a) as? NSMutableSet"),
  ])
  func `values that are cast to sets that can be changed`(_ line: String, _ expected: String) {
    #expect(rewritten(line) == expected)
  }

  @Test(arguments: [
    ("let s: NSSet = [a, [b]]", "let s: NSSet = NSSet(array: [a, [b]])"),
    ("let s: NSMutableSet = []", "let s: NSMutableSet = NSMutableSet(array: [])"),
    ("let s: NSArray = [a]", "let s: NSArray = [a]"), ("let s: NSSet = [a].set", "let s: NSSet = [a].set"),
    ("class A { var s: NSSet? }; a.s = [b]", "class A { var s: NSSet? }; a.s = NSSet(array: [b])"),
    ("class A { var s: [B] }; a.s = [b]", "class A { var s: [B] }; a.s = [b]"),
    (
      "class A { var s: NSSet }; class B { let s = [C] }; a.s = [b]",
      "class A { var s: NSSet }; class B { let s = [C] }; a.s = [b]"
    ),
    ("class A { var s: NSSet }; a.s = [:]", "class A { var s: NSSet }; a.s = [:]"),
    (
      "class A { var s: NSSet }; class B { var s: [B] }; a.s = [b]",
      "class A { var s: NSSet }; class B { var s: [B] }; a.s = [b]"
    ),
  ])
  func `sets of Foundation have no literals`(_ line: String, _ expected: String) {
    #expect(rewritten(line) == expected)
  }

  @Test func `a cast that would be nil is named`() {
    let findings = Rewriter([.init(path: "a.swift", text: "\nlet r = x as? NSFetchRequest<A>")]).findings
    #expect(findings.map(\.line) == [2])
  }

  @Test(arguments: [
    ("b.urls(forResourcesWithExtension: a ? b : c, subdirectory: nil)", true),
    ("b.urls(forResourcesWithExtension: a, subdirectory: nil, localization: nil)", false),
    ("Bundle.urls(forResourcesWithExtension: a, subdirectory: nil, in: c)", false),
  ])
  func `of the functions for several resources one is replaced`(_ line: String, _ isReplaced: Bool) {
    #expect(rewritten(line).split(separator: "\n").first?.contains("resourceURLs(") == isReplaced)
  }

  @Test(arguments: [
    (
      "b.url(forResource: a, withExtension: b, subdirectory: c)",
      "func url(forResource n: Int, withExtension e: Int, subdirectory s: Int) {}"
    ),
    (
      "b.urls(forResourcesWithExtension: a, subdirectory: b)",
      "func urls(forResourcesWithExtension e: Int, subdirectory s: Int) {}"
    ),
    ("NSClassFromString(a)", "func NSClassFromString(_ name: String) -> Int { 1 }"),
    ("NSStringFromClass(A.self)", "func NSStringFromClass(_ type: AnyClass) -> Int { 1 }"),
    ("value(forKey: a) as? NSMutableSet", "func value(forKey key: String) -> Any? { nil }"),
  ])
  func `a function of the module is not replaced`(_ call: String, _ function: String) {
    func text(_ other: String) -> String {
      let sources = [Rewriter.Source(path: "a.swift", text: "let x = \(call)"), .init(path: "b.swift", text: other)]
      return String(decoding: Rewriter(sources).outputs[0].bytes, as: UTF8.self)
    }
    #expect(text("struct Router { \(function) }").contains("let x = \(call)"))
    #expect(!text("struct Router {}").contains("let x = \(call)"))
  }

  @Test func `an override of value(forKey:) is no function of the module, another one is named`() {
    func rewriting(_ member: String) -> Rewriter {
      Rewriter([
        .init(path: "a.swift", text: "\nlet x = value(forKey: a) as? NSMutableSet"),
        .init(path: "b.swift", text: "class Router: Base { \(member)func value(forKey key: String) -> Any? { nil } }"),
      ])
    }
    let (own, inherited) = (rewriting(""), rewriting("override "))
    #expect(own.findings.map(\.line) == [2] && inherited.findings.isEmpty)
    #expect(String(decoding: inherited.outputs[0].bytes, as: UTF8.self).contains("let x = mutableValue(forKey: a)"))
  }

  @Test func `a switch over attribute types without the newer ones`() {
    let cases = "switch type { case .dateAttributeType, .UUIDAttributeType: f(); case .stringAttributeType: return nil "
    #expect(
      rewritten(cases + "}") == cases + "default: fatalError(\"This type of attributes is newer than the switch.\") }")
    #expect(rewritten(cases + "default: g() }") == cases + "default: g() }")
    #expect(rewritten("switch x { case .a: .dateAttributeType }") == "switch x { case .a: .dateAttributeType }")
    let nested = "switch x { case .a: switch y { case .dateAttributeType: f(); default: g() } }"
    #expect(rewritten(nested) == nested)
  }

  @Test(arguments: [
    ("class A: NSObject { @objc dynamic var x = 1 }", "class A: NSObject {   final var x = 1 }"),
    ("class A { @objc public var x: Int? }", "class A {  public final var x: Int? }"),
    ("class A { @objc var x: Int { 1 } }", "class A {  var x: Int { 1 } }"),
    ("class A { @objc open var x: Int }", "class A {  open var x: Int }"),
    ("class A { var x: Int }", "class A { var x: Int }"),
    ("extension A { @objc static var x = 1 }", "extension A {  static var x = 1 }"),
    (
      "class A { @objc var x = 1 }; class B: A { override var x: Int { 2 } }",
      "class A {  var x = 1 }; class B: A { override var x: Int { 2 } }"
    ),
  ])
  func `stored properties that Objective-C sees have names`(_ line: String, _ expected: String) {
    #expect(rewritten(line) == expected)
  }

  @Test func `a file imports Core Data where it imports anything`() {
    #expect(output("import XCTest").hasPrefix("import CoreData\n"))
    #expect(!output("struct A {}").contains("import"))
    #expect(!output("import CoreData").hasPrefix("import CoreData\n"))
  }

  @Test func `modules that only Apple has, with submodules`() {
    let text = output("import os.log\nimport CoreData.NSManagedObject")
    #expect(text.contains("#if canImport(os)\n#sourceLocation(file: \"a.swift\", line: 1)\nimport os\n#endif"))
    #expect(text.contains("\nimport CoreData"))
  }

  @Test(arguments: [
    ("Bundle.main.urls(forResourcesWithExtension: \"cdm\", subdirectory: nil)", "func resourceURLs"),
    ("Bundle.main.url(forResource: a, withExtension: b, subdirectory: c)", "func resourceURL("),
    ("for bundle in Bundle.allBundles {}", "static var allBundles"),
    ("Bundle(identifier: \"a.b\")!", "convenience init?(identifier"),
  ])
  func `members of bundles`(_ line: String, _ expected: String) {
    #expect(rewritten(line).contains("fileprivate " + expected))
    #expect(!rewritten("f()").contains("extension Bundle"))
    #expect(rewritten("extension Bundle { func f() {} }\n" + line).contains("fileprivate " + expected))
    let own =
      "extension Bundle { func url() {}; func urls() {}; static var allBundles: [Bundle]; init(identifier: String) {} }\n"
    #expect(!rewritten(own + line).contains("fileprivate"))
  }
}
