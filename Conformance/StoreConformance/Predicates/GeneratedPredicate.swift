import StoreSchema

/// A predicate as the generator makes it: a tree of its own, which is printed as a format for stores and evaluated for itself.
indirect enum GeneratedPredicate: Sendable {
  case constant(Bool)
  case and([GeneratedPredicate])
  case or([GeneratedPredicate])
  case not(GeneratedPredicate)
  /// `options` are the letters behind the operator.
  case comparison(GeneratedValue, String, GeneratedValue, options: String)
  case between(GeneratedValue, GeneratedValue, GeneratedValue)
  case oneOf(GeneratedValue, [Value], options: String)
  /// ANY, ALL or NONE of a collection.
  case quantified(String, GeneratedCollection, String, GeneratedValue, options: String)
  case quantifiedOneOf(String, GeneratedCollection, [Value])
  case holds(GeneratedCollection, GeneratedValue, isContains: Bool)
  /// A relationship against nil.
  case isNil(GeneratedCollection, Bool)
}

/// An expression for one value.
indirect enum GeneratedValue: Sendable {
  case constant(Value)
  /// Keys from the object at hand, 0, or from a variable; none of them for the object itself.
  case path(Int, [String])
  case arithmetic(GeneratedValue, String, GeneratedValue)
  case function(String, GeneratedValue)
  case ternary(GeneratedPredicate, GeneratedValue, GeneratedValue)
  case count(GeneratedCollection)
  /// `@sum` and the like, over the collection's attribute.
  case aggregate(String, GeneratedCollection)
  /// `items[FIRST].name`, or `LAST`.
  case end(String, GeneratedCollection)
}

/// An expression for objects, or for the values of an attribute of theirs.
struct GeneratedCollection: Sendable {
  var variable: Int
  /// Keys of relationships, at least one of them to-many.
  var hops: [String]
  /// What is left of them, where the number stands for each.
  var filter: GeneratedFilter?
  /// To-one keys and an attribute, or none for the objects themselves.
  var attribute: [String] = []
}

final class GeneratedFilter: Sendable {
  let variable: Int
  let predicate: GeneratedPredicate

  init(_ variable: Int, _ predicate: GeneratedPredicate) {
    self.variable = variable
    self.predicate = predicate
  }
}

/// A generated predicate as a format with arguments.
struct GeneratedFormat {
  private(set) var text = ""
  private(set) var arguments: [Cell] = []

  init(_ predicate: GeneratedPredicate) { add(predicate) }

  private mutating func add(_ predicate: GeneratedPredicate) {
    switch predicate {
    case .constant(let value): text += value ? "TRUEPREDICATE" : "FALSEPREDICATE"
    case .and(let parts): add(parts, " AND ")
    case .or(let parts): add(parts, " OR ")
    case .not(let inner):
      text += "NOT "
      add([inner], "")
    case .comparison(let left, let op, let right, let options): add(left, op, options, right)
    case .between(let value, let low, let high):
      add(value)
      text += " BETWEEN {"
      add(low)
      text += ", "
      add(high)
      text += "}"
    case .oneOf(let value, let list, let options):
      add(value)
      text += " IN\(Self.bracketed(options)) "
      add(list)
    case .quantified(let word, let collection, let op, let value, let options):
      text += word + " "
      add(collection)
      text += " \(op)\(Self.bracketed(options)) "
      add(value)
    case .quantifiedOneOf(let word, let collection, let list):
      text += word + " "
      add(collection)
      text += " IN "
      add(list)
    case .holds(let collection, let value, true):
      add(collection)
      text += " CONTAINS "
      add(value)
    case .holds(let collection, let value, false):
      add(value)
      text += " IN "
      add(collection)
    case .isNil(let collection, let isNil):
      add(collection)
      text += isNil ? " == nil" : " != nil"
    }
  }

  private mutating func add(_ parts: [GeneratedPredicate], _ separator: String) {
    text += "("
    for (index, part) in parts.enumerated() {
      if index > 0 { text += separator }
      add(part)
    }
    text += ")"
  }

  private static func bracketed(_ options: String) -> String { options.isEmpty ? "" : "[\(options)]" }

  private mutating func add(_ left: GeneratedValue, _ op: String, _ options: String, _ right: GeneratedValue) {
    add(left)
    text += " \(op)\(Self.bracketed(options)) "
    add(right)
  }

  private mutating func add(_ list: [Value]) {
    text += "{"
    for (index, value) in list.enumerated() {
      if index > 0 { text += ", " }
      add(.constant(value))
    }
    text += "}"
  }

  private mutating func add(_ value: GeneratedValue) {
    switch value {
    case .constant(let value):
      text += "%@"
      arguments.append(Cell(value))
    case .path(let variable, let keys):
      text += keys.isEmpty ? (variable == 0 ? "SELF" : "$v\(variable)") : Self.path(variable, keys)
    case .arithmetic(let left, let sign, let right):
      text += "("
      add(left)
      text += sign == "modulus" ? " %% " : " \(sign) "
      add(right)
      text += ")"
    case .function(let name, let operand):
      text += name + "("
      add(operand)
      text += ")"
    case .ternary(let condition, let yes, let no):
      text += "TERNARY("
      add(condition)
      text += ", "
      add(yes)
      text += ", "
      add(no)
      text += ")"
    case .count(let collection):
      add(collection)
      text += ".@count"
    case .aggregate(let name, var collection):
      let attribute = collection.attribute
      collection.attribute = []
      add(collection)
      text += ([name] + attribute).map { "." + $0 }.joined()
    case .end(let word, var collection):
      let attribute = collection.attribute
      collection.attribute = []
      add(collection)
      text += "[\(word)]" + attribute.map { "." + $0 }.joined()
    }
  }

  private static func path(_ variable: Int, _ keys: [String]) -> String {
    (variable == 0 ? "" : "$v\(variable).") + keys.joined(separator: ".")
  }

  private mutating func add(_ collection: GeneratedCollection) {
    let path = Self.path(collection.variable, collection.hops)
    if let filter = collection.filter {
      text += "SUBQUERY(\(path), $v\(filter.variable), "
      add(filter.predicate)
      text += ")"
    } else {
      text += path
    }
    text += collection.attribute.map { "." + $0 }.joined()
  }
}
