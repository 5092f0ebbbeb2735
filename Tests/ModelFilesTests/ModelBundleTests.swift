import Foundation
import ModelFiles
import PropertyLists
import StoreSchema
import Testing

@Suite struct ModelBundleTests {
  /// A folder with the given files, deleted after `body`.
  static func withBundle(_ name: String, _ files: [String: Data], _ body: (URL) throws -> Void) throws {
    let parent = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    let bundle = parent.appending(path: name)
    defer { try? FileManager.default.removeItem(at: parent) }
    try FileManager.default.createDirectory(at: bundle, withIntermediateDirectories: true)
    for (path, data) in files {
      let file = bundle.appending(path: path)
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try data.write(to: file)
    }
    try body(bundle)
  }

  static func failure(_ url: URL) -> ModelFileError.Code? {
    do {
      _ = try ModelFile.read(at: url)
      return nil
    } catch { return error.code }
  }

  static func source(_ entity: String) -> Data {
    Data("<model userDefinedModelVersionIdentifier=''><entity name='\(entity)'/></model>".utf8)
  }

  static func currentVersion(_ name: String) -> Data {
    Data("<plist><dict><key>_XCCurrentVersionName</key><string>\(name)</string></dict></plist>".utf8)
  }

  @Test func `the current version of a source bundle is read`() throws {
    let files = [
      "A.xcdatamodel/contents": Self.source("One"), "A 2.xcdatamodel/contents": Self.source("Two"),
      ".xccurrentversion": Self.currentVersion("A 2.xcdatamodel"),
    ]
    try Self.withBundle("A.xcdatamodeld", files) { url in
      let (bundle, current) = (try ModelBundle(url), try ModelFile.read(at: url))
      let older = try bundle.record(of: "A")
      #expect(current.entities.map(\.name) == ["Two"])
      #expect(bundle.versionNames == ["A", "A 2"])
      #expect(older.entities.map(\.name) == ["One"])
    }
  }

  @Test func `the only version is the current one, and several need a choice`() throws {
    let one = ["A.xcdatamodel/contents": Self.source("One")]
    try Self.withBundle("A.xcdatamodeld", one) { url in
      let current = try ModelFile.read(at: url)
      #expect(current.entities.map(\.name) == ["One"])
    }
    try Self.withBundle("A.xcdatamodeld", one.merging(["B.xcdatamodel/contents": Self.source("B")]) { $1 }) { url in
      #expect(Self.failure(url) == .noCurrentVersion)
    }
  }

  @Test func `a bundle without models or with a missing current version is refused`() throws {
    let pointer = [".xccurrentversion": Self.currentVersion("B.xcdatamodel")]
    try Self.withBundle("A.xcdatamodeld", pointer) { url in
      #expect(Self.failure(url) == .noVersions)
    }
    try Self.withBundle("A.xcdatamodeld", pointer.merging(["A.xcdatamodel/contents": Self.source("A")]) { $1 }) { url in
      #expect(Self.failure(url) == .noCurrentVersion)
    }
  }

  @Test func `a compiled bundle gives hashes and checksums beside its models`() throws {
    let model = ModelRecord(versionIdentifiers: [""], entities: [EntityRecord(name: "E")])
    let info = PropertyList.dictionary([
      "NSManagedObjectModel_CurrentVersionName": .string("V"),
      "NSManagedObjectModel_VersionHashes": .dictionary(["V": .dictionary(["E": .data(Data(count: 32))])]),
      "NSManagedObjectModel_VersionChecksums": .dictionary(["V": .string("sum")]),
    ])
    let files = [
      "V.mom": try CompiledModelWriter.write(model), "V.omo": Data("momv2$".utf8),
      "VersionInfo.plist": BinaryPropertyListWriter.write(info),
    ]
    try Self.withBundle("A.momd", files) { url in
      let bundle = try ModelBundle(url)
      #expect(bundle.versionNames == ["V"])
      #expect(bundle.versionHashes == ["V": ["E": Data(count: 32)]])
      #expect(bundle.versionChecksums == ["V": "sum"])
      let current = try bundle.currentRecord()
      #expect(current == model)
    }
  }

  /// An `.omo` is a copy of the `.mom` beside it.
  @Test func `of an omo the mom beside it is read`() throws {
    let model = ModelRecord(versionIdentifiers: [""], entities: [EntityRecord(name: "E")])
    let files = [
      "V.mom": try CompiledModelWriter.write(model), "V.omo": Data("momv2$".utf8), "W.omo": Data("momv2$".utf8),
    ]
    try Self.withBundle("A.momd", files) { url in
      let read = try ModelFile.read(at: url.appending(path: "V.omo"))
      #expect(read == model)
      let alone = url.appending(path: "W.omo")
      let error = #expect(throws: ModelFileError.self) { try ModelFile.read(at: alone) }
      #expect(
        error
          == ModelFileError(
            .unsupported, "an .omo has a private format, and there is no W.mom beside it", url: alone))
    }
  }

  @Test func `a missing file is reported with its position`() {
    let url = URL(filePath: "/nonexistent/A.mom")
    let error = #expect(throws: ModelFileError.self) { try ModelFile.read(at: url) }
    #expect(error?.code == .cannotRead)
    #expect(error?.url == url)
  }
}
