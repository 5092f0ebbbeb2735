import SourceRewriter
import Testing

/// Members that subclasses override, selectors, and branches of conditions.
@Suite struct OverridesAndSelectorsTests {
  /// The rewritten first source, without the lines that name the originals.
  private func rewritten(_ text: String, _ others: String...) -> String {
    let sources = ([text] + others).enumerated().map { Rewriter.Source(path: "\($0.offset).swift", text: $0.element) }
    return String(decoding: Rewriter(sources).outputs[0].bytes, as: UTF8.self)
      .split(separator: "\n", omittingEmptySubsequences: false)
      .filter { !$0.hasPrefix("#sourceLocation") && $0 != "import CoreData" }.joined(separator: "\n")
  }

  private func findings(_ texts: String...) -> [String] {
    Rewriter(texts.enumerated().map { .init(path: "\($0.offset).swift", text: $0.element) }).findings.map { "\($0)" }
  }

  // MARK: Overrides

  @Test func `a member of an extension that a subclass overrides is declared in the class`() {
    let text = rewritten(
      """
      class A: B {
      }
      extension A {
        @objc func f(_ x: Int, at y: Int = 2) throws -> Int { x }
        @objc public class func g() {}
        @objc var v: Int { get { 1 } set { } }
        @objc func other(_ x: Int) {}
        private func h() {}
        @nonobjc func i() {}
      }
      """,
      """
      class C: A {
        override func f(_ x: Int, at y: Int) throws -> Int { 2 }
        override class func g() {}
        override var v: Int { get { 2 } set { } }
        override func other(_ x: Int, y: Int) {}
        override func h() {}
        override func i() {}
      }
      """)
    let expected = """
       func f(_ x: Int, at y: Int = 2) throws -> Int { try _extension_A_f(x, at: y) }; \
      public class func g() { _extension_A_g() }; \
      var v: Int { get { _extension_A_v } set { _extension_A_v = newValue } } }
      """
    #expect(text.hasPrefix("class A: B {\n" + expected))
    #expect(text.contains("func _extension_A_f(_ x: Int, at y: Int = 2) throws -> Int { x }"))
    #expect(text.contains("func other(_ x: Int) {}") && text.contains("func h() {}") && text.contains("func i() {}"))
  }

