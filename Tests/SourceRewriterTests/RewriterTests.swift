import Foundation
import SourceRewriter
import Testing

/// The forms of rewritten members.
@Suite struct RewriterTests {
  /// The rewritten text without the line that names the original, and without `nonisolated` before types.
  private func rewritten(_ text: String, _ others: String...) -> String {
    let sources = ([text] + others).enumerated().map { Rewriter.Source(path: "\($0.offset).swift", text: $0.element) }
    let bytes = Rewriter(sources).outputs[0].bytes
    return String(
      String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        .drop { $0.hasPrefix("#sourceLocation") || $0 == "import CoreData" }.joined(separator: "\n")
        .replacing("nonisolated class", with: "class").replacing("nonisolated extension", with: "extension"))
  }

  @Test func `classes of managed objects are of no actor`() {
    func text(_ source: String) -> String {
      String(decoding: Rewriter([.init(path: "a.swift", text: source)]).outputs[0].bytes, as: UTF8.self)
    }
    #expect(text("public class A: NSManagedObject {}").hasSuffix("public nonisolated class A: NSManagedObject {}"))
    #expect(!text("@MainActor class A: NSManagedObject {}").contains("nonisolated"))
    #expect(!text("class A: NSObject {}").contains("nonisolated"))
    let source = "class A: NSManagedObject {}\nextension A { func f() {} }\nextension A { @NSManaged var x: Int }"
    #expect(text(source).contains("\nextension A { func f() {} }\nnonisolated extension A {"))
  }

  private func findings(_ texts: String...) -> [String] {
    Rewriter(texts.enumerated().map { .init(path: "\($0.offset).swift", text: $0.element) }).findings.map { "\($0)" }
  }

  private func body(_ member: String, in owner: String = "class A: NSManagedObject") -> String {
    let result = rewritten("\(owner) { \(member) }")
    return String(result.dropFirst("\(owner) { ".count).dropLast(2))
  }

  // MARK: Attributes

  @Test(arguments: [
    ("@objc var x = 1", " var x = 1"), ("@objc(name) func f() {}", " func f() {}"),
    ("@objc(a:b:) public func f() {}", " public func f() {}"), ("@objc dynamic var x = 1", "  var x = 1"),
    ("public dynamic final var x = 1", "public  final var x = 1"), ("@objc\n  func f() {}", "\n  func f() {}"),
    ("@available(*, deprecated) @objc func f() {}", "@available(*, deprecated)  func f() {}"),
    ("let dynamic = 1", "let dynamic = 1"), ("var s = \"@objc\"", "var s = \"@objc\""),
    ("var s = \"\\(f { @objc in 1 })\"", "var s = \"\\(f {  in 1 })\""), ("// @objc\n", "// @objc\n"),
    ("/* @objc /* nested */ */ var x = 1", "/* @objc /* nested */ */ var x = 1"),
    ("var s = #\"@objc \\(x) \\#(y)\"#", "var s = #\"@objc \\(x) \\#(y)\"#"),
    ("@nonobjc class func f() {}", "@nonobjc class func f() {}"),
  ])
  func `attributes of Objective-C are removed, and nothing that looks like them`(_ text: String, _ expected: String) {
    #expect(rewritten("struct A { \(text) }") == "struct A { \(expected) }")
  }

  @Test func `members of all Objective-C are removed from a type`() {
    #expect(rewritten("@objcMembers @objc(B) class A {\n}") == "  class A {\n}")
    #expect(rewritten("@objc protocol P: Q {}") == " protocol P: AnyObject, Q {}")
    #expect(rewritten("@objc public protocol P {}") == " public protocol P: AnyObject {}")
    #expect(rewritten("@objc protocol P: AnyObject {}") == " protocol P: AnyObject {}")
    #expect(rewritten("@objc enum E: Int { case a }") == " enum E: Int { case a }")
  }

  // MARK: Variables

  /// The accessor of a property.
  private func accessor(_ declaration: String, _ key: String, _ type: String, name: String? = nil) -> String {
    let subject = "Self._key_\(key)"
    return
      "\(declaration) { get { value(of: \(subject)) } set { setValue(newValue, of: \(subject)) } }; "
      + "nonisolated private static let _key_\(key) = "
      + "ManagedProperty<\(type)>(\"\(name ?? key)\")"
  }

