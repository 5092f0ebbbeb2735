import Foundation
import PropertyLists
import TestSupport
import Testing

@Suite struct XMLTests {
  static func events(_ text: String) throws -> [XMLScanner.Event] {
    var scanner = try XMLScanner(Data(text.utf8))
    var result: [XMLScanner.Event] = []
    while let event = try scanner.next() { result.append(event) }
    return result
  }

  @Test func `elements, attributes, references and CDATA are read`() throws {
    let text = "<?xml version=\"1.0\"?><!-- c --><a x='1 &lt; 2&#10;' y=\"é\n\"><b/>t&amp;<![CDATA[<&]]>\r\n</a>\n"
    #expect(
      try Self.events(text) == [
        .start("a", attributes: ["x": "1 < 2\n", "y": "é "]), .start("b", attributes: [:]), .end("b"), .text("t&"),
        .text("<&"), .text("\n"), .end("a"),
      ])
  }

  @Test(arguments: [
    "", "<a>", "<a></b>", "<a/><b/>", "<a x=1/>", "<a x='1' x='2'/>", "<a>&unknown;</a>", "<a>&#0;</a>", "x<a/>",
    "<!DOCTYPE a><a/>", "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", "<a x='<'/>", "<a b='1'c='2'/>", "<a><!-- </a>",
    "<a>&#xD800;</a>", "<a", "<a x='", "</a>", "<a>\u{1}</a>",
  ])
  func `documents that are not well formed are refused`(_ text: String) {
    #expect(throws: PropertyListError.self) { try Self.events(text) }
  }

  @Test func `elements nested too deep are refused`() {
    let text = String(repeating: "<a>", count: 600) + String(repeating: "</a>", count: 600)
    #expect(throws: PropertyListError.self) { try Self.events(text) }
  }

  @Test func `XML property lists are read`() throws {
    let text = """
      <?xml version="1.0" encoding="UTF-8"?>
      <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
      <plist version="1.0"><dict>
        <key>a</key><array><integer>-3</integer><real>1.5</real><true/><string></string></array>
        <key>b</key><dict><key>c</key><date>2001-01-01T00:00:10Z</date><key>d</key><data> AQI= </data></dict>
      </dict></plist>
      """
    let expected = PropertyList.dictionary([
      "a": .array([.integer(-3), .real(1.5), .bool(true), .string("")]),
      "b": .dictionary(["c": .date(10), "d": .data(Data([1, 2]))]),
    ])
    #expect(try PropertyList(contents: Data(text.utf8)) == expected)
  }

  @Test(arguments: [
    "<plist/>", "<dict/>", "<plist><dict><key>a</key></dict></plist>", "<plist><dict><true/></dict></plist>",
    "<plist><true/><true/></plist>", "<plist><integer>x</integer></plist>", "<plist>text</plist>",
    "<plist><key>a</key></plist>", "<plist><true><true/></true></plist>",
  ])
  func `malformed XML property lists are refused`(_ text: String) {
    #expect(throws: PropertyListError.self) { try XMLPropertyListReader.read(Data(text.utf8)) }
  }

  @Test(Corpus.condition)
  func `every .xccurrentversion of the corpus is read`() throws {
    let files = Corpus.files(under: "models/models") { $0.lastPathComponent == ".xccurrentversion" }
    #expect(files.count == 47)
    let names = try files.map {
      try PropertyList(contents: Data(contentsOf: $0))["_XCCurrentVersionName"]?.stringValue
    }
    // One of the files is an empty dictionary.
    #expect(names.count { $0?.hasSuffix(".xcdatamodel") == true } == 46)
  }

  @Test func `signs that are parts of Characters are written as signs`() throws {
    for text in ["a & b < c > d", "\u{600}<b/>", "\u{600}&\u{301}", "\u{1F3F4}\u{200D}&amp;"] {
      let lines = try XMLPropertyListWriter.write(.string(text))
      let read = try XMLPropertyListReader.read(Data(lines.utf8))
      #expect(read == .string(text), "\(text.unicodeScalars.map(\.value))")
    }
  }
}
