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

  /// The entity whose class `type` is; nil where no model in use has one. Of several models in use that have one, the
  /// newest one's; that there are several is said once (decision 016).
  static func find(_ type: NSManagedObject.Type) -> NSEntityDescription? {
    let candidates = models.withLock { $0 }.compactMap(\.model).reversed()
    let found = candidates.lazy.compactMap { model in
      (try? model.freeze())?.infos.first { $0.objectClass == type }?.description
    }
    guard let first = found.first else { return nil }
    if found.dropFirst().first != nil, warned.withLock({ $0.insert(ObjectIdentifier(type)).inserted }) {
      report(
        "\(type).entity(): several models in use have an entity for this class; the newest model's is taken. Share one NSManagedObjectModel between containers, or name the entity."
      )
    }
    return first
  }

  /// The classes for which several models were found.
  private static let warned = Mutex<Set<ObjectIdentifier>>([])
}
