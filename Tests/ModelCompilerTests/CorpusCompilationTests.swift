import Foundation
import ModelCompiler
import ModelFiles
import StoreSchema
import TestSupport
import Testing

/// Models of the corpus, compiled.
@Suite(Corpus.condition) struct CorpusCompilationTests {
  /// The bundles, and the models that are in no bundle.
  static var models: [URL] {
    let folders = Corpus.files(under: "models/models") { ["xcdatamodel", "xcdatamodeld"].contains($0.pathExtension) }
    return folders.filter { $0.deletingLastPathComponent().pathExtension != "xcdatamodeld" }
  }

  @Test func `every model of the corpus is compiled, twice to the same bytes`() throws {
    var counts: [String: Int] = [:]
    var findings: [LintRule: Int] = [:]
    var failures: [String: Int] = [:]
    for url in Self.models {
      do {
        let compiled = try ModelCompiler().compile(url)
        #expect(try ModelCompiler().compile(url) == compiled)
        counts[url.pathExtension, default: 0] += 1
        for rule in compiled.diagnostics.compactMap(\.rule) { findings[rule, default: 0] += 1 }
      } catch {
        for failure in error.diagnostics where failure.severity == .error {
          #expect(failure.rule == nil, "\(failure)")
          failures[failure.message.contains("Xcode 3") ? "Xcode 3" : "no current version", default: 0] += 1
        }
      }
    }
    #expect(counts == ["xcdatamodel": 5, "xcdatamodeld": 97])
    // The corpus does not have all versions of five projects; one has no current version.
    #expect(failures == ["Xcode 3": 2, "no current version": 6])
    // Their authors' compiler accepted all of them, so there is no error. These warnings are right.
    #expect(findings == [.inverseOfMany: 7, .inverse: 32, .inverseEntity: 1, .defaultValue: 1, .transformer: 34])
  }

  /// The versions of a bundle with the files that Apple's compiler made of them.
  static var applesBundles: [URL] {
    Corpus.files(under: "models/compiled") { $0.pathExtension == "momd" }
  }

  @Test func `hashes and checksums are those of Apple's compiler`() throws {
    var (equal, inexact, checksums) = (0, 0, 0)
    for url in Self.applesBundles {
      let bundle = try ModelBundle(url)
      for (version, hashes) in bundle.versionHashes {
        guard bundle.versions[version] != nil else { continue }
        let record = try bundle.record(of: version)
        let ours = record.versionHashes
        #expect(Set(ours.keys) == Set(hashes.keys))
        for (entity, hash) in hashes where !record.inexactlyHashedEntities.contains(entity) {
          #expect(ours[entity] == hash, "\(Corpus.name(url)) \(version) \(entity)")
          equal += 1
        }
        inexact += record.inexactlyHashedEntities.count
        if let checksum = bundle.versionChecksums[version] {
          #expect(VersionHash.checksum(of: ours.mapValues { Array($0) }) == checksum)
          checksums += 1
        }
      }
    }
    #expect((equal, inexact, checksums) == (169, 1, 4))
  }

  @Test func `a compiled bundle reads back as its sources`() throws {
    let folder = try TestFolder()
    for url in Self.models where url.pathExtension == "xcdatamodeld" {
      guard let compiled = try? ModelCompiler().compile(url) else { continue }
      let output = folder.url.appending(path: compiled.name)
      try compiled.write(to: output)
      let (ours, source) = (try ModelBundle(output), try ModelBundle(url))
      #expect(ours.currentName == source.currentName)
      #expect(ours.versionNames == source.versionNames)
      for version in source.versionNames {
        let record = try ours.record(of: version)
        #expect(try record == source.record(of: version), "\(Corpus.name(url)) \(version)")
        #expect(ours.versionHashes[version] == record.versionHashes)
      }
      try FileManager.default.removeItem(at: output)
    }
  }
}
