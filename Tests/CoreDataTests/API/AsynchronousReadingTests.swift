import CoreData
import Dispatch
import Foundation
import StoreProtocol
import StoreQuery
import StoreSchema
import Synchronization
import Testing

/// The state of a context while a store reads slowly for an asynchronous fetch.
@Suite struct AsynchronousReadingTests {
  @Test(arguments: [NSManagedObjectContextConcurrencyType.privateQueueConcurrencyType, .mainQueueConcurrencyType])
  func theQueueIsFreeWhileRowsAreRead(type: NSManagedObjectContextConcurrencyType) async throws {
    let location = try SlowLocation(type)
    let request = NSFetchRequest<NSManagedObject>(entityName: "Thing")
    let count: Int = try await withCheckedThrowingContinuation { continuation in
      let fetch = NSAsynchronousFetchRequest(fetchRequest: request) { result in
        continuation.resume(with: Result { try #require(result.finalResult?.count) })
      }
      fetch.estimatedResultCount = 1000
      do {
        let result = try location.context.performAndWait {
          try location.context.execute(fetch) as? NSPersistentStoreAsynchronousResult
        }
        location.store.waitForReader()
        // Half of the rows are read, and the queue runs other blocks meanwhile.
        location.context.performAndWait { #expect(result?.progress?.fractionCompleted ?? 1 < 0.6) }
        let progress = result?.progress
        location.context.perform {
          // The report of the first half was queued before.
          #expect(progress?.completedUnitCount == 256)
          location.store.letGo()
        }
      } catch { continuation.resume(throwing: error) }
    }
    #expect(count == 1000)
  }

  @Test func aFetchIsGivenUpWhileItsRowsAreRead() async throws {
    let location = try SlowLocation(.privateQueueConcurrencyType)
    let context = location.context
    let error: (any Error)? = try await withCheckedThrowingContinuation { continuation in
      let request = NSFetchRequest<NSManagedObject>(entityName: "Thing")
      let fetch = NSAsynchronousFetchRequest(fetchRequest: request) { result in
        #expect(result.finalResult == nil)
        continuation.resume(returning: result.operationError)
      }
      do {
        let result = try context.performAndWait {
          try context.execute(fetch) as? NSPersistentStoreAsynchronousResult
        }
        location.store.waitForReader()
        result?.cancel()
      } catch { continuation.resume(throwing: error) }
    }
    #expect((error as? CocoaError)?.code == .userCancelled)
    // The store is still reading; its rows are dropped.
    location.store.letGo()
    try await context.perform {
      #expect(context.registeredObjects.isEmpty)
      let count = try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Thing"))
      #expect(count == 1000)
    }
  }
}

/// A context over a store of a thousand things. Its first fetch stops at the 500th.
private struct SlowLocation {
  let context: NSManagedObjectContext
  let store = SlowStore.Gate()

  init(_ type: NSManagedObjectContextConcurrencyType) throws {
    let number = NSAttributeDescription()
    (number.name, number.attributeType) = ("number", .integer64AttributeType)
    let thing = NSEntityDescription()
    (thing.name, thing.managedObjectClassName, thing.properties) = ("Thing", "NSManagedObject", [number])
    let model = NSManagedObjectModel()
    model.entities = [thing]
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let backend = SlowBackend(gate: store)
    NSPersistentStoreCoordinator.register(backend)
    try coordinator.addPersistentStore(
      ofType: backend.storeType, configurationName: nil, at: URL(filePath: "/dev/null"))
    context = NSManagedObjectContext(concurrencyType: type)
    context.persistentStoreCoordinator = coordinator
  }
}

private struct SlowBackend: StoreBackend {
  let gate: SlowStore.Gate
  let storeType = "Slow \(UUID())"
  let capabilities: Capabilities = [.concurrentReads]

  func open(at url: URL, schema: Schema, options: StoreOptions) throws(StoreError) -> any Store {
    SlowStore(schema, storeType, gate)
  }
  func metadata(at url: URL, options: StoreOptions) throws(StoreError) -> StoreMetadata {
    throw StoreError(.notFound, "There is no file.")
  }
  func destroy(at url: URL, options: StoreOptions) throws(StoreError) {}
  func replace(at destination: URL, with source: URL, options: StoreOptions) throws(StoreError) {}
}

private final class SlowStore: Store {
  /// Stops the first reader.
  final class Gate: Sendable {
    private let isFirst = Atomic<Bool>(true)
    private let arrived = DispatchSemaphore(value: 0)
    private let opened = DispatchSemaphore(value: 0)

    func pass() {
      guard isFirst.exchange(false, ordering: .acquiringAndReleasing) else { return }
      arrived.signal()
      opened.wait()
    }
    func waitForReader() { arrived.wait() }
    func letGo() { opened.signal() }
  }

  let schema: Schema
  let identifier = UUID().uuidString
  let metadata: StoreMetadata
  private let gate: Gate
  var capabilities: Capabilities { [.concurrentReads] }
  var isReadOnly: Bool { false }

  init(_ schema: Schema, _ type: String, _ gate: Gate) {
    (self.schema, self.gate) = (schema, gate)
    metadata = StoreMetadata(
      identifier: identifier, storeType: type, versionHashes: schema.versionHashes, versionIdentifiers: [],
      additional: [:])
  }

  func snapshot() throws(StoreError) -> any StoreSnapshot { SlowSnapshot(gate) }
  func commit(_ changes: ChangeSet) throws(StoreError) -> CommitResult { throw Self.refusal }
  func allocateKeys(root: Int, count: Int) throws(StoreError) -> Range<Int64> { throw Self.refusal }
  func externalData(_ name: Data) throws(StoreError) -> Data { throw Self.refusal }
  func close() throws(StoreError) {}
  private static var refusal: StoreError { StoreError(.unsupported, "It is only read.") }
}

/// A thousand rows, in the middle of which the gate stands.
private struct SlowFetch: PreparedFetch {
  let snapshot: SlowSnapshot
  var residual: FetchResidual { .none }

  func fetch(_ body: (consuming Row) -> Void) throws(StoreError) {
    for key in 1...Int64(1000) {
      if key == 500 { snapshot.gate.pass() }
      body(snapshot.row(key))
    }
  }
}

private final class SlowSnapshot: FetchingSnapshot, @unchecked Sendable {
  fileprivate let gate: SlowStore.Gate
  private let builder = RowBuilder()
  let commitNumber: UInt64 = 0

  init(_ gate: SlowStore.Gate) { self.gate = gate }

  fileprivate func row(_ key: Int64) -> Row {
    builder.begin(slots: 1)
    builder.setInt(0, key)
    return builder.finish(key: key, entity: 0, version: 1)
  }

  func prepare(_ plan: FetchPlan) -> any PreparedFetch { SlowFetch(snapshot: self) }
  func rows(of entity: Int, keys: [Int64], _ body: (consuming Row) -> Void) throws(StoreError) {
    for key in keys { body(row(key)) }
  }
  func scan(_ entities: Range<Int>, _ body: (consuming Row) -> Void) throws(StoreError) {}
  func destinations(
    of relationship: Relationship, owners: [Int64], _ body: (Int64, consuming Row) -> Void
  ) throws(StoreError) {}
}
