import CoreData
import Foundation
import StoreProtocol
import StoreSchema

/// A store that the tool has opened, with its model.
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

  /// Opens the store at `path`. By default nothing in its folder changes, not even times.
  ///
  /// `model` is the path of a model file; the version that the store was made with is used. With nil, the model in the
  /// store is used, or one that is inferred from its tables.
  init(_ path: String, model: String?, isReadOnly: Bool = true) throws {
    url = URL(fileURLWithPath: path)
    (type, metadata) = try Self.look(at: url)
    (self.model, modelSource) = try ToolModel.find(model, for: url, type: type, metadata)
    if modelSource == .inferred && !isReadOnly {
      throw ToolError(
        message:
          "The store contains no model, and a model inferred from its tables does not suffice for writing; give --model."
      )
    }
    if !isReadOnly { ToolModel.keepStoredBytes(self.model) }
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: self.model)
    store = try coordinator.addPersistentStore(
      ofType: type, configurationName: ToolModel.configuration(self.model, metadata), at: url,
      options: [NSReadOnlyPersistentStoreOption: isReadOnly])
    engine = try store.requireEngine()
  }

  /// The type and the metadata of the store at a URL.
  static func look(at url: URL) throws -> (type: String, metadata: [String: Any]) {
    guard FileManager.default.fileExists(atPath: url.path) else {
      throw ToolError(message: "There is no file \(url.path).")
    }
    var failure: (any Error)?
    for type in NSPersistentStoreCoordinator.registeredStoreTypes.keys.sorted() {
      do { return (type, try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: url)) } catch {
        let code = ToolError.storeCode(of: error)
        // Types whose stores are not files.
        if code == .notFound { continue }
        // A damaged store of this type.
        if code != .notAStore { throw error }
        failure = failure ?? error
      }
    }
    throw failure ?? ToolError(message: "The file is not a store of a type that the tool supports.")
  }

  /// The entities that the store holds, sorted by the bytes of their names.
  var entities: [Entity] { schema.storedEntities.sorted { UTF8Order.isLess($0.name, $1.name) } }

  func entity(named name: String) throws -> Entity {
    guard let entity = schema.entity(named: name), schema.stores(entity.index) else {
      let names = entities.map(\.name).joined(separator: ", ")
      throw ToolError(message: "The model has no entity \(name); it has \(names).")
    }
    return entity
  }
}
