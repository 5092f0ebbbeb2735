import Foundation
import Synchronization

/// The models in use. `Student.entity()` and `Student.fetchRequest()` find their entity here.
enum ModelRegistry {
  // Models are immutable once they are in the list.
  private struct Entry: Sendable { weak var model: NSManagedObjectModel? }
  private static let models = Mutex<[Entry]>([])

  static func add(_ model: NSManagedObjectModel) {
    let entry = Entry(model: model)
    models.withLock { list in
      list.removeAll { $0.model == nil || $0.model === entry.model }
      list.append(entry)
    }
  }

  /// The entity whose class is `type`; nil where no model in use has one. If several models have one, the entity of the
  /// newest model. The first time this happens to a class, a warning is written (decision 016).
  static func find(_ type: NSManagedObject.Type) -> NSEntityDescription? {
    let candidates = models.withLock { $0 }.compactMap(\.model).reversed()
    let found = candidates.lazy.compactMap { model in
      (try? model.freeze())?.infos.first { $0.objectClass == type }?.description
    }
    guard let first = found.first else { return nil }
    if found.dropFirst().first != nil, warned.withLock({ $0.insert(ObjectIdentifier(type)).inserted }) {
      report(
        "\(type).entity(): several models in use have an entity for this class; the entity of the newest model is used. Share one NSManagedObjectModel between containers, or name the entity."
      )
    }
    return first
  }

  /// The classes for which several models were found.
  private static let warned = Mutex<Set<ObjectIdentifier>>([])
}
