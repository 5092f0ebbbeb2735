import Foundation
import StoreSchema

/// What a store is to hold, in plain dictionaries: nothing here is shared with any engine.
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
  private(set) var pairs: Set<Pair> = []
  /// The items of each list.
  private(set) var orders: [Int: [Int]] = [:]
  private(set) var nextNumber = 0

  /// The numbers of what is there, ascending.
  var numbers: [Int] { objects.keys.sorted() }

  func numbers(of entities: String...) -> [Int] { numbers.filter { entities.contains(objects[$0]?.entity ?? "") } }

  /// Applies all changes, or none and false.
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
      pairs = pairs.filter { $0.person != number && $0.tag != number }
      orders[number] = nil
    case .tag(let person, let tag, let isAdded):
      if isAdded { pairs.insert(Pair(person: person, tag: tag)) } else { pairs.remove(Pair(person: person, tag: tag)) }
    case .order(let list, let items): orders[list] = items
    }
    return true
  }

  /// Whether no two people have one address.
  private var isUnique: Bool {
    var seen: Set<Value> = []
    for object in objects.values where object.entity == "Person" || object.entity == "Employee" {
      if let email = object.values["email"]?.value, !email.isNull, !seen.insert(email).inserted { return false }
    }
    return true
  }

  /// All of it as text, by number.
  func dump(_ model: ModelSchema) -> [String] {
    let numbers = numbers
    return numbers.compactMap { number in
      guard let object = objects[number] else { return nil }
      var parts = ["\(number) \(object.entity)"]
      for name in model.attributes(of: object.entity) {
        parts.append("\(name)=\((object.values[name]?.value ?? .null).exact)")
      }
      for name in model.toOnes(of: object.entity) {
        parts.append("\(name)=\(object.targets[name].map(String.init) ?? "-")")
      }
      for (name, members) in members(number, object, numbers) { parts.append("\(name)=\(members)") }
      return parts.joined(separator: "|")
    }
  }

  /// The objects that a relationship leads to, to-one or to-many, in their order.
  func members(_ name: String, of number: Int, _ model: ModelSchema) -> [Int] {
    guard let object = objects[number] else { return [] }
    if model.toOnes(of: object.entity).contains(name) { return object.targets[name].map { [$0] } ?? [] }
    return members(number, object, numbers).first { $0.0 == name }?.1 ?? []
  }

  private func members(_ number: Int, _ object: Object, _ numbers: [Int]) -> [(String, [Int])] {
    func pointing(_ name: String) -> [Int] { numbers.filter { objects[$0]?.targets[name] == number } }
    switch object.entity {
    case "Person", "Employee":
      return [("reports", pointing("boss")), ("tags", pairs.filter { $0.person == number }.map(\.tag).sorted())]
    case "Team": return [("members", pointing("team"))]
    case "Tag": return [("people", pairs.filter { $0.tag == number }.map(\.person).sorted())]
    case "List": return [("items", orders[number] ?? [])]
    default: return []
    }
  }
}

extension Value {
  /// The value as text that tells every two values apart.
  var exact: String {
    switch self {
    case .double(let number): "double \(String(number.bitPattern, radix: 16))"
    case .date(let number): "date \(String(number.bitPattern, radix: 16))"
    case .string(let text): "text " + Self.letters(text)
    case .data(let data): "data \(data.count) \(Self.digest(data))"
    default: brief
    }
  }

  /// The bytes of a text, two letters each.
  private static func letters(_ text: String) -> String {
    var result: [UInt8] = []
    for byte in text.utf8 { result += [UInt8(ascii: "a") + byte >> 4, UInt8(ascii: "a") + byte & 15] }
    return String(decoding: result, as: UTF8.self)
  }

  /// A number of all bytes, eight at a time: values are large, and compared after every step.
  private static func digest(_ data: Data) -> UInt64 {
    data.withUnsafeBytes { bytes in
      var (sum, place) = (UInt64(7), 0)
      while place + 8 <= bytes.count {
        sum = (sum ^ bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)) &* 0x100_0000_01B3
        place += 8
      }
      while place < bytes.count {
        sum = (sum ^ UInt64(bytes[place])) &* 0x100_0000_01B3
        place += 1
      }
      return sum
    }
  }
}
