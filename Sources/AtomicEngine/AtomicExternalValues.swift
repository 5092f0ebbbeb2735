import Foundation
import PropertyLists
import StoreProtocol
import StoreSchema
import StoreSupport

/// The binary values of a file that are names of external data files (``ExternalDataFolder``) instead of the data.
///
/// The file formats cannot mark such values. A row has a first byte that tells names from data; the formats write
/// values without it. The metadata lists the objects whose values are names, by entity and attribute, with their
/// numbers in the file.
struct AtomicExternalValues: Sendable, Equatable {
  static let metadataKey = "OpenCoreDataExternalData"

  private var numbers: [String: [String: [Int64]]] = [:]

  var isEmpty: Bool { numbers.isEmpty }

  init() {}

  /// The external values of a graph.
  init(_ graph: AtomicGraph) {
    for (hierarchy, slots) in Self.slots(graph) {
      for row in graph.hierarchies[hierarchy].rows {
        for (slot, name) in slots[row.entity] ?? [] where !row.isNull(slot) && row.withBytes(slot, { $0.first == 2 }) {
          let entity = graph.schema.entities[row.entity].name
          numbers[entity, default: [:]][name, default: []].append(graph.number(of: row.key, in: row.entity))
        }
      }
    }
  }

  /// For each entity hierarchy with such attributes, their slots by entity.
  private static func slots(_ graph: AtomicGraph) -> [Int: [Int: [(slot: Int, name: String)]]] {
    var result: [Int: [Int: [(slot: Int, name: String)]]] = [:]
    for entity in graph.schema.entities {
      for attribute in entity.attributes where entity.slots[attribute.slot] == .externalData {
        result[graph.shape.hierarchies[entity.index], default: [:]][entity.index, default: []].append(
          (attribute.slot, attribute.name))
      }
    }
    return result
  }

  // MARK: In metadata

  /// Reads the list from the metadata. Throws `corrupt` for a list of another form.
  init(_ list: PropertyList) throws(StoreError) {
    let malformed = StoreError(
      .corrupt, "The file's list of external values is damaged. Work on a copy, or on a backup.")
    guard let entities = list.dictionaryValue else { throw malformed }
    for (entity, attributes) in entities {
      guard let attributes = attributes.dictionaryValue else { throw malformed }
      for (attribute, values) in attributes {
        guard let found = values.arrayValue?.map(\.integerValue), found.allSatisfy({ $0 != nil }) else {
          throw malformed
        }
        numbers[entity, default: [:]][attribute] = found.compactMap { $0 }
      }
    }
  }

  var propertyList: PropertyList {
    .dictionary(numbers.mapValues { .dictionary($0.mapValues { .array($0.map(PropertyList.integer)) }) })
  }

  // MARK: In a graph that was read

  /// Marks the values that are names. Throws `corrupt` where the graph has no such value. Ignores entities and
  /// attributes that the model does not have, as the file may be of another version of it.
  func mark(_ graph: inout AtomicGraph) throws(StoreError) {
    for (name, attributes) in numbers {
      guard let entity = graph.schema.entities.first(where: { $0.name == name }) else { continue }
      let hierarchy = graph.shape.hierarchies[entity.index]
      for (attribute, numbers) in attributes {
        guard let slot = entity.attributes.first(where: { $0.name == attribute })?.slot else { continue }
        guard entity.slots[slot] == .externalData else { throw missing("\(name).\(attribute)") }
        for number in numbers {
          guard let key = graph.numbering.key(number, hierarchy: hierarchy),
            let position = graph.hierarchies[hierarchy].position(of: key),
            case let row = graph.hierarchies[hierarchy].rows[position], row.entity == entity.index, !row.isNull(slot)
          else { throw missing("\(name).\(attribute) of \(number)") }
          let value = Data([2]) + row.data(slot).dropFirst()
          graph.hierarchies[hierarchy].replace(at: position, with: row.replacing(slot, by: .data(value), entity.slots))
        }
      }
    }
  }

  /// Marks the values that are names among the salvaged objects. Ignores values that were not salvaged.
  func mark(_ salvage: Salvage, _ numbering: AtomicNumbering) {
    for (name, attributes) in numbers {
      guard let entity = salvage.schema.entities.first(where: { $0.name == name }) else { continue }
      let hierarchy = StoreShape(salvage.schema).hierarchies[entity.index]
      for (attribute, numbers) in attributes {
        guard let slot = entity.attributes.first(where: { $0.name == attribute })?.slot,
          entity.slots[slot] == .externalData
        else { continue }
        for key in numbers.compactMap({ numbering.key($0, hierarchy: hierarchy) }) {
          salvage.change(entity, key) { row in
            row.isNull(slot)
              ? row : row.replacing(slot, by: .data(Data([2]) + row.data(slot).dropFirst()), entity.slots)
          }
        }
      }
    }
  }

  /// For a damaged file, whose list may be lost: marks each value that equals the name of an existing external data
  /// file.
  static func guess(_ salvage: Salvage, _ folder: ExternalDataFolder) {
    let names = Set(folder.names.map { Data($0.utf8) })
    if names.isEmpty { return }
    for entity in salvage.schema.entities {
      for (slot, kind) in entity.slots.enumerated() where kind == .externalData {
        salvage.changeAll(entity) { row in
          guard !row.isNull(slot), case let value = row.data(slot).dropFirst(), value.count <= 37,
            names.contains(Data(value.prefix { $0 != 0 }))
          else { return row }
          return row.replacing(slot, by: .data(Data([2]) + value), entity.slots)
        }
      }
    }
  }

  /// Whether any value of the attribute is a name.
  func names(_ entity: String, _ attribute: String) -> Bool { numbers[entity]?[attribute] != nil }

  private func missing(_ value: String) -> StoreError {
    StoreError(
      .corrupt,
      "The file's list of external values names a value that the file does not have, or that the model keeps in the row. Work on a copy, or on a backup.",
      context: ["value": value])
  }
}
