import Foundation
import ModelFiles
import SQLEngine
import StoreProtocol
import StoreSchema
import TestSupport
import Testing

@testable import CoreData
@testable import SQLiteBackend

/// Features 7.4 and 7.6: partial fetch indexes, and models whose indexes change while their version hashes do not.
@Suite struct FetchIndexTests {
  private func index(_ name: String, _ properties: [NSPropertyDescription], _ format: String? = nil)
    -> NSFetchIndexDescription
  {
    let elements = properties.map { NSFetchIndexElementDescription(property: $0, collationType: .binary) }
    let index = NSFetchIndexDescription(name: name, elements: elements)
    index.partialIndexPredicate = format.map { NSPredicate(format: $0) }
    return index
  }

  /// An entity `A` with a name, an age, a date and a to-one relationship to itself.
  private func model(_ indexes: (NSEntityDescription) -> [NSFetchIndexDescription]) -> NSManagedObjectModel {
    let entity = Describing.entity(
      "A",
      [
        Describing.attribute("name"), Describing.attribute("age", .integer16), Describing.attribute("at", .date),
        Describing.attribute("uid", .uuid), Describing.attribute("blob", .binaryData),
        Describing.attribute("on", .boolean),
      ])
    Describing.relate(entity, "parent", toMany: false, entity, "children", toManyBack: true)
    entity.indexes = indexes(entity)
    return Describing.model([entity])
  }

  private func property(_ name: String, _ entity: NSEntityDescription) -> NSPropertyDescription {
    entity.propertiesByName[name] ?? NSPropertyDescription()
  }

