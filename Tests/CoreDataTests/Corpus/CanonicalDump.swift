import Foundation
import StoreSchema

@testable import CoreData
@testable import CoreDataTool

/// Every object of a context's stores as canonical JSON lines, as `Tools/coredata_format/read_store.py` writes them.
enum CanonicalDump {
  static func dump(_ context: NSManagedObjectContext, _ model: NSManagedObjectModel) throws -> String {
    var objects: [NSManagedObject] = []
    for entity in model.entities where entity.superentity == nil {
      let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
      objects += try context.fetch(request)
    }
    let sorted = objects.sorted {
      $0.info.entity.name == $1.info.entity.name
        ? $0.key < $1.key : UTF8Order.isLess($0.info.entity.name, $1.info.entity.name)
    }
    return sorted.map { line($0) + "\n" }.joined()
  }

  private static func line(_ object: NSManagedObject) -> String {
    #"{"attributes":\#(attributes(object)),"entity":\#(JSONText.string(object.info.entity.name)),"key":\#(object.key),"relationships":\#(relationships(object))}"#
  }

  private static func dictionary(_ entries: [(String, String)]) -> String {
    JSONText.object(Dictionary(entries) { $1 })
  }

  private static func attributes(_ object: NSManagedObject) -> String {
    dictionary(
      object.info.entity.attributes.compactMap { attribute in
        if !attribute.elements.isEmpty {
          let elements = attribute.elements.compactMap { element in
            value(object, element).map { (element.name, $0) }
          }
          return elements.isEmpty ? nil : (attribute.name, dictionary(elements))
        }
        return value(object, attribute).map { (attribute.name, $0) }
      })
  }

  private static func value(_ object: NSManagedObject, _ attribute: Attribute) -> String? {
    let kind = object.info.entity.slots[attribute.slot]
    switch object.stored(attribute.slot) {
    case .null: return nil
    case .bool(let x): return x ? "true" : "false"
    case .int(let x): return attribute.type == .boolean ? (x != 0 ? "true" : "false") : String(x)
    case .double(let x): return JSONText.number(attribute.type == .float ? Double(Float(x)) : x)
    case .date(let x): return #"{"$date":\#(JSONText.number(x))}"#
    case .decimal(let x): return #"{"$decimal":"\#(DecimalText.format(x))"}"#
    case .string(let x): return JSONText.string(x)
    case .uri(let x): return #"{"$url":\#(JSONText.string(x))}"#
    case .uuid(let x): return #"{"$uuid":"\#(x.uuidString)"}"#
    case .data(let x):
      let tag = attribute.type == .transformable ? "$transformable" : "$data"
      let bytes = kind == .externalData ? object.externalData(attribute.slot) ?? Data() : x
      return #"{"\#(tag)":"\#(bytes.base64EncodedString())"}"#
    case .reference: return nil
    }
  }

  private static func relationships(_ object: NSManagedObject) -> String {
    dictionary(
      object.info.entity.relationships.compactMap { relationship in
        if !relationship.isToMany {
          return object.toOne(relationship).map { (relationship.name, reference($0)) }
        }
        var members = Array(object.loadedToMany(relationship).members)
        if members.isEmpty { return nil }
        if !relationship.isOrdered {
          members.sort {
            $0.info.entity.name == $1.info.entity.name
              ? $0.key < $1.key : UTF8Order.isLess($0.info.entity.name, $1.info.entity.name)
          }
        }
        return (relationship.name, "[" + members.map(reference).joined(separator: ",") + "]")
      })
  }

  private static func reference(_ object: NSManagedObject) -> String {
    JSONText.string("\(object.info.entity.name)/p\(object.key)")
  }
}
