import CoreData
import Foundation

/// An object as a store should have it. Its name, unique in the store, is the value of its attribute `name`.
struct Row: Codable {
  var entity: String
  var name: String
  /// Texts as of ``ValueText``. An attribute that is missing here is nil.
  var values: [String: String] = [:]
  /// Names of related objects. Those of a to-many relationship without order are sorted.
  var links: [String: [String]] = [:]
}

/// Every object of a store.
struct State: Codable {
  var rows: [Row]

  /// What a context finds. Values are read by key-value coding.
  static func read(_ context: NSManagedObjectContext, _ model: NSManagedObjectModel) throws -> State {
    var rows: [Row] = []
    for object in try objects(context, model) {
      var row = Row(entity: object.entity.name ?? "?", name: name(of: object))
      for (key, attribute) in object.entity.attributesByName where key != "name" {
        let text = ValueText.text(of: object.value(forKey: key), attribute)
        if text != ValueText.none { row.values[key] = text }
      }
      for (key, relationship) in object.entity.relationshipsByName {
        let names = members(object.value(forKey: key)).map(name)
        if !names.isEmpty { row.links[key] = relationship.isOrdered ? names : names.sorted() }
      }
      rows.append(row)
    }
    return State(rows: rows.sorted { ($0.entity, $0.name) < ($1.entity, $1.name) })
  }

  private static func objects(
    _ context: NSManagedObjectContext, _ model: NSManagedObjectModel
  ) throws -> [NSManagedObject] {
    var found: [NSManagedObject] = []
    for entity in model.entities where !entity.isAbstract {
      guard let name = entity.name else { continue }
      let request = NSFetchRequest<NSManagedObject>(entityName: name)
      request.includesSubentities = false
      found += try context.fetch(request)
    }
    return found
  }

  private static func name(of object: NSManagedObject) -> String { object.value(forKey: "name") as? String ?? "?" }

  private static func members(_ value: Any?) -> [NSManagedObject] {
    if let one = value as? NSManagedObject { return [one] }
    if let ordered = value as? NSOrderedSet { return ordered.array.compactMap { $0 as? NSManagedObject } }
    if let set = value as? Set<NSManagedObject> { return Array(set) }
    return []
  }

  /// Makes the objects of a context what the state says: inserts, deletes, and sets what is different.
  func apply(to context: NSManagedObjectContext, _ model: NSManagedObjectModel) throws {
    var byName: [String: NSManagedObject] = [:]
    for object in try State.objects(context, model) { byName[State.name(of: object)] = object }
    let present = try State.read(context, model)
    let before = Dictionary(present.rows.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    for (name, object) in byName where !rows.contains(where: { $0.name == name }) { context.delete(object) }
    for row in rows where byName[row.name] == nil {
      let object = NSEntityDescription.insertNewObject(forEntityName: row.entity, into: context)
      object.setValue(row.name, forKey: "name")
      byName[row.name] = object
    }
    for row in rows {
      guard let object = byName[row.name] else { continue }
      for (key, attribute) in object.entity.attributesByName where key != "name" {
        if attribute is NSDerivedAttributeDescription || row.values[key] == before[row.name]?.values[key] { continue }
        object.setValue(row.values[key].flatMap { ValueText.value(of: $0, attribute) }, forKey: key)
      }
    }
    for row in rows {
      guard let object = byName[row.name] else { continue }
      for (key, relationship) in object.entity.relationshipsByName
      where row.links[key, default: []] != before[row.name]?.links[key, default: []] ?? [] {
        State.set(row.links[key, default: []].compactMap { byName[$0] }, relationship, of: object)
      }
    }
  }

  private static func set(
    _ members: [NSManagedObject], _ relationship: NSRelationshipDescription, of object: NSManagedObject
  ) {
    if !relationship.isToMany {
      object.setValue(members.first, forKey: relationship.name)
    } else if relationship.isOrdered {
      object.setValue(NSOrderedSet(array: members), forKey: relationship.name)
    } else {
      object.setValue(Set(members), forKey: relationship.name)
    }
  }

  /// The number of values and links that are compared.
  var count: Int { rows.reduce(0) { $0 + 1 + $1.values.count + $1.links.count } }

  /// What is different in `found`, one line each.
  func differences(_ found: State) -> [String] {
    var lines: [String] = []
    let others = Dictionary(found.rows.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    if found.rows.count != rows.count { lines.append("expected \(rows.count) objects, found \(found.rows.count)") }
    for row in rows {
      guard let other = others[row.name] else {
        lines.append("\(row.entity) \(row.name) is missing")
        continue
      }
      if row.entity != other.entity { lines.append("\(row.name) is a \(other.entity), not a \(row.entity)") }
      let keys = Set(row.values.keys).union(other.values.keys)
      for key in keys.sorted() {
        let (expected, text) = (row.values[key] ?? ValueText.none, other.values[key] ?? ValueText.none)
        // By bytes: to `==` a composed and a decomposed é are the same.
        guard !expected.utf8.elementsEqual(text.utf8) else { continue }
        lines.append("\(row.name).\(key): expected \(State.short(expected)), found \(State.short(text))")
      }
      for key in Set(row.links.keys).union(other.links.keys).sorted() {
        let (expected, names) = (row.links[key, default: []], other.links[key, default: []])
        if expected != names { lines.append("\(row.name).\(key): expected \(expected), found \(names)") }
      }
    }
    return lines
  }

  private static func short(_ text: String) -> String {
    let escaped = text.unicodeScalars.map {
      $0.isASCII && $0.value >= 32 ? String($0) : "\\u{\(String($0.value, radix: 16))}"
    }
    return String(escaped.joined().prefix(200))
  }
}
