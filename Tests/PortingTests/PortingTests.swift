import Foundation
@testable import Porting
import SourceRewriter
import TestSupport
import Testing

@Suite struct PortingTests {
  private let library = PortLibrary.folder(URL(fileURLWithPath: "/opt/OpenCoreData"))

  private func port(_ folder: ProjectFolder) throws -> ProjectPort {
    let project = try XcodeProject(folder.url.appending(path: "My.xcodeproj"))
    return try ProjectPort(name: "My", folder: project.folder, targets: project.targets(), library: library)
  }

  @Test func `what becomes of each file of an app`() throws {
    let plans = try port(AppProject.folder()).plans
    func outcome(_ plan: Int, _ name: String) -> PortPlan.Outcome? {
      plans[plan].outcomes.first { $0.file.lastPathComponent == name }?.outcome
    }
    #expect(outcome(0, "Song.swift") == .unchanged)
    #expect(outcome(0, "Rating.swift") == .unchanged)
    #expect(outcome(0, "SongView.swift") == .leftOut("it uses @State of SwiftUI in line 3"))
    #expect(outcome(0, "Network.swift") == .leftOut("nothing of Core Data needs it"))
    #expect(plans[0].foreignModules == [])
    #expect(plans[0].description.contains("compiled as they are: 2"))
  }

