import Foundation
import ModelFiles
import TestSupport
import Testing

@testable import CoreData

/// Feature 27.1: requests in archives, their copies, and the entity of a request by name.
@Suite struct RequestCodingTests {
  typealias Request = RequestRecordingTests.Request

  private func decode(_ archive: Data) throws -> Request? {
    let reader = try NSKeyedUnarchiver(forReadingFrom: archive)
    reader.requiresSecureCoding = false
    reader.decodingFailurePolicy = .setErrorAndReturn
    return reader.decodeObject(forKey: NSKeyedArchiveRootObjectKey) as? Request
  }

  private func roundTrip(_ request: NSObject) throws -> Request {
    try #require(try decode(NSKeyedArchiver.archivedData(withRootObject: request, requiringSecureCoding: false)))
  }

  @Test(arguments: RequestRecordingTests.parts.indices) func everyPartComesBack(_ part: Int) throws {
    let request = RequestRecordingTests.request(RequestRecordingTests.parts[part])
    request.predicate = NSPredicate(format: "title BEGINSWITH[cd] $x AND SELF IN {1, 2}")
    let read = try roundTrip(request)
    #expect(read.entityName == "Book" && read.predicate == request.predicate)
    #expect(FetchRequestCoding.record(of: read) == FetchRequestCoding.record(of: request))
    read.fetchLimit = 3
    #expect(FetchRequestCoding.record(of: read) != FetchRequestCoding.record(of: request))
  }

  @Test func requestsOfEveryResultTypeAreArchivedAlike() throws {
    let request = NSFetchRequest<Person>(entityName: "Person")
    request.predicate = NSPredicate(format: "age > 1")
    let read = try roundTrip(request)
    try CompanyStore().run { (context) throws in
      for age in 0..<4 { Person(context: context).age = Int16(age) }
      #expect(try context.fetch(read.retyped(as: Person.self)).map(\.age).sorted() == [2, 3])
    }
    #expect(try roundTrip(NSFetchRequest<NSDictionary>()).entityName == nil)
    let list = try NSKeyedArchiver.archivedData(
      withRootObject: [request, request] as NSArray, requiringSecureCoding: false)
    let reader = try NSKeyedUnarchiver(forReadingFrom: list)
    reader.requiresSecureCoding = false
    #expect((reader.decodeObject(forKey: NSKeyedArchiveRootObjectKey) as? [Request])?.count == 2)
  }

