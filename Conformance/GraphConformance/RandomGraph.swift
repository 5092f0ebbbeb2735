import CoreData
import Foundation

/// Random models and random objects of them, from a seed.
struct RandomGraph {
  private var random: NumberStream
  private let seed: UInt64

  init(seed: UInt64) {
    self.seed = seed
    random = NumberStream(seed: seed &* 2_654_435_761)
  }

  // MARK: Models

  /// Up to four entities, some of them subentities, with attributes of every type, and up to four relationships of
  /// every kind.
  mutating func model() -> NSManagedObjectModel {
    let entities = (0..<1 + random.next(below: 4)).map { number in
      var attributes = [Models.attribute(number == 0 ? "name" : "title\(number)", .stringAttributeType)]
      for position in 0..<random.next(below: 5) {
        let type = Models.types[random.next(below: Models.types.count)]
        attributes.append(Models.attribute("\(type.name)\(number)\(position)", type.type))
      }
      return Models.entity("E\(number)", attributes)
    }
    for (number, entity) in entities.enumerated().dropFirst() where random.next(below: 3) == 0 {
      let parent = entities[random.next(below: number)]
      parent.subentities.append(entity)
    }
    let count = random.next(below: 5)
    return Models.model(entities) { all in
      for number in 0..<count {
        Models.link(all, side("r\(number)", entities.count), side("s\(number)", entities.count))
      }
    }
  }

  private mutating func side(_ name: String, _ entities: Int) -> Models.Side {
    let entity = "E\(random.next(below: entities))"
    switch random.next(below: 3) {
    case 0: return Models.one(entity, name)
    case 1: return Models.many(entity, name)
    default: return Models.many(entity, name, ordered: true)
    }
  }

  // MARK: Objects

  /// Inserts objects of all entities with values and links. The same seed gives the same objects.
  func fill(_ context: NSManagedObjectContext) {
    var random = NumberStream(seed: seed)
    guard let model = context.persistentStoreCoordinator?.managedObjectModel else { return }
    let entities = model.entities.compactMap(\.name).sorted()
    let objects = (0..<25).map { _ in context.insert(entities[random.next(below: entities.count)]) }
    for (number, object) in objects.enumerated() {
      for (name, attribute) in object.entity.attributesByName.sorted(by: { $0.key < $1.key }) {
        let value = Self.value(attribute.attributeType, number, &random)
        object.setValue(value, forKey: name)
      }
    }
    for object in objects {
      for (name, relationship) in object.entity.relationshipsByName.sorted(by: { $0.key < $1.key }) {
        guard let destination = relationship.destinationEntity else { continue }
        let possible = objects.filter { $0.entity.isKindOf(entity: destination) && random.next(below: 4) == 0 }
        if possible.isEmpty { continue }
        if !relationship.isToMany {
          object.setValue(possible[0], forKey: name)
        } else if relationship.isOrdered {
          object.setValue(NSOrderedSet(array: possible.reversed()), forKey: name)
        } else {
          object.setValue(NSSet(array: possible), forKey: name)
        }
      }
    }
  }

  private static func value(_ type: NSAttributeType, _ number: Int, _ random: inout NumberStream) -> Any? {
    let small = random.next(below: 2000) - 1000
    if random.next(below: 5) == 0 { return nil }
    switch type {
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType: return small
    case .doubleAttributeType: return Double(small) / 7
    case .floatAttributeType: return Float(small) / 7
    case .decimalAttributeType:
      return NSDecimalNumber(mantissa: UInt64(small.magnitude), exponent: -2, isNegative: small < 0)
    case .booleanAttributeType: return small > 0
    case .stringAttributeType: return "text \(number) \u{0}\u{E9}\u{1F600}"
    case .binaryDataAttributeType: return Data(repeating: UInt8(number), count: random.next(below: 300))
    case .dateAttributeType: return Date(timeIntervalSinceReferenceDate: Double(small) * 86_400.25)
    case .UUIDAttributeType: return UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, UInt8(number)))
    case .URIAttributeType: return URL(string: "https://example.org/\(number)")
    case .transformableAttributeType: return NSArray(array: ["t", number])
    default: return nil
    }
  }
}
