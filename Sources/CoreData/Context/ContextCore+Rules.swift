import Foundation
import StoreSchema

/// Validation predicates at save.
extension ContextCore {
  /// One error for each changed property that breaks a rule: the first rule that it breaks.
  func brokenRules(of object: NSManagedObject) -> [any Error] {
    object.info.rules.compactMap { property in
      guard let value = value(of: object, property),
        let broken = property.rules.first(where: { !$0.isMet(by: value) })
      else { return nil }
      return CoreDataError.brokenRule(broken, object, property.key, value)
    }
  }

  /// The value to judge; nil for one that is nil or has not changed.
  private func value(of object: NSManagedObject, _ property: PropertyRules) -> Any? {
    switch property.place {
    case .stored(let slot):
      return object.changed(slot) == nil ? nil : object.modelledValue(forKey: property.key)
    case .element(let slot, let type):
      return object.changed(slot).flatMap { AttributeCoding.decode($0, type) }
    case .relationship(let relationship):
      return hasChanged(relationship, of: object) ? object.modelledValue(forKey: property.key) : nil
    case .transient: return object.modelledValue(forKey: property.key)
    }
  }

  private func hasChanged(_ relationship: Relationship, of object: NSManagedObject) -> Bool {
    if let slot = relationship.slot { return object.changed(slot) != nil }
    guard let index = relationship.toManyIndex, index < object.toManys.count else { return false }
    return object.toManys[index]?.hasChanges ?? false
  }
}
