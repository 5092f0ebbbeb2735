import Foundation
import Synchronization

/// The models in use, so that `Student.entity()` and `Student.fetchRequest()` find theirs.
enum ModelRegistry {
  // Models are immutable once they are here.
  private struct Entry: @unchecked Sendable { weak var model: NSManagedObjectModel? }
  private static let models = Mutex<[Entry]>([])

  static func add(_ model: NSManagedObjectModel) {
    let entry = Entry(model: model)
    models.withLock { list in
      list.removeAll { $0.model == nil || $0.model === entry.model }
      list.append(entry)
    }
  }

  /// The entity whose class `type` is; the newest model wins. Stops the program where there is none.
  static func entity(of type: NSManagedObject.Type) -> NSEntityDescription {
    if let found = find(type) { return found }
    misuse(
      "No model in use has an entity with the class \(type). Make the persistent container or coordinator first, and name the class in managedObjectClassName."
    )
  }

  static func find(_ type: NSManagedObject.Type) -> NSEntityDescription? {
    let candidates = models.withLock { $0 }.compactMap(\.model).reversed()
    for model in candidates {
      guard let frozen = try? model.freeze() else { continue }
      if let info = frozen.infos.first(where: { $0.objectClass == type }) { return info.description }
    }
    return nil
  }
}
