import CoreData
import Foundation
import StoreConformance
import StoreProtocol

/// One context on one store, for runs of predicates.
public final class ContextStack: ObjectStack {
  private let coordinator: NSPersistentStoreCoordinator
  private let context: NSManagedObjectContext
  private var objects: [Int: NSManagedObject] = [:]
  private var numbers: [NSManagedObject: Int] = [:]

  /// Creates a store with the model of the runs.
  public init(_ harness: any StoreHarness, at url: URL) throws {
    NSPersistentStoreCoordinator.register(harness.backend)
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: Models.staff)
    try coordinator.addPersistentStore(ofType: harness.backend.storeType, configurationName: nil, at: url)
    context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
  }

  private func object(_ number: Int) throws -> NSManagedObject {
    guard let object = objects[number] else { throw HarnessProblem("there is no object \(number)") }
    return object
  }

  public func insert(_ number: Int, entity: String) {
    context.performAndWait {
      let object = context.insert(entity)
      (objects[number], numbers[object]) = (object, number)
    }
  }

  public func set(_ value: Any?, _ name: String, of number: Int) throws {
    try context.performAndWait {
      let parts = name.split(separator: ".", maxSplits: 1).map(String.init)
      guard parts.count == 2 else { return try object(number).setValue(value, forKey: name) }
      // Sets an element of a composite attribute.
      var elements = try object(number).value(forKey: parts[0]) as? [String: Any] ?? [:]
      elements[parts[1]] = value
      try object(number).setValue(elements, forKey: parts[0])
    }
  }

  public func set(target: Int?, _ name: String, of number: Int) throws {
    try context.performAndWait { try object(number).setValue(target.map { try object($0) }, forKey: name) }
  }

  public func set(members: [Int], _ name: String, of number: Int) throws {
    try context.performAndWait {
      try object(number).setValue(NSOrderedSet(array: members.map { try object($0) }), forKey: name)
    }
  }

  public func add(_ member: Int, _ name: String, of number: Int) throws {
    try context.performAndWait { try object(number).mutableSetValue(forKey: name).add(object(member)) }
  }

  public func remove(_ member: Int, _ name: String, of number: Int) throws {
    try context.performAndWait { try object(number).mutableSetValue(forKey: name).remove(object(member)) }
  }

  public func delete(_ number: Int) throws {
    try context.performAndWait {
      let object = try object(number)
      context.delete(object)
      (objects[number], numbers[object]) = (nil, nil)
    }
  }

  public func save() throws { try context.performAndWait { try context.save() } }

  public func fetch(_ required: StackRequest) throws -> StackResult {
    try context.performAndWait {
      let arguments = try required.arguments.map { argument in
        switch argument {
        case .value(let value): value
        case .object(let number): try object(number) as Any
        }
      }
      let request = NSFetchRequest<NSManagedObject>(entityName: required.entity)
      let predicate = try NSPredicate.parse(required.format, arguments)
      request.predicate = predicate
      request.sortDescriptors = required.sort.map {
        NSSortDescriptor(key: $0.key, ascending: $0.isAscending, selector: $0.selector.map { Selector($0) })
      }
      (request.fetchOffset, request.fetchLimit) = (required.offset, required.limit ?? 0)
      // Core Data treats a limit of 0 as no limit.
      let isEmpty = required.limit == 0
      let fetched = isEmpty ? [] : try context.fetch(request).map { numbers[$0] ?? -1 }
      let count = isEmpty ? 0 : try context.count(for: request)
      let all = objects.filter { isKind($0.value.entity, of: required.entity) }
      let met = all.filter { predicate.evaluate(with: $0.value) }.map(\.key).sorted()
      let asDictionaries: [Int]? =
        Self.needsNoSchema(required)
        ? all.filter { predicate.evaluate(with: PlainObject($0.value).dictionary) }.map(\.key).sorted() : nil
      return StackResult(fetched: fetched, count: count, met: met, metAsDictionaries: asDictionaries)
    }
  }

  /// Whether a predicate means the same for values without a schema. It does not where it compares objects with
  /// arguments, names entities, or takes an object by its position, because sets of plain values have no order. Nor
  /// does it on a path over a to-one relationship to a to-many one: if the first is nil, only a schema says that the
  /// path ends at a collection.
  private static func needsNoSchema(_ request: StackRequest) -> Bool {
    let hasObjects = request.arguments.contains { if case .object = $0 { true } else { false } }
    if hasObjects || request.format.contains("entity") { return false }
    if request.format.contains(/\[(FIRST|LAST|\d+)\]/) { return false }
    return !behindToOne.contains { request.format.contains($0) }
  }

  /// The paths over a to-one relationship to a to-many one.
  private static let behindToOne: [String] = Models.staff.entities.flatMap { entity in
    entity.relationshipsByName.values.filter { !$0.isToMany }.flatMap { first in
      (first.destinationEntity?.relationshipsByName.values.filter(\.isToMany) ?? []).map { "\(first.name).\($0.name)" }
    }
  }

  private func isKind(_ entity: NSEntityDescription, of name: String) -> Bool {
    var current: NSEntityDescription? = entity
    while let next = current {
      if next.name == name { return true }
      current = next.superentity
    }
    return false
  }

  public func close() throws {
    context.performAndWait {
      context.reset()
      (objects, numbers) = ([:], [:])
    }
    for store in coordinator.persistentStores { try coordinator.remove(store) }
  }
}
