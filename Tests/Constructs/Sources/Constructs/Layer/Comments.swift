// swift-format-ignore-file
//
//  Comments.swift
//  @objc class Header: NSManagedObject { @NSManaged var text: String? }
//
import CoreData

/* @objc(Outer) /* @NSManaged var nested: String? */ class Outer {} */
// @objc
final class Commented: NSManagedObject {
  /// The text. `@NSManaged var text: String?` is how it is declared.
  @NSManaged var text: String? // @NSManaged var other: Int
  @NSManaged /* @objc */ var number: Int16  /* dynamic */
  /** @objc dynamic */ @NSManaged var date: Date?
  @NSManaged
  // a comment between the attribute and the variable
  var between: String?
  @objc(named) // behind the attribute
  @NSManaged /*
    over lines
  */ var renamed: String?
  @NSManaged var typed: /* a set */ Set< // of
    Commented
  >
  @NSManaged var owner: Commented?
  @NSManaged var last: String? /* unusual **/
  /**/ @NSManaged var /**/ empty /**/ : /**/ String? /**/
  @NSManaged var tripled: String? /// behind

  // MARK: - @objc functions
  @objc( /* b */ described /* c */ ) func describe( /* d */ ) -> String { "described" } // }
  @objc func /* before */ nextOne /* behind */ () -> Int { 1 /* } */ }
  // @NSManaged func addToTyped(_ value: Commented)
  @objc(addTypedObject:) // adds
  @NSManaged
  // one
  func addToTyped(_ /* one */ value: /* the */ Commented) /* object */
}

extension Commented /* } */ { // {
  override /* overridden */ func /* here */ awakeFromInsert /* too */ () /* { */ {
    super.awakeFromInsert()
    last = "awake"
  }
}

private let quote = "\""
private let backslash = "\\"
private let attributes = "@objc @NSManaged var x: Int { get }"
private let interpolated = "a \(1 + 2) b \("c \("d" + "\(3)")")"
private let braces = "} { \("}") { \([1: "}"].map { "\($0.key)\($0.value)" }.joined())"
private let raw = #"@objc \(x) \#(1 + 1) "quoted" "#
private let doubled = ##"a "# b \##("c") \#(d)"##
private let lines = """
  @objc class Text: NSManagedObject {
    @NSManaged var text: String?  // "
    \(#keyPath(Commented.text)) \("""
      inner \(quote)
      """)
  """
private let rawLines = #"""
  @NSManaged \(no) \#(attributes.count)
  """ \""" "" "
  """#
