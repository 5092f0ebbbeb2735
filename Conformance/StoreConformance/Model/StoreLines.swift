import StoreProtocol
import StoreSchema
import StoreSupport

/// The content of a store as text: every object with its key, values and links.
enum StoreLines {
  static func read(_ store: any Store) throws(StoreError) -> [String] {
    let inspection = try Inspection(store)
    var lines: [String] = []
    for entity in store.schema.entities where !entity.isAbstract {
      try inspection.objects(of: entity.index) { object in
        let values = object.values.map { value in
          if case .sound(let value) = value { value.exact } else { "\(value)" }
        }
        let targets = zip(entity.relationships, object.relationships).map { relationship, targets in
          guard case .objects(let found) = targets else { return "\(targets)" }
          let names = found.map { "\($0.entity)/\($0.key)\($0.defect.map { " " + $0 } ?? "")" }
          return (relationship.isOrdered ? names : names.sorted()).joined(separator: " ")
        }
        lines.append("\(entity.name)/\(object.reference.key) \(values) \(targets)")
      }
    }
    return lines
  }
}
