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
    ("os(iOS)", false), ("!os(iOS)", true), ("os(Linux)", true), ("os(iOS) || os(Linux)", true),
    ("canImport(UIKit) && DEBUG", false), ("canImport(CoreData)", true), ("!(os(iOS) || os(macOS))", true),
    ("!os(iOS) && !os(macOS)", true), ("swift(>=5.9)", true), ("targetEnvironment(simulator)", false),
    ("DEBUG && (os(iOS) || canImport(AppKit))", false), ("", true), (")) &&", true),
  ])
  func `conditions`(_ condition: String, _ holds: Bool) {
    let words = survey("#if \(condition)\nlet a = b\n#else\nlet c = d\n#endif\nlet e = f").words
    #expect((words["b"] != nil, words["d"] != nil, words["f"] != nil) == (holds, !holds, true))
  }

  @Test func `one branch of a condition is compiled`() {
    let text =
      "#if os(iOS)\na\n#elseif os(Linux)\nb\n#elseif DEBUG\nc\n#else\nd\n#endif\n#if os(iOS)\n#if DEBUG\ne\n#endif\n#endif\n"
    #expect(Set(survey(text).words.keys) == ["b"])
    #expect(Set(survey("#endif\n#else\na").words.keys) == ["a"])
  }

  @Test func `where a program begins`() {
    #expect(survey("@main struct A {}").isEntry)
    #expect(survey("", path: "/x/main.swift").isEntry)
    #expect(!survey("struct A {}").isEntry)
  }
}
