import ClientStores
import CoreData
import Foundation
import Testing

@Suite struct AsynchronousFetchTests {
  @Test func theResultComesLaterOnTheContextsQueue() async throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      for age in 0..<3 { Person(context: context).age = Int16(age) }
      try context.save()
    }
    let context = company.context()
    let ages = try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<[Int16], any Error>) in
      let request = NSFetchRequest<Person>(entityName: "Person")
      request.sortDescriptors = [NSSortDescriptor(key: "age", ascending: false)]
      let asynchronous = NSAsynchronousFetchRequest(fetchRequest: request) { result in
        #expect(result.managedObjectContext === context)
        #expect(result.operationError == nil)
        #expect(result.progress?.isFinished == true)
        // Reading on another queue would stop the program.
        continuation.resume(returning: (result.finalResult ?? []).map(\.age))
      }
      do {
        try context.performAndWait {
          let result = try context.execute(asynchronous)
          #expect((result as? NSAsynchronousFetchResult<Person>)?.finalResult == nil)
        }
      } catch { continuation.resume(throwing: error) }
    }
    #expect(ages == [2, 1, 0])
  }

  @Test func aCancelledFetchFails() async throws {
    let company = try CompanyStore()
    let context = company.context()
    let error = try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Int, any Error>) in
      let asynchronous = NSAsynchronousFetchRequest(fetchRequest: NSFetchRequest<Person>(entityName: "Person")) {
        continuation.resume(returning: ($0.operationError as? CocoaError)?.code.rawValue ?? 0)
        #expect($0.finalResult == nil)
      }
      do {
        // The queue is blocked, so that the fetch cannot begin before it is cancelled.
        try context.performAndWait {
          (try context.execute(asynchronous) as? NSPersistentStoreAsynchronousResult)?.cancel()
        }
      } catch { continuation.resume(throwing: error) }
    }
    #expect(error == CocoaError.Code.userCancelled.rawValue)
  }
}

/// Declarations that are not supported yet must say so.
@Suite struct NotYetTests {
  private func expectUnsupported(_ request: NSPersistentStoreRequest) throws {
    try CompanyStore().run { (context) throws in
      Person(context: context).age = 1
      try context.save()
      #expect {
        try context.execute(request)
      } throws: {
        ($0 as NSError).code == NSPersistentStoreUnsupportedRequestTypeError
      }
      #expect(try context.all(Person.self).count == 1)
    }
  }

  @Test func batchRequestsThrow() throws {
    try expectUnsupported(NSBatchInsertRequest(entityName: "Person", objects: [["age": 1]]))
    try expectUnsupported(NSBatchUpdateRequest(entityName: "Person"))
    try expectUnsupported(NSBatchDeleteRequest(fetchRequest: NSFetchRequest<Person>(entityName: "Person")))
  }

  @Test func historyRequestsThrow() throws {
    try expectUnsupported(NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast))
    try expectUnsupported(NSPersistentHistoryChangeRequest.deleteHistory(before: Date.distantFuture))
  }

  @Test func pinningThrows() throws {
    try CompanyStore().run { (context) throws in
      #expect(throws: CocoaError.self) { try context.setQueryGenerationFrom(.current) }
      try context.setQueryGenerationFrom(nil)
    }
  }

  @Test func migrationThrowsAndTouchesNothing() throws {
    let company = try CompanyStore()
    let manager = NSMigrationManager(sourceModel: Company.model(), destinationModel: Company.model())
    let target = company.url.deletingLastPathComponent().appending(path: "new.sqlite")
    #expect {
      try manager.migrateStore(
        from: company.url, type: .sqlite, mapping: NSMappingModel(), to: target, type: .sqlite)
    } throws: {
      ($0 as NSError).code == NSMigrationError
    }
    #expect(!FileManager.default.fileExists(atPath: target.path))
    #expect {
      try NSMappingModel.inferredMappingModel(forSourceModel: Company.model(), destinationModel: Company.model())
    } throws: {
      ($0 as NSError).code == NSInferredMappingModelError
    }
  }

  @Test func modelReferencesAreResolvedByChecksum() {
    let model = Company.model()
    let reference = NSManagedObjectModelReference(model: model, versionChecksum: model.versionChecksum)
    #expect(reference.resolvedModel === model)
  }

  @Test func clientsStoresRefuseToWork() throws {
    let store = NSIncrementalStore(
      persistentStoreCoordinator: nil, configurationName: nil, at: URL(fileURLWithPath: "/dev/null"))
    #expect(throws: CocoaError.self) { try store.loadMetadata() }
    #expect(throws: CocoaError.self) {
      try store.execute(NSFetchRequest<Person>(entityName: "Person"), with: nil)
    }
  }

  @Test func copiesOfAsynchronousRequestsAreRequestsOfTheirOwn() throws {
    let inner = NSFetchRequest<NSManagedObject>(entityName: "Thing")
    inner.fetchLimit = 3
    let request = NSAsynchronousFetchRequest(fetchRequest: inner, completionBlock: { _ in })
    request.estimatedResultCount = 7
    let copy = try #require(request.copy() as? NSAsynchronousFetchRequest<NSManagedObject>)
    #expect(copy !== request && copy.fetchRequest !== inner && copy.estimatedResultCount == 7)
    #expect(copy.completionBlock != nil && copy.fetchRequest.fetchLimit == 3)
    copy.fetchRequest.fetchLimit = 1
    #expect(inner.fetchLimit == 3)
  }
}
