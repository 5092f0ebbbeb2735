import CoreData
import Foundation
import TestSupport
import Testing

/// `coredata model compile`, `lint` and `decompile`.
@Suite struct ModelCommandTests {
  private let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "model-commands-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  /// A bundle of one version with the text in it.
  private func bundle(_ body: String) throws -> URL {
    let url = folder.appending(path: "App.xcdatamodeld")
    let version = url.appending(path: "App.xcdatamodel")
    try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
    let text = """
      <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
      <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" userDefinedModelVersionIdentifier="">
      \(body)
      </model>
      """
    try Data(text.utf8).write(to: version.appending(path: "contents"))
    return url
  }

  private func path(_ name: String) -> String { folder.appending(path: name).path }

  @Test func `a model is compiled, opened and decompiled`() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let entity =
      #"<entity name="E" representedClassName=".E"><attribute name="a" attributeType="Transformable"/></entity>"#
    let source = try bundle(entity)
    let compiled = try ToolRun(["model", "compile", source.path, "-o", path("App.momd"), "--module", "My"])
    #expect(compiled.status == 0)
    #expect(compiled.output == path("App.momd") + "\n")
    #expect(compiled.errors.contains("App.xcdatamodel:E.a: warning: E.a is using a nil or insecure value transformer."))
    #expect(compiled.errors.contains("note: Model App version checksum: "))
    let model = try NSManagedObjectModel.read(URL(fileURLWithPath: path("App.momd")))
    #expect(model.entities.map(\.managedObjectClassName) == ["My.E"])
    // The same bytes, and no warning.
    let again = try ToolRun([
      "model", "compile", source.path, "-o", path("Again.momd"), "--module", "My", "--no-warnings",
    ])
    #expect(!again.errors.contains("warning"))
    for name in ["App.mom", "VersionInfo.plist"] {
      #expect(
        try Data(contentsOf: folder.appending(path: "App.momd/\(name)"))
          == Data(contentsOf: folder.appending(path: "Again.momd/\(name)")))
    }

    let decompiled = try ToolRun(["model", "decompile", path("App.momd"), "-o", path("New.xcdatamodeld")])
    #expect(decompiled.status == 0)
    #expect(decompiled.errors.contains("The diagram is lost."))
    let back = try NSManagedObjectModel.read(URL(fileURLWithPath: path("New.xcdatamodeld")))
    #expect(back == model)
    // Nothing is written over it.
    let refused = try ToolRun(["model", "decompile", path("App.momd"), "-o", path("New.xcdatamodeld")])
    #expect(refused.status == 1)
    #expect(refused.errors.contains("There is something at"))
  }

  /// Each process has another order of sets and dictionaries.
  @Test(Corpus.condition) func `two processes compile a model to the same bytes`() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let models = Corpus.files(under: "models/models") { $0.lastPathComponent == "contents" }
      .map { (url: $0.deletingLastPathComponent(), size: ((try? Data(contentsOf: $0)) ?? Data()).count) }
      .sorted { $0.size > $1.size }.prefix(12)
    #expect(models.count == 12)
    for (url, _) in models {
      for name in ["One.mom", "Two.mom"] {
        #expect(try ToolRun(["model", "compile", url.path, "-o", path(name), "--no-warnings"]).status == 0)
      }
      let one = try Data(contentsOf: folder.appending(path: "One.mom"))
      #expect(try one == Data(contentsOf: folder.appending(path: "Two.mom")), "\(Corpus.name(url))")
    }
  }

  @Test func `the model in a store is decompiled`() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let model = try NSManagedObjectModel.read(
      try bundle(#"<entity name="E"><attribute name="a" attributeType="String"/></entity>"#))
    let store = folder.appending(path: "s.sqlite")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let opened = try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: store, options: nil)
    try coordinator.remove(opened)
    let run = try ToolRun(["model", "decompile", store.path, "-o", path("Back.xcdatamodel")])
    #expect(run.status == 0)
    #expect(try NSManagedObjectModel.read(folder.appending(path: "Back.xcdatamodel")) == model)
  }

  @Test func `a model with an error is not compiled`() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let source = try bundle(
      #"<entity name="E"><relationship name="r" maxCount="1" destinationEntity="Gone"/></entity>"#)
    let compiled = try ToolRun(["model", "compile", source.path, "-o", path("App.momd")])
    #expect(compiled.status == 1)
    #expect(
      compiled.errors == "\(path("App.xcdatamodeld/App.xcdatamodel")):E.r: error: "
        + "E.r has the destination Gone, which the model does not have\n")
    #expect(!FileManager.default.fileExists(atPath: path("App.momd")))

    let lint = try ToolRun(["model", "lint", source.path, "--json"])
    #expect(lint.status == 1)
    #expect(
      try lint.json() as? [String: String] == [
        "severity": "error", "rule": "destination", "path": path("App.xcdatamodeld/App.xcdatamodel"), "element": "E.r",
        "message": "E.r has the destination Gone, which the model does not have",
      ])
  }

  @Test func `classes are generated, and files of the user are not replaced`() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let source = try bundle(
      #"<entity name="E" representedClassName="E" codeGenerationType="class"><attribute name="a" attributeType="String"/></entity>"#
    )
    let run = try ToolRun(["model", "generate", source.path, "-o", folder.path, "--xcode", "16"])
    #expect(run.status == 0)
    #expect(run.output == "E+CoreDataClass.swift\nE+CoreDataProperties.swift\n")
    #expect(run.errors.contains("The language of the model's classes is Objective-C"))
    let file = folder.appending(path: "E+CoreDataClass.swift")
    #expect(try String(contentsOf: file, encoding: .utf8).contains("@objc(E)\npublic class E: NSManagedObject {"))
    // Generated again: the properties are new, and the class is as the user left it.
    let written = try String(contentsOf: file, encoding: .utf8) + "// mine\n"
    try Data(written.utf8).write(to: file)
    let again = try ToolRun(["model", "generate", source.path, "-o", folder.path])
    #expect((again.status, again.output) == (0, "E+CoreDataProperties.swift\n"))
    #expect(try String(contentsOf: file, encoding: .utf8) == written)
    let properties = folder.appending(path: "E+CoreDataProperties.swift")
    #expect(try String(contentsOf: properties, encoding: .utf8).contains("public import CoreData"))
    // A file of the user is not replaced.
    try Data("extension E {}".utf8).write(to: properties)
    let refused = try ToolRun(["model", "generate", source.path, "-o", folder.path])
    #expect(refused.status == 1)
    #expect(refused.errors.contains("was not generated, so it is not replaced"))
    #expect(try String(contentsOf: properties, encoding: .utf8) == "extension E {}")
    #expect(try ToolRun(["model", "generate", source.path, "--xcode", "9"]).status == 2)
  }

  @Test func `two models are compared in words`() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let source = try bundle(#"<entity name="E"><attribute name="a" optional="YES" attributeType="String"/></entity>"#)
    #expect(try ToolRun(["model", "compile", source.path, "-o", path("Old.momd")]).status == 0)
    _ = try bundle(
      #"<entity name="E"><attribute name="b" optional="YES" attributeType="String" elementID="a"/></entity>"#)
    let run = try ToolRun(["model", "diff", path("Old.momd"), source.path])
    #expect((run.status, run.errors) == (0, ""))
    #expect(run.output == "migrated: E.a is renamed to b; its values are kept.\n")
    let json = try ToolRun(["model", "diff", path("Old.momd"), source.path, "--json"])
    #expect(
      try json.json() as? [String: String] == [
        "element": "E.b", "effect": "migrated", "description": "E.a is renamed to b; its values are kept.",
      ])
  }

  @Test func `a model is drawn in the format that the name of the file says`() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let source = try bundle(#"<entity name="E"><attribute name="a" optional="YES" attributeType="String"/></entity>"#)
    let text = try ToolRun(["model", "diagram", source.path])
    #expect((text.status, text.errors) == (0, ""))
    #expect(text.output.contains("title: \"App\"") && text.output.contains("    a: String?\n"))
    for (name, beginning) in [("e.svg", "<svg "), ("e.mmd", "---\n"), ("e.dot", "// ")] {
      let run = try ToolRun(["model", "diagram", source.path, "-o", path(name)])
      #expect((run.status, run.output, run.errors) == (0, path(name) + "\n", ""))
      #expect(try String(contentsOfFile: path(name), encoding: .utf8).hasPrefix(beginning))
    }
    #expect(try text.output == String(contentsOfFile: path("e.mmd"), encoding: .utf8))
    // A diagram is replaced, a file of the user is not.
    #expect(try ToolRun(["model", "diagram", source.path, "-o", path("e.svg")]).status == 0)
    try Data("mine".utf8).write(to: URL(fileURLWithPath: path("mine.svg")))
    let refused = try ToolRun(["model", "diagram", source.path, "-o", path("mine.svg")])
    #expect(refused.status == 1)
    #expect(refused.errors.contains("was not generated, so it is not replaced"))
    #expect(try String(contentsOfFile: path("mine.svg"), encoding: .utf8) == "mine")
    let other = try ToolRun(["model", "diagram", source.path, "-o", path("e.png")])
    #expect(other.status == 2)
    #expect(other.errors.contains("give a name that ends in .svg, .mmd or .dot"))
  }

  @Test func `only compiled models of a bundle are replaced`() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let source = try bundle(#"<entity name="E"><attribute name="a" attributeType="String"/></entity>"#)
    let models = folder.appending(path: "Models")
    try FileManager.default.createDirectory(at: models, withIntermediateDirectories: true)
    for name in ["B.mom", "main.swift"] { try Data("mine".utf8).write(to: models.appending(path: name)) }
    // Another folder than a .momd is refused.
    #expect(try ToolRun(["model", "compile", source.path, "-o", models.path]).status == 1)
    let version = source.appending(path: "App.xcdatamodel").path
    #expect(try ToolRun(["model", "compile", version, "-o", path("Models/main.swift")]).status == 1)
    for name in ["B.mom", "main.swift"] {
      #expect(try Data(contentsOf: models.appending(path: name)) == Data("mine".utf8))
    }
  }

  @Test func `lint finds nothing in a sound model`() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let source = try bundle(#"<entity name="E"><attribute name="a" attributeType="String"/></entity>"#)
    let lint = try ToolRun(["model", "lint", source.path])
    #expect((lint.status, lint.output, lint.errors) == (0, "", ""))
  }
}