  @Test func `a managed member of an extension that a subclass overrides moves into the class`() {
    let text = rewritten(
      """
      class A: NSManagedObject {
      }
      public extension A {
        @objc(other) @NSManaged
        var x: Int?
        @NSManaged func addToItems(_ value: A)
      }
      class B: A {
        override var x: Int? { get { 1 } set {} }
        override func addToItems(_ value: A) {}
      }
      """)
    #expect(
      text.contains(
        "class A: NSManagedObject {\n public var x: Int? { get { value(of: Self._key_other) } set { setValue(newValue, of: "
      ))
    #expect(text.contains("; public func addToItems(_ value: A) { add(value, to: Self._members_add_items) }; "))
    #expect(text.contains("extension A {\n  \n\n  \n}"))
  }

  @Test func `an override of what an extension of another module's class declares is named`() {
    let found = findings(
      "extension NSManagedObjectContext {\n @objc func f() {}\n}\n"
        + "class Mock: NSManagedObjectContext { override func f() {} }")
    #expect(found.count == 1 && found[0].hasPrefix("0.swift:2: warning: a subclass overrides this member"))
  }

  @Test func `a default argument of an override is looked up in its own file`() {
    let text = rewritten(
      "class A: B {\n}\npublic extension A { override func f(_ x: Int = hidden, y: Int = 1, z: Line = #line) {} }\n"
        + "private let hidden = 1")
    #expect(text.contains("@usableFromInline static func _default0_"))
    #expect(text.contains("() -> Int { hidden }; "))
    #expect(text.contains("public override func f(_ x: Int = A._default0_"))
    #expect(text.contains("y: Int = 1, z: Line = #line) { _extension_A_f(x, y: y, z: z) }"))
    #expect(findings("class A: B {\n}\nextension A { override func f(_ x: String = #keyPath(A.x)) {} }").count == 1)
  }

  @Test func `extensions of type aliases and with the module's name`() {
    let text = rewritten(
      "enum Outer { class A: NSManagedObject {\n} }\ntypealias Alias = Outer.A\n"
        + "extension Alias { override func f() {} }\nextension Module.Outer.A { override func g() {} }")
    #expect(text.contains("override func f() { _extension_Outer_A_f() }; override func g() { _extension_Outer_A_g() }"))
  }

  // MARK: Conditions

  @Test func `members within conditions are in the same conditions in the class`() {
    let text = rewritten(
      """
      class A: NSManagedObject {
      }
      #if X
      extension A {
        #if Y
        #elseif Z(1)
        override func f() {}
        #endif
        override func g() {}
      }
      #endif
      """)
    #expect(
      text.contains(
        """

        #if X
        #if Y
        #elseif Z(1)
        override func f() { _extension_A_f() }
        #endif
        #endif

        #if X
        override func g() { _extension_A_g() }
        #endif
        }
        """))
    let keys = rewritten("class A: NSManagedObject {\n#if X\n@objc var x: Int { 1 }\n#endif\n@objc var y: Int { 1 }\n}")
    #expect(
      keys.contains("super.keyValueMethods.accessor(\"y\", \\A.y)\n#if X\n.accessor(\"x\", \\A.x)\n#endif\n }"))
  }

  @Test(arguments: [
    "#if os(macOS)", "#if os(iOS) || os(tvOS)", "#if canImport(UIKit) && X", "#if !(!canImport(ObjectiveC))",
    "#if compiler(<5.5)", "#if swift(<4)", "#if false", "#if X\n#elseif targetEnvironment(simulator)",
    "#if swift(>=4)\n#else", "#if os(macOS)\n#elseif compiler(>=5)\n#elseif Y",
  ])
  func `branches that are never compiled may contain anything`(_ condition: String) {
    let text =
      "class A: NSManagedObject {\n\(condition)\n} } @NSManaged var\n#selector(\n#endif\n@NSManaged var x: Int\n}"
    #expect(findings(text).isEmpty)
    #expect(rewritten(text).contains("ManagedProperty<Int>(\"x\")"))
  }

  @Test(arguments: [
    "#if os(Linux)", "#if X", "#if os(macOS) || X", "#if !os(macOS)", "#if canImport(Combine)", "#if swift(>=6)",
    "#if os(macOS)\n#else", "#if X\n#else", "#if os(macOS) + 1", "#if compiler(>=5)",
  ])
  func `branches that may be compiled are read`(_ condition: String) {
    #expect(findings("class A: NSManagedObject {\n\(condition)\n@NSManaged var\n#endif\n}").count == 1)
  }

  // MARK: Selectors

  @Test(arguments: [
    ("#selector(A.f(_:))", "Selector(\"f:\", A.f(_:))"), ("#selector(A.f)", "Selector(\"f:\", A.f(_:))"),
    ("#selector(f(_:))", "Selector(\"f:\", A.f(_:))"), ("#selector(self.g)", "Selector(\"g\", A.g)"),
    ("#selector(h(to:))", "Selector(\"other:\", A.h(to:))"), ("#selector(Self.g)", "Selector(\"g\", A.g)"),
    ("#selector(i(_:with:))", "Selector(\"i:with:\", checking: A.i(_:with:))"),
    ("#selector(Other<Int>.run(at:))", "Selector(\"runAt:\", Other<Int>.run(at:))"),
    ("#selector(f(_:) as (Int) -> Void)", "Selector(\"f:\", A.f(_:) as (A) -> (Int) -> Void)"),
    ("#selector(A.f as (A) -> (Int) -> Void)", "Selector(\"f:\", A.f(_:) as (A) -> (Int) -> Void)"),
    ("#selector(Outer.B.unknown)", "Selector(\"unknown\", Outer.B.unknown)"),
    ("#selector(NSNumber.compare(_:))", "Selector(\"compare:\")"),
  ])
  func `selectors of functions have the function`(_ text: String, _ expected: String) {
    let functions =
      "@objc func f(_ n: Int) {}; @objc func g() {}; @objc(other:) func h(to: Int) {}; func i(_ a: Int, with b: Int) {}"
    #expect(rewritten("class A: NSObject { \(functions)\nlet s = \(text) }").hasSuffix("let s = \(expected) }"))
  }

  @Test(arguments: [
    ("let s = #selector(f(_:))", "the type of this #selector is not stated"),
    ("let s = #selector(object.f(_:))", "needs Objective-C"), ("let s = #selector()", "could not be read"),
    ("class A { @objc static func f() {}\nlet s = #selector(A.f) }", "function of a class"),
  ])
  func `what is no function of objects is named`(_ text: String, _ expected: String) {
    #expect(findings(text).first?.contains(expected) == true)
  }

  // MARK: What key-value coding finds

  @Test func `functions, constants and what protocols require are listed`() {
    let text = rewritten(
      """
      class A: NSManagedObject, P {
        @objc func f() -> Int { 1 }
        @objc(other) func g() -> Int { 1 }
        @objc func h() {}
        @objc func i(_ x: Int) -> Int { 1 }
        @objc func j() throws -> Int { 1 }
        @objc let k = 1
        @available(*, unavailable) @objc func l() -> Int { 1 }
        var required: Int { 1 }
        func inherited() -> Int { 1 }
        var notRequired: Int { 1 }
      }
      @objc protocol P: Q { var required: Int { get } }
      @objc protocol Q { func inherited() -> Int }
      """)
    let expected = """
      super.keyValueMethods.accessor("f", get: { (object: A) in object.f() })\
      .accessor("other", get: { (object: A) in object.g() }).accessor("k", \\A.k).accessor("required", \\A.required)\
      .accessor("inherited", get: { (object: A) in object.inherited() }) }
      """
    #expect(text.contains(expected))
  }

  // MARK: Files

  @Test func `imports in branches of their own stay, and submodules of Foundation are imports of it`() {
    let text = rewritten("#if canImport(UIKit)\nimport UIKit\n#endif\nimport SwiftUI\nimport Foundation.NSDate\n")
    #expect(text.hasPrefix("#if canImport(UIKit)\nimport UIKit\n#endif\n\n#if canImport(SwiftUI)\n"))
    #expect(text.hasSuffix("import Foundation\n"))
    let other = rewritten("import UIKit\n#if canImport(UIKit)\nlet a = 1\n#endif")
    #expect(other.hasPrefix("\n#if canImport(UIKit)\nimport UIKit\n#endif\n"))
  }

  @Test func `an attribute and its arguments may be apart`() {
    #expect(rewritten("class A { @objc  (name) func f() {} }") == "class A {  func f() {} }")
  }
}
