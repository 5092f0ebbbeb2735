import Foundation
import StoreSchema

/// The validation predicates of an attribute, of an element of a composite, or of a relationship.
struct PropertyRules {
  /// The name; of an element, its path (`address.city`).
  let key: String
  let place: Place
  let rules: [Rule]

  enum Place {
    /// The attribute's value, which has changed where the slot has.
    case stored(slot: Int)
    case element(slot: Int, StoreSchema.AttributeType)
    case relationship(Relationship)
    case transient
  }

  struct Rule {
    let predicate: NSPredicate
    /// What of the predicate cannot be evaluated here, nil where all can.
    let obstacle: String?
    let code: CocoaError.Code
    /// The model's text for the error, nil where it gives a code only.
    let text: String?

    func isMet(by value: Any) -> Bool { obstacle == nil && predicate.evaluate(with: value) }
  }

  static func all(
    _ attributes: [AttributeInfo], _ relationships: [RelationshipInfo], _ transients: [NSAttributeDescription]
  ) -> [PropertyRules] {
    var result: [PropertyRules] = []
    for info in attributes {
      add(info.description, info.attribute.name, .stored(slot: info.attribute.slot), to: &result)
      for element in info.attribute.elements {
        guard let description = info.description.element(element.name) else { continue }
        let key = info.attribute.name + "." + element.name
        add(description, key, .element(slot: element.slot, element.type), to: &result)
      }
    }
    for info in relationships {
      add(info.description, info.relationship.name, .relationship(info.relationship), to: &result)
    }
    for transient in transients { add(transient, transient.name, .transient, to: &result) }
    return result
  }

  private static func add(
    _ description: NSPropertyDescription, _ key: String, _ place: Place, to result: inout [PropertyRules]
  ) {
    if description.validationPredicates.isEmpty { return }
    let rules = zip(description.validationPredicates, description.validationWarnings).map(rule)
    result.append(PropertyRules(key: key, place: place, rules: rules))
  }

  private static func rule(_ predicate: NSPredicate, _ warning: Any) -> Rule {
    let text = warning as? String
    let number = (warning as? NSNumber)?.intValue ?? text.flatMap(Int.init)
    let tree = PredicateTree.of(predicate)
    return Rule(
      predicate: predicate, obstacle: tree.flatMap(PredicateWalk.obstacle),
      code: number.map { CocoaError.Code(rawValue: $0) } ?? .managedObjectValidation,
      text: number == nil && text?.isEmpty == false ? text : nil)
  }
}