private let escaped = "\u{22}\n\t\0\'\""
private let closures = "\([1, 2].map { value in "\(value): \({ () -> String in "}" }())" }.joined(separator: ","))"
private let unicode = "ümläut 👩‍👩‍👧 \(quote) @objc"
private let comment = "/* no comment // */"
private let empties = "" + #""# + """
  """
private let rawQuotes = [#"""#, ##""#"##]
private let ternary = "\(attributes.isEmpty ? "a" : "b)")"
private let dictionary = "\(["(": ")"]["("] ?? "\\(")"

infix operator </>
private struct Operators {
  var value = 8
  static func </> (one: Operators, other: Operators) -> Int { one.value/other.value }
  func divide(_ a: Int, _ b: Int) -> Int { a / b / 1 }
  func regex(_ text: String) -> Bool { text.contains(#/"@objc \/ [}"]+/#) }
  func bare() -> Int { self.value /*half*/ / /*of*/ 2 }
}

private var entities: [NSEntityDescription] {
  let names = texts("text", "between", "named", "last", "empty", "tripled")
  let commented = entity(
    Commented.self,
    names + [attribute("number", .integer16AttributeType, 0), attribute("date", .dateAttributeType)])
  relate(commented, "typed", .many, commented, "owner", .one)
  return [commented]
}

func commentConstructs() {
  World.add(entities)
  commentedMembers()
  strings()
  longStrings()
  marks()
}

private func commentedMembers() {
  construct(.comments, "a line comment with a declaration behind one") { try works(\Commented.text, "text", "a") }
  construct(.comments, "a comment between attribute and keyword") { try works(\Commented.number, "number", 3) }
  construct(.comments, "a documentation comment on the line") { try works(\Commented.date, "date", Date()) }
  construct(.comments, "a line comment between attribute and keyword") {
    try works(\Commented.between, "between", "a")
  }
  construct(.comments, "comments over lines between attributes") { try works(\Commented.renamed, "named", "a") }
  construct(.comments, "comments in a generic type over lines") {
    let object = World.make(Commented.self)
    object.typed = [object]
    expect(object.owner === object)
  }
  construct(.comments, "a comment that ends in two stars") { try works(\Commented.last, "last", "a") }
  construct(.comments, "empty comments between all tokens") { try works(\Commented.empty, "empty", "a", nil) }
  construct(.comments, "a documentation comment behind a member") { try works(\Commented.tripled, "tripled", "a") }
  construct(.comments, "comments in an attribute and in empty parentheses") {
    expect(World.make(Commented.self).describe(), is: "described")
  }
  construct(.comments, "comments around the name of a function, and a brace in one") {
    expect(World.make(Commented.self).nextOne(), is: 1)
  }
  construct(.comments, "comments in a managed function") {
    let object = World.make(Commented.self)
    object.addToTyped(object)
    expect(object.typed, is: [object])
  }
  construct(.comments, "comments with braces in the header of an extension and of an override") {
    expect(World.make(Commented.self).last, is: "awake")
  }
  construct(.comments, "declarations in nested comments are none") {
    expect(NSClassFromString("Constructs.Outer") == nil)
  }
  construct(.comments, "a declaration in the header of the file is none") {
    expect(NSClassFromString("Constructs.Header") == nil)
  }
}

private func strings() {
  construct(.comments, "an escaped quote") { expect(quote.count, is: 1) }
  construct(.comments, "an escaped backslash at the end") { expect(backslash.count, is: 1) }
  construct(.comments, "attributes in a string") { expect(attributes.hasPrefix("@objc @NSManaged var")) }
  construct(.comments, "strings in interpolations in strings") { expect(interpolated, is: "a 3 b c d3") }
  construct(.comments, "braces in strings and in interpolations") { expect(braces, is: "} { } { 1}") }
  construct(.comments, "a raw string with both kinds of interpolation") {
    expect(raw, is: "@objc \\(x) 2 \"quoted\" ")
  }
  construct(.comments, "a raw string with two pounds") { expect(doubled, is: "a \"# b c \\#(d)") }
  construct(.comments, "escapes of all kinds") { expect(escaped.unicodeScalars.count, is: 6) }
  construct(.comments, "closures with strings in interpolations") { expect(closures, is: "1: },2: }") }
  construct(.comments, "letters of several bytes before an attribute") { expect(unicode.contains("👧 \" @objc")) }
  construct(.comments, "the marks of comments in a string") { expect(comment.count, is: 19) }
  construct(.comments, "empty strings of all kinds") { expect(empties.isEmpty) }
  construct(.comments, "a raw string that is a quote") { expect(rawQuotes, is: ["\"", "\"#"]) }
  construct(.comments, "a parenthesis in a string in an interpolation") { expect(ternary, is: "b)") }
  construct(.comments, "parentheses as keys in an interpolation") { expect(dictionary, is: ")") }
}

private func longStrings() {
  construct(.comments, "a string of several lines with declarations") {
    expect(lines.contains("@NSManaged var text: String?  // \"\n"))
  }
  construct(.comments, "a key path in a string of several lines") {
    expect(lines.contains("  text "), lines)
  }
  construct(.comments, "a string of several lines in one of several lines") { expect(lines.contains("inner \"")) }
  construct(.comments, "a raw string of several lines with quotes") {
    expect(rawLines.hasPrefix("@NSManaged \\(no) 35\n\"\"\" \\\""), rawLines)
  }
}

private func marks() {
  construct(.comments, "an operator of slashes") { expect(Operators() </> Operators(), is: 1) }
  construct(.comments, "two divisions on a line") { expect(Operators().divide(8, 2), is: 4) }
  construct(.comments, "a regular expression with quotes and brackets") {
    expect(Operators().regex("\"@objc / }\""))
  }
  construct(.comments, "a division between comments") { expect(Operators().bare(), is: 4) }
}