  @Test func `a test of what is left out is left out`() throws {
    let plans = try port(AppProject.folder()).plans
    let left = plans[1].outcomes.map { "\($0.file.lastPathComponent): \($0.outcome)" }
    #expect(
      left.contains(#"ViewTests.swift: leftOut("it uses SongView of My_App, which is left out there")"#), "\(left)")
    #expect(left.contains("SongTests.swift: unchanged"))
  }

  @Test func `the manifest of a project of Xcode`() throws {
    let folder = try AppProject.folder()
    let port = try port(folder)
    let names = port.files.map { $0.url.path.dropFirst(folder.url.path.count + 1) }
    #expect(
      names == [
        "Package.swift", "App/OpenCoreData.swift", "App/ManagedSources.json", "Tests/OpenCoreData.swift",
        "Tests/ManagedSources.json",
      ])
    try port.apply()
    #expect(try folder.text("App/ManagedSources.json").contains("\"Network.swift\",\n    \"SongView.swift\""))
    let manifest = try folder.text("Package.swift")
    for line in [
      #"exclude: ["ManagedSources.json", "Network.swift", "SongView.swift"],"#,
      #"resources: [.process("Model.xcdatamodeld")],"#, "swiftSettings: [.swiftLanguageMode(.v6)]),",
      #"resources: [.copy("songs.json")],"#, #"dependencies: ["My_App"],"#,
      #".package(name: "OpenCoreData", path: ""#,
    ] { #expect(manifest.contains(line), "\(manifest)") }
  }

  @Test func `the block of a manifest is written anew, and nothing else`() throws {
    let folder = try AppProject.folder()
    let first = try port(folder)
    try first.apply()
    let before = try folder.text("Package.swift")
    try folder.write("import CoreData\nfunc f() {}", "App/New.swift")
    try folder.write(before.replacing("platforms: [.macOS(.v14), .iOS(.v17)]", with: "platforms: []"), "Package.swift")
    try port(folder).apply()
    let after = try folder.text("Package.swift")
    func head(_ text: String) -> String { String(text.prefix(upTo: text.range(of: "// MARK: -")!.lowerBound)) }
    #expect(head(after) == head(before).replacing("platforms: [.macOS(.v14), .iOS(.v17)]", with: "platforms: []"))
    #expect(after.contains("\"New.swift\"") && !before.contains("\"New.swift\""))
    #expect(after.components(separatedBy: "MARK: - OpenCoreData").count == 2)
    #expect(before.components(separatedBy: "MARK: - OpenCoreData").count == 2)
  }

  @Test func `what the plugin would take and the target does not have is left out`() throws {
    let folder = try AppProject.folder()
    try folder.write("struct Old {}", "App/Attic/Old.swift")
    try folder.write("struct Other {}", "App/Attic/Deep/Other.swift")
    try port(folder).apply()
    #expect(try leftOut(folder, "App") == ["Attic", "Network.swift", "SongView.swift"])
    #expect(try leftOut(folder, "Tests") == ["Old.swift", "ViewTests.swift"])
  }

  private func leftOut(_ folder: ProjectFolder, _ target: String) throws -> [String]? {
    let data = Data(try folder.text(target + "/ManagedSources.json").utf8)
    return try JSONDecoder().decode([String: [String]].self, from: data)["leftOut"]
  }

  @Test func `what the settings leave out stays so`() throws {
    let folder = try AppProject.folder()
    try folder.write(#"{"leftOut": ["Rating.swift"]}"#, "App/ManagedSources.json")
    let port = try port(folder)
    let rating = port.plans[0].outcomes.first { $0.file.lastPathComponent == "Rating.swift" }
    #expect(rating?.outcome == .leftOut("ManagedSources.json leaves it out"))
    try port.apply()
    #expect(try leftOut(folder, "App")?.contains("Rating.swift") == true)
    try folder.write("[]", "App/ManagedSources.json")
    #expect(throws: PortError.self) { try self.port(folder) }
  }

  @Test(arguments: [
    ("0.1.0", #"url: "https://example.org/OpenCoreData.git", from: "0.1.0""#),
    ("main", #"url: "https://example.org/OpenCoreData.git", revision: "1a2b3c""#),
  ])
  func `the manifest names a repository, with a version or a revision`(_ version: String, _ expected: String) throws {
    let folder = try AppProject.folder()
    let project = try XcodeProject(folder.url.appending(path: "My.xcodeproj"))
    let library = PortLibrary.repository(
      url: "https://example.org/OpenCoreData.git", version: version, revision: "1a2b3c")
    try ProjectPort(name: "My", folder: project.folder, targets: project.targets(), library: library).apply()
    #expect(try folder.text("Package.swift").contains("append(.package(\(expected)))"))
  }

  @Test func `a mark of the author's is no block`() throws {
    let folder = try AppProject.folder()
    try folder.write(
      "let package = Package(name: \"A\")\n// MARK: - OpenCoreData settings\nlet a = 1\n", "Package.swift")
    try port(folder).apply()
    try port(folder).apply()
    let text = try folder.text("Package.swift")
    #expect(text.contains("// MARK: - OpenCoreData settings\nlet a = 1\n"))
    #expect(text.components(separatedBy: "// MARK: OpenCoreData -").count == 2)
  }

  @Test func `a missing file is left out`() throws {
    let folder = try AppProject.folder()
    try FileManager.default.removeItem(at: folder.url.appending(path: "App/Rating.swift"))
    let outcomes = try port(folder).plans[0].outcomes
    #expect(
      outcomes.first { $0.file.lastPathComponent == "Rating.swift" }?.outcome == .leftOut("it cannot be read"))
  }

  @Test func `targets that a package cannot have are refused`() throws {
    let folder = try ProjectFolder(["S/a.swift": "import CoreData", "S/b.swift": "import CoreData"])
    let (a, b) = (folder.url.appending(path: "S/a.swift"), folder.url.appending(path: "S/b.swift"))
    func target(_ name: String, _ root: String, _ file: URL) -> PortTarget {
      PortTarget(name: name, kind: .library, root: folder.url.appending(path: root), sources: [file])
    }
    #expect(throws: PortError.self) {
      try ProjectPort(
        name: "P", folder: folder.url, targets: [target("A", "S", a), target("B", "S", b)], library: library)
    }
    #expect(throws: PortError.self) {
      try ProjectPort(
        name: "P", folder: folder.url.appending(path: "S"), targets: [target("A", "", a)], library: library)
    }
    // A file in the folder of another target belongs to that one.
    let nested = try ProjectPort(
      name: "P", folder: folder.url, targets: [target("A", "", a), target("B", "S", b)], library: library)
    #expect(nested.plans[0].outcomes.map(\.outcome) == [.leftOut("it is in the folder of another target, S")])
  }

  @Test func `names inside of types are not those of files that are left out`() throws {
    let folder = try AppProject.folder()
    try folder.write("import UIKit\nimport CoreData\nenum Rating {}\nlet c = UIColor.red", "App/SongView.swift")
    try folder.write("enum Stars { enum Rating {} }; private struct SongView {}", "App/Rating.swift")
    let outcomes = try port(folder).plans[0].outcomes
    #expect(outcomes.first { $0.file.lastPathComponent == "Song.swift" }?.outcome != .unchanged)
    #expect(outcomes.first { $0.file.lastPathComponent == "Rating.swift" }?.outcome != .leftOut("it uses Rating"))
  }

  @Test func `a type within another does not hide a framework from other files`() throws {
    let folder = try AppProject.folder()
    try folder.write("import CoreData\nstruct A { enum View {}; enum State {} }", "App/Network.swift")
    try folder.write("import SwiftUI\nstruct B: View {}", "App/SongView.swift")
    let outcomes = try port(folder).plans[0].outcomes
    #expect(
      outcomes.first { $0.file.lastPathComponent == "SongView.swift" }?.outcome
        == .leftOut("it uses View of SwiftUI in line 2"))
  }

