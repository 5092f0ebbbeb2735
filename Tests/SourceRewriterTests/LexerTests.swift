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
}
