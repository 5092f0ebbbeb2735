import Testing

@testable import CoreDataTool

@Suite struct CSVTextTests {
  @Test(arguments: [
    (["a", "b c", ""], "a,b c,\r\n"), (["a,b", "a\nb", "a\rb"], "\"a,b\",\"a\nb\",\"a\rb\"\r\n"),
    (["a\"b", "\""], "\"a\"\"b\",\"\"\"\"\r\n"),
    // A quotation mark that is part of a Character.
    (["\u{600}\",=x"], "\"\u{600}\"\",=x\"\r\n"),
  ])
  func fieldsAreQuotedWhereTheyMustBe(_ fields: [String], _ line: String) {
    #expect(Array(CSVText.line(fields).utf8) == Array(line.utf8))
  }
}
