import CoreData
import Foundation

/// Finds the model for a store, or reads one from a file.
enum ToolModel {
  static func find(
    _ path: String?, for store: URL, type: String, _ metadata: [String: Any]
  ) throws -> (NSManagedObjectModel, OpenedStore.ModelSource) {
    func fits(_ model: NSManagedObjectModel) -> Bool { self.fits(model, metadata) }
    if let path {
      let models = try read(path)
      guard let model = models.first(where: fits) ?? (models.count == 1 ? models.first : nil) else {
        throw ToolError(message: "The store was made with none of the \(models.count) versions of the model \(path).")
      }
      return (model, .given)
    }
    // The model in the store may be damaged, or of another version, so it is used only if it matches.
    if let carried = try? NSPersistentStoreCoordinator.cachedModel(forPersistentStoreAt: store, ofType: type),
      fits(carried)
    {
      return (carried, .carried)
    }
    return (try NSPersistentStoreCoordinator.inferredModel(forPersistentStoreAt: store, ofType: type), .inferred)
  }

  /// The model that a path names, current version first; or that of a store, with the store's version hashes.
  static func described(_ path: String) throws -> (model: NSManagedObjectModel, hashes: [String: Data]) {
    let url = URL(fileURLWithPath: path)
    if ["mom", "momd", "omo", "xcdatamodel", "xcdatamodeld"].contains(url.pathExtension) {
      return (try read(path)[0], [:])
    }
    let (type, metadata) = try OpenedStore.look(at: url)
    let model = try find(nil, for: url, type: type, metadata).0
    return (model, metadata[NSStoreModelVersionHashesKey] as? [String: Data] ?? [:])
  }

  /// Whether a store was made with the model, or with one of its configurations.
  static func fits(_ model: NSManagedObjectModel, _ metadata: [String: Any]) -> Bool {
    model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata) || configuration(model, metadata) != nil
  }

  /// The configuration of the model that a store was made with; nil for the whole model, and for another model.
  static func configuration(_ model: NSManagedObjectModel, _ metadata: [String: Any]) -> String? {
    if model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata) { return nil }
    return model.configurations.first { model.isConfiguration(withName: $0, compatibleWithStoreMetadata: metadata) }
  }

  /// All versions of the model at `path`, the current one first; or the model in the store there.
  static func read(_ path: String) throws -> [NSManagedObjectModel] {
    let url = URL(fileURLWithPath: path)
    guard FileManager.default.fileExists(atPath: path) else { throw ToolError(message: "There is no model \(path).") }
    if let (type, _) = try? OpenedStore.look(at: url),
      let carried = try? NSPersistentStoreCoordinator.cachedModel(forPersistentStoreAt: url, ofType: type)
    {
      return [carried]
    }
    return [try NSManagedObjectModel.read(url)] + NSManagedObjectModel.versions(ofModelAt: url)
  }

  /// Makes the stored bytes the values of transformable attributes. The tool does not have the application's
  /// transformers, and no version hash depends on them.
  static func keepStoredBytes(_ model: NSManagedObjectModel) {
    let name = NSValueTransformerName("StoredBytes")
    ValueTransformer.setValueTransformer(ValueTransformer(), forName: name)
    for entity in model.entities {
      for attribute in entity.attributesByName.values where attribute.attributeType == .transformableAttributeType {
        (attribute.valueTransformerName, attribute.attributeValueClassName) = (name.rawValue, nil)
      }
    }
  }
}
