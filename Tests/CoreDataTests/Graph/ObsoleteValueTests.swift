import Foundation
import StoreProtocol
import Testing

@testable import CoreData

/// The files of large values that saves have replaced or deleted stay while a context has a row that names one.
@Suite(.enabled(if: CompanyStore.type != .inMemory)) struct ObsoleteValueTests {
  private static var withoutGrace: [AnyHashable: Any] { [NSPersistentStore.externalDataGraceOption: 0] }

  private static func large(_ byte: UInt8) -> Data { Data(repeating: byte, count: 150_000) }

  /// A store with one object that has a large value.
  private static func make(_ options: [AnyHashable: Any] = [:]) throws -> CompanyStore {
    let company = try CompanyStore(options: options)
    try company.run { context in
      let object = insert("Everything", into: context)
      object.setValue("first", forKey: "string")
      object.setValue(large(1), forKey: "blob")
      try context.save()
    }
    return company
  }

  private static func insert(_ name: String, into context: NSManagedObjectContext) -> NSManagedObject {
    NSEntityDescription.insertNewObject(forEntityName: name, into: context)
  }

  private static func object(_ context: NSManagedObjectContext) throws -> NSManagedObject {
    try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Everything")).first)
  }

  private static func stored(_ company: CompanyStore) throws -> Data? {
    try company.run { try object($0).value(forKey: "blob") as? Data }
  }

  private static func replace(_ company: CompanyStore, _ byte: UInt8) throws {
    try company.run { context in
      try object(context).setValue(large(byte), forKey: "blob")
      try context.save()
    }
  }

  private static func delete(_ company: CompanyStore) throws {
    try company.run { context in
      context.delete(try object(context))
      try context.save()
    }
  }

  private static func files(_ company: CompanyStore) throws -> Int {
    try paths(company).count
  }

  /// A context with the object, whose row it has read.
  private static func reader(_ company: CompanyStore) throws -> (NSManagedObjectContext, () -> NSManagedObject) {
    let context = company.context()
    nonisolated(unsafe) let object = try context.performAndWait {
      let object = try Self.object(context)
      #expect(object.value(forKey: "string") as? String == "first")
      return object
    }
    return (context, { object })
  }

  /// Checks the values as if they were due, and waits for the context's search.
  private static func look(_ context: NSManagedObjectContext) {
    ObsoleteValues.shared.look(now: .distantFuture)
    context.core.queue.dispatch?.sync {}
  }

  @Test(arguments: [60, 0]) func aReplacedValueIsReadByContextsThatHaveItsRow(
    _ grace: Int
  ) throws {
    let company = try Self.make([NSPersistentStore.externalDataGraceOption: grace])
    let (context, object) = try Self.reader(company)
    try Self.replace(company, 2)
    context.performAndWait { #expect(object().value(forKey: "blob") as? Data == Self.large(1)) }
    #expect(try Self.stored(company) == Self.large(2))
  }

  @Test(arguments: [60, 0]) func aDeletedValueIsReadByContextsThatHaveItsRow(
    _ grace: Int
  ) throws {
    let company = try Self.make([NSPersistentStore.externalDataGraceOption: grace])
    let (context, object) = try Self.reader(company)
    try Self.delete(company)
    context.performAndWait { #expect(object().value(forKey: "blob") as? Data == Self.large(1)) }
  }

  @Test func anotherCoordinatorsContextReadsTheValueOfItsRow() throws {
    let company = try Self.make(Self.withoutGrace)
    let other = try CompanyStore(sharing: company, options: Self.withoutGrace)
    let (context, object) = try Self.reader(other)
    try Self.replace(company, 2)
    context.performAndWait { #expect(object().value(forKey: "blob") as? Data == Self.large(1)) }
  }

  /// A value that no object has is not kept, and another coordinator's row cache does not refer to it.
  @Test func aFaultOfAnotherCoordinatorReadsTheNewRow() throws {
    let company = try Self.make(Self.withoutGrace)
    let other = try CompanyStore(sharing: company, options: Self.withoutGrace)
    let id = try other.run { context in
      let object = try Self.object(context)
      _ = object.value(forKey: "string")
      return object.objectID
    }
    try Self.replace(company, 2)
    #expect(try Self.files(company) == 1)
    try other.run { #expect($0.object(with: id).value(forKey: "blob") as? Data == Self.large(2)) }
  }

  @Test func aFileGoesAtOnceWhereNobodyNeedsIt() throws {
    let company = try Self.make(Self.withoutGrace)
    try Self.replace(company, 2)
    #expect(try Self.files(company) == 1)
    try Self.delete(company)
    // The deleted object may still be being freed on another thread.
    let deadline = Date(timeIntervalSinceNow: 10)
    while try Self.files(company) > 0, Date() < deadline {
      Thread.sleep(forTimeInterval: 0.01)
      ObsoleteValues.shared.look(now: .distantFuture)
    }
    #expect(try Self.files(company) == 0)
  }

  @Test func aFileStaysDuringItsGraceTime() throws {
    let company = try Self.make()
    try Self.replace(company, 2)
    #expect(try Self.files(company) == 2)
  }

  /// A context that reads the new row releases the value; a context whose queue is not served keeps it.
  @Test func aFileStaysUntilNoObjectNeedsIt() throws {
    let company = try Self.make(Self.withoutGrace)
    let (context, object) = try Self.reader(company)
    try Self.replace(company, 2)
    for _ in 0..<2 { Self.look(context) }
    #expect(try Self.files(company) == 2)
    context.performAndWait {
      context.refresh(object(), mergeChanges: false)
      #expect(object().value(forKey: "blob") as? Data == Self.large(2))
    }
    // Other tests run checks at the same time, and a context is searched once at a time: three checks are not always
    // enough.
    var looks = 0
    while try Self.files(company) > 1 && looks < 100 {
      Self.look(context)
      looks += 1
    }
    #expect(try Self.files(company) == 1)
  }

  @Test func aFileGoesWithTheLastObjectThatNeedsIt() throws {
    let company = try Self.make(Self.withoutGrace)
    do {
      let (context, object) = try Self.reader(company)
      try Self.delete(company)
      ObsoleteValues.shared.look(now: .distantFuture)
      #expect(try Self.files(company) == 1)
      context.performAndWait { #expect(object().value(forKey: "blob") as? Data == Self.large(1)) }
    }
    ObsoleteValues.shared.look(now: .distantFuture)
    #expect(try Self.files(company) == 0)
  }

  /// A failed save holds a value that another save has replaced. The value is removed once no earlier view is left.
  @Test(.ofRootContexts) func aSaveThatFailsLetsGoOfTheValue() throws {
    let company = try Self.make(Self.withoutGrace)
    do {
      let view = try company.store.requireEngine().snapshot()
      let (context, object) = try Self.reader(company)
      try Self.replace(company, 2)
      context.performAndWait {
        object().setValue(Self.large(3), forKey: "blob")
        let error = #expect(throws: CocoaError.self) { try context.save() }
        #expect(error?.code == .managedObjectMerge)
      }
      ObsoleteValues.shared.look(now: .distantFuture)
      #expect(try Self.files(company) == 2)
      withExtendedLifetime(view) {}
    }
    // The objects of the context may still be being freed on another thread.
    let deadline = Date(timeIntervalSinceNow: 10)
    while try Self.files(company) > 1, Date() < deadline {
      Thread.sleep(forTimeInterval: 0.01)
      ObsoleteValues.shared.look(now: .distantFuture)
    }
    #expect(try Self.files(company) == 1)
    #expect(try Self.stored(company) == Self.large(2))
  }

  @Test func aDeletedObjectHasItsValueAfterTheSave() throws {
    let company = try Self.make(Self.withoutGrace)
    try company.run { context in
      let object = try Self.object(context)
      _ = object.value(forKey: "string")
      context.delete(object)
      try context.save()
      #expect(object.value(forKey: "blob") as? Data == Self.large(1))
    }
    ObsoleteValues.shared.look(now: .distantFuture)
    #expect(try Self.files(company) == 0)
  }

  /// If another process has removed a file, the error names the object.
  @Test func aFileThatIsGoneIsAnErrorOfItsObject() throws {
    let company = try Self.make()
    for file in try Self.paths(company) { try FileManager.default.removeItem(at: file) }
    try company.run { context in
      let object = try Self.object(context)
      #expect(object.value(forKey: "blob") == nil)
      object.setValue("second", forKey: "string")
      let error = #expect(throws: CocoaError.self) { try context.save() }
      let cause = try #require(error?.userInfo[NSUnderlyingErrorKey] as? StoreError)
      #expect(cause.code == .missingExternalData)
      #expect(cause.context["object"] == object.objectID.uriRepresentation().absoluteString)
    }
  }

  /// Where commits are not durable at once, they become durable before a file is removed.
  @Test(.enabled(if: CompanyStore.type == .sqlite), arguments: ["OFF", "NORMAL"], ["WAL", "DELETE"])
  func commitsAreOnTheDiskBeforeAFileGoes(_ synchronous: String, _ journal: String) throws {
    let company = try Self.make([
      NSPersistentStore.externalDataGraceOption: 0,
      NSSQLitePragmasOption: ["synchronous": synchronous, "journal_mode": journal],
    ])
    try Self.replace(company, 2)
    #expect(try Self.files(company) == 1)
    #expect(try Self.stored(company) == Self.large(2))
  }

  // MARK: Files left by earlier openings

  /// Old files of the store that no row names are removed by the next opening. Others stay.
  @Test func anOpeningSweepsTheFolder() throws {
    let company = try Self.make()
    let named = try #require(try Self.paths(company).first)
    let engine = try company.store.requireEngine()
    let old = try (2..<5).map { try Self.keep($0, engine, company) }
    let new = try Self.keep(6, engine, company)
    let folder = named.deletingLastPathComponent()
    let name = old[0].lastPathComponent
    let strangers = [(name.hasPrefix("0") ? "1" : "0") + name.dropFirst(), UUID().uuidString].map {
      folder.appending(path: $0)
    }
    let draft = folder.appending(path: ".\(name).\(UUID().uuidString).copying")
    for url in strangers + [draft] { try Self.large(7).write(to: url) }
    let past = Date(timeIntervalSinceNow: -7200)
    for url in old + strangers + [named, draft] {
      try FileManager.default.setAttributes([.modificationDate: past], ofItemAtPath: url.path)
    }
    try company.coordinator.remove(company.store)
    let again = try CompanyStore(sharing: company)
    let end = Date(timeIntervalSinceNow: 20)
    while Self.anyExists(old + [draft]) && Date() < end { Thread.sleep(forTimeInterval: 0.002) }
    #expect(!Self.anyExists(old + [draft]))
    for url in strangers + [named, new] { #expect(Self.anyExists([url]), "\(url.lastPathComponent)") }
    #expect(try Self.stored(again) == Self.large(1))
  }

  /// A value that this process reads is not swept, however long ago it became obsolete.
  @Test func aSweepLeavesWhatThisProcessReads() throws {
    let company = try Self.make(Self.withoutGrace)
    let (context, object) = try Self.reader(company)
    let file = try #require(try Self.paths(company).first)
    try Self.replace(company, 2)
    let orphan = try Self.keep(3, company.store.requireEngine(), company)
    for url in [file, orphan] {
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSinceNow: -7200)], ofItemAtPath: url.path)
    }
    let again = try CompanyStore(sharing: company)
    let end = Date(timeIntervalSinceNow: 20)
    while Self.anyExists([orphan]) && Date() < end { Thread.sleep(forTimeInterval: 0.002) }
    #expect(!Self.anyExists([orphan]))
    context.performAndWait { #expect(object().value(forKey: "blob") as? Data == Self.large(1)) }
    withExtendedLifetime(again) {}
  }

  private static func anyExists(_ files: [URL]) -> Bool {
    files.contains { FileManager.default.fileExists(atPath: $0.path) }
  }

  private static func paths(_ company: CompanyStore) throws -> [URL] {
    let folder = company.url.deletingLastPathComponent()
    return try FileManager.default.subpathsOfDirectory(atPath: folder.path).map { folder.appending(path: $0) }
      .filter { UUID(uuidString: $0.lastPathComponent) != nil }
  }

  /// Writes a value that no row names.
  private static func keep(_ byte: UInt8, _ engine: any Store, _ company: CompanyStore) throws -> URL {
    let before = Set(try paths(company))
    _ = try engine.externalDataStore?.keepExternalData(large(byte))
    return try #require(try paths(company).first { !before.contains($0) })
  }
}
