import Foundation

/// A folder for a project, removed at the end.
final class ProjectFolder {
  let url: URL

  init(_ files: [String: String]) throws {
    url = FileManager.default.temporaryDirectory.appending(path: "port-\(UUID())").standardizedFileURL
    for (path, text) in files { try write(text, path) }
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  func write(_ text: String, _ path: String) throws {
    let file = url.appending(path: path)
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: file)
  }

  func text(_ path: String) throws -> String { try String(contentsOf: url.appending(path: path), encoding: .utf8) }
}

/// A small app of Xcode: a model layer, a user interface and tests.
enum AppProject {
  static let model = """
    <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
    <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" sourceLanguage="Swift" \
    userDefinedModelVersionIdentifier=""><entity name="Song" representedClassName="Song"/></model>
    """

  /// What the project's groups, phases and targets refer to.
  static let project = """
    // !$*UTF8*$!
    { archiveVersion = 1; objectVersion = 56; rootObject = P; objects = {
      P = { isa = PBXProject; mainGroup = G; targets = (A, T, U, ); buildConfigurationList = L; };
      L = { isa = XCConfigurationList; buildConfigurations = (C, ); };
      C = { isa = XCBuildConfiguration; buildSettings = { SWIFT_VERSION = 5.0; }; };
      L6 = { isa = XCConfigurationList; buildConfigurations = (C6, ); };
      C6 = { isa = XCBuildConfiguration; buildSettings = { SWIFT_VERSION = 6.0; }; };
      G = { isa = PBXGroup; children = (GA, ST, ); sourceTree = "<group>"; };
      GA = { isa = PBXGroup; path = App; children = (F1, F2, F3, M1, F5, ); sourceTree = "<group>"; };
      F1 = { isa = PBXFileReference; path = Song.swift; sourceTree = "<group>"; };
      F2 = { isa = PBXFileReference; path = "SongView.swift"; sourceTree = "<group>"; };
      F3 = { isa = PBXFileReference; path = "App/Rating.swift"; sourceTree = SOURCE_ROOT; };
      F5 = { isa = PBXFileReference; path = Network.swift; sourceTree = "<group>"; };
      M1 = { isa = XCVersionGroup; path = Model.xcdatamodeld; children = (); sourceTree = "<group>"; };
      B1 = { isa = PBXBuildFile; fileRef = F1; }; B2 = { isa = PBXBuildFile; fileRef = F2; };
      B3 = { isa = PBXBuildFile; fileRef = F3; }; B4 = { isa = PBXBuildFile; fileRef = M1; };
      B5 = { isa = PBXBuildFile; fileRef = F5; };
      S1 = { isa = PBXSourcesBuildPhase; files = (B1, B2, B3, B4, B5, ); };
      A = { isa = PBXNativeTarget; name = "My App"; productType = "com.apple.product-type.application";
            buildPhases = (S1, ); buildConfigurationList = L6; };
      ST = { isa = PBXFileSystemSynchronizedRootGroup; path = Tests; exceptions = (X, ); sourceTree = "<group>"; };
      X = { isa = PBXFileSystemSynchronizedBuildFileExceptionSet; target = T; membershipExceptions = (Info.plist, "Old.swift", ); };
      D = { isa = PBXTargetDependency; target = A; };
      T = { isa = PBXNativeTarget; name = Tests; productType = "com.apple.product-type.bundle.unit-test";
            buildPhases = (); fileSystemSynchronizedGroups = (ST, ); dependencies = (D, ); };
      U = { isa = PBXNativeTarget; name = UI; productType = "com.apple.product-type.bundle.ui-testing"; buildPhases = (S1, ); };
    }; }
    """

  static func folder() throws -> ProjectFolder {
    try ProjectFolder([
      "My.xcodeproj/project.pbxproj": project,
      "App/Song.swift": """
      import CoreData
      import UIKit
      @objc(Song) class Song: NSManagedObject { @NSManaged var title: String?; var rating: Rating { .good } }
      """,
      "App/SongView.swift": "import SwiftUI\nimport CoreData\nstruct SongView: View { @State var song: Song }",
      "App/Rating.swift": "enum Rating { case good }", "App/Network.swift": "import Foundation\nstruct Network {}",
      "App/Model.xcdatamodeld/Model.xcdatamodel/contents": model,
      "Tests/SongTests.swift": "import XCTest\n@testable import My_App\nclass SongTests: XCTestCase { var s: Song? }",
      "Tests/ViewTests.swift":
        "import XCTest\n@testable import My_App\nclass ViewTests: XCTestCase { var s: SongView? }",
      "Tests/Old.swift": "import XCTest", "Tests/songs.json": "[]", "Tests/Info.plist": "",
    ])
  }
}
