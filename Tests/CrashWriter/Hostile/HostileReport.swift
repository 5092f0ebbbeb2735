import CoreData
import Foundation
import StoreProtocol

/// The changes of a save in a form that a script can compare with the file: entities, keys, and values as stored.
struct HostileReport {
  /// An object with some of its values from before the save.
  private struct Change {
    let object: NSManagedObject
    var attributes: [(NSAttributeDescription, Any?)] = []
    var toOnes: [(String, NSManagedObject?)] = []
    var toManys: [(String, [NSManagedObject])] = []

    init(_ object: NSManagedObject, _ names: some Sequence<String>) {
      self.object = object
      for name in names {
        let value = object.value(forKey: name)
        if let attribute = object.entity.attributesByName[name] {
          if !(attribute is NSDerivedAttributeDescription) { attributes.append((attribute, value)) }
        } else if object.entity.relationshipsByName[name]?.isToMany == true {
          toManys.append((name, HostileReport.members(value)))
        } else {
          toOnes.append((name, value as? NSManagedObject))
        }
      }
    }
  }

  /// All values and links of an object, for stores that the script cannot read.
  static func describeWhole(_ object: NSManagedObject) -> [String: Any] {
    describe(Change(object, object.entity.propertiesByName.keys))
  }

  private let inserted: [Change]
  private let updated: [Change]
  private let deleted: [[Any]]

  /// Describes the pending changes of a context.
  init(_ context: NSManagedObjectContext) {
    context.processPendingChanges()
    func changes(_ objects: Set<NSManagedObject>) -> [Change] {
      objects.map { Change($0, $0.changedValues().keys) }
    }
    inserted = changes(context.insertedObjects)
    updated = changes(context.updatedObjects)
    deleted = context.deletedObjects.map { [$0.entity.name ?? "", Self.key($0.objectID)] }
  }

  /// The report after the save, when the objects have permanent IDs.
  var finished: [String: Any] {
    [
      "outcome": "saved", "inserted": inserted.map(Self.describe), "updated": updated.map(Self.describe),
      "deleted": deleted,
    ]
  }

  private static func describe(_ change: Change) -> [String: Any] {
    func name(_ object: NSManagedObject) -> String { object.entity.name ?? "" }
    var (values, toOnes, toManys): ([String: Any], [String: Any], [String: Any]) = ([:], [:], [:])
    for (attribute, value) in change.attributes { add(value, of: attribute, to: &values) }
    for (key, target) in change.toOnes {
      toOnes[key] = target.map { [name($0), Self.key($0.objectID)] as [Any] } ?? NSNull()
    }
    for (key, members) in change.toManys { toManys[key] = members.map { Self.key($0.objectID) } }
    return [
      "entity": name(change.object), "key": key(change.object.objectID), "changed": values, "toOnes": toOnes,
      "toManys": toManys,
    ]
  }

  private static func members(_ value: Any?) -> [NSManagedObject] {
    if let ordered = value as? NSOrderedSet { return ordered.compactMap { $0 as? NSManagedObject } }
    return (value as? NSSet)?.compactMap { $0 as? NSManagedObject } ?? []
  }

  private static func add(_ value: Any?, of attribute: NSAttributeDescription, to values: inout [String: Any]) {
    guard let composite = attribute as? NSCompositeAttributeDescription else {
      values[attribute.name] = stored(value, attribute)
      return
    }
    let parts = value as? [String: Any] ?? [:]
    for element in composite.elements { values[element.name] = stored(parts[element.name], element) }
  }

  /// A value with the name of its form: text, number, blob or large, or some if the script does not compare the form.
  private static func stored(_ value: Any?, _ attribute: NSAttributeDescription) -> [Any] {
    switch value {
    case nil: ["null"]
    case let text as String: ["text", text]
    case let url as URL: ["text", url.absoluteString]
    case let uuid as UUID: ["blob", withUnsafeBytes(of: uuid.uuid) { Data($0).base64EncodedString() }]
    case let data as Data where attribute.allowsExternalBinaryDataStorage:
      // These values repeat one byte.
      ["large", Int(data.first ?? 0), data.count]
    case let data as Data: ["blob", data.base64EncodedString()]
    case let date as Date: ["number", "\(date.timeIntervalSinceReferenceDate)"]
    case let number as NSNumber: ["number", number.stringValue]
    default: ["some"]
    }
  }

  /// The key in an object's URI; 0 if the object was not saved.
  static func key(_ id: NSManagedObjectID) -> Int64 {
    id.isTemporaryID ? 0 : Int64(id.uriRepresentation().lastPathComponent.dropFirst()) ?? 0
  }

  /// An error, and whether Core Data or a store declares it.
  static func describe(_ error: any Error) -> [String: Any] {
    let bridged = error as NSError
    let cause = (error as? CocoaError)?.userInfo[NSUnderlyingErrorKey] as? StoreError
    return [
      "domain": bridged.domain, "code": bridged.code, "cause": cause.map { "\($0.code)" } ?? "",
      "isTyped": bridged.domain == NSCocoaErrorDomain || error is StoreError,
      "text": String(bridged.localizedDescription.prefix(300)),
    ]
  }
}
