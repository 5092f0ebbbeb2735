import SourceRewriter
import Testing

@Suite struct SourceSurveyTests {
  private func survey(_ text: String, path: String = "a.swift") -> SourceSurvey {
    SourceSurvey(.init(path: path, text: text))
  }

  @Test func `imports with their lines`() {
    let text =
      "import Foundation\n@testable import App\n\nimport class UIKit.UIView; import os.log\nlet a = \"import B\"\n"
    #expect(survey(text).imports.map(\.module) == ["Foundation", "App", "UIKit", "os"])
    #expect(survey(text).imports.map(\.line) == [1, 2, 4, 4])
  }

  @Test func `types that stand in no other`() {
    let text =
      "struct A { class B {} }\nfinal class C: D {}\ntypealias E = F\nextension G {}\nactor H {}\nprotocol I {}"
    #expect(survey(text).declared == ["A", "C", "E", "H", "I"])
  }

  @Test func `words and attributes with the line of their first use`() {
    let words = survey("let a = UIColor.red // b\n@State var c = \"d \\(e)\"\nUIColor.blue").words
    #expect((words["UIColor"], words["@State"], words["e"]) == (1, 2, 2))
    #expect((words["b"], words["d"]) == (nil, nil))
  }

  @Test(arguments: [
    ("os(iOS)", false, true), ("!os(iOS)", true, false), ("canImport(UIKit) && DEBUG", false, true),
    ("canImport(CoreData)", true, false), ("!(os(iOS) || os(macOS))", true, false), ("os(Linux)", true, true),
    ("canImport(os)", true, true), ("DEBUG", true, true), ("targetEnvironment(simulator)", false, true),
    ("", true, true), (")) &&", true, true),
  ])
  func `branches that are never compiled do not count`(_ condition: String, _ first: Bool, _ second: Bool) {
    let words = survey("#if \(condition)\nlet a = b\n#else\nlet c = d\n#endif\nlet e = f").words
    #expect((words["b"] != nil, words["d"] != nil, words["f"] != nil) == (first, second, true))
    #expect(words["os"] == nil && words["canImport"] == nil)
  }

  @Test func `modules that conditions ask for`() {
    #expect(
      survey("#if canImport(os) && canImport(UIKit)\n#elseif canImport(B)\n#endif").checkedModules == [
        "os", "UIKit", "B",
      ])
  }

  @Test(arguments: [
    "#if A\nclass C: X {\n#elseif B\nclass C: Y {\n#else\nclass C {\n#endif\n}\nclass D {}",
    "#if os(iOS)\nclass C: X {\n#else\nclass C {\n#endif\nclass E {}\n}\nclass D {}",
    "#if A\n#if B\nclass C: X {\n#else\nclass C: Y {\n#endif\n}\n#endif\nclass D {}",
  ])
  func `a type that begins in each branch of a condition`(_ text: String) {
    #expect(survey(text).declared == ["C", "D"])
  }

  @Test func `what other files can use of a file`() {
    let text = """
      private enum A { enum B {} }
      func c() {}
      let d = 1
      extension E { var f: Int { 1 }; private func g() {} }
      class H { func i() {} }
      """
    #expect(survey(text).declared == ["H"])
    #expect(survey(text).types == ["A", "B", "H"])
    #expect(survey(text).members == ["c", "d", "f"])
  }
}
