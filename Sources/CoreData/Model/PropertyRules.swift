import Foundation
import StoreSchema

/// The validation predicates of an attribute, of an element of a composite, or of a relationship.
struct PropertyRules {
  /// The name of the property; for an element its path (`address.city`).
  let key: String
  /// Set for an element, which key-value coding cannot read directly.
  let element: Element?
  let rules: [Rule]

  typealias Element = (slot: Int, type: StoreSchema.AttributeType)

  struct Rule {
    let predicate: NSPredicate
    /// The part of the predicate that cannot be evaluated here; nil where every part can.
    let obstacle: String?
    let code: CocoaError.Code
    /// The model's text for the error; nil where the model has only a code.
    let text: String?

    func isMet(by value: Any) -> Bool { obstacle == nil && predicate.evaluate(with: value) }
  }

  static func all(
    _ attributes: [AttributeInfo], _ relationships: [RelationshipInfo], _ transients: [NSAttributeDescription]
  ) -> [PropertyRules] {
    var result: [PropertyRules] = []
    for info in attributes {
      add(info.description, info.attribute.name, to: &result)
      for element in info.attribute.elements {
        guard let description = info.description.element(element.name) else { continue }
        let key = info.attribute.name + "." + element.name
        add(description, key, element: (element.slot, element.type), to: &result)
      }
    }
    for info in relationships { add(info.description, info.relationship.name, to: &result) }
    for transient in transients { add(transient, transient.name, to: &result) }
    return result
  }

  private static func add(
    _ description: NSPropertyDescription, _ key: String, element: Element? = nil, to result: inout [PropertyRules]
  ) {
    if description.validationPredicates.isEmpty { return }
    let rules = zip(description.validationPredicates, description.validationWarnings).map(rule)
    result.append(PropertyRules(key: key, element: element, rules: rules))
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
