import Foundation
import StoreSchema

/// Validation predicates at save.
extension ContextCore {
  /// One error for each property that breaks a rule, by the first rule that it breaks.
  func brokenRules(of object: NSManagedObject, _ rules: [PropertyRules]) -> [any Error] {
    rules.compactMap { property in
      guard let value = value(of: object, property),
        let broken = property.rules.first(where: { !$0.isMet(by: value) })
      else { return nil }
      return CoreDataError.brokenRule(broken, object, property.key, value)
    }
  }

  /// The value to validate; nil is not validated.
  private func value(of object: NSManagedObject, _ property: PropertyRules) -> Any? {
    guard let (slot, type) = property.element else { return object.modelledValue(forKey: property.key) }
    return AttributeCoding.decode(object.stored(slot), type)
  }
}
