import Testing

/// Checks that each rule finds the breaches that it was written for.
@Suite struct PlantedBreachTests {
  private let cModules: [String: Set<String>] = ["SQLite": ["CSQLite"]]

  private func imports(_ path: String, _ text: String) -> [String] {
    HouseRules.imports(SourceFile(path: path, text: text), cModules: cModules)
  }

  @Test(arguments: [
    ("import Foundation", ["Foundation"]),
    ("  @testable import CoreData  // comment", ["CoreData"]),
    ("@_exported public import struct Foundation.Data", ["Foundation"]),
    ("import A; import B", ["A", "B"]),
    ("// import A", []),
    ("let text = \"import A\"", []),
    ("#if canImport(Glibc)\n  import Glibc\n#endif", ["Glibc"]),
  ])
  func importsAreRead(text: String, modules: [String]) {
    #expect(SourceFile(path: "Sources/StoreQuery/X.swift", text: text).imports == modules)
  }

  @Test(arguments: [
    ("Sources/StoreSchema/X.swift", "import StoreQuery"),
    ("Sources/StoreSchema/X.swift", "import PropertyLists"),
    ("Sources/StoreQuery/X.swift", "public import CoreData"),
    ("Sources/ModelFiles/X.swift", "import StoreProtocol"),
    ("Sources/SQLEngine/X.swift", "import CSQLite"),
    ("Sources/CoreData/Context/X.swift", "import SQLiteBackend"),
    ("Sources/CoreData/X.swift", "import SomePackage"),
    ("Sources/CoreData/X.swift", "import Glibc"),
    ("Sources/Unknown/X.swift", ""),
    ("Conformance/StoreConformance/X.swift", "import CoreData"),
    ("Conformance/StoreConformance/X.swift", "import Testing"),
    ("Conformance/StoreConformance/X.swift", "import SQLiteBackend"),
    ("Backends/SQLite/Sources/X.swift", "import CoreData"),
    ("Backends/SQLite/Sources/X.swift", "import CZlib"),
    ("Backends/Unknown/Sources/X.swift", ""),
  ])
  func aForbiddenImportIsFound(path: String, text: String) { #expect(imports(path, text).count == 1) }

  @Test(arguments: [
    ("Sources/CoreData/Coordinator/StoreRegistration.swift", "import SQLiteBackend"),
    ("Sources/CoreData/Context/Queue/PlatformThread.swift", "import Musl"),
    ("Backends/SQLite/Sources/X.swift", "import CSQLite\nimport SQLEngine\nimport Synchronization"),
  ])
  func anAllowedImportIsNotFound(path: String, text: String) { #expect(imports(path, text) == []) }

  @Test func twoEnginesAreFound() {
    let files = ["SQLEngine", "AtomicEngine"].map {
      SourceFile(path: "Backends/SQLite/Sources/\($0)User.swift", text: "import \($0)")
    }
    #expect(HouseRules.engines(files) == ["Backends/SQLite imports AtomicEngine and SQLEngine"])
    #expect(HouseRules.engines(Array(files.dropLast())) == [])
  }

  @Test(arguments: [
    "if store.custom != nil { return }", "guard let engine = try store.openIncremental() else { return }",
    "if store is NSIncrementalStore { return }", "let view = try store.view()",
  ])
  func aKindOfStoreIsFoundOutsideOfOrigins(text: String) {
    func breaches(_ path: String) -> Int { HouseRules.kindsOfStore(SourceFile(path: path, text: text)).count }
    #expect(breaches("Sources/CoreData/Context/Saving/X.swift") == 1)
    #expect(breaches("Sources/CoreData/Fetching/X.swift") == 1)
    #expect(breaches("Sources/CoreData/Context/Origins/X.swift") == 0)
    #expect(breaches("Sources/CoreData/Coordinator/X.swift") == 0)
  }

  @Test func anApplePrefixIsFoundBelowCoreData() {
    let text = "public final class NSThing {}"
    #expect(HouseRules.names(SourceFile(path: "Sources/StoreQuery/X.swift", text: text)).count == 1)
    #expect(HouseRules.names(SourceFile(path: "Backends/SQLite/Sources/X.swift", text: text)).count == 1)
    #expect(HouseRules.names(SourceFile(path: "Sources/CoreData/X.swift", text: text)) == [])
  }

  @Test func forcedCodeUnsafeFlagsAndOpenEndsAreFound() {
    let file = SourceFile(
      path: "Sources/StoreQuery/X.swift",
      text: """
        let a = try! f()
        let b = x as! Int
        // try! in a comment is none
        let c = unsafeFlags
        // FIX\u{4D}E
        """)
    #expect(HouseRules.traps(file) == ["\(file.path):1 may trap on data", "\(file.path):2 may trap on data"])
    #expect(HouseRules.unsafeFlags(file).count == 1)
    #expect(HouseRules.leftovers(file).count == 1)
  }

  private static let manifest = """
    func publicOnly(_ name: String) -> Target {
      .target(name: name, packageAccess: false)
    }
    publicOnly("AtomicEngine", ["StoreProtocol"]),
    publicOnly("KeyValueEngine", ["StoreProtocol"]), publicOnly("SQLEngine", ["StoreProtocol"]),
    publicOnly(
      "XMLBackend", path: "Backends/XML/Sources", ["AtomicEngine", .target(name: "CXMLParser")]),
    """

  @Test(arguments: [
    (",", ",", 0),
    ("packageAccess: false", "packageAccess: true", 1),
    (", packageAccess: false", "", 1),
    ("publicOnly(\"AtomicEngine\"", "library(\"AtomicEngine\"", 1),
    ("publicOnly(\n  \"XMLBackend\"", "library(\n  \"XMLBackend\"", 1),
    ("publicOnly(\n  \"XMLBackend\"", ".target(name: \"XMLBackend\"", 1),
    ("\"XMLBackend\", path", "// \"XMLBackend\", path", 1),
    ("Backends/XML", "Backends/YAML", 1),
  ])
  func accessToPackageDeclarationsIsFound(text: String, other: String, breaches: Int) {
    let manifest = SourceFile(path: "Package.swift", text: Self.manifest.replacing(text, with: other))
    #expect(HouseRules.packageAccess(manifest, backends: ["Backends/XML/Sources"]).count == breaches)
  }

  @Test func aWideCommentIsFound() {
    func breaches(_ line: String) -> [String] {
      HouseRules.wideComments(SourceFile(path: "Sources/StoreQuery/X.swift", text: "let x = 1\n" + line + "\n"))
    }
    let words = String(repeating: "word ", count: 24)
    #expect(breaches("  // " + words.dropLast(6)) == [])
    #expect(breaches("  // " + words).map { $0.prefix(30) } == ["Sources/StoreQuery/X.swift:2: "])
    #expect(breaches("  /// https://" + words) == [] && breaches("let x = 1 // " + words) == [])
  }

  @Test func aLongFileIsFound() {
    let text = String(repeating: "//\n", count: ImportTable.longestFile)
    #expect(HouseRules.length(SourceFile(path: "Sources/StoreQuery/X.swift", text: text)) == [])
    #expect(HouseRules.length(SourceFile(path: "Sources/StoreQuery/X.swift", text: text + "//\n")).count == 1)
  }
}
