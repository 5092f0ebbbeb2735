import Foundation
import ModelFiles
import StoreQuery

/// Whether models and their parts have equal contents: whether their records in a model file would be equal.
///
/// Related entities are compared by name, so a comparison does not follow the graph of a model.
enum DescriptionEquality {
  static func areEqual(_ model: NSManagedObjectModel, _ object: Any?) -> Bool {
    guard let other = object as? NSManagedObjectModel else { return false }
    if other === model { return true }
    return model.entities.count == other.entities.count
      && model.localizationDictionary == other.localizationDictionary
      && ModelRecordCoding.record(of: model) == ModelRecordCoding.record(of: other)
      && model.fetchRequestTemplatesByName.mapValues(FetchRequestCoding.unrecorded)
        == other.fetchRequestTemplatesByName.mapValues(FetchRequestCoding.unrecorded)
      && model.entities.allSatisfy { entity in
        other.entitiesByName[entity.name ?? ""].map { unrecorded(entity) == unrecorded($0) } ?? false
      }
  }

  static func areEqual(_ entity: NSEntityDescription, _ object: Any?) -> Bool {
    guard let other = object as? NSEntityDescription else { return false }
    if other === entity { return true }
    return entity.name == other.name
      && Set(entity.subentities.map(\.name)) == Set(other.subentities.map(\.name))
      && entity.ownProperties.count == other.ownProperties.count
      && ModelRecordCoding.record(of: entity) == ModelRecordCoding.record(of: other)
      && unrecorded(entity) == unrecorded(other)
  }

  static func areEqual(_ property: NSPropertyDescription, _ object: Any?) -> Bool {
    guard let other = object as? NSPropertyDescription, type(of: other) == type(of: property) else { return false }
    if other === property { return true }
    guard ModelRecordCoding.record(of: property) == ModelRecordCoding.record(of: other),
      unrecorded(property) == unrecorded(other)
    else { return false }
    guard let expression = property as? NSExpressionDescription, let otherExpression = other as? NSExpressionDescription
    else { return property.name == other.name }
    return property.name == other.name && expression.expressionResultType == otherExpression.expressionResultType
      && expression.expression.map(ExpressionTree.of) == otherExpression.expression.map(ExpressionTree.of)
  }

  /// The parts of a fetched property's request that have no record, such as predicates made of blocks.
  private static func unrecorded(_ property: NSPropertyDescription) -> [NSObject]? {
    (property as? NSFetchedPropertyDescription)?.fetchRequest.map(FetchRequestCoding.unrecorded)
  }

  private static func unrecorded(_ entity: NSEntityDescription) -> [String: [NSObject]] {
    Dictionary(
      entity.ownProperties.compactMap { property in unrecorded(property).map { (property.name, $0) } },
      uniquingKeysWith: { first, _ in first })
  }

  /// Whether two predicates have the same text. A block equals only itself.
  static func haveSameMeaning(_ a: NSPredicate?, _ b: NSPredicate?) -> Bool {
    guard let a, let b else { return a == nil && b == nil }
    guard let tree = PredicateTree.of(a) else { return a === b }
    return tree == PredicateTree.of(b)
  }
}
