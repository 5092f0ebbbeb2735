import Foundation
import Testing

@testable import ModelFiles

/// Strings files: texts by key.
@Suite struct StringsFileTests {
  private func read(_ text: String) throws -> [String: String] { try StringsFile.read(Data(text.utf8)) }

  @Test func entriesCommentsAndEscapes() throws {
    let text = #"""
      /* A comment; "with" = "an entry"; ** / */
      "Entity/Book" = "Buch"; // to the end of the line "x"="y";
      "Property/title/Entity/Book"="Titel\n\"kurz\"\t\\";bare.word=text-1;
      "ErrorString/no title"
        =
      "\U00C4 \u00e4 \UD83D\UDE00 é\q" ;
      "same";
      // "not" = "there";
      """#
    #expect(
      try read(text) == [
        "Entity/Book": "Buch", "Property/title/Entity/Book": "Titel\n\"kurz\"\t\\", "bare.word": "text-1",
        "ErrorString/no title": "Ä ä 😀 éq", "same": "same",
      ])
    #expect(try read("") == [:] && read(" // nothing") == [:] && read("a=1;a=2;") == ["a": "2"])
  }

  @Test func everyEncodingThatAppleWrites() throws {
    let text = "\"a\" = \"ä\";\n"
    for encoding in [String.Encoding.utf16, .utf8] {
      #expect(try StringsFile.read(#require(text.data(using: encoding))) == ["a": "ä"])
    }
    #expect(try StringsFile.read([0xFE, 0xFF] + #require(text.data(using: .utf16BigEndian))) == ["a": "ä"])
    #expect(try StringsFile.read([0xFF, 0xFE] + #require(text.data(using: .utf16LittleEndian))) == ["a": "ä"])
    #expect(try StringsFile.read([0xEF, 0xBB, 0xBF] + Data(text.utf8)) == ["a": "ä"])
    for format in [PropertyListSerialization.PropertyListFormat.binary, .xml] {
      let data = try PropertyListSerialization.data(fromPropertyList: ["a": "ä", "n": 1], format: format, options: 0)
      #expect(try StringsFile.read(data) == ["a": "ä"])
    }
  }

  @Test(arguments: [
    "a", "a =", "a = ;", "a = b", "\"a", "\"a\" = \"b", "/* x", "= b;", "a = \"\\", "a = \"\\U12\";",
    "a = \"\\UD800\";",
    "a = b c;", "a \"b\";",
  ])
  func whatIsNoStringsFileIsRefused(_ text: String) {
    let error = #expect(throws: ModelFileError.self) { try read(text) }
    #expect(error?.code == .malformed && error?.message.contains("line 1") == true)
  }

  @Test func bytesThatAreNoText() {
    for data in [Data([0xC3, 0x28]), Data("bplist00".utf8), Data("<?xml?>".utf8)] {
      #expect(throws: ModelFileError.self) { try StringsFile.read(data) }
    }
    let error = #expect(throws: ModelFileError.self) { try StringsFile.read(at: URL(filePath: "/nonexistent.strings")) }
    #expect(error?.code == .cannotRead)
  }
}
