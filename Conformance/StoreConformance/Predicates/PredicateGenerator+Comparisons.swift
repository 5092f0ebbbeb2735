import Foundation
import StoreSchema

/// Comparisons of single values.
extension PredicateGenerator {
  mutating func simple(_ variable: Int) -> GeneratedPredicate? {
    guard let found = attribute(of: scopes[variable], where: \.isComparable) else { return nil }
    let op = found.type.isOrdered || random.below(4) == 0 ? order() : note(one(["==", "!="]))
    let (path, value) = (
      GeneratedValue.path(variable, found.keys), GeneratedValue.constant(constant(found.name, found.type))
    )
    return random.below(5) == 0
      ? .comparison(value, op, path, options: "") : .comparison(path, op, value, options: "")
  }

  private mutating func anyOptions() -> String {
    let options = one(["", "", "c", "d", "cd", "n", "cn", "l", "cl"])
    for letter in options { _ = note("[\(letter)]") }
    return options
  }

  mutating func search(_ variable: Int) -> GeneratedPredicate? {
    guard let found = attribute(of: scopes[variable], where: { $0 == .string }) else { return nil }
    let path = GeneratedValue.path(variable, found.keys)
    let op = note(
      one(["BEGINSWITH", "ENDSWITH", "CONTAINS", "LIKE", "MATCHES", "==", "<", "!=", ">=", "text IN text"]))
    let options = anyOptions()
    var text = anyText()
    if random.below(3) > 0, case .string(let known) = constant(found.name, .string) { text = known }
    switch op {
    case "LIKE":
      text = one([
        "*", "?*", "a*", "*a*", "*1?", "mail??", "\\*", "a\\?c", "*\\\\*", "*%*", "_", "?", "??", "*a\u{301}*", text,
        text + "*", "*" + text, "\\" + text,
      ])
    case "MATCHES": text = one([".*", "[a-z]+[0-9]*", "a.*|b", "mail\\d+", "É?.*", "(?s).*", "\\P{L}*", "a\\x00.*"])
    case "text IN text":
      return random.below(2) == 0
        ? .comparison(.constant(.string(text)), "IN", path, options: options)
        : .comparison(path, "IN", .constant(.string(text + one(["", "b", "10", "mail1"]))), options: options)
    default:
      let scalars = text.unicodeScalars
      text = one([text, text, String(scalars.prefix(1 + random.below(3))), String(scalars.suffix(1 + random.below(2)))])
    }
    return .comparison(path, op, .constant(.string(text)), options: options)
  }

  mutating func between(_ variable: Int) -> GeneratedPredicate? {
    guard let found = attribute(of: scopes[variable], where: \.isOrdered) else { return nil }
    _ = note("BETWEEN")
    return .between(.path(variable, found.keys), .constant(bound(found)), .constant(bound(found)))
  }

  mutating func oneOf(_ variable: Int) -> GeneratedPredicate? {
    _ = note("IN")
    if random.below(4) == 0 {
      var list: [Value] = []
      for _ in 0..<random.below(4) { list.append(object(of: scopes[variable].index)) }
      return .oneOf(.path(variable, []), list, options: "")
    }
    guard let found = attribute(of: scopes[variable], where: \.isComparable) else { return nil }
    let options = found.type == .string ? one(["", "", "c", "cd", "n", "l"]) : ""
    return .oneOf(.path(variable, found.keys), list(found), options: options)
  }

  /// A constant; for numbers sometimes of another number type.
  private mutating func bound(_ found: Found) -> Value {
    let isNumber = found.type.isNumber || found.type == .date || found.type == .boolean
    return isNumber && random.below(5) == 0 ? edge() : constant(found.name, found.type)
  }

  /// A few constants, or very many.
  private mutating func list(_ found: Found) -> [Value] {
    var list: [Value] = []
    guard random.below(8) == 0 else {
      for _ in 0..<random.below(5) { list.append(bound(found)) }
      return list
    }
    let count = one([101, 600, 1500])
    _ = note("IN of \(count)")
    // Half of the values in use, with or without nil.
    for value in values(found.name) + [.null] where random.below(2) == 0 { list.append(value) }
    for number in 0..<count { list.append(filler(number, found.type)) }
    return Array(list.prefix(count)).shuffled(using: &random)
  }

