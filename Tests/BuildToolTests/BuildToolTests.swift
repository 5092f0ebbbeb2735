import CoreData
import Foundation
import TestSupport
import Testing

private enum TestModel {
  static func text(_ body: String) -> String {
    """
    <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
    <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" sourceLanguage="Swift" \
    userDefinedModelVersionIdentifier="">\(body)</model>
    """
  }
}

/// The program that the plugin runs for a target.
@Suite struct BuildToolTests {
  private static let program = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
    .appending(path: "BuildTool")
  private let root: URL
  private var output: URL { root.appending(path: "out") }

  init() throws {
    root = FileManager.default.temporaryDirectory.appending(path: "target-\(UUID())")
    try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
  }

  private func write(_ text: String, _ path: String) throws -> URL {
    let url = root.appending(path: path)
    try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: url)
    return url
  }

  /// A model with an entity whose class is generated.
  private func model(_ attributes: String) throws -> URL {
    _ = try write(
      TestModel.text(#"<entity name="E" representedClassName=".E" codeGenerationType="class">\#(attributes)</entity>"#),
      "App.xcdatamodeld/App.xcdatamodel/contents")
    return root.appending(path: "App.xcdatamodeld")
  }

  private func run(_ inputs: URL...) throws -> ToolRun {
    try ToolRun(
      ["--module", "App", "--output", output.path, "--root", root.path] + inputs.map(\.path), program: Self.program)
  }

  private func text(_ name: String) throws -> String {
    try String(contentsOf: output.appending(path: name), encoding: .utf8)
  }

  @Test func `inputs that would become one file are refused, and nothing is written`() throws {
    defer { try? FileManager.default.removeItem(at: root) }
    let run = try run(write("let a = 1", "a+/b.swift"), write("let b = 1", "a/+b.swift"))
    #expect(run.status != 0)
    #expect(run.errors.contains("Rewritten+a+++b.swift would be made of "), "\(run.errors)")
    #expect(!FileManager.default.fileExists(atPath: output.path))
  }

  @Test func `models are compiled, their classes generated, and sources rewritten`() throws {
    defer { try? FileManager.default.removeItem(at: root) }
    let model = try model(#"<attribute name="a" optional="YES" attributeType="String"/>"#)
    let source = try write("extension E { override public func awakeFromInsert() {} }", "In Folder/E.swift")
    let run = try run(model, source)
    #expect((run.status, run.errors, run.output) == (0, "", ""))
    let names = try FileManager.default.contentsOfDirectory(atPath: output.path).sorted()
    #expect(
      names == ["App+xcdatamodeld+Classes.swift", "App.momd", "Rewritten+In Folder+E.swift"])
    #expect(
      try NSManagedObjectModel.read(output.appending(path: "App.momd")).entities[0].managedObjectClassName == "App.E")
    let classes = try text("App+xcdatamodeld+Classes.swift")
    #expect(classes.contains("var a: String? { get {"))
    // The override is in another file than the class.
    #expect(classes.contains("public override func awakeFromInsert() { _extension_E_awakeFromInsert() }"))
    #expect(try text("Rewritten+In Folder+E.swift").contains("func _extension_E_awakeFromInsert()"))
  }

  /// The compiler accepts statements outside of functions in a file of this name only.
  @Test func `a main file keeps its name`() throws {
    defer { try? FileManager.default.removeItem(at: root) }
    let main = try write("import CoreData\nprint(1)", "Layer/main.swift")
    let other = try write("class A {}", "Layer/Domain.swift")
    #expect(try run(main, other).status == 0)
    let names = try FileManager.default.contentsOfDirectory(atPath: output.path).sorted()
    #expect(names == ["Rewritten+Layer+Domain.swift", "main.swift"])
    #expect(try text("main.swift").hasPrefix("#sourceLocation(file: \"\(main.path)\", line: 1)\n"))
  }

  /// Objective-C finds a class by the name in `@objc`; here the compiled model has its name in Swift.
  @Test func `a model names classes as Swift does`() throws {
    defer { try? FileManager.default.removeItem(at: root) }
    _ = try write(
      TestModel.text(#"<entity name="E" representedClassName="E"/><entity name="F" representedClassName="F"/>"#),
      "App.xcdatamodeld/App.xcdatamodel/contents")
    let source = try write(
      "@objc(E) class EntityE: NSManagedObject {}\n@objc(F) class F: NSManagedObject {}", "A.swift")
    #expect(try run(root.appending(path: "App.xcdatamodeld"), source).status == 0)
    let model = try NSManagedObjectModel.read(output.appending(path: "App.momd"))
    #expect(model.entitiesByName["E"]?.managedObjectClassName == "App.EntityE")
    #expect(model.entitiesByName["F"]?.managedObjectClassName == "F")
  }

  @Test func `files that do not change are not written again`() throws {
    defer { try? FileManager.default.removeItem(at: root) }
    let model = try model(#"<attribute name="a" optional="YES" attributeType="String"/>"#)
    let (one, other) = (try write("class A {}", "A.swift"), try write("class B {}", "B.swift"))
    #expect(try run(model, one, other).status == 0)
    let old = Date(timeIntervalSinceReferenceDate: 1_000_000)
    func date(_ name: String) throws -> Date? {
      try FileManager.default.attributesOfItem(atPath: output.appending(path: name).path)[.modificationDate] as? Date
    }
    let names = ["App+xcdatamodeld+Classes.swift", "Rewritten+A.swift", "Rewritten+B.swift"]
    for name in names {
      try FileManager.default.setAttributes([.modificationDate: old], ofItemAtPath: output.appending(path: name).path)
    }
    _ = try write("class A { let x = 1 }", "A.swift")
    #expect(try run(model, one, other).status == 0)
    #expect(try names.map(date) == [old, try date("Rewritten+A.swift"), old])
    #expect(try date("Rewritten+A.swift") != old)
  }

  @Test func `what has to be changed by hand is reported with file and line`() throws {
    defer { try? FileManager.default.removeItem(at: root) }
    let source = try write("\nextension Elsewhere { override func f() {} }", "A.swift")
    let run = try run(source)
    #expect(run.status == 0)
    #expect(
      run.errors.hasPrefix("\(source.path):2: warning: an extension cannot override a member of a class of another"))
  }

  @Test func `an error in a model stops the build, and says where`() throws {
    defer { try? FileManager.default.removeItem(at: root) }
    let model = try model(#"<relationship name="r" maxCount="1" destinationEntity="Gone"/>"#)
    let run = try run(model)
    #expect(run.status == 1)
    #expect(run.errors.contains("App.xcdatamodel:E.r: error: E.r has the destination Gone"))
    #expect(!FileManager.default.fileExists(atPath: output.appending(path: "App.momd").path))
    #expect(try ToolRun([], program: Self.program).errors == "error: --module NAME is missing.\n")
  }
}