  @Test(arguments: [
    "String?", "Int16", "Bool", "[String: [Int]]?", "Set<Item>", "Set<Item>?", "[Item]", "NSOrderedSet?", "any Shape",
    "Optional<Int>", "Outer.Inner?", "(Int, String)", "Dictionary<String, Array<Int>>", "NSNumber", "A & B",
  ])
  func `a managed property becomes an accessor over a typed key`(_ type: String) {
    #expect(body("@NSManaged public var name: \(type)") == " " + accessor("public var name: \(type)", "name", type))
  }

  @Test func `spelling of managed properties does not matter`() {
    #expect(body("@NSManaged var x: [Int]!") == " " + accessor("var x: [Int]!", "x", "[Int]?"))
    #expect(body("@NSManaged private(set) var x: Int") == " " + accessor("private(set) var x: Int", "x", "Int"))
    #expect(
      body("@NSManaged nonisolated public var x: Int") == " " + accessor("nonisolated public var x: Int", "x", "Int"))
    #expect(body("@NSManaged var `default`: Bool") == " " + accessor("var `default`: Bool", "default", "Bool"))
    #expect(body("@objc(other) @NSManaged var x: Int") == "  " + accessor("var x: Int", "other", "Int"))
    #expect(
      body("@NSManaged var a, b: Int") == " " + accessor("var a: Int", "a", "Int") + "; "
        + accessor("var b: Int", "b", "Int"))
    #expect(
      body("@NSManaged public var a: Int, b: String?") == " " + accessor("public var a: Int", "a", "Int") + "; "
        + accessor("public var b: String?", "b", "String?"))
    #expect(
      body("@NSManaged\n  public\n  var x: Int // note") == "\n  public\n  " + accessor("var x: Int", "x", "Int")
        + " // note")
    #expect(body("@NSManaged var x: Dictionary<\n  String, Int>\n").hasPrefix(" var x: Dictionary< String, Int> {"))
  }

  @Test func `a primitive value is that of its property`() {
    let text = body("@NSManaged private var primitiveName: String?")
    #expect(text.contains("get { primitiveValue(of: Self._key_primitiveName) }"))
    #expect(text.contains("private static let _key_primitiveName = ManagedProperty<String?>(\"name\")"))
    #expect(body("@NSManaged var primitive: Int") == " " + accessor("var primitive: Int", "primitive", "Int"))
  }

  // MARK: Functions

  @Test(arguments: [
    ("@objc(addItemsObject:) @NSManaged func addToItems(_ value: Item)", "add(value, to: Self._members_add_items)"),
    (
      "@objc(removeItemsObject:) @NSManaged func removeFromItems(_ value: Item)",
      "remove(value, from: Self._members_remove_items)"
    ),
    (
      "@objc(addItems:) @NSManaged func addToItems(_ values: NSSet)",
      "add(contentsOf: values, to: Self._members_addAll_items)"
    ),
    (
      "@objc(removeItems:) @NSManaged func remove(_ v: Set<Item>)",
      "remove(contentsOf: v, from: Self._members_removeAll_items)"
    ),
    ("@objc(intersectItems:) @NSManaged func f(_ v: NSSet)", "intersect(Self._members_intersect_items, with: v)"),
    (
      "@objc(insertObject:inItemsAtIndex:) @NSManaged func insertIntoItems(_ value: Item, at idx: Int)",
      "insert(value, into: Self._members_insert_items, at: idx)"
    ),
    (
      "@objc(removeObjectFromItemsAtIndex:) @NSManaged func f(at idx: Int)",
      "remove(at: idx, from: Self._members_removeAt_items)"
    ),
    (
      "@objc(insertItems:atIndexes:) @NSManaged func f(_ values: [Item], at indexes: NSIndexSet)",
      "insert(contentsOf: values, into: Self._members_insertAll_items, at: indexes)"
    ),
    (
      "@objc(removeItemsAtIndexes:) @NSManaged func f(at i: NSIndexSet)",
      "remove(at: i, from: Self._members_removeAtAll_items)"
    ),
    (
      "@objc(replaceObjectInItemsAtIndex:withObject:) @NSManaged func f(at idx: Int, with value: Item)",
      "replace(at: idx, in: Self._members_replace_items, with: value)"
    ),
    (
      "@objc(replaceItemsAtIndexes:withItems:) @NSManaged func f(at i: NSIndexSet, with values: [Item])",
      "replace(at: i, in: Self._members_replaceAll_items, withContentsOf: values)"
    ),
    ("@NSManaged func addItemsObject(_ value: Item)", "add(value, to: Self._members_add_items)"),
    (
      "@NSManaged func insertObject(_ o: Item, inItemsAtIndex i: Int)",
      "insert(o, into: Self._members_insert_items, at: i)"
    ),
    ("@NSManaged func addItems(_ values: NSSet)", "add(contentsOf: values, to: Self._members_addAll_items)"),
    ("@NSManaged func addToItems(_ value: Item)", "add(value, to: Self._members_add_items)"),
  ])
  func `each function of a to-many relationship gets its body`(_ text: String, _ expected: String) {
    let result = body(text)
    #expect(result.contains(" { \(expected) }"))
    #expect(result.contains("; nonisolated private static let _members_"))
    #expect(result.hasSuffix("_items = ManagedProperty<Any>(\"items\")"))
  }

  @Test func `the name of the relationship is that of the property`() {
    let result = rewritten(
      "class A: NSManagedObject { @NSManaged var URLs: NSSet?\n @objc(addURLsObject:) @NSManaged func f(_ v: B) }")
    #expect(result.contains("add(v, to: Self._members_add_URLs)"))
    #expect(findings("class A { @NSManaged func other(_ v: B, x: Int) }").first?.contains("other:x:") == true)
  }

  // MARK: Extensions

  @Test func `an override in an extension is called by the class`() {
    let outputs = Rewriter([
      .init(path: "a.swift", text: "class A: B {\n}\n"),
      .init(
        path: "b.swift",
        text: """
          extension A {
            public override func f(_ x: inout Int, with y: [String: Int]) async throws -> Int { 1 }
            override var d: String { get { "" } set { } }
            override class func g() { }
          }
          """),
    ]).outputs.map { String(decoding: $0.bytes, as: UTF8.self) }
    let expected = """
      public override func f(_ x: inout Int, with y: [String: Int]) async throws -> Int \
      { try await _extension_A_f(&x, with: y) }; \
      override var d: String { get { _extension_A_d } set { _extension_A_d = newValue } }; \
      class override func g() { _extension_A_g() }
      """
    #expect(outputs[0].contains("class A: B {\n \(expected) }"))
    #expect(outputs[1].contains("func _extension_A_f(_ x: inout Int, with y: [String: Int]) async throws -> Int { 1 }"))
    #expect(outputs[1].contains("class func _extension_A_g() { }"))
    #expect(!outputs[1].contains("override"))
  }

  @Test func `what cannot be moved is named with its line`() {
    #expect(findings("\n\nextension Other { override func f() {} }").first?.hasPrefix("0.swift:3: warning: ") == true)
    #expect(findings("class A {}\nextension A { override init() {} }").first?.contains("move it into A") == true)
    #expect(findings("#if Y\nclass A {}\n#endif\n#if X\nextension A { override func f() {} }\n#endif").count == 1)
    #expect(findings("@objc protocol P {\n @objc optional func f()\n}").first?.hasPrefix("0.swift:2:") == true)
    #expect(findings("let s = #selector(object.f(_:))").first?.contains("needs Objective-C") == true)
    #expect(findings("class A: B { override func f() {} }").isEmpty)
    #expect(findings("class A { @NSManaged weird }").first?.contains("could not be read") == true)
  }

  @Test func `what key-value coding finds by name is listed`() {
    let text = rewritten(
      """
      @objcMembers public class A: NSManagedObject {
        var one: Int { 1 }
        @nonobjc var two: Int { 1 }
        private var three = 1
        static var four = 1
        func validateAge(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws {}
        func validateOther(_ value: Int) throws {}
      }
      """, "extension A { @objc(fünf) var five: Int { 5 } }")
    #expect(
      text.contains(
        """
         public override class var keyValueMethods: KeyValueMethods { super.keyValueMethods.accessor("one", \\A.one)\
        .validation("age", A.validateAge).accessor("fünf", \\A.five) } }
        """))
    #expect(!rewritten("class A: NSObject { @objc var x = 1 }").contains("keyValueMethods"))
    // Through a superclass in another file.
    #expect(
      rewritten("class A: B { @objc var x = 1 }", "class B: NSManagedObject {}").contains(".accessor(\"x\", \\A.x)"))
  }

  @Test func `names of overrides differ between a class and its subclass, and all branches get them`() {
    let text = rewritten(
      """
      #if X
      class A: NSManagedObject {
      }
      #else
      public class A: NSManagedObject {
      }
      #endif
      class B: A {
      }
      public extension A { @discardableResult override func f() -> Int { 1 } }
      extension B { override func f() -> Int { 2 } }
      """)
    let call = "@discardableResult public override func f() -> Int { _extension_A_f() }"
    #expect(text.components(separatedBy: call).count == 3)
    #expect(text.contains(" override func f() -> Int { _extension_B_f() }"))
    // A whole file under a condition is rewritten as one without.
    let whole = rewritten("#if X\nclass A: B {\n}\nextension A { override func f() {} }\n#endif")
    #expect(whole.contains("override func f() { _extension_A_f() }"))
  }

  @Test func `bodies and comments do not confuse overrides`() {
    let text = rewritten(
      """
      class A: B {
      }
      extension A {
        override var d: String { store.set(1); return "" }
        override func f(
          _ a: Int, // the a
          b: Int) {}
      }
      """)
    #expect(text.contains("override var d: String { _extension_A_d }"))
    #expect(text.contains("override func f( _ a: Int, b: Int) { _extension_A_f(a, b: b) }"))
    #expect(
      body("@NSManaged var x: Dictionary< // keys\n String, Int>").hasPrefix(" var x: Dictionary< String, Int> {"))
  }

  @Test func `both branches of a condition have keys`() {
    let text = rewritten(
      "class A: NSManagedObject {\n#if X\n@NSManaged var x: Int\n#else\n@NSManaged var x: String\n#endif\n}")
    #expect(text.contains("ManagedProperty<Int>(\"x\")") && text.contains("ManagedProperty<String>(\"x\")"))
    #expect(text.components(separatedBy: "static let _key_x").count == 3)
  }

  @Test func `a generic class makes its keys when they are used`() {
    #expect(
      rewritten("class A<T>: NSManagedObject { @NSManaged var x: Int }").contains(
        "var x: Int { get { value(of: ManagedProperty<Int>(\"x\")) } set { setValue(newValue, of: ManagedProperty<Int>(\"x\")) } }"
      ))
  }

  @Test func `an actor that is stated stays`() {
    func text(_ source: String) -> String {
      String(decoding: Rewriter([.init(path: "a.swift", text: source)]).outputs[0].bytes, as: UTF8.self)
    }
    for source in [
      "@MainActor class A: NSManagedObject {}\nclass B: A { @NSManaged var x: Int }",
      "@DB class A: NSManagedObject {}\nextension A { @NSManaged var x: Int }",
      "@MainActor protocol P {}\nclass A: NSManagedObject, P {}",
    ] {
      #expect(!text(source).contains("nonisolated class") && !text(source).contains("nonisolated extension"))
    }
    #expect(findings("@MainActor class A: NSManagedObject { @objc var x: Int { 1 } }").count == 1)
  }

  @Test func `nested classes and objcMembers are inherited`() {
    let text = rewritten(
      """
      enum DB {
        @objcMembers class Base: NSManagedObject {
        }
        class Item: Base {
          var b: Int { 1 }
        }
      }
      """)
    #expect(text.contains(".accessor(\"b\", \\DB.Item.b)"))
  }

  // MARK: Expressions

  @Test(arguments: [
    ("#keyPath(Student.name)", "checkedKeyPath(\"name\", CheckedKeyPath(\\Student.name))"),
    (
      "#keyPath( Student.school.name )",
      "checkedKeyPath(\"school.name\", CheckedKeyPath(\\Student.school).then(\\.name))"
    ),
    ("#keyPath(Outer.Inner.name)", "checkedKeyPath(\"name\", CheckedKeyPath(\\Outer.Inner.name))"),
    ("#keyPath(name)", "checkedKeyPath(\"name\", CheckedKeyPath(\\A.name))"),
    ("#keyPath(Self.name.count)", "checkedKeyPath(\"name.count\", CheckedKeyPath(\\A.name).then(\\.count))"),
    ("\"\\(#keyPath(A.b)) x\"", "\"\\(checkedKeyPath(\"b\", CheckedKeyPath(\\A.b))) x\""),
    ("#selector(NSString.localizedCompare(_:))", "Selector(\"localizedCompare:\")"),
    ("#selector(getter: A.name)", "Selector(checkedKeyPath(\"name\", CheckedKeyPath(\\A.name)))"),
    ("#selector(setter: A.name)", "Selector(setterOf: checkedKeyPath(\"name\", CheckedKeyPath(\\A.name)))"),
  ])
  func `expressions of Objective-C become checked texts`(_ text: String, _ expected: String) {
    #expect(rewritten("class A { let s = \(text) }") == "class A { let s = \(expected) }")
  }

  @Test func `a key path is checked as far as its types are known`() {
    let model = """
      class A: NSManagedObject { @NSManaged var bs: NSSet?; @NSManaged var b: B?; @NSManaged var URL: String? }
      class B: NSManagedObject { @objc(other) @NSManaged var x: Int; @NSManaged var lines: Set<A> }

      """
    func path(_ text: String) -> String { rewritten(model + "let p = \(text)") }
    #expect(path("#keyPath(A.bs.name)").hasSuffix("checkedKeyPath(\"bs.name\", CheckedKeyPath(\\A.bs))"))
    #expect(
      path("#keyPath(A.b.x)").hasSuffix("checkedKeyPath(\"b.other\", CheckedKeyPath(\\A.b).then(optional: \\.x))"))
    #expect(
      path("#keyPath(A.URL.length)").hasSuffix(
        "checkedKeyPath(\"URL.length\", CheckedKeyPath(\\A.URL).then(\\.length))"))
    #expect(
      path("#keyPath(B.lines.b.x)").hasSuffix(
        "(\"lines.b.other\", CheckedKeyPath(\\B.lines).then(\\.b).then(optional: \\.x))"))
    #expect(path("#keyPath(C.x)").hasSuffix("checkedKeyPath(\"x\", CheckedKeyPath(\\C.x))"))
  }

  @Test func `a key path has the names of Objective-C`() {
    let text = rewritten("class A { @objc(other) @NSManaged var x: Int\n let s = #keyPath(A.x) }")
    #expect(text.contains("checkedKeyPath(\"other\", CheckedKeyPath(\\A.x))"))
  }

  // MARK: Files

  @Test func `imports of modules that may be absent are conditional, and lines go on`() {
    let text = rewritten("import UIKit\nimport Foundation\nclass A { @objc var x = 1 }\n")
    #expect(
      text.contains("\n#if canImport(UIKit)\n#sourceLocation(file: \"0.swift\", line: 1)\nimport UIKit\n#endif\n"))
    #expect(text.contains("#endif\n#sourceLocation(file: \"0.swift\", line: 1)\n\nimport Foundation"))
    #expect(rewritten("#if canImport(UIKit)\nimport UIKit\n#endif\n") == "#if canImport(UIKit)\nimport UIKit\n#endif\n")
    #expect(rewritten("let a = 1\nimport class CoreData.NSManagedObject\n") == "let a = 1\nimport CoreData\n")
  }

  @Test func `a file that gets expressions of Core Data imports it`() {
    let bytes = Rewriter([.init(path: "a\"b.swift", text: "let s = #keyPath(A.b)")]).outputs[0].bytes
    #expect(
      String(decoding: bytes, as: UTF8.self).hasPrefix(
        "import CoreData\n#sourceLocation(file: \"a\\\"b.swift\", line: 1)\n"))
    let same = Rewriter([.init(path: "a.swift", text: "let s = 1")]).outputs[0].bytes
    #expect(String(decoding: same, as: UTF8.self) == "#sourceLocation(file: \"a.swift\", line: 1)\nlet s = 1")
  }

  @Test func `a condition between attributes and something else is read once`() {
    let text = "class A: B {\n}\n@unknown\n#if X\n@y\n#endif\nprint(1)\nextension A { override func f() {} }"
    #expect(rewritten(text).contains("override func f() { _extension_A_f() }"))
    let open = "class A: B {\n}\n@unknown\n#if X\nprint(1)\n#endif\nextension A { override func f() {} }"
    #expect(rewritten(open).contains("override func f() { _extension_A_f() }"))
  }

  @Test func `branches of conditions may each begin the same type`() {
    let text = """
      #if X
      class A: NSManagedObject {
      #else
      class A: B {
      #endif
        @NSManaged var x: Int
      }
      extension A { override func f() {} }
      """
    #expect(rewritten(text).contains("ManagedProperty<Int>(\"x\")"))
  }
}