  private func filler(_ number: Int, _ type: AttributeType) -> Value {
    switch type {
    case .string: .string("filler \(number)")
    case .uri: .uri("http://filler/\(number)")
    case .double, .float: .double(Double(number) + 0.375)
    case .decimal: .decimal(Decimal(number) + Decimal(3) / 8)
    case .date: .date(Double(number) - 0.125)
    case .uuid: .uuid(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(number >> 8), UInt8(number & 255))))
    default: .int(Int64(number) + 100_000)
    }
  }

  mutating func paths(_ variable: Int) -> GeneratedPredicate? {
    let types: [AttributeType] = [.string, .integer16, .integer32, .integer64, .date, .double, .float, .decimal]
    let type = one(types)
    let other = random.below(4) == 0 ? one(types) : type
    guard let a = attribute(of: scopes[variable], where: { $0 == type }),
      let b = attribute(of: scopes[random.below(scopes.count)], where: { $0 == other })
    else { return nil }
    _ = note("paths")
    // The second path must start where it was chosen: from the same entity in most cases.
    guard let start = scopes.firstIndex(where: { starts(b.keys, in: $0) }) else { return nil }
    return .comparison(.path(variable, a.keys), order(), .path(start, b.keys), options: "")
  }

  private func starts(_ keys: [String], in entity: Entity) -> Bool {
    guard let first = keys.first else { return true }
    guard let hop = entity.relationship(named: first) else {
      return entity.plainAttributes.contains { $0.path == keys.joined(separator: ".") }
    }
    return starts(Array(keys.dropFirst()), in: model.schema.entities[hop.destination])
  }

  /// Values of different types, some of which can be compared.
  mutating func mixed(_ variable: Int) -> GeneratedPredicate? {
    guard let found = attribute(of: scopes[variable], where: \.isComparable) else { return nil }
    _ = note("mixed")
    let other: Value = one([
      .int(3), .double(2.5), .string("1"), .date(0), .bool(true), .decimal(Decimal(3)),
      .uuid(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))), .uri("a"), .data(Data([0])),
      .null, edge(), edge(), edge(), edge(),
    ])
    return .comparison(.path(variable, found.keys), order(), .constant(other), options: "")
  }

  /// Data by its bytes where it is in the row, otherwise only whether there is any.
  mutating func bytes(_ variable: Int) -> GeneratedPredicate? {
    guard let found = attribute(of: scopes[variable], where: { !$0.isComparable }) else { return nil }
    _ = note("data")
    let path = GeneratedValue.path(variable, found.keys)
    if found.name != "stamp" || random.below(3) == 0 {
      return .comparison(path, note(one(["==", "!="])), .constant(.null), options: "")
    }
    if random.below(4) == 0 { return .oneOf(path, list(found), options: "") }
    return .comparison(path, order(), .constant(constant(found.name, found.type)), options: "")
  }

  mutating func entityName(_ variable: Int) -> GeneratedPredicate? {
    var (keys, current) = ([String](), scopes[variable])
    while random.below(3) == 0, let hop = hops(of: current, toMany: false).randomElement(using: &random) {
      keys.append(hop.name)
      current = model.schema.entities[hop.destination]
    }
    _ = note("entity.name")
    let op = one(["==", "IN", "BEGINSWITH", "CONTAINS", "<", "!="])
    let names = op == "IN" ? ["Person", "Tag"] : [one(["Person", "Employee", "Team", "e", "E", "T"])]
    return .entityName(variable, keys, op, names)
  }

  // MARK: Indexes

  /// The attributes that fetch indexes of an entity begin with.
  private func indexed(_ entity: Entity) -> [String] {
    var (names, next) = (["email"], Optional(entity.index))
    while let index = next {
      names += model.schema.entities[index].definition.fetchIndexes.compactMap(\.elements.first?.property)
      next = model.schema.entities[index].superentity
    }
    return names
  }

  /// One or two comparisons of an attribute that begins an index, alone or with another predicate, mostly in the order
  /// of the index.
  mutating func byIndex() -> (GeneratedPredicate, [GeneratedSort])? {
    let name = indexed(scopes[0]).filter { scopes[0].attribute(named: $0) != nil }.randomElement(using: &random)
    guard let name, let type = scopes[0].attribute(named: name)?.type else { return nil }
    _ = note("index")
    var parts: [GeneratedPredicate] = []
    for _ in 0..<random.below(3) { parts.append(ranged((keys: [name], type: type, name: name))) }
    if random.below(3) == 0 { parts.append(predicate(depth: 0)) }
    var sort: [GeneratedSort] = []
    if random.below(3) > 0 { sort.append(GeneratedSort(keys: [name], isAscending: random.below(2) == 0)) }
    let hasAge = scopes[0].attribute(named: "age") != nil
    if hasAge, random.below(3) == 0 { sort.append(GeneratedSort(keys: ["age"], isAscending: random.below(2) == 0)) }
    return (parts.isEmpty ? .constant(true) : parts.count == 1 ? parts[0] : .and(parts), sort)
  }

  private mutating func ranged(_ found: Found) -> GeneratedPredicate {
    let path = GeneratedValue.path(0, found.keys)
    switch random.below(7) {
    case 0: return .between(path, .constant(bound(found)), .constant(bound(found)))
    case 1: return .oneOf(path, list(found), options: "")
    case 2 where found.type == .string || found.type == .uri:
      var text = anyText()
      switch constant(found.name, found.type) {
      case .string(let known), .uri(let known): text = known
      default: break
      }
      return .comparison(
        path, note("BEGINSWITH"), .constant(.string(String(text.unicodeScalars.prefix(random.below(12))))), options: "")
    default: return .comparison(path, order(), .constant(bound(found)), options: "")
    }
  }
}
