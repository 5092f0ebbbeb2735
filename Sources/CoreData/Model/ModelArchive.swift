import Foundation
import ModelFiles
import StoreProtocol

/// Models as archives. Stores contain such an archive.
package enum ModelArchive {
  /// The model as a keyed archive; nil where a part has no archived form. A store works without it.
  static func data(of model: NSManagedObjectModel) -> Data? { try? write(model) }

  static func write(_ model: NSManagedObjectModel) throws(ModelFileError) -> Data {
    try CompiledModelWriter.write(record(of: model))
  }

  /// The model as plain values. Throws where a part has no form in a model file.
  package static func record(of model: NSManagedObjectModel) throws(ModelFileError) -> ModelRecord {
    for entity in model.entities {
      for property in entity.ownProperties {
        guard let obstacle = obstacle(property) else { continue }
        throw self.obstacle("\(entity.name ?? "?").\(property.name)", obstacle)
      }
    }
    for (name, request) in model.fetchRequestTemplatesByName.sorted(by: { $0.key < $1.key }) {
      guard let obstacle = FetchRequestCoding.obstacle(request) else { continue }
      throw self.obstacle("the fetch request template \(name)", obstacle)
    }
    return ModelRecordCoding.record(of: model)
  }

  private static func obstacle(_ part: String, _ obstacle: String) -> ModelFileError {
    ModelFileError(.unsupported, "\(part) \(obstacle), which a model file cannot hold")
  }

  /// The part of a property that has no archived form; nil where every part has one.
  private static func obstacle(_ property: NSPropertyDescription) -> String? {
    if property is NSExpressionDescription || type(of: property) == NSPropertyDescription.self {
      return "is an expression"
    }
    if let fetched = property as? NSFetchedPropertyDescription {
      guard let request = fetched.fetchRequest else { return "has no request" }
      if let obstacle = FetchRequestCoding.obstacle(request) { return obstacle }
    }
    var pending = [property]
    while let next = pending.popLast() {
      if next.validationPredicates.contains(where: { PredicateTree.of($0) == nil }) { return "is validated by a block" }
      pending += (next as? NSCompositeAttributeDescription)?.elements ?? []
    }
    return nil
  }

  package static func model(_ archive: Data) throws(ModelFileError) -> NSManagedObjectModel {
    NSManagedObjectModel(try CompiledModelReader.read(archive))
  }
}

extension NSPersistentStoreCoordinator {
  /// See ``cachedModelForPersistentStore(at:options:)``. For a file that is not a store of a known type, the error of
  /// the first type is thrown.
  static func cachedModel(at url: URL, _ options: [AnyHashable: Any]?) throws -> NSManagedObjectModel {
    var failure: (any Error)?
    for type in StoreRegistration.persistentTypes {
      do {
        if let model = try cachedModel(forPersistentStoreAt: url, ofType: type, options: options) { return model }
        throw CocoaError(
          .persistentStoreOperation,
          userInfo: [
            NSLocalizedDescriptionKey: "The store carries no model; use the model that it was made with.",
            NSURLErrorKey: url,
          ])
      } catch {
        let code = ((error as? CocoaError)?.userInfo[NSUnderlyingErrorKey] as? StoreError)?.code
        // The file belongs to another type.
        if code != .notAStore { throw error }
        failure = failure ?? error
      }
    }
    throw failure ?? CocoaError(.persistentStoreInvalidType)
  }

  /// The model in the store at `url`; nil where the store contains none.
  public static func cachedModel(
    forPersistentStoreAt url: URL, ofType storeType: String = NSSQLiteStoreType, options: [AnyHashable: Any]? = nil
  ) throws -> NSManagedObjectModel? {
    guard let backend = StoreRegistration.backend(storeType) else {
      throw CocoaError(
        .persistentStoreInvalidType, userInfo: [NSLocalizedDescriptionKey: "There is no store of type '\(storeType)'."])
    }
    do {
      let metadata = try backend.metadata(at: url, options: StoreOptionCoding.options(options))
      return try metadata.archivedModel.map { try ModelArchive.model($0) }
    } catch let error as ModelFileError {
      throw CocoaError(
        .fileReadCorruptFile,
        userInfo: [
          NSLocalizedDescriptionKey: "The model that the store carries cannot be read.", NSUnderlyingErrorKey: error,
        ])
    } catch let error as StoreError { throw CoreDataError.make(error) }
  }
}
