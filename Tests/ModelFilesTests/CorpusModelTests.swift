import Foundation
import ModelFiles
import TestSupport
import Testing

@Suite(Corpus.condition) struct CorpusModelTests {
  @Test func `every source model of the manifest loads`() throws {
    let files = try Corpus.manifest().filter { $0.kind == "model-source" }.map(\.file)
    #expect(files.count == 165)
    for file in files {
      let model = try ModelFile.read(at: file.deletingLastPathComponent())
      let text = try String(contentsOf: file, encoding: .utf8)
      #expect(model.entities.count == text.components(separatedBy: "<entity ").count - 1, "\(Corpus.name(file))")
      let attributes = model.entities.flatMap(\.properties).count { property in
        if case .attribute = property.kind { true } else { false }
      }
      let inComposites = text.components(separatedBy: "<composite ").dropFirst()
        .map { $0.components(separatedBy: "<attribute ").count - 1 }.reduce(0, +)
      #expect(attributes == text.components(separatedBy: "<attribute ").count - 1 - inComposites)
      #expect(try ModelFile.read(at: file) == model)
    }
  }

  @Test func `Xcode 3 models are refused with an error that says so`() throws {
    let folders = Set(
      try Corpus.manifest().filter { $0.kind == "model-source-xcode3" }.map { $0.file.deletingLastPathComponent() })
    #expect(folders.count == 4)
    for folder in folders {
      let error = #expect(throws: ModelFileError.self) { try ModelFile.read(at: folder) }
      #expect(error?.code == .xcode3Format)
    }
  }

  @Test func `every compiled file of the manifest loads or is of another kind`() throws {
    let files = try Corpus.manifest().filter { $0.kind == "model-compiled" }.map(\.file)
    #expect(files.count == 26)
    for file in files where file.pathExtension == "mom" {
      #expect(try !ModelFile.read(at: file).entities.isEmpty, "\(Corpus.name(file))")
    }
    let copies = files.filter { $0.pathExtension == "omo" }
    #expect(!copies.isEmpty)
    for file in copies {
      let model = file.deletingPathExtension().appendingPathExtension("mom")
      #expect(try ModelFile.read(at: file) == ModelFile.read(at: model), "\(Corpus.name(file))")
    }
  }

  @Test func `every model beside a store loads`() throws {
    let items = Corpus.files(under: "stores") { ["xcdatamodel", "mom", "momd"].contains($0.pathExtension) }
    #expect(items.count > 30)
    for item in items {
      if item.pathExtension == "momd" {
        // One model bundle in the corpus has no current version.
        let bundle = try ModelBundle(item)
        for name in bundle.versionNames { #expect(try !bundle.record(of: name).entities.isEmpty) }
      } else {
        #expect(try !ModelFile.read(at: item).entities.isEmpty, "\(Corpus.name(item))")
      }
    }
  }

  @Test func `every bundle lists its versions and reads the current one`() throws {
    let bundles = Corpus.files(under: "") { ["xcdatamodeld", "momd"].contains($0.pathExtension) }
    #expect(bundles.count > 80)
    for url in bundles {
      let bundle = try ModelBundle(url)
      for name in bundle.versionNames where FileManager.default.fileExists(atPath: Self.contents(bundle, name)) {
        _ = try bundle.record(of: name)
      }
      guard let current = bundle.currentName, bundle.versions[current] != nil else { continue }
      guard FileManager.default.fileExists(atPath: Self.contents(bundle, current)) else { continue }
      #expect(try bundle.currentRecord() == bundle.record(of: current))
      #expect(url.pathExtension == "xcdatamodeld" || bundle.versionHashes[current]?.isEmpty == false)
    }
  }

  private static func contents(_ bundle: ModelBundle, _ name: String) -> String {
    guard let url = bundle.versions[name] else { return "" }
    return (url.pathExtension == "mom" ? url : url.appending(path: "contents")).path(percentEncoded: false)
  }

  @Test func `what is written reads back equal, for every model`() throws {
    for url in Corpus.sourceModels + Corpus.compiledModels {
      let model = try ModelFile.read(at: url)
      let data = try CompiledModelWriter.write(model)
      let again = try CompiledModelReader.read(data)
      #expect(again == model, "\(Corpus.name(url))")
      #expect(try CompiledModelWriter.write(again) == data, "\(Corpus.name(url))")
    }
  }
}
