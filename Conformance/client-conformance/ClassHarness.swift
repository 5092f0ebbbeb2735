import CoreData
import Foundation
import StoreConformance
import StoreProtocol
import StoreSchema

/// A class of stores that a client has implemented.
struct ClassHarness: StoreHarness {
  let name: String
  let backend: any StoreBackend
  var opensStores: Bool { false }

  /// Makes the class known to coordinators.
  init(_ storeClass: AnyClass, _ type: String, name: String, _ capabilities: Capabilities) {
    NSPersistentStoreCoordinator.registerStoreClass(storeClass, forStoreType: type)
    self.name = name
    backend = ClassBackend(storeType: type, capabilities: capabilities)
  }

  var expectations: URL? {
    URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "ClientStores/Expectations/\(name).json")
  }
}

/// Says what the stores of a class can do. Coordinators open them.
private struct ClassBackend: StoreBackend {
  let storeType: String
  let capabilities: Capabilities

  private var coordinatorsOnly: StoreError {
    StoreError(.unsupported, "Stores of the type \(storeType) are opened by coordinators.")
  }

  func open(at url: URL, schema: Schema, options: StoreOptions) throws(StoreError) -> any Store {
    throw coordinatorsOnly
  }

  func metadata(at url: URL, options: StoreOptions) throws(StoreError) -> StoreMetadata { throw coordinatorsOnly }

  func setMetadata(_ metadata: StoreMetadata, at url: URL, options: StoreOptions) throws(StoreError) {
    throw coordinatorsOnly
  }

  func destroy(at url: URL, options: StoreOptions) throws(StoreError) {
    do { try FileManager.default.removeItem(at: url) } catch let error as CocoaError where error.code == .fileNoSuchFile
    {
    } catch { throw StoreError(.io, "The store cannot be removed.", cause: "\(error)") }
  }

  func replace(at destination: URL, with source: URL, options: StoreOptions) throws(StoreError) {
    throw coordinatorsOnly
  }
}
