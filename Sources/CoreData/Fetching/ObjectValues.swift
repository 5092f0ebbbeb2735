import Foundation
import StoreQuery
import StoreSchema

/// Fetches that use parts of transformable values, such as `ANY list == 20`, `average:(list)` and `list[FIRST]`. Stores
/// that keep these values as objects allow it. Such parts of a request are evaluated for the objects that the rest
/// selects.
extension ContextCore {
  /// The names of transformable attributes, if every store of the fetch keeps their values as objects. Otherwise empty.
  func namesOfObjectValues(_ parameters: FetchParameters) -> Set<String> {
    guard let frozen, !frozen.transformableNames.isEmpty, let coordinator,
      let entity = parameters.entityName.flatMap(frozen.schema.entity(named:))
    else { return [] }
    let stores = (parameters.affectedStores ?? coordinator.openStores).filter { store in
      entity.subtree.contains { coordinator.takes(store, frozen.schema.entities[$0]) }
    }
    return stores.allSatisfy(\.keepsObjects) ? frozen.transformableNames : []
  }

  /// The dictionaries of a request whose predicate or expressions use parts of such values; nil for any other request.
  ///
  /// They are made from objects of a separate context, which sees saved values only. Such requests cannot have groups.
  func dictionariesOfObjects(_ parameters: FetchParameters) throws -> [NSDictionary]? {
    let names = namesOfObjectValues(parameters)
    guard let coordinator, parameters.looksInto(names) else { return nil }
    if parameters.propertiesToGroupBy?.isEmpty == false || parameters.havingPredicate != nil
      || parameters.returnsDistinctResults
    {
      throw ResolvedTable.error(
        "what looks into the value of a transformable attribute can be neither grouped nor distinct")
    }
    var objects = parameters
    (objects.resultType, objects.propertiesToFetch) = (.managedObjectResultType, nil)
    objects.relationshipKeyPathsForPrefetching = nil
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    return try context.performAndWait {
      try context.core.fetchObjects(objects).map { try Self.dictionary(of: $0, parameters.propertiesToFetch) }
    }
  }

  private static func dictionary(of object: NSManagedObject, _ properties: [Any]?) throws -> NSDictionary {
    let result = NSMutableDictionary()
    for property in properties ?? object.info.attributes.map(\.attribute.name) {
      let (name, value) = try value(property, of: object)
      guard let value = AttributeCoding.flattened(value) else { continue }
      result[name] = (value as? NSManagedObject)?.ownID ?? value
    }
    return result
  }

  private static func value(_ property: Any, of object: NSManagedObject) throws -> (String, Any?) {
    switch property {
    case let name as String: return (name, object.value(forKeyPath: name))
    case let description as NSExpressionDescription:
      guard let expression = description.expression else {
        throw ResolvedTable.error("the expression description \(description.name) has no expression")
      }
      return (description.name, expression.expressionValue(with: object, context: nil))
    case let description as NSPropertyDescription: return (description.name, object.value(forKey: description.name))
    default: throw ResolvedTable.error("\(property) is neither a property's name nor its description")
    }
  }
}

extension FetchParameters {
  /// Whether the predicate, or an expression other than a key path, has one of the keys.
  fileprivate func looksInto(_ names: Set<String>) -> Bool {
    if names.isEmpty { return false }
    if let tree = predicate.flatMap(PredicateTree.of) {
      var walk = PredicateWalk(tree)
      if walk.reaches(names) { return true }
    }
    return propertiesToFetch?.contains { property in
      guard let expression = (property as? NSExpressionDescription)?.expression else { return false }
      let tree = ExpressionTree.of(expression)
      if case .keyPath = tree { return false }
      var walk = PredicateWalk(tree)
      return walk.reaches(names)
    } ?? false
  }
}
