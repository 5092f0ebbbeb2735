import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataTool
@testable import SQLiteBackend

/// The SQLite files of stores with a configuration.
///
/// [addPersistentStore](https://developer.apple.com/documentation/coredata/nspersistentstorecoordinator/addpersistentstore(oftype:configurationname:at:options:)):
/// the store uses the configuration. Issue 22 requires that its file contains nothing of other entities; no page says
/// which tables it has.
@Suite struct ConfigurationFileTests {
  private func fill(_ context: NSManagedObjectContext) throws {
    let department = context.insert(configured: "Department", ["title": "Physics"])
    let ada = context.insert(configured: "Employee", ["name": "Ada", "salary": 2, "department": department])
    ada.setValue(NSSet(object: department), forKey: "skills")
    try context.save()
  }

  @Test func aFileHasTheTablesOfItsConfiguration() throws {
    let location = try ConfiguredStore()
    try location.use(.sqlite, "Staff") { (context, _) throws in try fill(context) }
    #expect(
      try location.tables() == ["ZDEPARTMENT", "ZPERSON", "Z_1SKILLED", "Z_METADATA", "Z_MODELCACHE", "Z_PRIMARYKEY"])
    #expect(try location.columns("ZDEPARTMENT") == ["ZTITLE", "Z_ENT", "Z_OPT", "Z_PK"])
    // Neither guests nor relationships to badges.
    #expect(try location.columns("ZPERSON") == ["ZDEPARTMENT", "ZNAME", "ZSALARY", "Z_ENT", "Z_OPT", "Z_PK"])
    #expect(
      try location.rows("SELECT Z_ENT || ' ' || Z_NAME || ' ' || Z_SUPER FROM Z_PRIMARYKEY ORDER BY Z_ENT")
        == ["1 Department 0", "2 Person 0", "3 Employee 2"])
    #expect(try location.rows("SELECT Z_ENT FROM ZPERSON") == ["3"])
    #expect(
      try location.rows("SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL ORDER BY name")
        == ["ZPERSON_ZDEPARTMENT_INDEX", "ZPERSON_Z_ENT_INDEX", "Z_1SKILLED_Z_3SKILLED_INDEX"])
    #expect(try location.hashes() == ["Department", "Employee", "Person"])
  }

  @Test func anotherConfigurationHasItsOwn() throws {
    let location = try ConfiguredStore()
    try location.use(.sqlite, "Labels") { (context, _) throws in
      context.insert(configured: "Badge", ["text": "x"])
      try context.save()
    }
    #expect(try location.tables() == ["ZBADGE", "Z_METADATA", "Z_MODELCACHE", "Z_PRIMARYKEY"])
    #expect(try location.columns("ZBADGE") == ["ZTEXT", "Z_ENT", "Z_OPT", "Z_PK"])
    #expect(try location.rows("SELECT Z_ENT || ' ' || Z_NAME FROM Z_PRIMARYKEY") == ["1 Badge"])
    #expect(try location.hashes() == ["Badge"])
  }

  /// The model in a store; see decision 009 of the design.
  @Test func theEmbeddedModelIsTheConfigurations() throws {
    for (configuration, entities) in [
      ("Notes", ["Audit"]), ("Staff", ["Badge", "Department", "Employee", "Person"]), ("Empty", []),
    ] {
      let location = try ConfiguredStore()
      let model = ConfiguredStore.model()
      try location.use(.sqlite, configuration, model: model) { (_, _) throws in }
      let carried = try #require(try NSPersistentStoreCoordinator.cachedModel(forPersistentStoreAt: location.url))
      #expect(carried.entitiesByName.keys.sorted() == entities && carried.configurations == [configuration])
      let metadata = try location.metadata()
      #expect(carried.isConfiguration(withName: configuration, compatibleWithStoreMetadata: metadata))
      // If no relationship leads out of the configuration, the model is that of the file.
      let isWhole = carried.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
      #expect(isWhole == (configuration != "Staff"))
      for name in entities {
        #expect(carried.entityVersionHashesByName[name] == model.entityVersionHashesByName[name], "\(name)")
      }
      #expect(throws: Never.self) { try carried.freeze() }
    }
  }

  // MARK: Files of others

  /// A file as Apple's framework makes it for a model whose only entities are those of the configuration, without an
  /// embedded model. No store of a configuration made by Apple's framework is known; `columns` are the possible columns
  /// of relationships that lead out.
  private func makeForeignFile(_ location: ConfiguredStore, columns: String) throws {
    let hashes = ConfiguredStore.model().entityVersionHashesByName
      .filter { ["Department", "Employee", "Person"].contains($0.key) }
    let metadata: [String: Any] = [
      "NSStoreModelVersionHashes": hashes, "NSStoreModelVersionHashesVersion": 3,
      "NSPersistenceFrameworkVersion": 1344, "NSStoreModelVersionIdentifiers": [""], "NSStoreType": "SQLite",
      "_NSAutoVacuumLevel": "2",
    ]
    let bytes = try PropertyListSerialization.data(fromPropertyList: metadata, format: .binary, options: 0)
    let hex = bytes.map { String(format: "%02x", $0) }.joined()
    try location.execute([
      "PRAGMA journal_mode = WAL",
      "CREATE TABLE ZDEPARTMENT ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZTITLE VARCHAR )",
      "CREATE TABLE ZPERSON ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, \(columns)ZDEPARTMENT INTEGER, ZSALARY INTEGER, ZNAME VARCHAR )",
      "CREATE TABLE Z_1SKILLED ( Z_1SKILLS INTEGER, Z_3SKILLED INTEGER, PRIMARY KEY (Z_1SKILLS, Z_3SKILLED) )",
      "CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)",
      "CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)",
      "CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)",
      "INSERT INTO Z_PRIMARYKEY VALUES (1, 'Department', 0, 1), (2, 'Person', 0, 2), (3, 'Employee', 2, 0)",
      "INSERT INTO Z_METADATA VALUES (1, '9C1D0B2A-7F0E-4C7B-8C7F-0A5B8E6D3C21', X'\(hex)')",
      "INSERT INTO ZDEPARTMENT (Z_PK, Z_ENT, Z_OPT, ZTITLE) VALUES (1, 1, 1, 'Physics')",
      "INSERT INTO ZPERSON (Z_PK, Z_ENT, Z_OPT, ZDEPARTMENT, ZSALARY, ZNAME) VALUES (1, 3, 1, 1, 2, 'Ada'), (2, 3, 1, NULL, 1, 'Emmy')",
      "INSERT INTO Z_1SKILLED VALUES (1, 1)",
    ])
  }

  @Test(arguments: ["", "ZBADGE INTEGER, ZWORN INTEGER, Z_FOK_WORN INTEGER, "])
  func aForeignFileOfAConfigurationOpens(_ columns: String) throws {
    let location = try ConfiguredStore()
    try makeForeignFile(location, columns: columns)
    #expect(try location.refusal(.sqlite, nil) == 134100)
    #expect(try location.refusal(.sqlite, "Labels") == 134100)
    try location.use(.sqlite, "Staff") { (context, store) throws in
      #expect(!store.isReadOnly && store.identifier == "9C1D0B2A-7F0E-4C7B-8C7F-0A5B8E6D3C21")
      #expect(
        try context.found("Employee", "department.title == 'Physics' AND ANY skills.title == 'Physics'").count == 1)
      #expect(try context.found("Employee", "badge == nil AND labels.@count == 0").count == 2)
      context.insert(configured: "Employee", ["name": "Lise", "salary": 3])
      try context.found("Employee", "name == 'Emmy'").first?.setValue(4, forKey: "salary")
      context.delete(try #require(try context.found("Employee", "name == 'Ada'").first))
      try context.save()
    }
    #expect(
      try location.rows("SELECT Z_PK || ' ' || Z_ENT || ' ' || ZNAME || ' ' || ZSALARY FROM ZPERSON ORDER BY Z_PK")
        == ["2 3 Emmy 4", "3 3 Lise 3"])
    #expect(try location.rows("SELECT count(*) FROM Z_1SKILLED") == ["0"])
    #expect(try location.rows("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = 2") == ["3"])
    #expect(try location.hashes() == ["Department", "Employee", "Person"])
    #expect(try location.rows("SELECT count(*) FROM Z_PRIMARYKEY") == ["3"])
  }

  /// A row of an entity outside of the configuration, in a shared table, is left alone.
  @Test func rowsOfOtherEntitiesAreLeftAlone() throws {
    let location = try ConfiguredStore()
    try makeForeignFile(location, columns: "")
    for number in [0, 4, -1] {
      try location.execute([
        "INSERT INTO ZPERSON (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (\(number + 10), \(number), 1, 'x')"
      ])
    }
    try location.use(.sqlite, "Staff") { (context, _) throws in
      #expect(try context.found("Person").count == 2)
      #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Person")) == 2)
      #expect(try context.found("Guest").isEmpty)
    }
  }

  // MARK: History, uniqueness, the tool

  /// [Persistent history](https://developer.apple.com/documentation/coredata/consuming-relevant-store-changes) of a
  /// store with a configuration uses the numbers of its own entities.
  @Test func historyIsRecorded() throws {
    let location = try ConfiguredStore()
    let options = [NSPersistentHistoryTrackingKey: true]
    try location.use(.sqlite, "Staff", options: options) { (context, _) throws in
      try fill(context)
      context.delete(try #require(try context.found("Employee").first))
      try context.save()
    }
    #expect(try location.rows("SELECT ZENTITY FROM ACHANGE WHERE ZCHANGETYPE = 0 ORDER BY ZENTITY") == ["1", "3"])
    #expect(try location.rows("SELECT ZENTITY FROM ACHANGE WHERE ZCHANGETYPE = 2") == ["3"])
  }

  /// [uniquenessConstraints](https://developer.apple.com/documentation/coredata/nsentitydescription/uniquenessconstraints)
  /// of stored entities are enforced; those over links that are not stored are ignored.
  @Test func constraintsOfStoredEntitiesAreKept() throws {
    func model() -> NSManagedObjectModel {
      let model = ConfiguredStore.model()
      model.entitiesByName["Employee"]?.uniquenessConstraints = [["salary"], ["badge"]]
      model.entitiesByName["Guest"]?.uniquenessConstraints = [["visits"]]
      return model
    }
    let location = try ConfiguredStore()
    try location.use(.sqlite, "Staff", model: model()) { (context, _) throws in
      for salary in [1, 2] { context.insert(configured: "Employee", ["salary": salary]) }
      try context.save()
      context.insert(configured: "Employee", ["salary": 2])
      let error = #expect(throws: CocoaError.self) { try context.save() }
      #expect(error?.code == .managedObjectConstraintMerge)
      context.rollback()
      // Two objects exchange their values.
      let (one, two) = (
        try #require(try context.found("Employee", sort: "salary").first),
        try context.found("Employee", sort: "salary")[1]
      )
      one.setValue(2, forKey: "salary")
      two.setValue(1, forKey: "salary")
      try context.save()
    }
    #expect(
      try location.rows("SELECT name FROM sqlite_master WHERE name LIKE '%UNIQUE%'") == ["Z_Employee_UNIQUE_salary"])
  }

  /// The tool reads, checks, converts and recovers a store of a configuration, with the model in the store or the
  /// application's.
  @Test(arguments: StoreMigrationTests.persistentTypes, ["Staff", "Notes"])
  func theToolReadsAFileOfAConfiguration(_ type: NSPersistentStore.StoreType, _ configuration: String) throws {
    let location = try ConfiguredStore()
    try location.use(type, configuration) { (context, _) throws in
      if configuration == "Staff" {
        try fill(context)
      } else {
        context.insert(configured: "Audit", ["text": "Physics"])
      }
      try context.save()
    }
    let model = location.folder.appending(path: "Model.mom")
    try ModelArchive.write(ConfiguredStore.model()).write(to: model)
    let carries = type == .sqlite || type.rawValue == "LMDB"
    for arguments in [["--model", model.path]] + (carries ? [[]] : []) {
      let dump = try ToolRun(["store", "dump", location.url.path] + arguments)
      #expect(dump.status == 0 && dump.output.contains("Physics"), "\(dump.errors)")
      #expect(dump.output.split(separator: "\n").count == (configuration == "Staff" ? 2 : 1))
      let check = try ToolRun(["store", "verify", location.url.path] + arguments)
      #expect(check.status == 0, "\(check.output) \(check.errors)")
      for words in [["store", "convert"], ["store", "recover"]] {
        let target = location.folder.appending(path: "\(words[1])-\(arguments.count)")
        let run = try ToolRun(words + [location.url.path, target.path, "--to", "sqlite"] + arguments)
        #expect(run.status == 0, "\(words) \(run.output) \(run.errors)")
        #expect(try location.hashes(at: target) == location.hashes(type))
        #expect(try ToolRun(["store", "dump", target.path]).output == dump.output)
      }
    }
  }
}
