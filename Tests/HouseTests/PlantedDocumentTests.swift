import Testing

/// The rules of documents find what they are made for.
@Suite struct PlantedDocumentTests {
  private static let sound: [String: String] = [
    "README.md": "See [a](Documentation/Clients.md), [b](https://swift.org) and [c](#part).",
    "Documentation/Clients.md": "Back to [it](../README.md#part) and the [sources](../Sources).",
    "Documentation/Decisions/001-house.md": "# 001: The house\n\n## Context\n",
    "Documentation/Decisions/002-rows.md": "# 002 Rows\n",
    "Documentation/Decisions/README.md": """
    # Decisions

    - [001](001-house.md) The house: **changed by 002**
      What it is.
    - [002](002-rows.md) Rows: **in force**
    """,
  ]

  private func breaches(_ path: String = "README.md", _ old: String = "", with new: String = "") -> [String] {
    var documents = Self.sound
    if !old.isEmpty { documents[path] = documents[path]?.replacing(old, with: new) }
    return DocumentRules(documents: documents, paths: Set(Self.sound.keys).union(["Sources"])).breaches
  }

  @Test func soundDocumentsHaveNoBreach() { #expect(breaches() == []) }

  @Test(arguments: [
    ("README.md", "Clients.md", "Client.md"),
    ("Documentation/Clients.md", "../Sources", "Sources"),
    ("Documentation/Decisions/README.md", ": **in force**", ""),
    ("Documentation/Decisions/README.md", "in force", "good"),
    ("Documentation/Decisions/README.md", "changed by 002", "changed by 003"),
    ("Documentation/Decisions/README.md", "changed by 002", "replaced by 001"),
    ("Documentation/Decisions/README.md", ") Rows", ") Columns"),
    ("Documentation/Decisions/README.md", "[002]", "[003]"),
  ])
  func aBreachIsFound(_ path: String, _ old: String, _ new: String) {
    #expect(!breaches(path, old, with: new).isEmpty)
  }

  @Test func aRecordThatIsNotInTheIndexIsFound() {
    let path = "Documentation/Decisions/003-new.md"
    let documents = Self.sound.merging([path: "# 003 New\n"]) { $1 }
    let rules = DocumentRules(documents: documents, paths: Set(documents.keys).union(["Sources"]))
    #expect(rules.breaches == ["the index of decisions has 0 entries for 003-new.md"])
  }
}