  @Test func aCoderGivesARequestOfTheTypeThatAsksIt() throws {
    let archiver = NSKeyedArchiver(requiringSecureCoding: false)
    NSFetchRequest<Person>(entityName: "Person").encode(with: archiver)
    archiver.finishEncoding()
    let read = NSFetchRequest<Person>(coder: try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData))
    #expect(read?.entityName == "Person")
  }

  @Test func damagedArchivesGiveNoRequest() throws {
    let whole = try NSKeyedArchiver.archivedData(
      withRootObject: RequestRecordingTests.request { $0.predicate = NSPredicate(format: "a == 1") },
      requiringSecureCoding: false)
    #expect(try decode(whole) != nil)
    for archive in Self.damaged() { #expect(try decode(archive) == nil) }
    let empty = NSKeyedArchiver(requiringSecureCoding: false)
    empty.finishEncoding()
    #expect(Request(coder: try NSKeyedUnarchiver(forReadingFrom: empty.encodedData)) == nil)
  }

  @Test func archivesWithAnyWrongByteStopNothing() throws {
    let request = RequestRecordingTests.request {
      $0.predicate = NSPredicate(format: "SUBQUERY(a, $x, $x.b == 1).@count > 0")
      ($0.propertiesToFetch, $0.sortDescriptors) = (["a"], [NSSortDescriptor(key: "a", ascending: true)])
    }
    let whole = try CompiledModelWriter.write(
      ModelRecord(entities: [], fetchRequestTemplates: [FetchRequestCoding.record(of: request, name: "request")]))
    for position in whole.indices {
      for damaged in [
        whole.prefix(position), whole.prefix(position) + [whole[position] ^ 0x55] + whole[(position + 1)...],
      ] {
        let archiver = NSKeyedArchiver(requiringSecureCoding: false)
        damaged.withUnsafeBytes {
          archiver.encodeBytes($0.bindMemory(to: UInt8.self).baseAddress, length: $0.count, forKey: "archive")
        }
        archiver.finishEncoding()
        let read = Request(coder: try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData))
        #expect(read == nil || damaged.count == whole.count)
      }
    }
  }

  /// Archives of a request with one invalid part: missing, of another class, or not an archive.
  private static func damaged() -> [Data] {
    let parts: [(NSKeyedArchiver) -> Void] = [
      { _ in }, { $0.encode("text" as NSString, forKey: "archive") }, { $0.encode(true, forKey: "archive") },
      { $0.encodeBytes([1, 2, 3], length: 3, forKey: "archive") },
      { $0.encodeBytes(nil, length: 0, forKey: "archive") },
      { $0.encode(["a": 1] as NSDictionary, forKey: "archive") },
    ]
    return parts.compactMap { part in
      let archiver = NSKeyedArchiver(requiringSecureCoding: false)
      archiver.encode(Damaged(part), forKey: NSKeyedArchiveRootObjectKey)
      archiver.finishEncoding()
      return archiver.encodedData
    }
  }

  /// Encodes itself as a request.
  private final class Damaged: NSObject, NSCoding {
    private let part: (NSKeyedArchiver) -> Void
    init(_ part: @escaping (NSKeyedArchiver) -> Void) { self.part = part }
    init?(coder: NSCoder) { nil }
    func encode(with coder: NSCoder) { (coder as? NSKeyedArchiver).map(part) }
    override var classForCoder: AnyClass { Request().classForCoder }
  }

  @Test func whatHasNoFormInAnArchiveStopsTheProgram() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let request = RequestRecordingTests.request { $0.predicate = NSPredicate { _, _ in true } }
      _ = try NSKeyedArchiver.archivedData(withRootObject: request, requiringSecureCoding: false)
    }
    let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(text.contains("it fetches by a block"))
  }

  // MARK: Copies

  @Test func copiesOfBatchRequestsAreChangedApart() throws {
    let insert = NSBatchInsertRequest(entityName: "Person", objects: [["age": 1]])
    (insert.affectedStores, insert.resultType) = ([], .count)
    let otherInsert = try #require(insert.copy() as? NSBatchInsertRequest)
    #expect(otherInsert.entityName == "Person" && otherInsert.objectsToInsert?.count == 1)
    #expect(otherInsert.affectedStores?.isEmpty == true && otherInsert.resultType == .count)
    (otherInsert.objectsToInsert, otherInsert.resultType) = ([], .objectIDs)
    #expect(insert.objectsToInsert?.count == 1 && insert.resultType == .count)

    let update = NSBatchUpdateRequest(entity: Describing.entity("Person"))
    (update.predicate, update.propertiesToUpdate) = (NSPredicate(value: true), ["age": 1])
    (update.includesSubentities, update.resultType) = (false, .updatedObjectsCountResultType)
    let otherUpdate = try #require(update.copy() as? NSBatchUpdateRequest)
    #expect(otherUpdate.entity === update.entity && otherUpdate.predicate === update.predicate)
    #expect(otherUpdate.propertiesToUpdate?["age"] as? Int == 1 && !otherUpdate.includesSubentities)
    #expect(otherUpdate.resultType == .updatedObjectsCountResultType)
    otherUpdate.propertiesToUpdate = nil
    #expect(update.propertiesToUpdate?.count == 1)
    #expect((NSBatchUpdateRequest(entityName: "A").copy() as? NSBatchUpdateRequest)?.entityName == "A")
  }

  @Test func aBatchDeletionKeepsACopyOfItsFetch() throws {
    let fetch = NSFetchRequest<Person>(entityName: "Person")
    let delete = NSBatchDeleteRequest(fetchRequest: fetch)
    delete.resultType = .resultTypeCount
    let other = try #require(delete.copy() as? NSBatchDeleteRequest)
    fetch.fetchLimit = 1
    other.fetchRequest.fetchLimit = 2
    other.resultType = .resultTypeStatusOnly
    #expect(delete.fetchRequest.entityName == "Person" && delete.fetchRequest.fetchLimit == 0)
    #expect(delete.resultType == .resultTypeCount)
  }

  @Test func aCopyOfASaveRequestKeepsItsObjects() throws {
    try CompanyStore().run { (context) throws in
      let person = Person(context: context)
      let save = NSSaveChangesRequest(inserted: [person], updated: [], deleted: nil, locked: nil)
      let copy = try #require(save.copy() as? NSSaveChangesRequest)
      save.empty()
      #expect(copy.insertedObjects == [person] && copy.updatedObjects == [] && copy.deletedObjects == nil)
    }
  }

  // MARK: The entity

  @Test func aRequestByNameHasItsEntityOnceItIsExecuted() throws {
    try CompanyStore().run { (context) throws in
      let entity = try #require(NSEntityDescription.entity(forEntityName: "Person", in: context))
      let requests = (0..<4).map { _ in NSFetchRequest<any NSFetchRequestResult>(entityName: "Person") }
      #expect(requests.allSatisfy { $0.entity == nil })
      _ = try context.fetch(requests[0])
      _ = try context.count(for: requests[1])
      requests[2].resultType = .dictionaryResultType
      _ = try context.fetch(requests[2])
      #expect(requests[..<3].allSatisfy { $0.entity === entity } && requests[3].entity == nil)
      #expect(
        (requests[0].copy() as? Request)?.entity === entity && requests[0].retyped(as: Person.self).entity === entity)
    }
  }

  @Test func aTemplateOfAModelInUseIsExecutedAsItIs() throws {
    let model = Describing.library()
    model.setFetchRequestTemplate(Request(entityName: "Book"), forName: "all")
    let context = try Describing.context(model)
    try context.performAndWait { () throws in
      let template = try #require(model.fetchRequestTemplate(forName: "all"))
      #expect(try context.fetch(template).isEmpty)
      #expect(template.entity === model.entitiesByName["Book"])
    }
  }

  @Test func anEntityThatIsTakenAwayIsGone() throws {
    try CompanyStore().run { (context) throws in
      let request = Request(entityName: "Person")
      _ = try context.fetch(request)
      request.entity = nil
      #expect(request.entity == nil && request.entityName == "Person")
    }
  }

  /// The entity that was found is not used when another model runs the request.
  @Test func aRequestByNameGoesToAnotherModelToo() throws {
    let request = Request(entityName: "Book")
    for _ in 0..<2 {
      let model = Describing.library()
      let context = try Describing.context(model)
      try context.performAndWait { () throws in
        _ = try context.fetch(request)
        #expect(request.entity === model.entitiesByName["Book"])
      }
    }
  }
}
