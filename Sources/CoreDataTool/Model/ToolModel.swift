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

  /// What a command for models reads.
  struct Described {
    var model: NSManagedObjectModel
    /// Of a store, what it was made with.
    var metadata: [String: Any] = [:]
    /// Whether the model was inferred from the tables of a store that contains none.
    var isInferred = false

    /// The version hashes in a store.
    var hashes: [String: Data] { metadata[NSStoreModelVersionHashesKey] as? [String: Data] ?? [:] }
  }

  /// The model that a path names, of several versions the current one; or that of a store.
  static func described(_ path: String) throws -> Described {
    let url = URL(fileURLWithPath: path)
    if isModel(url) { return Described(model: try read(path)[0]) }
    let (type, metadata) = try OpenedStore.look(at: url)
    let (model, source) = try find(nil, for: url, type: type, metadata)
    return Described(model: model, metadata: metadata, isInferred: source == .inferred)
  }

  /// The same, and a sentence on standard error where the model is inferred.
  static func shown(_ path: String) throws -> Described {
    let described = try described(path)
    if described.isInferred {
      Tool.complain("\(path) contains no model that it was made with; this one is inferred from its tables.")
    }
    return described
  }

  /// Whether a path is that of a model by its name.
  private static func isModel(_ url: URL) -> Bool {
    ["mom", "momd", "omo", "xcdatamodel", "xcdatamodeld"].contains(url.pathExtension)
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
    if !isModel(url), let (type, _) = try? OpenedStore.look(at: url) {
      if let carried = try NSPersistentStoreCoordinator.cachedModel(forPersistentStoreAt: url, ofType: type) {
        return [carried]
      }
      throw ToolError(message: "\(path) contains no model; give the model that it was made with, as a file.")
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
