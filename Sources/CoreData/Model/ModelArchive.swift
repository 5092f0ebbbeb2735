import Foundation
import ModelFiles
import StoreProtocol

/// Models as archives, as stores carry them.
package enum ModelArchive {
  /// The model as a keyed archive, nil where it holds something that has no archived form: a store works without it.
  static func data(of model: NSManagedObjectModel) -> Data? { try? write(model) }

  static func write(_ model: NSManagedObjectModel) throws(ModelFileError) -> Data {
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
    return try CompiledModelWriter.write(ModelRecordCoding.record(of: model))
  }

  private static func obstacle(_ part: String, _ obstacle: String) -> ModelFileError {
    ModelFileError(.unsupported, "\(part) \(obstacle), which a model file cannot hold")
  }

  /// What of a property has no archived form, nil where all has.
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
  /// The model that the store at `url` carries, nil where it carries none.
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
