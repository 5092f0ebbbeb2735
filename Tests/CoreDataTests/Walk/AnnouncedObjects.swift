import CoreData
import Foundation

/// The objects of a context as an observer knows them that follows `ObjectsDidChange` alone.
///
/// Sendable, unchecked: used on the queue of the context, which posts the notifications.
final class AnnouncedObjects: @unchecked Sendable {
  /// The observer does not keep the objects alive.
  private struct Known {
    weak var object: NSManagedObject?
    var isPresent: Bool
  }

  private var known: [ObjectIdentifier: Known] = [:]
  /// The first notification that contradicts an earlier one.
  private var contradiction: String?
  private var observer: (any NSObjectProtocol)?

  init(_ context: NSManagedObjectContext) {
    observer = NotificationCenter.default.addObserver(
      forName: NSManagedObjectContext.didChangeObjectsNotification, object: context, queue: nil
    ) { [unowned self] in note($0.userInfo ?? [:]) }
  }

  deinit { observer.map(NotificationCenter.default.removeObserver) }

  private func note(_ userInfo: [AnyHashable: Any]) {
    if userInfo[NSInvalidatedAllObjectsKey] != nil { known = [:] }
    func objects(_ key: String) -> Set<NSManagedObject> { userInfo[key] as? Set<NSManagedObject> ?? [] }
    for object in objects(NSInsertedObjectsKey) {
      if self[object]?.isPresent == true { contradiction = contradiction ?? "inserted twice: \(object)" }
      set(object, isPresent: true)
    }
    for key in [NSUpdatedObjectsKey, NSRefreshedObjectsKey] {
      for object in objects(key) {
        if self[object]?.isPresent == false { contradiction = contradiction ?? "\(key) after a deletion: \(object)" }
        set(object, isPresent: true)
      }
    }
    for object in objects(NSDeletedObjectsKey) {
      if self[object]?.isPresent == false { contradiction = contradiction ?? "deleted twice: \(object)" }
      set(object, isPresent: false)
    }
  }

  private subscript(object: NSManagedObject) -> Known? {
    known[ObjectIdentifier(object)].flatMap { $0.object === object ? $0 : nil }
  }

  private func set(_ object: NSManagedObject, isPresent: Bool) {
    known[ObjectIdentifier(object)] = Known(object: object, isPresent: isPresent)
  }

  /// What the observer does not know, or knows wrongly; nil where everything is right. Called when no event is open.
  func error(_ context: NSManagedObjectContext) -> String? {
    if let contradiction { return contradiction }
    for known in known.values {
      guard let object = known.object else { continue }
      let exists = object.managedObjectContext === context && !object.isDeleted
      if exists != known.isPresent { return "\(object) is \(exists ? "there" : "gone"), and was not announced so" }
    }
    return context.insertedObjects.first { self[$0]?.isPresent != true }.map { "\($0) was not announced" }
  }
}
