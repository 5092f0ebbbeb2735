import Foundation
import ModelFiles
import StoreQuery
import TestSupport
import Testing

/// Compares compiled models with the sources that they were made from: `<X>.momd/<v>.mom` in a project that contains
/// `<X>.xcdatamodeld/<v>.xcdatamodel` with the same entity names.
@Suite(Corpus.condition) struct PairTests {
  struct Pair {
    var compiled: URL
    var source: URL
  }

  static func pairs() throws -> [Pair] {
    let sources = Corpus.files(under: "models/models") { $0.pathExtension == "xcdatamodel" }
    return try Corpus.files(under: "models/compiled") { $0.pathExtension == "mom" }.compactMap { compiled in
      let project = Corpus.name(compiled).split(separator: "/")[2]
      let names = try ModelFile.read(at: compiled).entities.map(\.name)
      let bundle = compiled.deletingLastPathComponent().deletingPathExtension().lastPathComponent
      let candidates = sources.filter { source in
        Corpus.name(source).split(separator: "/")[2] == project
          && source.deletingPathExtension().lastPathComponent == compiled.deletingPathExtension().lastPathComponent
          && source.deletingLastPathComponent().lastPathComponent == bundle + ".xcdatamodeld"
      }
      let source = try candidates.first { try ModelFile.read(at: $0).entities.map(\.name) == names }
      return source.map { Pair(compiled: compiled, source: $0) }
    }
  }

  /// The source of one model was changed after it was compiled: `Car.color` of SampleModel gained a class name, which
  /// is not part of the version hashes.
  private static func normalised(_ model: ModelRecord, of pair: Pair) -> ModelRecord {
    guard pair.compiled.lastPathComponent == "SampleModel.mom" else { return model }
    var result = model
    for entity in result.entities.indices where result.entities[entity].name == "Car" {
      for property in result.entities[entity].properties.indices {
        guard case .attribute(var attribute) = result.entities[entity].properties[property].kind,
          attribute.valueClassName == "Color"
        else { continue }
        attribute.valueClassName = nil
        result.entities[entity].properties[property].kind = .attribute(attribute)
      }
    }
    return result
  }

  @Test func `source and compiled models give equal records`() throws {
    let pairs = try Self.pairs()
    #expect(pairs.count == 15)
    for pair in pairs {
      let compiled = try ModelFile.read(at: pair.compiled)
      let source = Self.normalised(try ModelFile.read(at: pair.source), of: pair)
      let differences = ModelDifferences.list(source, compiled)
      #expect(differences.isEmpty, "\(Corpus.name(pair.compiled)): \(differences.prefix(12))")
    }
  }
}

extension PairTests {
  /// The objects, keys and values of our archive are those of Apple's. Only the version of Apple's compiler is not
  /// written, and one source was changed after it was compiled; see above.
  @Test func `a compiled source has the objects that Apple's compiler writes`() throws {
    let known = ["root: lacks CDMCompilerToolVersion", "root: lacks CDMCompilerXcodeVersion"]
    for pair in try Self.pairs() {
      let data = try CompiledModelWriter.write(Self.normalised(try ModelFile.read(at: pair.source), of: pair))
      let differences = try ArchiveDifferences.list(data, from: Data(contentsOf: pair.compiled))
      #expect(Set(differences).subtracting(known).isEmpty, "\(Corpus.name(pair.compiled)): \(differences.prefix(5))")
    }
  }
}

/// The differences between two records, as text for a failing test.
enum ModelDifferences {
  static func list(_ a: ModelRecord, _ b: ModelRecord) -> [String] {
    var result: [String] = []
    if a.versionIdentifiers != b.versionIdentifiers { result.append("\(a.versionIdentifiers) \(b.versionIdentifiers)") }
    if a.configurations != b.configurations { result.append("\(a.configurations) \(b.configurations)") }
    if a.fetchRequestTemplates != b.fetchRequestTemplates {
      result.append("\(a.fetchRequestTemplates) \(b.fetchRequestTemplates)")
    }
    for (one, other) in zip(a.entities, b.entities) where one != other {
      var (bareOne, bareOther) = (one, other)
      (bareOne.properties, bareOther.properties) = ([], [])
      if bareOne != bareOther { result.append("\(bareOne) \(bareOther)") }
      if one.properties.map(\.name) != other.properties.map(\.name) {
        result.append("\(one.name): \(one.properties.map(\.name)) \(other.properties.map(\.name))")
      }
      for (property, counterpart) in zip(one.properties, other.properties) where property != counterpart {
        result.append("\(one.name): \(property) \(counterpart)")
      }
    }
    return result
  }
}
