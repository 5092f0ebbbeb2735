import Foundation
import StoreSchema

/// The expected content of a store, in plain dictionaries. It shares no code with any engine.
struct ReferenceStore: Sendable {
  struct Object: Sendable {
    var entity: String
    var values: [String: Cell]
    /// To-one relationships.
    var targets: [String: Int]
    var version: Int64 = 1
  }

  struct Pair: Hashable, Sendable {
    var person: Int
    var tag: Int
  }

  private(set) var objects: [Int: Object] = [:]
  /// The numbers of the present objects, ascending.
  private(set) var numbers: [Int] = []
  private(set) var pairs: Set<Pair> = []
  /// The items of each list.
  private(set) var orders: [Int: [Int]] = [:]
  /// The items that each list picks, and the lists that pick each item, both in their order.
  private(set) var picks: [Int: [Int]] = [:]
  private(set) var pickers: [Int: [Int]] = [:]
  /// The team that keeps each tag; the tag has no inverse.
  private(set) var keepers: [Int: Int] = [:]
  private(set) var nextNumber = 0

  func numbers(of entities: String...) -> [Int] { numbers.filter { entities.contains(objects[$0]?.entity ?? "") } }

  /// Applies all changes. Returns false, and applies none, where they must be refused.
  mutating func apply(_ changes: [ModelChange]) -> Bool {
    var next = self
    guard changes.allSatisfy({ next.apply($0) }), next.isUnique else { return false }
    self = next
    return true
  }

  private mutating func apply(_ change: ModelChange) -> Bool {
    switch change {
    case .insert(let number, let entity, let values, let targets):
      objects[number] = Object(entity: entity, values: values, targets: targets)
      numbers.insert(number, at: numbers.firstIndex { $0 > number } ?? numbers.endIndex)
      nextNumber = max(nextNumber, number + 1)
    case .update(let number, let values, let targets, let age):
      guard var object = objects[number], age == 0 else { return false }
      object.values.merge(values) { $1 }
      for (name, target) in targets { object.targets[name] = target }
      object.version += 1
      objects[number] = object
    case .delete(let number, let age):
      guard objects[number] != nil, age == 0 else { return false }
      objects[number] = nil
      numbers.removeAll { $0 == number }
      pairs = pairs.filter { $0.person != number && $0.tag != number }
      orders[number] = nil
      pick(number, [])
      for list in pickers[number] ?? [] { picks[list]?.removeAll { $0 == number } }
      pickers[number] = nil
      keepers = keepers.filter { $0.key != number && $0.value != number }
    case .tag(let person, let tag, let isAdded):
      if isAdded { pairs.insert(Pair(person: person, tag: tag)) } else { pairs.remove(Pair(person: person, tag: tag)) }
    case .order(let list, let items): orders[list] = items
    case .pick(let list, let items): pick(list, items)
    case .keep(let team, let tag, let isAdded): keepers[tag] = isAdded ? team : nil
    }
    return true
  }

  /// The inverse gets new members at its end.
  private mutating func pick(_ list: Int, _ items: [Int]) {
    let old = picks[list] ?? []
    for item in old where !items.contains(item) { pickers[item]?.removeAll { $0 == list } }
    for item in items where !old.contains(item) { pickers[item, default: []].append(list) }
    picks[list] = items
  }

  /// Whether no two people have the same address.
  private var isUnique: Bool {
    var seen: Set<Value> = []
    for object in objects.values where object.entity == "Person" || object.entity == "Employee" {
      if let email = object.values["email"]?.value, !email.isNull, !seen.insert(email).inserted { return false }
    }
    return true
  }

  /// The whole content as text, by number.
  func dump(_ model: ModelSchema) -> [String] {
    numbers.compactMap { number in
      guard let object = objects[number] else { return nil }
      var parts = ["\(number) \(object.entity)"]
      for name in model.attributes(of: object.entity) {
        parts.append("\(name)=\((object.values[name]?.value ?? .null).exact)")
      }
      for name in model.toOnes(of: object.entity) {
        parts.append("\(name)=\(object.targets[name].map(String.init) ?? "-")")
      }
      for (name, members) in members(number, object) { parts.append("\(name)=\(members())") }
      return parts.joined(separator: "|")
    }
  }

  /// The objects that a relationship leads to, to-one or to-many, in their order.
  func members(_ name: String, of number: Int, _ model: ModelSchema) -> [Int] {
    guard let object = objects[number] else { return [] }
    if model.toOnes(of: object.entity).contains(name) { return object.targets[name].map { [$0] } ?? [] }
    return members(number, object).first { $0.name == name }?.members() ?? []
  }

  /// The to-many relationships, by name.
  private func members(_ number: Int, _ object: Object) -> [(name: String, members: () -> [Int])] {
    func pointing(_ name: String) -> [Int] { numbers.filter { objects[$0]?.targets[name] == number } }
    let tags = { pairs.filter { $0.person == number }.map(\.tag).sorted() }
    let people = { pairs.filter { $0.tag == number }.map(\.person).sorted() }
    let keeps = { keepers.filter { $0.value == number }.keys.sorted() }
    return switch object.entity {
    case "Person": [("reports", { pointing("boss") }), ("tags", tags)]
    case "Employee": [("leads", { pointing("lead") }), ("reports", { pointing("boss") }), ("tags", tags)]
    case "Team": [("keeps", keeps), ("members", { pointing("team") })]
    case "Tag": [("people", people)]
    case "List": [("items", { orders[number] ?? [] }), ("picks", { picks[number] ?? [] })]
    case "Item": [("pickers", { pickers[number] ?? [] })]
    default: []
    }
  }
}

extension Value {
  /// The value as text, different for any two different values.
  var exact: String {
    switch self {
    case .double(let number): "double \(String(number.bitPattern, radix: 16))"
    case .date(let number): "date \(String(number.bitPattern, radix: 16))"
    case .string(let text): "text " + Self.letters(text)
    case .data(let data): "data \(data.count) \(Self.digest(data))"
    default: brief
    }
  }

  /// The bytes of a text as two letters each.
  private static func letters(_ text: String) -> String {
    var result: [UInt8] = []
    for byte in text.utf8 { result += [UInt8(ascii: "a") + byte >> 4, UInt8(ascii: "a") + byte & 15] }
    return String(decoding: result, as: UTF8.self)
  }

  /// A hash of all bytes, eight at a time: values are large, and compared after every step.
  private static func digest(_ data: Data) -> UInt64 {
    data.withUnsafeBytes { bytes in
      var (sum, position) = (UInt64(7), 0)
      while position + 8 <= bytes.count {
        sum = (sum ^ bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self)) &* 0x100_0000_01B3
        position += 8
      }
      while position < bytes.count {
        sum = (sum ^ UInt64(bytes[position])) &* 0x100_0000_01B3
        position += 1
      }
      return sum
    }
  }
}
