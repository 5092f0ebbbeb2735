import StoreSchema

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
    case .belongs(let value, let set):
      add(value)
      text += " IN "
      add(set)
    case .entityName(let variable, let keys, let op, let names):
      text += Self.path(variable, keys + ["entity", "name"]) + " \(op) "
      if op == "IN" { add(names.map(Value.string)) } else { add(.constant(names.first.map(Value.string) ?? .null)) }
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
    case .prefixed(let sign, let operand):
      text += "(" + sign
      add(operand)
      text += ")"
    case .cast(let operand, let type):
      text += "CAST("
      add(operand)
      text += ", '\(type)')"
    case .now: text += "now()"
    case .measure(let name, let set): add(name, of: set)
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
    case .element(let word, var collection):
      let attribute = collection.attribute
      collection.attribute = []
      add(collection)
      text += "[\(word)]" + attribute.map { "." + $0 }.joined()
    }
  }

  private mutating func add(_ name: String, of set: GeneratedSet) {
    let isBehind = name == "[SIZE]" || name == "@count"
    text += isBehind ? "(" : name + "("
    add(set)
    text += isBehind ? (name == "[SIZE]" ? ")[SIZE]" : ").@count") : ")"
  }

  private mutating func add(_ set: GeneratedSet) {
    switch set {
    case .members(let collection): add(collection)
    case .constants(let values): add(values)
    case .combined(let left, let op, let right):
      text += "("
      add(left)
      text += " \(op) "
      add(right)
      text += ")"
    case .distinct(let inner):
      text += "distinct("
      add(inner)
      text += ")"
    case .collected(let op, var collection):
      let attribute = collection.attribute
      collection.attribute = []
      add(collection)
      text += ([op] + attribute).map { "." + $0 }.joined()
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
