import Foundation
import RuntimeAccess
import StoreSchema

extension NSManagedObjectContext {
  /// Runs a fetch and returns its results as the request's result type.
  ///
  /// Throws when a name of the request is not in the model, or when a store cannot be read. A result of another class
  /// than the request's type is an error too.
  public final func fetch<T>(_ request: NSFetchRequest<T>) throws -> [T] {
    try fetch(request.erased, as: T.self)
  }

  final func fetch<T>(_ parameters: FetchParameters, as _: T.Type) throws -> [T] {
    defer { core.tellStoresOfObjects() }
    defer { core.announceRefetched(parameters) }
    if parameters.resultType == .managedObjectResultType, let objects = try typedObjects(parameters, as: T.self) {
      return objects
    }
    if parameters.resultType == .dictionaryResultType && T.self == NSDictionary.self {
      // The same type.
      return unsafeBitCast(try core.fetchDictionaries(parameters), to: [T].self)
    }
    return try typed(results(parameters), as: T.self)
  }

  /// Casts results to the request's type. Throws if one has another class.
  final func typed<T>(_ results: [Any], as _: T.Type) throws -> [T] {
    guard let typed = results as? [T] else {
      throw CocoaError(
        .coreData,
        userInfo: [
          NSLocalizedDescriptionKey:
            "The fetch gives \(results.first.map { "\(type(of: $0))" } ?? "nothing"), not \(T.self); check resultType and the entity's class."
        ])
    }
    return typed
  }

  /// The objects, without a cast for each, if the classes of all fetched entities are of type `T`. Otherwise nil.
  private func typedObjects<T>(_ parameters: FetchParameters, as type: T.Type) throws -> [T]? {
    guard type is NSManagedObject.Type, let frozen = core.frozen,
      let entity = parameters.entityName.flatMap({ frozen.schema.entity(named: $0) }),
      entity.subtree.allSatisfy({ frozen.infos[$0].objectClass is T.Type })
    else { return nil }
    let objects = try core.fetchObjects(parameters)
    if core.hasMismatchedClasses { for object in objects where !(object is T) { return nil } }
    return ObjectArray.retyped(objects, as: T.self)
  }

  final func results(_ parameters: FetchParameters) throws -> [Any] {
    switch parameters.resultType {
    case .managedObjectIDResultType: return try core.fetchIDs(parameters)
    case .countResultType: return [NSNumber(value: try core.count(parameters))]
    case .dictionaryResultType: return try core.fetchDictionaries(parameters)
    default: return try core.fetchObjects(parameters)
    }
  }

  /// The number of objects or dictionaries that the request would return.
  public final func count<T>(for request: NSFetchRequest<T>) throws -> Int { try count(request.erased) }

  final func count(_ parameters: FetchParameters) throws -> Int {
    try parameters.resultType == .dictionaryResultType
      ? core.countDictionaries(parameters) : core.count(parameters)
  }
}
