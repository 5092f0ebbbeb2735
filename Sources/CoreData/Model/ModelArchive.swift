import Foundation
import ModelFiles
import StoreProtocol

/// Models as archives, as stores carry them.
enum ModelArchive {
  /// The model as a keyed archive, nil where it holds something that has no archived form.
  static func data(of model: NSManagedObjectModel) -> Data? {
    try? CompiledModelWriter.write(ModelRecordCoding.record(of: model))
  }

  static func model(_ archive: Data) throws(ModelFileError) -> NSManagedObjectModel {
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
