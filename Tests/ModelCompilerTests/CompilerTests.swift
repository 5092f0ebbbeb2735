import Foundation
import ModelCompiler
import ModelFiles
import TestSupport
import Testing

@Suite struct CompilerTests {
  let folder: TestFolder
  var bundle: URL { folder.url.appending(path: "App.xcdatamodeld") }

  init() throws { folder = try TestFolder() }

  @Test func `a bundle becomes a folder with all versions and their table`() throws {
    try TestModels.writeBundle(["One", "Two 2"], current: "Two 2", to: bundle)
    let compiled = try ModelCompiler().compile(bundle)
    #expect(compiled.name == "App.momd")
    guard case .folder(let files) = compiled.content else { throw ToolFailure() }
    #expect(files.keys.sorted() == ["One.mom", "Two 2.mom", "VersionInfo.plist"])
    try compiled.write(to: folder.url.appending(path: "Out.momd"))
    let read = try ModelBundle(folder.url.appending(path: "Out.momd"))
    #expect(read.currentName == "Two 2")
    #expect(read.versionHashes.mapValues { $0.keys.sorted() } == ["One": ["One"], "Two 2": ["Two 2"]])
    #expect(read.versionHashes["One"]?["One"]?.count == 32)
    #expect(Set(read.versionChecksums.keys) == ["One", "Two 2"])
  }

  struct ToolFailure: Error {}

