import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Features 1.3, 1.15, 1.16: models and their files.
@Suite struct ModelFileTests {
  @Test func aModelComesBackFromItsArchive() throws {
    let model = Describing.library()
    model.localizationDictionary = nil
    let archive = try #require(ModelArchive.data(of: model))
    let read = try ModelArchive.model(archive)
    #expect(read == model)
    #expect(read.entityVersionHashesByName == model.entityVersionHashesByName)
    #expect(read.entities(forConfigurationName: "People")?.map(\.name) == ["Author"])
    let book = try #require(read.entitiesByName["Book"])
    #expect(book.subentities.map(\.name) == ["Comic"] && book.userInfo?["note"] as? String == "x")
    #expect(book.indexes.first?.elements.first?.property === book.propertiesByName["title"])
    let title = try #require(book.attributesByName["title"])
    #expect(title.validationPredicates.map(\.predicateFormat) == ["length > 0"])
    #expect(title.validationWarnings as? [String] == ["no title"])
    let folded = book.propertiesByName["folded"] as? NSDerivedAttributeDescription
    #expect(folded?.derivationExpression == NSExpression(format: "canonical:(title)"))
    let size = book.propertiesByName["size"] as? NSCompositeAttributeDescription
    #expect(size?.elements.map(\.name).sorted() == ["height", "width"])
    let namesakes = book.propertiesByName["namesakes"] as? NSFetchedPropertyDescription
    #expect(namesakes?.fetchRequest?.predicate?.predicateFormat == "title == $FETCH_SOURCE.title")
  }

  /// A client compiles the current version of its model to a file that is named as a folder of versions.
  @Test func aFileThatIsNamedAsAFolderOfVersionsIsRead() throws {
    let model = Describing.library()
    model.localizationDictionary = nil
    let url = URL.temporaryDirectory.appending(path: "\(UUID().uuidString).momd")
    defer { try? FileManager.default.removeItem(at: url) }
    try #require(ModelArchive.data(of: model)).write(to: url)
    #expect(NSManagedObjectModel(contentsOf: url) == model)
    try Data("no model".utf8).write(to: url)
    #expect(NSManagedObjectModel(contentsOf: url) == nil)
  }

  @Test func aModelMadeInCodeIsWrittenAsASource() throws {
    let model = Describing.library()
    model.localizationDictionary = nil
    let source = try model.sourceContents()
    let folder = URL.temporaryDirectory.appending(path: "\(UUID().uuidString).xcdatamodel")
    defer { try? FileManager.default.removeItem(at: folder) }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    try source.contents.write(to: folder.appending(path: "contents"))
    let read = try NSManagedObjectModel.read(folder)
    #expect(read.entityVersionHashesByName == model.entityVersionHashesByName && read.entities.count > 2)
    for (name, entity) in model.entitiesByName {
      #expect(Set(read.entitiesByName[name]?.propertiesByName.keys ?? [:].keys) == Set(entity.propertiesByName.keys))
    }
    #expect(try read.sourceContents().contents == source.contents)
  }

  @Test func aFileOfNoModelGivesNil() throws {
    #expect(NSManagedObjectModel(contentsOf: URL(filePath: "/nonexistent.momd")) == nil)
    #expect(throws: CocoaError.self) { try NSManagedObjectModel.read(URL(filePath: "/nonexistent.momd")) }
  }

  /// Each model that Apple's tools made can be used and equals its copy.
  @Test(Corpus.condition) func everyModelOfTheCorpusCanBeUsedAndCopied() throws {
    let found = FileManager.default.enumerator(
      at: Corpus.root.appending(path: "models"), includingPropertiesForKeys: nil)
    let files = (found?.compactMap { $0 as? URL } ?? []).filter { $0.pathExtension == "xcdatamodel" }
    var count = 0
    for file in files.sorted(by: { $0.path < $1.path }) {
      guard let model = NSManagedObjectModel(contentsOf: file) else { continue }
      count += 1
      let copy = try #require(model.copy() as? NSManagedObjectModel)
      #expect(copy == model, "\(file.path)")
      do { _ = try model.freeze() } catch { Issue.record("\(file.path): \(error)") }
    }
    #expect(count > 100)
  }
}