  @Test func `classes that are generated during the build belong to the target`() throws {
    let folder = try AppProject.folder()
    let generated = AppProject.model.replacing("\"Song\"/>", with: "\"View\" codeGenerationType=\"class\"/>")
    try folder.write(generated, "App/Model.xcdatamodeld/Model.xcdatamodel/contents")
    // There is a View in SwiftUI, too.
    try folder.write(
      "import CoreData\nimport SwiftUI\nextension View { public override func awakeFromInsert() {} }", "App/Song.swift")
    let outcomes = try port(folder).plans[0].outcomes
    #expect(outcomes.first { $0.file.lastPathComponent == "Song.swift" }?.outcome == .unchanged)
  }

  @Test func `a manifest with line ends of Windows has one block`() throws {
    let folder = try AppProject.folder()
    try port(folder).apply()
    try folder.write(folder.text("Package.swift").replacing("\n", with: "\r\n"), "Package.swift")
    let before = try folder.text("Package.swift")
    try port(folder).apply()
    #expect(try folder.text("Package.swift") == before)
    #expect(before.components(separatedBy: "MARK: - OpenCoreData").count == 2)
  }

  @Test func `folders that links lead to are read once`() throws {
    let folder = try ProjectFolder(["T/a.swift": "", "Elsewhere/b.swift": "", "Elsewhere/Deep/c.swift": ""])
    for (name, end) in [("T/linked", "Elsewhere"), ("T/again", "Elsewhere"), ("Elsewhere/back", "T")] {
      try FileManager.default.createSymbolicLink(
        at: folder.url.appending(path: name), withDestinationURL: folder.url.appending(path: end))
    }
    let contents = FolderContents(folder.url.appending(path: "T"))
    #expect(
      contents.sources.map { $0.path(in: folder.url) } == ["T/a.swift", "T/again/Deep/c.swift", "T/again/b.swift"])
  }

  @Test func `a module is known to the report where the rewriter knows it`() throws {
    for name in Framework.all.keys.sorted() + Framework.parts.keys.sorted() where !Framework.present.contains(name) {
      #expect(Rewriter.absentModules.contains(name), "\(name)")
    }
    let output = Rewriter([.init(path: "a.swift", text: "import Darwin\nimport CoreGraphics\n")]).outputs[0]
    #expect(String(decoding: output.bytes, as: UTF8.self).components(separatedBy: "#if canImport(").count == 3)
  }

  @Test func `files with functions and extensions that are used stay`() throws {
    let folder = try AppProject.folder()
    try folder.write("import Foundation\nextension Date { var isNew: Bool { true } }", "App/Network.swift")
    try folder.write("import CoreData\nfunc f() -> Bool { Date().isNew }", "App/Song.swift")
    let outcomes = try port(folder).plans[0].outcomes
    #expect(outcomes.first { $0.file.lastPathComponent == "Network.swift" }?.outcome == .unchanged)
  }

  @Test(arguments: [
    ("import HealthKit", "it imports HealthKit in line 1"),
    ("import AppKit\nlet i = NSImage()", "it uses NSImage of AppKit in line 2"),
    ("import os\nos_signpost(.begin)", nil), ("import UIKit\nlet UID = 1", nil),
    ("import AppKit\nlet r: NSTextCheckingResult", nil),
    ("#if canImport(SwiftUI)\nimport SwiftUI\nlet o: ObservableObject\n#endif", nil),
  ])
  func `frameworks by their names`(_ text: String, _ reason: String?) throws {
    let folder = try ProjectFolder(["a.swift": text])
    let target = PortTarget(
      name: "A", kind: .library, root: folder.url, sources: [folder.url.appending(path: "a.swift")])
    let outcome = try PortPlan(target, modules: ["A"]).outcomes[0].outcome
    if let reason { #expect(outcome == .leftOut(reason)) } else if case .leftOut = outcome { #expect(Bool(false)) }
  }

  @Test func `a file of the user's is not replaced, and nothing is written`() throws {
    let folder = try AppProject.folder()
    try folder.write("struct Mine {}", "App/OpenCoreData.swift")
    let port = try port(folder)
    #expect(throws: PortError("\(folder.url.path)/App/OpenCoreData.swift is a file of yours; rename it")) {
      try port.apply()
    }
    #expect(!FileManager.default.fileExists(atPath: folder.url.appending(path: "Package.swift").path))
  }

  @Test func `a manifest that does not declare the package in the usual way is refused`() throws {
    let folder = try AppProject.folder()
    try folder.write("var thing = Package(name: \"A\")", "Package.swift")
    #expect(throws: PortError.self) { try port(folder) }
  }

  @Test func `targets of a package`() throws {
    let folder = try ProjectFolder([
      "Sources/A/A.swift": "import CoreData", "Sources/A/M.xcdatamodeld/M.xcdatamodel/contents": AppProject.model,
      "Sources/B/OpenCoreData.swift": "", "Sources/B/C.swift": "import os\nlet l = Logger()\nimport Lib",
    ])
    func target(_ name: String, _ sources: String) -> String {
      """
      {"c99name": "\(name)", "name": "\(name)", "type": "library", "module_type": "SwiftTarget",
       "path": "Sources/\(name)", "sources": [\(sources)]}
      """
    }
    let described = """
      {"path": "\(folder.url.path)", "targets": [\(target("A", "\"A.swift\"")), \(target("B", "\"OpenCoreData.swift\"")), \(target("P", "\"p.swift\""))]}
      """
    let dumped = """
      {"toolsVersion": {"_version": "5.9.0"}, "targets": [
        {"name": "A", "resources": [
          {"path": "Res", "rule": {"process": {"localization": "default"}}}, {"path": "c", "rule": {"embedInCode": {}}}
        ]},
        {"name": "P", "pluginUsages": [{"plugin": ["ManagedSources", "OpenCoreData"]}]}
      ]}
      """
    func targets(_ described: String, _ dumped: String) throws -> [PortTarget] {
      try PackageTargets.targets(described: Data(described.utf8), dumped: Data(dumped.utf8))
    }
    let found = try targets(described, dumped)
    #expect(found[0].resources.map(\.rule) == ["process", "embedInCode"])
    #expect(found[0].resources[0].localization == "default")
    #expect(throws: PortError.self) { try targets(described, dumped.replacing("5.9.0", with: "5.5.0")) }
    #expect(found.map { $0.sources.map(\.lastPathComponent) } == [["A.swift"], ["C.swift"]])
    #expect(found.map(\.models.count) == [1, 0])
    let plan = try PortPlan(found[1], modules: ["A", "B"])
    #expect(plan.foreignModules == ["Lib"])
    #expect(
      plan.outcomes.map(\.outcome) == [
        .byHand([
          .init(
            path: folder.url.path + "/Sources/B/C.swift", line: 2,
            message: "there is no Logger of os here; write #if canImport(os), or declare one")
        ])
      ])
    #expect(throws: PortError.self) { try targets("[]", dumped) }
    #expect(throws: PortError.self) { try targets(described, "[]") }
  }
}
