import Foundation
import StoreProtocol
import StoreSchema
import TestSupport
import Testing

@testable import CoreData

@Suite struct SavingTests {
  /// A client's store may return anything.
  @Test func conflictsAboutNothingEndTheSave() throws {
    let company = try CompanyStore()
    try company.run { context in
      _ = Person(context: context)
      let plan = try SavePlan(context.core, company.coordinator)
      let part = try #require(plan.parts.first)
      let unknown = Conflict(
        reference: ObjectReference(entity: 0, key: -7), versionRead: 1, kind: .version(persisted: nil))
      for list in [[], [unknown]] {
        var met: Set<Set<SaveConflicts.Mark>> = []
        let conflicts = SaveConflicts(list, part, part.objectsByReference, context.core)
        #expect(throws: CocoaError.self) { try context.core.resolve(conflicts, 0, &met) }
      }
    }
  }

  @Test func objectsComeBackAsTheyWereSaved() throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      let department = Department(context: context)
      department.title = "Sales"
      for index in 0..<20 {
        let person = Person(context: context)
        person.name = "P\(index)"
        person.age = Int16(20 + index)
        person.department = department
      }
      #expect(context.hasChanges && context.insertedObjects.count == 21)
      try context.save()
      #expect(!context.hasChanges && !department.isInserted && !department.objectID.isTemporaryID)
    }
    try company.reopened().run { (context) throws in
      let people = try context.all(Person.self, "department.title == %@ AND age >= %d", "Sales", 35)
      #expect(Set(people.map(\.name)) == ["P15", "P16", "P17", "P18", "P19"])
      #expect(people.first?.department?.people.count == 20)
      let department = try #require(people.first?.department)
      department.title = "Marketing"
      people[0].department = nil
      #expect(department.people.count == 19 && context.updatedObjects.count == 2)
      try context.save()
    }
    try company.run { (context) throws in
      #expect(try context.all(Department.self).map(\.title) == ["Marketing"])
      #expect(try context.all(Person.self, "department == nil").count == 1)
    }
  }

  @Test func everyAttributeTypeKeepsItsValue() throws {
    let company = try CompanyStore()
    let uuid = UUID()
    let values: [String: Any] = [
      "int16": Int16.min, "int32": Int32.max, "int64": Int64.min,
      "decimal": NSDecimalNumber(string: "12345678901234567890.123456789"), "double": Double.leastNonzeroMagnitude,
      "float": Float.pi,
      "string": "nul\u{0}, \"\u{65}\u{301}\", 🦊", "bool": true,
      "date": Date(timeIntervalSinceReferenceDate: -0.1 + 1e9), "data": Data([0, 1, 255]), "uuid": uuid,
      "uri": try #require(URL(string: "https://example.com/a?b=c#d")), "blob": Data("small".utf8),
    ]
    try company.run { (context) throws in
      let object = NSEntityDescription.insertNewObject(forEntityName: "Everything", into: context)
      object.setValuesForKeys(values)
      object.setValue(["a", 1, Date(timeIntervalSinceReferenceDate: 3)] as [Any], forKey: "list")
      NSEntityDescription.insertNewObject(forEntityName: "Everything", into: context).setValue("", forKey: "string")
      try context.save()
    }
    try company.reopened().run { (context) throws in
      let request = NSFetchRequest<NSManagedObject>(entityName: "Everything")
      request.sortDescriptors = [NSSortDescriptor(key: "int16", ascending: true)]
      let objects = try context.fetch(request)
      let (empty, full) = (objects[0], objects[1])
      #expect(empty.value(forKey: "string") as? String == "" && empty.value(forKey: "data") == nil)
      #expect(empty.value(forKey: "int64") == nil && empty.value(forKey: "list") == nil)
      for (key, value) in values {
        let found = full.value(forKey: key)
        // Compared as objects: an AnyHashable of an NSNumber does not equal one of a Bool here.
        #expect(NSArray(array: [found as Any]) == NSArray(array: [value]), "\(key): \(String(describing: found))")
      }
      let list = try #require(full.value(forKey: "list") as? [Any])
      #expect(list[0] as? String == "a" && (list[1] as? NSNumber)?.int64Value == 1)
      #expect(list[2] as? Date == Date(timeIntervalSinceReferenceDate: 3))
    }
  }

  @Test(.ofRootContexts, .enabled(if: CompanyStore.type == .sqlite, "it looks at the file"))
  func largeBinaryValuesLiveInFilesOfTheirOwn() throws {
    let options: [AnyHashable: Any] = [NSPersistentStore.externalDataGraceOption: 0]
    let company = try CompanyStore(options: options)
    let folder = company.url.deletingLastPathComponent().appending(path: ".company_SUPPORT/_EXTERNAL_DATA")
    func files() -> Int { (try? FileManager.default.contentsOfDirectory(atPath: folder.path).count) ?? 0 }
    let large = Data((0..<150_000).map { UInt8(truncatingIfNeeded: $0) })
    try company.run { (context) throws in
      let object = NSEntityDescription.insertNewObject(forEntityName: "Everything", into: context)
      object.setValue(large, forKey: "blob")
      try context.save()
      #expect(files() == 1)
      #expect(object.value(forKey: "blob") as? Data == large)
    }
    // They are removed in the background.
    func awaitNone() {
      let deadline = Date(timeIntervalSinceNow: 10)
      while files() > 0 && Date() < deadline { Thread.sleep(forTimeInterval: 0.01) }
      #expect(files() == 0)
    }
    let reopened = try CompanyStore(sharing: company, options: options)
    try reopened.run { (context) throws in
      let object = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Everything")).first)
      #expect(object.value(forKey: "blob") as? Data == large)
      object.setValue(Data([1]), forKey: "blob")
      try context.save()
      awaitNone()
      object.setValue(large, forKey: "blob")
      try context.save()
      context.delete(object)
      try context.save()
    }
    awaitNone()
  }

  @Test(.enabled(if: CompanyStore.type == .sqlite, "it looks at the file")) func anUnchangedObjectIsNotWritten() throws
  {
    let company = try CompanyStore()
    try company.run { (context) throws in
      let person = Person(context: context)
      person.name = "A"
      try context.save()
      person.name = "A"
      #expect(person.isUpdated && !person.hasPersistentChangedValues)
      try context.save()
    }
    let stored = try versions(company)
    #expect(stored == [1])
  }

  private func versions(_ company: CompanyStore) throws -> [Int] {
    let script = """
      import sqlite3,sys
      print([r[0] for r in sqlite3.connect(sys.argv[1]).execute('SELECT Z_OPT FROM ZPERSON ORDER BY Z_PK')])
      """
    let file = company.url.deletingLastPathComponent().appending(path: "versions.py")
    try script.write(to: file, atomically: true, encoding: .utf8)
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["python3", file.path, company.url.path]
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    return try JSONDecoder().decode([Int].self, from: Data(pipe.text().utf8))
  }

  @Test func missingMandatoryValuesAreReportedTogether() throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      _ = Tag(context: context)
      let error = try #require(throws: CocoaError.self) { try context.save() }
      #expect(error.code.rawValue == NSValidationMissingMandatoryPropertyError)
      #expect(error.userInfo[NSValidationKeyErrorKey] as? String == "label")
      _ = Tag(context: context)
      let both = try #require(throws: CocoaError.self) { try context.save() }
      #expect(both.code.rawValue == NSValidationMultipleErrorsError)
      #expect((both.userInfo[NSDetailedErrorsKey] as? [any Error])?.count == 2)
      #expect(context.insertedObjects.count == 2)
    }
  }

  @Test func anIntegerOutOfRangeIsRefusedAtSave() throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      let person = Person(context: context)
      person.setValue(40_000, forKey: "age")
      let error = try #require(throws: CocoaError.self) { try context.save() }
      #expect(error.code.rawValue == NSValidationNumberTooLargeError)
      person.setValue(Double.nan, forKey: "salary")
      person.age = 1
      #expect(throws: CocoaError.self) { try context.save() }
    }
  }

  /// A number that no integer can have: the object shows it, and it is not saved, and a child sees what is stored.
  @Test(
    arguments: [
      1e30, -1e30, 1e300, Double.infinity, -Double.infinity, Double.nan, UInt64.max, CGFloat(1e30), Float.infinity,
      Decimal(1e30), NSNumber(value: 1e30),
    ] as [any Sendable])
  func aNumberThatNoIntegerCanHaveIsRefusedAtSave(number: any Sendable) throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      for key in ["int16", "int32", "int64"] {
        let object = NSEntityDescription.insertNewObject(forEntityName: "Everything", into: context)
        object.setValue(1, forKey: key)
        try context.save()
        object.setValue(number, forKey: key)
        #expect(object.value(forKey: key) as? Int64 == nil && object.value(forKey: key) is NSNumber)
        var value: AnyObject? = number as AnyObject
        let refusal = #expect(throws: CocoaError.self) { try object.validateValue(&value, forKey: key) }
        let error = try #require(throws: CocoaError.self) { try context.save() }
        let codes: [CocoaError.Code] = [
          .validationNumberTooLarge, .validationNumberTooSmall, .managedObjectValidation,
        ]
        #expect(codes.contains(error.code) && refusal?.code == error.code)
        #expect(error.userInfo[NSValidationKeyErrorKey] as? String == key)
        let child = NSManagedObjectContext(.privateQueue)
        child.parent = context
        try child.performAndWait {
          let copy = try child.existingObject(with: object.objectID)
          #expect(copy.value(forKey: key) as? Int == 1)
          copy.setValue("changed", forKey: "string")
          try child.save()
        }
        #expect(object.value(forKey: "string") as? String == "changed")
        object.setPrimitiveValue(number, forKey: key)
        #expect(throws: CocoaError.self) { try context.save() }
        object.setValue(number, forKey: "bool")
        object.setValue(2, forKey: key)
        try context.save()
        #expect(object.value(forKey: key) as? Int == 2)
      }
    }
  }

  @Test(
    arguments: [
      Decimal(Int64.max), NSDecimalNumber(value: Int64.max), Decimal(Int64.max) + Decimal(0.5),
    ] as [any Sendable])
  func theLargestIntegerMayBeADecimalNumber(number: any Sendable) throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      let object = NSEntityDescription.insertNewObject(forEntityName: "Everything", into: context)
      object.setValue(number, forKey: "int64")
      try context.save()
      context.refresh(object, mergeChanges: false)
      #expect(object.value(forKey: "int64") as? Int64 == .max)
    }
  }

  @Test(.ofRootContexts) func aStaleSaveFailsWithTheConflictsAndCanBeRepeated() throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      Person(context: context).name = "A"
      try context.save()
    }
    let (first, second) = (company.context(), company.context())
    try second.performAndWait {
      let mine = try #require(try second.all(Person.self).first)
      #expect(mine.name == "A")
      try first.performAndWait {
        let theirs = try #require(try first.all(Person.self).first)
        theirs.name = "B"
        try first.save()
      }
      mine.name = "C"
      let error = try #require(throws: CocoaError.self) { try second.save() }
      #expect(error.code.rawValue == NSManagedObjectMergeError)
      let conflict = try #require((error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict])?.first)
      #expect(conflict.sourceObject === mine && conflict.oldVersionNumber == 1 && conflict.newVersionNumber == 2)
      #expect(conflict.objectSnapshot?["name"] as? String == "A" && conflict.cachedSnapshot?["name"] as? String == "B")
      #expect(conflict.persistedSnapshot == nil)
      #expect(mine.name == "C" && second.hasChanges)
      second.refresh(mine, mergeChanges: true)
      #expect(mine.name == "C")
      try second.save()
    }
    #expect(try company.run { try $0.all(Person.self).map(\.name) } == ["C"])
  }

  @Test(.ofRootContexts) func uniquenessIsJudgedAfterTheSave() throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      let (a, b) = (Tag(context: context), Tag(context: context))
      (a.label, b.label) = ("a", "b")
      try context.save()
      (a.label, b.label) = ("b", "a")
      try context.save()
      context.delete(a)
      Tag(context: context).label = "b"
      try context.save()
      let duplicate = Tag(context: context)
      duplicate.label = "a"
      let error = try #require(throws: CocoaError.self) { try context.save() }
      #expect(error.code.rawValue == NSManagedObjectConstraintMergeError)
      let conflict = try #require(
        (error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict])?.first)
      #expect(conflict.constraint == ["label"] && conflict.databaseObject === b)
      duplicate.label = "c"
      try context.save()
    }
    #expect(try company.run { try Set($0.all(Tag.self).map(\.label)) } == ["a", "b", "c"])
  }

  @Test func permanentIDsComeBeforeTheSaveAndStay() throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      let (person, department) = (Person(context: context), Department(context: context))
      person.department = department
      #expect(person.objectID.isTemporaryID)
      try context.obtainPermanentIDs(for: [department])
      let id = department.objectID
      #expect(!id.isTemporaryID && person.department === department)
      try context.save()
      #expect(department.objectID == id && person.department === department)
      let uri = id.uriRepresentation()
      #expect(uri.absoluteString == "x-coredata://\(company.store.identifier ?? "")/Department/p\(id.key)")
      #expect(company.coordinator.managedObjectID(forURIRepresentation: uri) == id)
    }
  }

  @Test func keysAreNeverUsedAgain() throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      let first = Person(context: context)
      try context.save()
      let key = first.objectID.key
      context.delete(first)
      try context.save()
      let second = Person(context: context)
      try context.save()
      #expect(second.objectID.key == key + 1)
    }
  }
}
