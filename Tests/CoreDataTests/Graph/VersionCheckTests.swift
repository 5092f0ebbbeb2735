import CoreData
import Foundation
import StoreProtocol
import Testing

@testable import SQLiteBackend

/// Objects that get members only from the other side are not written, but must still have the version that was read: a
/// save checks ranges of their keys.
@Suite struct VersionCheckTests {
  /// More than one range of 512 keys.
  private static let count = 600

  private func departments(_ context: NSManagedObjectContext) throws -> [Department] {
    try context.all(Department.self).sorted { ($0.title ?? "") < ($1.title ?? "") }
  }

  private func fill(_ company: CompanyStore) throws {
    try company.run { (context) throws in
      // Saved one after the other, so that their keys are in the order of their titles.
      for index in 0..<Self.count {
        Department(context: context).title = String(index + 1000)
        if index % 100 == 99 { try context.save() }
      }
    }
  }

  /// The result of saving a new person in each department: nil, or the titles of the conflicting departments.
  private func save(_ company: CompanyStore, meanwhile: (NSManagedObjectContext) throws -> Void) throws -> [String]? {
    try company.run { (context) throws in
      let departments = try departments(context)
      #expect(departments.count == Self.count)
      for department in departments { Person(context: context).department = department }
      try company.run { (other) throws in
        try meanwhile(other)
        try other.save()
      }
      do { try context.save() } catch let error as CocoaError {
        let conflicts = error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict]
        return try #require(conflicts).compactMap { ($0.sourceObject as? Department)?.title }
      }
      return nil
    }
  }

  @Test(.ofRootContexts, arguments: [0, 1, 510, 511, 512, 513, 599])
  func theOneThatHasChangedIsFound(_ index: Int) throws {
    let company = try CompanyStore()
    try fill(company)
    #expect(try save(company) { _ in } == nil)
    #expect(try save(company) { try departments($0)[index].addToRanking() } == [String(index + 1000)])
    #expect(try save(company) { _ in } == nil)
    #expect(try company.run { try $0.count(for: NSFetchRequest<Person>(entityName: "Person")) } == 2 * Self.count + 1)
  }

  @Test(arguments: [0, 511, 512])
  func theOneThatIsGoneIsFound(_ index: Int) throws {
    let company = try CompanyStore()
    try fill(company)
    #expect(try save(company) { $0.delete(try departments($0)[index]) } == [String(index + 1000)])
  }

  /// In a table that was made again without the key, two rows may have the same key: the store is rejected.
  @Test(.enabled(if: CompanyStore.type == .sqlite), arguments: ["", "UNIQUE", "COMPOSITE"])
  func aTableWithoutAPrimaryKeyIsRefused(_ key: String) throws {
    let company = try CompanyStore()
    try fill(company)
    try company.coordinator.remove(company.store)
    let connection = try SQLiteConnection(company.url.path, .readWrite, timeout: 1)
    let sql = try #require(try connection.text("SELECT sql FROM sqlite_schema WHERE name = 'ZDEPARTMENT'"))
    #expect(sql.contains(" PRIMARY KEY"))
    try connection.execute("ALTER TABLE ZDEPARTMENT RENAME TO OLD")
    let isComposite = key == "COMPOSITE"
    let plain = sql.replacing(" PRIMARY KEY", with: isComposite ? "" : " \(key)")
    let end = try #require(plain.lastIndex(of: ")"))
    try connection.execute(isComposite ? plain[..<end] + ", PRIMARY KEY (Z_PK, Z_ENT))" : plain)
    try connection.execute("INSERT INTO ZDEPARTMENT SELECT * FROM OLD")
    try connection.execute("DROP TABLE OLD")
    let error = #expect(throws: CocoaError.self) { try company.reopened() }
    #expect("\(error as Any)".contains("has no Z_PK that is an INTEGER PRIMARY KEY"))
  }
}

extension Department {
  /// A change of the department that does not affect its title.
  fileprivate func addToRanking() {
    if let managedObjectContext { ranking = [Person(context: managedObjectContext)] }
  }
}
