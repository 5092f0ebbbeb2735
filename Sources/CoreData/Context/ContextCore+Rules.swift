import Foundation
import StoreSchema

/// Validation predicates at save.
extension ContextCore {
  /// One error for each changed attribute that breaks a rule: the first rule that it breaks.
  func brokenRules(of object: NSManagedObject) -> [any Error] {
    object.info.rules.compactMap { attribute in
      guard let value = value(of: object, attribute),
        let broken = attribute.rules.first(where: { !$0.isMet(by: value) })
      else { return nil }
      return CoreDataError.brokenRule(broken, object, attribute.key, value)
    }
  }

  /// The value to judge; nil for one that is nil or has not changed.
  private func value(of object: NSManagedObject, _ attribute: AttributeRules) -> Any? {
    switch attribute.place {
    case .stored(let slot):
      return object.changed(slot) == nil ? nil : object.modelledValue(forKey: attribute.key)
    case .element(let slot, let type):
      return object.changed(slot).flatMap { AttributeCoding.decode($0, type) }
    case .transient: return object.modelledValue(forKey: attribute.key)
    }
  }
}
