import Foundation
import StoreProtocol
import StoreSchema

/// Fetched properties.
extension ContextCore {
  /// Runs the request of a fetched property for an object, pending changes included.
  ///
  /// Nil where it fails. The reason is written to standard error, because a getter cannot throw. A failed read of a
  /// store also makes the next save fail, as an unreadable fault does.
  func evaluate(_ property: NSFetchedPropertyDescription, of object: NSManagedObject) -> [Any]? {
    guard let context, let request = property.fetchRequest?.copy() as? NSFetchRequest<any NSFetchRequestResult> else {
      return nil
    }
    if let predicate = request.predicate {
      request.predicate = predicate.withSubstitutionVariables([
        "FETCH_SOURCE": FetchedPropertyVariable(object), "FETCHED_PROPERTY": FetchedPropertyVariable(property),
      ])
    }
    do { return try context.fetch(request.erased, as: Any.self) } catch {
      let cause = (error as? CocoaError)?.userInfo[NSUnderlyingErrorKey]
      if let unreadable = cause as? StoreError { faultError = faultError ?? unreadable }
      let name = "\(object.info.entity.name).\(property.name)"
      report("the fetched property \(name) could not be read: \(error.localizedDescription)")
      return nil
    }
  }
}

/// The value of `$FETCH_SOURCE` or `$FETCHED_PROPERTY`. Its key paths are read when the request is run.
struct FetchedPropertyVariable {
  let object: NSObject

  init(_ object: NSObject) { self.object = object }

  func value(_ path: String) -> Any? {
    let keys = path.split(separator: ".").map(String.init)
    guard let property = object as? NSPropertyDescription else { return KeyPathValue.value(of: object, keys[...]) }
    switch keys.first {
    case "name": return property.name
    case "userInfo": return KeyPathValue.value(of: property.userInfo as? [String: Any], keys.dropFirst())
    default: return nil
    }
  }
}