  @Test(arguments: [
    ("age == 1", "ZAGE = 1"), ("age != 1", "ZAGE IS NOT 1"), ("parent == nil", "ZPARENT IS NULL"),
    ("name != nil AND age > 3", "(ZNAME IS NOT NULL AND ZAGE > 3)"), ("on == YES", "ZON = 1"),
    ("NOT (age < 2 OR on == NO)", "((ZAGE IS NULL OR ZAGE >= 2) AND ZON IS NOT 0)"),
    ("name == \"it's?\"", "ZNAME = 'it''s?'"),
    // A quotation mark that is part of a Character.
    ("name == \"\u{600}' OR 1; --\"", "ZNAME = '\u{600}'' OR 1; --'"),
    ("age IN {1, 2}", "ZAGE IN (1, 2)"), ("age BETWEEN {1, 5}", "(ZAGE >= 1 AND ZAGE <= 5)"),
    ("at > CAST(1.5, 'NSDate')", "ZAT > 1.5"),
    ("name BEGINSWITH 'ab'", "(ZNAME >= 'ab' AND ZNAME < 'ac')"),
    // Predicates that use other columns than the entity's own, or a comparison that SQL alone cannot make.
    ("parent.age == 1", nil), ("name CONTAINS 'x'", nil), ("name ==[c] 'x'", nil), ("ANY children.age == 1", nil),
    ("age == $X", nil),
  ])
  func predicatesBecomeConditions(_ format: String, _ sql: String?) throws {
    let model = model { [index("part", [property("name", $0)], format)] }
    let text = SQLSchemaText(SQLLayout(schema: try model.freeze().schema))
    if let sql {
      #expect(text.fetchIndexes.map(\.sql) == ["CREATE INDEX Z_A_part ON ZA (ZNAME COLLATE BINARY ASC) WHERE \(sql)"])
      let context = try Describing.context(model)
      _ = try context.performAndWait { try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "A")) }
    } else {
      #expect(text.impossibleIndex?.index == "part")
      let error = #expect(throws: CocoaError.self) { try Describing.context(model) }
      #expect(error?.localizedDescription.contains("part") == true)
    }
  }

  private func withStore(_ body: (URL) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "index-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try body(folder.appending(path: "store.sqlite"))
  }

  /// Opens the store, saves `count` objects and closes it. Returns the index statements of the file.
  private func use(_ url: URL, _ model: NSManagedObjectModel, saving count: Int, readOnly: Bool = false) throws
    -> [String]
  {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let store = try coordinator.addPersistentStore(
      type: .sqlite, at: url, options: readOnly ? [NSReadOnlyPersistentStoreOption: true] : nil)
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      let all = try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "A")) + count
      for number in all - count..<all {
        let object = NSEntityDescription.insertNewObject(forEntityName: "A", into: context)
        object.setValue("n\(number)", forKey: "name")
        object.setValue(number % 3, forKey: "age")
      }
      try context.save()
      let request = NSFetchRequest<NSManagedObject>(entityName: "A")
      request.predicate = NSPredicate(format: "age == 1")
      #expect(try context.count(for: request) == (all + 1) / 3)
    }
    try coordinator.remove(store)
    return try indexes(url)
  }

  /// The statements of the indexes with names like those of `A`. Also checks the file for damage.
  private func indexes(_ url: URL, like pattern: String = "Z_A_%") throws -> [String] {
    let connection = try SQLiteConnection(url.path, .readOnly, timeout: 1)
    #expect(try connection.text("PRAGMA integrity_check") == "ok")
    let statement = try connection.prepare("SELECT sql FROM sqlite_master WHERE name LIKE '\(pattern)' ORDER BY name")
    var result: [String] = []
    while try statement.step() { result.append(statement.string(0) ?? "") }
    return result
  }

  @Test func theFirstSaveBringsTheIndexesInLineWithTheModel() throws {
    try withStore { (url) throws in
      let old = { model { [index("byName", [property("name", $0)]), index("byAge", [property("age", $0)])] } }
      let new = {
        model {
          [
            index("byAge", [property("age", $0)]), index("ones", [property("name", $0)], "age == 1"),
            index("both", [property("age", $0), property("at", $0)]),
          ]
        }
      }
      #expect(old().entityVersionHashesByName == new().entityVersionHashesByName)
      let (byAge, byName) = (
        "CREATE INDEX Z_A_byAge ON ZA (ZAGE COLLATE BINARY ASC)",
        "CREATE INDEX Z_A_byName ON ZA (ZNAME COLLATE BINARY ASC)"
      )
      #expect(try use(url, old(), saving: 10) == [byAge, byName])
      // Opening and reading change nothing, and a read-only store never changes.
      #expect(try use(url, new(), saving: 0) == [byAge, byName])
      #expect(try use(url, new(), saving: 0, readOnly: true) == [byAge, byName])
      #expect(
        try use(url, new(), saving: 3) == [
          "CREATE INDEX Z_A_both ON ZA (ZAGE COLLATE BINARY ASC, ZAT COLLATE BINARY ASC)", byAge,
          "CREATE INDEX Z_A_ones ON ZA (ZNAME COLLATE BINARY ASC) WHERE ZAGE = 1",
        ])
      #expect(try use(url, old(), saving: 1) == [byAge, byName])
    }
  }

  @Test func aHostileNameOfTheModelIsAName() throws {
    let model = model { [index("\u{600}\" ON ZA (ZAGE); DELETE FROM ZA; --", [property("name", $0)])] }
    try withStore { (url) throws in
      #expect(try use(url, model, saving: 2).count == 1)
      #expect(try use(url, model, saving: 2).count == 1)
      let connection = try SQLiteConnection(url.path, .readOnly, timeout: 1)
      #expect(try connection.integer("SELECT count(*) FROM ZA") == 4)
    }
  }

  /// The second name contains a quotation mark that is part of a Character.
  @Test(arguments: ["", "\u{600}"]) func aHostileNameIsAName(_ start: String) throws {
    try withStore { (url) throws in
      let plain = model { _ in [] }
      _ = try use(url, plain, saving: 2)
      try SQLiteConnection(url.path, .readWrite, timeout: 1).execute(
        "CREATE INDEX \"Z_A_\(start)\"\"; DELETE FROM ZA; --\" ON ZA (ZAGE)")
      #expect(try use(url, plain, saving: 1) == [])
      let connection = try SQLiteConnection(url.path, .readOnly, timeout: 1)
      #expect(try connection.integer("SELECT count(*) FROM ZA") == 3)
    }
  }

  /// Apple's framework may have written an SQL condition that this library cannot write.
  @Test func anIndexThatCannotBeMadeHereStays() throws {
    try withStore { (url) throws in
      let plain = model { _ in [] }
      _ = try use(url, plain, saving: 2)
      let sql = "CREATE INDEX Z_A_part ON ZA (ZNAME COLLATE BINARY ASC) WHERE ZNAME LIKE 'a%'"
      try SQLiteConnection(url.path, .readWrite, timeout: 1).execute(sql)
      let odd = model { [index("part", [property("name", $0)], "name CONTAINS 'a'")] }
      #expect(try use(url, odd, saving: 1) == [sql])
    }
  }

  @Test func indexesOfOthersStay() throws {
    try withStore { (url) throws in
      let named = model { [index("byName", [property("name", $0)])] }
      _ = try use(url, named, saving: 1)
      try SQLiteConnection(url.path, .readWrite, timeout: 1).execute(
        """
        DROP INDEX Z_A_byName; CREATE INDEX mine ON ZA (ZAGE); CREATE INDEX ZA_ZNAME ON ZA (ZNAME);
        CREATE UNIQUE INDEX Z_A_UNIQUE_uid ON ZA (ZUID); CREATE INDEX Z_B_byAge ON ZA (ZAGE)
        """)
      // The existing index on the name serves as well as the model's own would.
      #expect(try use(url, named, saving: 1) == ["CREATE UNIQUE INDEX Z_A_UNIQUE_uid ON ZA (ZUID)"])
      for name in ["mine", "ZA_ZNAME", "Z_B_byAge"] { #expect(try indexes(url, like: name).count == 1) }
    }
  }

  /// Compiled models repeat their fetch indexes under NSCompoundIndexes for older frameworks (MODEL-FILES, 4.2), as
  /// models of current system apps do. Their elements alone do not show the order.
  @Test func aMirrorOfFetchIndexesIsNoIndex() throws {
    let model = model { [index("name_age", [property("age", $0), property("name", $0)])] }
    var record = ModelRecordCoding.record(of: model)
    record.entities[0].compoundIndexes = [["name", "age"]]
    let data = try CompiledModelWriter.write(record)
    let read = try NSManagedObjectModel(CompiledModelReader.read(data))
    #expect(read.entities[0].definition().fetchIndexes.map(\.name) == ["name_age"])
    let context = try Describing.context(read)
    #expect(
      try context.performAndWait { try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "A")) } == 0)
  }

  /// An index that is only a compound index counts, also together with others, both in a model and in the model that
  /// its archive is read to.
  @Test func aCompoundIndexOfItsOwnIsAnIndex() throws {
    for names in [[], ["age"]] {
      let model = model { entity in names.map { index($0, [property($0, entity)]) } }
      model.entities[0].setCompoundIndexes([["name", "age"]])
      let data = try CompiledModelWriter.write(ModelRecordCoding.record(of: model))
      let read = try NSManagedObjectModel(CompiledModelReader.read(data))
      for model in [model, read] {
        #expect(model.entities[0].definition().fetchIndexes.map(\.name) == names + ["name_age"])
      }
    }
  }
}

extension NSEntityDescription {
  /// Sets what the deprecated property sets.
  fileprivate func setCompoundIndexes(_ names: [[String]]) { compound = names }
}