  @Test func `a single model becomes a file`() throws {
    let url = folder.url.appending(path: "Alone.xcdatamodel")
    try TestModels.write(TestModels.contents(#"<entity name="E" representedClassName=".E"/>"#), to: url)
    let compiled = try ModelCompiler(moduleName: "My").compile(url)
    #expect(compiled.name == "Alone.mom")
    let out = folder.url.appending(path: "Alone.mom")
    try compiled.write(to: out)
    #expect(try ModelFile.read(at: out).entities.first?.className == "My.E")
    #expect(try ModelFile.read(at: url).entities.first?.className == ".E")
    #expect(compiled.diagnostics.map { "\($0)" }.count == 1)
    #expect(
      "\(compiled.diagnostics[0])".hasPrefix(
        "\(url.path(percentEncoded: false)):: note: Model Alone version checksum: "))
  }

  @Test func `the current version must be stated and exist`() throws {
    try TestModels.writeBundle(["One", "Two"], current: nil, to: bundle)
    #expect(throws: CompilationFailure.self) { try ModelCompiler().compile(bundle) }
    try TestModels.writeBundle(["One", "Two"], current: "Three", to: bundle)
    let failure = #expect(throws: CompilationFailure.self) { try ModelCompiler().compile(bundle) }
    let text = failure.map { "\($0)" } ?? ""
    #expect(text.contains("error: No current version for model at path"))
    #expect(text.contains("Three"))
  }

  @Test func `models of Xcode 3 are refused by name`() throws {
    let version = bundle.appending(path: "Old.xcdatamodel")
    try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
    try Data("bplist00".utf8).write(to: version.appending(path: "elements"))
    let failure = #expect(throws: CompilationFailure.self) { try ModelCompiler().compile(bundle) }
    #expect(failure?.diagnostics.first?.message.contains("Xcode 3") == true)
    #expect(failure?.diagnostics.first?.path.hasSuffix("App.xcdatamodeld/Old.xcdatamodel") == true)
  }

  /// Its version hash counts, so a compiled model that lost it would not fit to its own stores.
  @Test func `a property that a subentity defines anew stays its own`() throws {
    let source = folder.url.appending(path: "M.xcdatamodel")
    try TestModels.write(
      TestModels.contents(
        #"""
        <entity name="A"><attribute name="n" optional="YES" attributeType="String"/></entity>
        <entity name="B" parentEntity="A"><attribute name="n" attributeType="String" defaultValueString="b"/></entity>
        <entity name="C" parentEntity="B"><attribute name="n" attributeType="String" defaultValueString="b"/></entity>
        """#), to: source)
    let written = try ModelFile.read(at: source)
    let compiled = folder.url.appending(path: "M.mom")
    try ModelCompiler().compile(source).write(to: compiled)
    let read = try ModelFile.read(at: compiled)
    #expect(read.versionHashes == written.versionHashes)
    #expect(read.entities.map(\.properties.count) == [1, 1, 0], "C has what it inherits")
    #expect(read.entities[1] == written.entities[1])
  }

  /// Apple's compiler prints file, element and message.
  @Test func `an error of the source has its element`() throws {
    let url = folder.url.appending(path: "App.xcdatamodel")
    let body = #"<entity name="E"><relationship name="r" destinationEntity="E" minCount="x"/></entity>"#
    try TestModels.write(TestModels.contents(body), to: url)
    let failure = #expect(throws: CompilationFailure.self) { try ModelCompiler().compile(url) }
    #expect(
      failure.map { "\($0)" } == "\(url.path(percentEncoded: false)):E.r: error: "
        + "E.r: the minCount of <relationship> is not a number from 0 to 2147483647: x")
  }

  /// Compiling takes three seconds. With a look at all entities for each of them it takes minutes. The time is that of
  /// this thread, whatever else runs.
  @Test func `the time for a large model is linear in its entities`() throws {
    let url = folder.url.appending(path: "Large.xcdatamodel")
    let derived = #"<attribute name="n" attributeType="Date" derived="YES" derivationExpression="now()"/>"#
    let body = (0..<8000).map { #"<entity name="E\#($0)">\#(derived)</entity>"# }.joined()
    try TestModels.write(TestModels.contents(body), to: url)
    let start = threadTime()
    let compiled = try ModelCompiler().compile(url)
    #expect(threadTime() - start < .seconds(40))
    #expect(compiled.diagnostics.count { $0.message.hasPrefix("The version hash of E") } == 8000)
  }

  @Test func `an error in any version stops the compilation, and all are reported`() throws {
    try TestModels.writeBundle(["One"], current: "One", to: bundle)
    let entity = #"<entity name="E"><relationship name="r" destinationEntity="Gone" deletionRule="Nullify"/></entity>"#
    for name in ["Two", "Three"] {
      try TestModels.write(TestModels.contents(entity), to: bundle.appending(path: name + ".xcdatamodel"))
    }
    let failure = #expect(throws: CompilationFailure.self) { try ModelCompiler().compile(bundle) }
    #expect(failure?.diagnostics.filter { $0.rule == .destination }.count == 2)
  }

  @Test func `writing replaces models, removes those of other versions, and keeps the rest`() throws {
    try TestModels.writeBundle(["One"], current: "One", to: bundle)
    let out = folder.url.appending(path: "App.momd")
    try FileManager.default.createDirectory(at: out.appending(path: "Folder.mom"), withIntermediateDirectories: true)
    for name in ["One.mom", "Gone.mom", "One.omo", "notes.txt"] {
      try Data("x".utf8).write(to: out.appending(path: name))
    }
    let target = folder.url.appending(path: "elsewhere.mom")
    try Data("y".utf8).write(to: target)
    try FileManager.default.createSymbolicLink(at: out.appending(path: "Link.mom"), withDestinationURL: target)
    try ModelCompiler().compile(bundle).write(to: out)
    let names = try FileManager.default.contentsOfDirectory(atPath: out.path).sorted()
    #expect(names == ["Folder.mom", "Link.mom", "One.mom", "VersionInfo.plist", "notes.txt"])
    #expect(try Data(contentsOf: target) == Data("y".utf8))
    #expect(try ModelBundle(out).record(of: "One").entities.map(\.name) == ["One"])
  }

  @Test func `equal files are not written again`() throws {
    try TestModels.writeBundle(["One"], current: "One", to: bundle)
    let out = folder.url.appending(path: "App.momd")
    try ModelCompiler().compile(bundle).write(to: out)
    let model = out.appending(path: "One.mom").path
    let old = Date(timeIntervalSinceReferenceDate: 1_000_000)
    try FileManager.default.setAttributes([.modificationDate: old], ofItemAtPath: model)
    try ModelCompiler().compile(bundle).write(to: out)
    #expect(try FileManager.default.attributesOfItem(atPath: model)[.modificationDate] as? Date == old)
  }

  @Test func `nothing is written over a file of the same name`() throws {
    try TestModels.writeBundle(["One"], current: "One", to: bundle)
    let out = folder.url.appending(path: "App.momd")
    try Data("mine".utf8).write(to: out)
    #expect(throws: (any Error).self) { try ModelCompiler().compile(bundle).write(to: out) }
    #expect(try Data(contentsOf: out) == Data("mine".utf8))
  }

  @Test func `other files are refused`() throws {
    let failure = #expect(throws: CompilationFailure.self) {
      try ModelCompiler().compile(folder.url.appending(path: "App.momd"))
    }
    #expect(failure.map { "\($0)" }?.contains("neither an .xcdatamodeld nor an .xcdatamodel") == true)
    #expect(throws: CompilationFailure.self) {
      try ModelCompiler().compile(folder.url.appending(path: "None.xcdatamodel"))
    }
  }
}
