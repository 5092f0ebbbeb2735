import Testing

@testable import SourceRewriter

@Suite struct LexerTests {
  private func tokens(_ text: String) -> [String] {
    let bytes = Array(text.utf8)
    return Lexer.tokens(bytes).map { String(decoding: bytes[$0.range], as: UTF8.self) }
  }

  @Test(arguments: [
    ("a.b", ["a", ".", "b"]), ("`class` x", ["`class`", "x"]), ("1.5e3+0x1F", ["1.5e3", "+", "0x1F"]),
    ("1...3", ["1", ".", ".", ".", "3"]), ("@objc(a:)", ["@objc", "(", "a", ":", ")"]), ("#if X", ["#if", "X"]),
    ("a // b\nc", ["a", "c"]), ("a /* /* b */ c */ d", ["a", "d"]), ("\"a\\\"b\" c", ["\"a\\\"b\"", "c"]),
    ("\"a\\(b)c\"", ["\"a\\", "(", "b", ")", "c\""]),
    ("\"\\(f(\"\\(x)\"))\"", ["\"\\", "(", "f", "(", "\"\\", "(", "x", ")", "\"", ")", ")", "\""]),
    ("#\"a\\(b)\"#", ["#\"a\\(b)\"#"]), ("#\"a\\#(b)\"#", ["#\"a\\#", "(", "b", ")", "\"#"]),
    ("\"\"\"\na\"b\n\"\"\" c", ["\"\"\"\na\"b\n\"\"\"", "c"]), ("\"open\nb", ["\"open", "b"]),
    ("x = /a\\/[/]b/ + 1", ["x", "=", "/a\\/[/]b/", "+", "1"]), ("a / b / c", ["a", "/", "b", "/", "c"]),
    ("#\"\"\"# a", ["#\"\"\"#", "a"]), ("1 </> 2", ["1", "<", "/", ">", "2"]),
    ("f(x /y)", ["f", "(", "x", "/", "y", ")"]),
    ("\u{FEFF}a", ["a"]), ("##", ["##"]), ("#/a\n/b/#", ["#/a\n/b/#"]), ("ü$0", ["ü$0"]),
    ("#!/usr/bin/swift\na", ["a"]), ("/* open", []),
    ("\"\"\"open", ["\"\"\"open"]),
    ("\"\\(open", ["\"\\", "(", "open"]),
  ])
  func `a source is cut into tokens`(_ text: String, _ expected: [String]) {
    #expect(tokens(text) == expected)
  }

  @Test func `each token knows its line`() {
    let bytes = Array("a\n\"\"\"\nx\n\"\"\" b /*\n*/ c\nd".utf8)
    let lexed = Lexer.tokens(bytes)
    #expect(lexed.map(\.line) == [1, 2, 4, 5, 6])
    #expect(lexed.map(\.isFirstOnLine) == [true, true, false, true, true])
  }

  private static let source = """
    import CoreData
    import UIKit
    @objc(Student) @objcMembers public class Student: NSManagedObject {
      /* a /* nested */ comment */ @NSManaged public var name: String?, ages: [String: [Int]]!
      @objc(insertObject:inItemsAtIndex:) @NSManaged func insert(_ value: Item, at idx: Int)
      #if os(iOS)
      dynamic var x = "\\(#keyPath(Student.name.count)) \\("inner \\(y)")"
      #else
      var x = #"raw \\#(z) "quoted" "#
      #endif
      let text = \"""
        many \\(lines) "here"
        \"""
      let regex = /a[/]b\\/c/
    }
    extension Student { override public func awakeFromInsert() throws { f(#selector(NSString.compare(_:))) } }
    """

  /// The tokens are in order, in bounds, and on their lines; the changes have as many line ends as what they replace,
  /// or number the lines anew; and the result is the original but for the changes.
  @Test func `no source stops the rewriter, and nothing else is changed`() {
    var generator = SystemSeed(state: 25)
    let original = Array(Self.source.utf8)
    for _ in 0..<10_000 {
      var bytes = original
      for _ in 0..<Int.random(in: 1...6, using: &generator) {
        let index = Int.random(in: 0..<bytes.count, using: &generator)
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: bytes.remove(at: index)
        case 1: bytes[index] = UInt8.random(in: 0...255, using: &generator)
        case 2: bytes.insert(original[Int.random(in: 0..<original.count, using: &generator)], at: index)
        default: bytes.removeSubrange(index..<min(index + 30, bytes.count))
        }
      }
      check(bytes)
    }
  }

  private func check(_ bytes: [UInt8]) {
    var (end, line, position) = (0, 1, 0)
    for token in Lexer.tokens(bytes) {
      guard token.range.lowerBound >= end, token.range.upperBound <= bytes.count, !token.range.isEmpty else {
        Issue.record("the token \(token) of \(String(decoding: bytes, as: UTF8.self))")
        return
      }
      line += bytes[position..<token.range.lowerBound].count { $0 == UInt8(ascii: "\n") }
      position = token.range.lowerBound
      end = token.range.upperBound
      if token.line != line { Issue.record("\(token) is on line \(line)") }
    }
    let output = Rewriter([.init(path: "a.swift", bytes: bytes)]).outputs[0]
    let (text, rest) = undone(output, bytes)
    if !text { Issue.record("something else was changed in \(String(decoding: bytes, as: UTF8.self))") }
    if rest.contains(where: { !$0 }) { Issue.record("lines move in \(String(decoding: bytes, as: UTF8.self))") }
  }

  /// Whether the output is the original with the changes that are listed, and whether each keeps its lines.
  private func undone(_ output: Rewriter.Output, _ bytes: [UInt8]) -> (Bool, [Bool]) {
    var (position, rebuilt): (Int, [UInt8]) = (0, [])
    var lines: [Bool] = []
    for change in output.changes {
      guard change.range.lowerBound >= position else { return (false, lines) }
      rebuilt += bytes[position..<change.range.lowerBound] + Array(change.text.utf8)
      position = change.range.upperBound
      let replaced = bytes[change.range].count { $0 == UInt8(ascii: "\n") }
      let inserted = change.text.utf8.count { $0 == UInt8(ascii: "\n") }
      lines.append(replaced == inserted || change.text.contains("#sourceLocation("))
    }
    rebuilt += bytes[position...]
    let first = output.bytes.firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    let head = String(decoding: output.bytes[..<first], as: UTF8.self)
    let start =
      head == "import CoreData\n"
      ? (output.bytes[first...].firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0) : first
    let isWhole = output.bytes[start...].starts(with: rebuilt)
    let tail = String(decoding: output.bytes[start...].dropFirst(rebuilt.count), as: UTF8.self)
    return (isWhole && (tail.isEmpty || tail.hasPrefix("\n#sourceLocation()\n")), lines)
  }
}

/// Numbers that a seed determines.
private struct SystemSeed: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return state ^ (state >> 29)
  }
}
