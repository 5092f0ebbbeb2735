import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Feature 1.10: texts for users in a strings file beside the model.
@Suite struct ModelTextsTests {
  /// A folder with the models `Shop` and `Bank` and the given files.
  private func withModels(_ files: [String: String], _ body: (URL) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "texts-\(UUID())")
    defer { try? FileManager.default.removeItem(at: folder) }
    func write(_ text: String, _ path: String) throws {
      let file = folder.appending(path: path)
      try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: file)
    }
    let rule = "<attribute name='age' attributeType='Integer 16' minValueString='1' defaultValueString='0'/>"
    try write("<model><entity name='Shop'>\(rule)</entity></model>", "Shop.xcdatamodeld/Shop 1.xcdatamodel/contents")
    try write("<model><entity name='Bank'/></model>", "Bank.xcdatamodel/contents")
    for (path, text) in files { try write(text, path) }
    try body(folder)
  }

  @Test(arguments: ["", "Base.lproj/", "en.lproj/"])
  func theTextsBesideAModelAreItsOwn(_ prefix: String) throws {
    let text = "\"Entity/Shop\" = \"Laden\"; \"Property/age/Entity/Shop\" = \"Alter\";"
    try withModels([prefix + "ShopModel.strings": text]) { folder in
      let model = try NSManagedObjectModel.read(folder.appending(path: "Shop.xcdatamodeld"))
      let context = try Describing.context(model)
      // A model in use reads them too.
      let error = context.performAndWait {
        _ = NSEntityDescription.insertNewObject(forEntityName: "Shop", into: context)
        return #expect(throws: CocoaError.self) { try context.save() }
      }
      #expect(error?.localizedDescription == "Laden.Alter is too small.")
      #expect(model.localizationDictionary?.count == 2)
      let version = folder.appending(path: "Shop.xcdatamodeld/Shop 1.xcdatamodel")
      #expect(NSManagedObjectModel(contentsOf: version)?.localizationDictionary?.count == 2)
      #expect(
        NSManagedObjectModel(contentsOf: folder.appending(path: "Bank.xcdatamodel"))?.localizationDictionary == nil)
    }
  }

  @Test func textsAreReadWhenTheyAreRequestedAndOnce() throws {
    try withModels(["ShopModel.strings": "a = 1;"]) { folder in
      let file = folder.appending(path: "ShopModel.strings")
      let model = try #require(NSManagedObjectModel(contentsOf: folder.appending(path: "Shop.xcdatamodeld")))
      try Data("a = 2;".utf8).write(to: file)
      #expect(model.localizationDictionary == ["a": "2"])
      try Data("a = 3;".utf8).write(to: file)
      #expect(model.localizationDictionary == ["a": "2"])
      #expect((model.copy() as? NSManagedObjectModel)?.localizationDictionary == ["a": "2"])
      model.localizationDictionary = nil
      #expect(model.localizationDictionary == nil)
    }
  }

  @Test func mergedModelsHaveTheTextsOfAll() throws {
    try withModels(["ShopModel.strings": "a = shop; b = shop;", "BankModel.strings": "b = bank; c = bank;"]) { folder in
      let models = ["Shop.xcdatamodeld", "Bank.xcdatamodel"].compactMap {
        NSManagedObjectModel(contentsOf: folder.appending(path: $0))
      }
      let merged = NSManagedObjectModel(byMerging: models)
      #expect(merged?.localizationDictionary == ["a": "shop", "b": "shop", "c": "bank"])
    }
  }

  @Test func aFileThatCannotBeReadIsLeftOut() throws {
    try withModels(["ShopModel.strings": "\"a = 1;"]) { folder in
      let model = try NSManagedObjectModel.read(folder.appending(path: "Shop.xcdatamodeld"))
      #expect(model.localizationDictionary == nil)
    }
  }
}
