import Foundation
import Testing

@testable import Porting

@Suite struct XcodeProjectTests {
  @Test func `targets of a project of Xcode`() throws {
    let folder = try AppProject.folder()
    let targets = try XcodeProject(folder.url.appending(path: "My.xcodeproj")).targets()
    #expect(targets.map(\.name) == ["My_App", "Tests"])
    #expect(targets.map(\.kind) == [.library, .test])
    #expect(targets.map(\.languageMode) == [6, 5])
    #expect(targets.map(\.dependencies) == [[], ["My_App"]])
    #expect(
      targets[0].sources.map(targets[0].path) == ["Network.swift", "Rating.swift", "Song.swift", "SongView.swift"])
    #expect(targets[0].models.map(targets[0].path) == ["Model.xcdatamodeld"])
    #expect(targets[1].sources.map(targets[1].path) == ["SongTests.swift", "ViewTests.swift"])
    #expect(targets[1].resources.map { targets[1].path($0.url) } == ["songs.json"])
  }

  private func project(_ text: String, _ files: [String: String] = [:]) throws -> (ProjectFolder, [PortTarget]) {
    let folder = try ProjectFolder(["My.xcodeproj/project.pbxproj": text].merging(files) { first, _ in first })
    return (folder, try XcodeProject(folder.url.appending(path: "My.xcodeproj")).targets())
  }

  /// Targets with these names and settings, each with a source in a folder of its own.
  private func project(_ targets: [(name: String, settings: String)]) throws -> [PortTarget] {
    let rows = targets.enumerated().map { number, target in
      """
      T\(number) = { isa = PBXNativeTarget; name = "\(target.name)"; productType = "com.apple.product-type.framework";
        buildPhases = (S\(number), ); buildConfigurationList = L\(number); dependencies = (D, ); };
      L\(number) = { buildConfigurations = (C\(number), ); }; C\(number) = { buildSettings = { \(target.settings) }; };
      S\(number) = { isa = PBXSourcesBuildPhase; files = (B\(number), ); }; B\(number) = { fileRef = F\(number); };
      F\(number) = { isa = PBXFileReference; path = "f\(number)/a.swift"; sourceTree = SOURCE_ROOT; };
      """
    }
    let ids = targets.indices.map { "T\($0), " }.joined()
    return try project(
      "{ rootObject = P; objects = { P = { targets = (\(ids)); }; D = { target = T0; }; \(rows.joined()) }; }"
    ).1
  }

  @Test func `modules have the names of products`() throws {
    let found = try project([
      ("Shop iOS", #"PRODUCT_NAME = "Shop";"#), ("Tests", #"PRODUCT_NAME = "$(TARGET_NAME)";"#),
      ("Kit", #"PRODUCT_MODULE_NAME = "$(PRODUCT_NAME:c99extidentifier)Core"; PRODUCT_NAME = "My Kit";"#),
      ("Odd", #"PRODUCT_NAME = "$(SOMETHING)";"#),
    ])
    #expect(found.map(\.name) == ["Shop", "Tests", "My_KitCore", "Odd"])
    #expect(found[1].dependencies == ["Shop"])
  }

  @Test func `of targets that share a module each gets its own, or the project is refused`() throws {
    let shared = try project([("Shop iOS", "PRODUCT_NAME = Shop;"), ("Shop macOS", "PRODUCT_NAME = Shop;")])
    #expect(shared.map(\.name) == ["Shop_iOS", "Shop_macOS"])
    let same = try project([("My App", ""), ("My-App", "")])
    #expect(throws: PortError.self) {
      try ProjectPort(
        name: "My", folder: URL(fileURLWithPath: "/"), targets: same,
        library: .folder(URL(fileURLWithPath: "/opt/OpenCoreData"))
      )
    }
  }

  @Test func `resources with one name are not ported`() throws {
    let (_, targets) = try project(
      """
      { rootObject = P; objects = { P = { targets = (T, ); }; S = { isa = PBXSourcesBuildPhase; files = (A, ); };
        R = { isa = PBXResourcesBuildPhase; files = (C, D, ); }; A = { fileRef = FA; }; C = { fileRef = V; };
        D = { fileRef = FD; }; FA = { isa = PBXFileReference; path = "x.swift"; };
        V = { isa = PBXVariantGroup; children = (E, G, ); }; E = { isa = PBXFileReference; path = "en.lproj/help.html"; };
        G = { isa = PBXFileReference; path = "de.lproj/help.html"; };
        FD = { isa = PBXFileReference; path = "fr.lproj/only.html"; };
        T = { name = T; productType = "com.apple.product-type.framework"; buildPhases = (S, R, ); }; }; }
      """, ["x.swift": "import CoreData"])
    #expect(targets[0].resources.isEmpty && targets[0].otherFiles.count == 3)
  }

  @Test func `a target that tests the user interface takes no name`() throws {
    let text = """
      { rootObject = P; objects = { P = { targets = (T, U, ); }; S = { isa = PBXSourcesBuildPhase; files = (A, ); };
        A = { fileRef = F; }; F = { isa = PBXFileReference; path = "x.swift"; };
        L = { buildConfigurations = (C, ); }; C = { buildSettings = { PRODUCT_NAME = Shop; }; };
        T = { name = "Shop iOS"; productType = "com.apple.product-type.framework"; buildPhases = (S, );
          buildConfigurationList = L; };
        U = { name = UI; productType = "com.apple.product-type.bundle.ui-testing"; buildConfigurationList = L; }; }; }
      """
    #expect(try project(text).1.map(\.name) == ["Shop"])
  }

  @Test func `a group that contains itself has no files`() throws {
    let (_, targets) = try project(
      """
      { rootObject = P; objects = { P = { targets = (T, ); }; G = { isa = PBXGroup; children = (F, G, ); };
        F = { isa = PBXFileReference; path = "x.swift"; }; B = { fileRef = F; };
        S = { isa = PBXSourcesBuildPhase; files = (B, ); };
        T = { name = T; productType = "com.apple.product-type.framework"; buildPhases = (S, ); }; }; }
      """)
    #expect(targets.isEmpty)
  }

  @Test func `resources of a library are ported, and other files are listed`() throws {
    let (_, targets) = try project(
      """
      { rootObject = P; objects = { P = { targets = (T, ); }; S = { isa = PBXSourcesBuildPhase; files = (A, B, ); };
        R = { isa = PBXResourcesBuildPhase; files = (C, D, ); }; A = { fileRef = FA; }; B = { fileRef = FB; };
        C = { fileRef = FC; }; D = { fileRef = FD; }; FA = { isa = PBXFileReference; path = "x.swift"; };
        FB = { isa = PBXFileReference; path = "y.m"; }; FC = { isa = PBXFileReference; path = "seed.json"; };
        FD = { isa = PBXFileReference; path = "Icon.PNG"; };
        T = { name = T; productType = "com.apple.product-type.framework"; buildPhases = (S, R, ); }; }; }
      """, ["x.swift": "import CoreData"])
    #expect(targets[0].resources.map(\.url.lastPathComponent) == ["seed.json"])
    #expect(targets[0].otherFiles.map(\.lastPathComponent) == ["Icon.PNG", "y.m"])
    let report = try PortPlan(targets[0], modules: ["T"]).description
    #expect(report.hasSuffix("\n  other files, which are not ported: 2\n    Icon.PNG\n    y.m"), "\(report)")
  }

  @Test(arguments: ["", "{", "{ rootObject = P; objects = { }; }", String(repeating: "(", count: 100_000)])
  func `what is no project is refused`(_ text: String) throws {
    let folder = try ProjectFolder(["My.xcodeproj/project.pbxproj": text])
    #expect(throws: PortError.self) { try XcodeProject(folder.url.appending(path: "My.xcodeproj")) }
  }

  @Test func `groups that contain each other, and references to nothing`() throws {
    let text = """
      { rootObject = P; objects = { P = { targets = (T, N, ); }; G = { children = (H, F, ); path = a; };
        H = { children = (G, ); path = b; }; F = { isa = PBXFileReference; path = "x.swift"; };
        B = { fileRef = F; }; C = { fileRef = Q; }; S = { isa = PBXSourcesBuildPhase; files = (B, C, Z, ); };
        T = { name = T; productType = "com.apple.product-type.framework"; buildPhases = (S, Y, ); }; }; }
      """
    let folder = try ProjectFolder(["My.xcodeproj/project.pbxproj": text])
    #expect(try XcodeProject(folder.url.appending(path: "My.xcodeproj")).targets().count <= 1)
  }
}
