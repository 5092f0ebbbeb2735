import CoreData
import Foundation
import StoreProtocol
import StoreSchema

/// A store opened by the tool, with the model that it is read by.
struct OpenedStore {
  enum ModelSource {
    case given, carried, inferred
  }

  let url: URL
  let type: String
  let metadata: [String: Any]
  let model: NSManagedObjectModel
  let modelSource: ModelSource
  let coordinator: NSPersistentStoreCoordinator
  let store: NSPersistentStore
  let engine: any Store

  var schema: Schema { engine.schema }

  /// Opens the store at `path`, by default so that nothing in its folder changes, not even times.
  ///
  /// `model` is the path of a model file, of which that version is taken that the store was made with. Nil takes the
  /// model that the store carries, or one inferred from its tables.
  init(_ path: String, model: String?, isReadOnly: Bool = true) throws {
    url = URL(fileURLWithPath: path)
    (type, metadata) = try Self.look(at: url)
    (self.model, modelSource) = try ToolModel.find(model, for: url, type: type, metadata)
    if modelSource == .inferred && !isReadOnly {
      throw ToolError(
        message:
          "The store carries no model, and one inferred from its tables is not good enough to write with; give --model."
      )
    }
    if !isReadOnly { ToolModel.keepStoredBytes(self.model) }
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: self.model)
    store = try coordinator.addPersistentStore(
      ofType: type, configurationName: ToolModel.configuration(self.model, metadata), at: url,
      options: [NSReadOnlyPersistentStoreOption: isReadOnly])
    engine = try store.requireEngine()
  }

  /// The type of the store at a URL and what it says of itself.
  static func look(at url: URL) throws -> (type: String, metadata: [String: Any]) {
    guard FileManager.default.fileExists(atPath: url.path) else {
      throw ToolError(message: "There is no file \(url.path).")
    }
    var failure: (any Error)?
    for type in NSPersistentStoreCoordinator.registeredStoreTypes.keys.sorted() {
      do { return (type, try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: url)) } catch {
        let code = ToolError.storeCode(of: error)
        // Stores that are no files.
        if code == .notFound { continue }
        // A store of this type with something wrong.
        if code != .notAStore { throw error }
        failure = failure ?? error
      }
    }
    throw failure ?? ToolError(message: "The file is no store of a type that the tool knows.")
  }

  /// The entities that the store holds, in the order of the bytes of their names.
  var entities: [Entity] { schema.storedEntities.sorted { UTF8Order.isLess($0.name, $1.name) } }

  func entity(named name: String) throws -> Entity {
    guard let entity = schema.entity(named: name), schema.stores(entity.index) else {
      let names = entities.map(\.name).joined(separator: ", ")
      throw ToolError(message: "The model has no entity \(name); it has \(names).")
    }
    return entity
  }
}
