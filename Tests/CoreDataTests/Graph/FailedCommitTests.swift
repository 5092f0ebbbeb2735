import Foundation
import StoreProtocol
import Testing

@testable import CoreData
@testable import SQLiteBackend

/// Commits that fail at their end, without a failing disk; Scripts/fault tests failing disks.
@Suite struct FailedCommitTests {
  private func failure(_ body: () throws -> Void) throws -> (code: CocoaError.Code, outcome: StoreError.Outcome?)? {
    do { try body() } catch let error as CocoaError {
      return (error.code, (error.userInfo[NSUnderlyingErrorKey] as? StoreError)?.outcome)
    }
    return nil
  }

  /// With a rollback journal, a reader allows a transaction to write, but not to commit.
  @Test(.ofRootContexts) func aReaderInTheWayOfACommitLosesNothing() throws {
    let company = try CompanyStore(options: [
      NSSQLitePragmasOption: ["journal_mode": "DELETE"], NSPersistentStoreTimeoutOption: 0.05,
    ])
    try company.run { (context) throws in
      let ada = Person(context: context)
      ada.name = "Ada"
      try context.save()
      ada.age = 36
      Person(context: context).name = "Grace"
      do {
        let reader = try SQLiteConnection(company.url.path, .readOnly, timeout: 0)
        try reader.execute("BEGIN")
        #expect(try reader.integer("SELECT count(*) FROM ZPERSON") == 1)
        let failure = try failure { try context.save() }
        #expect(failure?.code == .persistentStoreTimeout)
        #expect(failure?.outcome == .notSaved)
        try reader.execute("COMMIT")
      }
      #expect(context.hasChanges)
      #expect(try company.reopened().run { try $0.all(Person.self).map(\.age) } == [0])
      try context.save()
      #expect(!context.hasChanges)
    }
    let saved = try company.reopened().run { try $0.all(Person.self).map { "\($0.name ?? "") \($0.age)" } }
    #expect(saved == ["Ada 36", "Grace 0"])
  }

  /// A deferred constraint is checked by COMMIT, which leaves the transaction open if it is violated.
  @Test(.ofRootContexts) func aConstraintThatFailsAtCommitIsNotSaved() throws {
    let made = try CompanyStore()
    let other = try SQLiteConnection(made.url.path, .readWrite, timeout: 1)
    try other.execute(
      """
      ALTER TABLE ZPERSON ADD COLUMN ZFOREIGN INTEGER DEFAULT 7 REFERENCES ZBADGE(Z_PK) DEFERRABLE INITIALLY DEFERRED
      """)
    let company = try CompanyStore(
      sharing: made, options: [NSSQLitePragmasOption: ["foreign_keys": "ON"], NSPersistentStoreTimeoutOption: 1])
    try company.run { (context) throws in
      Person(context: context).name = "Ada"
      let failure = try failure { try context.save() }
      #expect(failure?.code == .sqlite)
      #expect(failure?.outcome == .notSaved)
      // Nothing is left that would block others, or the next attempt.
      try other.execute(
        "INSERT INTO ZBADGE (Z_PK, Z_ENT, Z_OPT) SELECT 7, Z_ENT, 1 FROM Z_PRIMARYKEY WHERE Z_NAME = 'Badge'")
      try context.save()
    }
    #expect(try company.reopened().run { try $0.all(Person.self).map(\.name) } == ["Ada"])
  }

  /// Keys are allocated by a separate commit, which a finished read does not block.
  @Test func aContextThatHasReadCanObtainPermanentIDs() throws {
    let company = try CompanyStore(options: [
      NSSQLitePragmasOption: ["journal_mode": "DELETE"], NSPersistentStoreTimeoutOption: 0.05,
    ])
    try company.run { (context) throws in
      #expect(try context.all(Person.self).isEmpty)
      let ada = Person(context: context)
      try context.obtainPermanentIDs(for: [ada])
      #expect(!ada.objectID.isTemporaryID)
    }
  }

  /// While a store writes large values, the objects do not hold them too (goal G8 of the specification's reliability).
  @Test(.ofRootContexts) func largeValuesOfASaveThatFailsAreStillThere() throws {
    let company = try CompanyStore(options: [
      NSSQLitePragmasOption: ["journal_mode": "DELETE"], NSPersistentStoreTimeoutOption: 0.05,
    ])
    let (old, new) = (String(repeating: "a", count: 2 << 20), String(repeating: "b", count: 3 << 20))
    try company.run { (context) throws in
      let ada = Person(context: context)
      ada.name = "Ada"
      try context.save()
      ada.name = old
      let grace = Person(context: context)
      grace.name = new
      do {
        let reader = try SQLiteConnection(company.url.path, .readOnly, timeout: 0)
        try reader.execute("BEGIN")
        #expect(try reader.integer("SELECT count(*) FROM ZPERSON") == 1)
        #expect(try failure { try context.save() }?.code == .persistentStoreTimeout)
        #expect(ada.name == old && grace.name == new)
        #expect(ada.changedValues()["name"] as? String == old)
        try reader.execute("COMMIT")
      }
      let other = NSManagedObjectContext(.privateQueue)
      other.persistentStoreCoordinator = context.persistentStoreCoordinator
      try other.performAndWait {
        try other.all(Person.self).first?.age = 36
        try other.save()
      }
      #expect(try failure { try context.save() }?.code == .managedObjectMerge)
      #expect(ada.name == old && grace.name == new)
      context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      try context.save()
      #expect(ada.name == old && grace.name == new)
    }
    let saved = try company.reopened().run { try $0.all(Person.self).map { [$0.name, "\($0.age)"] } }
    #expect(Set(saved) == [[old, "36"], [new, "0"]])
  }
}
