import CoreData
import Foundation
import InMemoryBackend
import StoreProtocol
import StoreSchema
import Synchronization
import Testing

/// Options that a type of stores has of its own, in Core Data's dictionaries.
@Suite struct StoreOptionTests {
  private let backend = LedgerBackend()
  private let coordinator: NSPersistentStoreCoordinator
  private let url = URL(filePath: "/dev/null")

  init() {
    let thing = NSEntityDescription()
    (thing.name, thing.managedObjectClassName) = ("Thing", "NSManagedObject")
    let model = NSManagedObjectModel()
    model.entities = [thing]
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    NSPersistentStoreCoordinator.register(backend)
  }

  private func add(_ options: [String: Any]) throws {
    try coordinator.addPersistentStore(
      ofType: backend.storeType, configurationName: nil, at: url, options: options)
  }

  @Test(arguments: [false, true]) func aDictionaryGivesThemToTheStore(ofFoundation: Bool) throws {
    try add([
      backend.pages.name: ofFoundation ? NSNumber(value: 7) : 7,
      backend.currency.name: ofFoundation ? NSString(string: "CHF") : "CHF",
      backend.rounds.name: ofFoundation ? NSNumber(value: true) : true,
      NSReadOnlyPersistentStoreOption: false, "Journal.pages": "many", "pages": "many",
    ])
    #expect(backend.given == LedgerBackend.Given(pages: 7, currency: "CHF", rounds: true))
  }

  @Test func aDescriptionGivesThemToTheStore() throws {
    let description = NSPersistentStoreDescription(url: url)
    description.type = backend.storeType
    description.setOption(NSNumber(value: 7), forKey: backend.pages.name)
    let failure = Mutex<(any Error)?>(nil)
    coordinator.addPersistentStore(with: description) { _, error in failure.withLock { $0 = error } }
    #expect(failure.withLock { $0 } == nil)
    #expect(backend.given == LedgerBackend.Given(pages: 7, currency: "EUR", rounds: false))
  }

  @Test(arguments: [("pages", "many" as any Sendable), ("pages", Date.now), ("page", 7)])
  func otherNamesAndValuesAreRefused(name: String, value: any Sendable) throws {
    let error = #expect(throws: CocoaError.self) { try add(["\(backend.storeType).\(name)": value]) }
    let cause = try #require(error?.userInfo[NSUnderlyingErrorKey] as? StoreError)
    #expect(cause.code == .invalidArgument)
    #expect(cause.context["option"] == "\(backend.storeType).\(name)")
    #expect(coordinator.persistentStores.isEmpty)
    #expect(backend.given == nil)
  }
}

/// In-memory stores of a type of their own, which remember the options of the last one that was opened.
private final class LedgerBackend: StoreBackend {
  struct Given: Equatable {
    var pages: Int
    var currency: String
    var rounds: Bool
  }

  let storeType: String
  let pages: StoreOption<Int>
  let currency: StoreOption<String>
  let rounds: StoreOption<Bool>
  private let base = InMemoryBackend()
  private let last = Mutex<Given?>(nil)

  init() {
    storeType = "Ledger \(UUID())"
    pages = StoreOption("\(storeType).pages", default: 4)
    currency = StoreOption("\(storeType).currency", default: "EUR")
    rounds = StoreOption("\(storeType).rounds", default: false)
  }

  var given: Given? { last.withLock { $0 } }
  var capabilities: Capabilities { base.capabilities }
  var ownOptions: [StoreOptionDeclaration] { [pages.declaration, currency.declaration, rounds.declaration] }

  func open(at url: URL, schema: Schema, options: StoreOptions) throws(StoreError) -> any Store {
    let given = Given(pages: options[pages], currency: options[currency], rounds: options[rounds])
    last.withLock { $0 = given }
    return try base.open(at: url, schema: schema, options: options)
  }
  func metadata(at url: URL, options: StoreOptions) throws(StoreError) -> StoreMetadata {
    try base.metadata(at: url, options: options)
  }
  func destroy(at url: URL, options: StoreOptions) throws(StoreError) {}
  func replace(at destination: URL, with source: URL, options: StoreOptions) throws(StoreError) {}
}
