import Foundation
import StoreSchema

/// Attributes and constants.
extension PredicateGenerator {
  typealias Found = (keys: [String], type: AttributeType, name: String)

  /// An attribute at a path of to-one relationships: of a given length where possible, otherwise of a random one.
  mutating func attribute(
    of entity: Entity, hops required: Int? = nil, where fits: (AttributeType) -> Bool
  ) -> Found? {
    var (keys, current) = ([String](), entity)
    while required.map({ keys.count < $0 }) ?? (random.below(4) == 0),
      let hop = hops(of: current, toMany: false).randomElement(using: &random)
    {
      keys.append(hop.name)
      current = model.schema.entities[hop.destination]
    }
    let fitting = current.plainAttributes.filter { fits($0.attribute.type) }
    guard let found = fitting.randomElement(using: &random) else { return nil }
    return (keys + found.path.split(separator: ".").map(String.init), found.attribute.type, found.path)
  }

  /// The relationships that may be followed. In contexts, changes behind a relationship without an inverse count only
  /// when they are saved (decision 038).
  func hops(of entity: Entity, toMany: Bool) -> [Relationship] {
    entity.relationships.filter { $0.isToMany == toMany && (!isForContexts || $0.inverse != nil) }
  }

  /// Mostly a value that some object has.
  mutating func constant(_ name: String, _ type: AttributeType) -> Value {
    if random.below(12) == 0 { return .null }
    if random.below(5) > 0, let value = values(name).randomElement(using: &random) { return value }
    switch type {
    case .integer16, .integer32, .integer64:
      return random.below(2) == 0 ? .int(Int64(random.below(2000)) - 1000) : edge()
    case .double, .float: return random.below(2) == 0 ? .double(Double(random.below(400)) / 4 - 50) : edge()
    case .decimal:
      if random.below(2) == 0 { return edge() }
      return Decimal(string: "\(random.below(4000)).25").map(Value.decimal) ?? .null
    case .date: return .date(Double(random.below(1 << 30)))
    case .boolean: return .bool(random.below(2) == 0)
    case .string: return .string(anyText())
    case .uri: return .uri("http://x/\(random.below(1000))?a=1&b=%20")
    case .uuid: return .uuid(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, UInt8(random.below(200)))))
    case .binaryData: return .data(Data([0, 255].prefix(random.below(3))))
    default: return .null
    }
  }

  /// All values of an attribute.
  func values(_ name: String) -> [Value] {
    store.numbers.compactMap { store.objects[$0]?.values[name]?.value }.filter { !$0.isNull }
  }

  mutating func anyText() -> String {
    one([
      "a", "A", "É", "b", "x", "mail", "1", "\u{301}", "e\u{301}", "e", "\u{0}", "a\u{0}", "😀", "👩", "\u{200D}", "%",
      "_",
      "*", "?", "\\", "'", "\"", "ss", "ß", "ı", "i", "σ", "ς", "10", "",
    ])
  }

  /// A number for which doubles, integers and decimals differ.
  mutating func edge() -> Value {
    switch random.below(3) {
    case 0: .int(one(Self.integers))
    case 1: .double(one(Self.doubles))
    default: Decimal(string: one(Self.decimals)).map(Value.decimal) ?? .null
    }
  }

  private static let integers: [Int64] = [1 << 53, 1 << 53 + 1, .max, .min, -(1 << 53) - 1]
  private static let doubles: [Double] = [
    0x1p53, 0x1p53 + 2, 0x1p63, -0x1p63, .infinity, -.infinity, 0.1, -0.0, .greatestFiniteMagnitude,
    .leastNonzeroMagnitude, 1e22,
  ]
  private static let decimals = [
    "9007199254740993", "0.1", "12345678901234567890123456789012345678", "9223372036854775808",
    "-9223372036854775808.5",
  ]

  mutating func object(of entity: Int) -> Value {
    let root = model.schema.entities[entity].root
    let subtree = model.schema.entities[root].subtree.map { model.schema.entities[$0].name }
    let numbers = store.numbers.filter { subtree.contains(store.objects[$0]?.entity ?? "") }
    if random.below(8) == 0 { return .null }
    return numbers.randomElement(using: &random).flatMap(reference).map(Value.reference) ?? .null
  }

  /// The value of an expression for some current object, and some elements for its variables.
  mutating func value(of expression: GeneratedValue) -> Value? {
    var objects: [Int] = []
    for scope in scopes {
      let names = scope.subtree.map { model.schema.entities[$0].name }
      let numbers = store.numbers.filter { names.contains(store.objects[$0]?.entity ?? "") }
      guard let number = numbers.randomElement(using: &random) else { return nil }
      objects.append(number)
    }
    let value = evaluator.value(expression, objects)
    if case .reference = value { return nil }
    return value
  }
}

extension AttributeType {
  /// Whether its values can be compared with more than nil.
  var isComparable: Bool { self != .binaryData && self != .transformable }
  var isInteger: Bool { self == .integer16 || self == .integer32 || self == .integer64 }
  var isNumber: Bool { isInteger || self == .double || self == .float || self == .decimal }
  var isOrdered: Bool { isNumber || self == .date || self == .string }
}
