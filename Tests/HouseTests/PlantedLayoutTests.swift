import Testing

/// The rules of the layout find what they are made for.
@Suite struct PlantedLayoutTests {
  private static let sound: Set<String> = [
    "Sources/StoreQuery/Predicate.swift", "Tests/StoreQueryTests/GrammarTests.swift", "Sources/CPosix/shim.h",
    "Conformance/Requirements/SAV.md", "Conformance/README.md", "Tests/Support/Corpus.swift",
    "Backends/XML/README.md", "Backends/XML/Sources/XMLBackend.swift", "Backends/XML/Tests/XMLTests.swift",
    "Scripts/test", "Tools/README.md", "Tools/rows/README.md", "Tools/rows/text.py",
  ]

  private func breaches(_ added: [String] = [], without removed: [String] = []) -> [String] {
    LayoutRules(
      paths: Self.sound.union(added).subtracting(removed), withoutTests: ["CPosix": "C"],
      besideTests: ["Support": "all"]
    ).breaches
  }

  @Test func aSoundLayoutHasNoBreach() { #expect(breaches() == []) }

  @Test(arguments: [
    "Sources/StoreFoo/X.swift", "Conformance/NewCases/X.swift", "Tests/OddTests/X.swift", "Tests/Helpers/X.swift",
    "Tests/CPosixTests/X.swift", "Tools/newer/x.py", "Scripts/helper.py", "Scripts/folder/test",
  ])
  func aFileTooManyIsFound(_ path: String) { #expect(breaches([path]).count == 1) }

  @Test(arguments: [
    "Tests/StoreQueryTests/GrammarTests.swift", "Sources/CPosix/shim.h", "Tests/Support/Corpus.swift",
    "Backends/XML/README.md", "Backends/XML/Tests/XMLTests.swift", "Tools/rows/README.md",
  ])
  func aMissingFileIsFound(_ path: String) { #expect(breaches(without: [path]).count == 1) }

  @Test func aNewBackendNeedsBoth() {
    #expect(
      breaches(["Backends/New/Sources/X.swift"]) == ["Backends/New has no README.md", "Backends/New has no Tests"])
  }
}
