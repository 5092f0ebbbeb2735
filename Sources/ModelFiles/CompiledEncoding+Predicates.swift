import PropertyLists
import StoreQuery
import StoreSchema

/// Predicates as NSPredicate archives them. The class names of the operators for strings and ranges, and of true and
/// false, were not seen in files of the corpus.
extension CompiledEncoding {
  static let depthLimit = CompiledDecoding.depthLimit

  mutating func optional(_ predicate: Predicate?) throws(ModelFileError) -> Reference {
    guard let predicate else { return .null }
    return try encode(predicate, depth: 0)
  }

  mutating func encode(_ predicate: Predicate, depth: Int) throws(ModelFileError) -> Reference {
    guard depth < Self.depthLimit else { throw ModelFileError(.unsupported, "a predicate is nested too deeply") }
    switch predicate {
    case .value(let flag):
      let className = flag ? "NSTruePredicate" : "NSFalsePredicate"
      return writer.add(classes: [className, "NSPredicate", "NSObject"], values: [:])
    case .comparison(let comparison): return try encode(comparison, depth: depth)
    case .and(let members): return try compound(1, members, depth: depth)
    case .or(let members): return try compound(2, members, depth: depth)
    case .not(let member): return try compound(0, [member], depth: depth)
    case .variable(let name):
      throw ModelFileError(.unsupported, "the variable $\(name) in place of a predicate has no archived form")
    }
  }

  private mutating func compound(
    _ type: Int64, _ members: [Predicate], depth: Int
  ) throws(ModelFileError) -> Reference {
    var references: [Reference] = []
    for member in members { references.append(try encode(member, depth: depth + 1)) }
    return writer.add(
      classes: ["NSCompoundPredicate", "NSPredicate", "NSObject"],
      values: ["NSCompoundPredicateType": .integer(type), "NSSubpredicates": writer.add(array: references).value])
  }

  private mutating func encode(
    _ comparison: Predicate.Comparison, depth: Int
  ) throws(ModelFileError) -> Reference {
    guard comparison.op != .customSelector else {
      throw ModelFileError(.unsupported, "a comparison by a selector has no archived form")
    }
    let values: [String: PropertyList] = [
      "NSLeftExpression": try encode(comparison.left, depth: depth + 1).value,
      "NSRightExpression": try encode(comparison.right, depth: depth + 1).value,
      "NSPredicateOperator": operation(comparison).value,
    ]
    return writer.add(classes: ["NSComparisonPredicate", "NSPredicate", "NSObject"], values: values)
  }

  private mutating func operation(_ comparison: Predicate.Comparison) -> Reference {
    let options = PropertyList.integer(Int64(comparison.options.rawValue & 0xFFFF))
    let type = Int64(comparison.op.rawValue)
    var values: [String: PropertyList] = [
      "NSOperatorType": .integer(type), "NSModifier": .integer(Int64(comparison.modifier.rawValue)),
    ]
    let className: [String]
    switch comparison.op {
    case .equalTo, .notEqualTo:
      values["NSOptions"] = options
      values["NSNegate"] = .bool(comparison.op == .notEqualTo)
      className = ["NSEqualityPredicateOperator"]
    case .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo, .customSelector:
      values["NSOptions"] = options
      values["NSVariant"] = .integer(type)
      className = ["NSComparisonPredicateOperator"]
    case .matches, .like:
      values["NSFlags"] = options
      className = [comparison.op == .like ? "NSLikePredicateOperator" : "NSMatchingPredicateOperator"]
    case .beginsWith, .endsWith:
      values["NSFlags"] = options
      values["NSPosition"] = .integer(comparison.op == .beginsWith ? 0 : 1)
      className = ["NSSubstringPredicateOperator"]
    case .in, .contains:
      values["NSFlags"] = options
      className = ["NSInPredicateOperator"]
    case .between:
      values["NSFlags"] = options
      className = ["NSBetweenPredicateOperator"]
    }
    return writer.add(classes: className + ["NSPredicateOperator", "NSObject"], values: values)
  }
}
