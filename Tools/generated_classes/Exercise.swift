public import CoreData
public import Foundation

/// Exercises the properties of the classes of one model, and prints a line for each: `done` or `FAILED`.
public final class PropertyExercise {
  private let context: NSManagedObjectContext
  private var entity = ""
  private var property = ""
  private var problems: [String] = []
  /// Whether a property was not as it should be.
  public private(set) var hasFailed = false

  /// A context over a store in memory of the compiled model. Its entities get the classes of the module where other
  /// modules of the program have classes with the same names.
  public init(model url: URL, module: String, ambiguousNames: Set<String>) throws {
    guard let model = NSManagedObjectModel(contentsOf: url) else { throw CocoaError(.fileReadCorruptFile) }
    for entity in model.entities {
      if let name = entity.managedObjectClassName, ambiguousNames.contains(name) {
        entity.managedObjectClassName = "\(module).\(name)"
      }
    }
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
  }

  // MARK: Objects

  /// A new object of an entity, which must have this class.
  public func object<Object: NSManagedObject>(_ type: Object.Type, of entity: String) -> Object? {
    self.entity = entity
    property = ""
    let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
    guard Swift.type(of: object) == type else {
      report("FAILED \(entity): an object has the class \(Swift.type(of: object)), not \(type)")
      return nil
    }
    return object as? Object
  }

  /// New objects for a relationship. They are of an entity whose class is this one or a child of it.
  public func members<Object: NSManagedObject>(_ type: Object.Type, of entity: String, count: Int) -> [Object] {
    (0..<count).compactMap { _ in
      let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context) as? Object
      if object == nil { problems.append("an object of \(entity) does not have the class \(type)") }
      return object
    }
  }

  // MARK: Properties with values

  /// A property whose accessor has an optional type.
  public func optional<Object: NSManagedObject, Value: Equatable>(
    _ object: Object, _ key: String, _ path: ReferenceWritableKeyPath<Object, Value?>, _ values: [Value],
    get: (Object) -> Value?, set: (Object, Value?) -> Void
  ) {
    exercise(key) {
      self.check(object, key, path, values + [nil], get: get, set: set, box: { $0.map { $0 as Any } }, unbox: cast)
    }
  }

  /// A property whose accessor is a number or a truth value.
  public func scalar<Object: NSManagedObject, Value: Equatable>(
    _ object: Object, _ key: String, _ path: ReferenceWritableKeyPath<Object, Value>, _ values: [Value],
    get: (Object) -> Value, set: (Object, Value) -> Void
  ) {
    exercise(key) {
      self.check(object, key, path, values, get: get, set: set, box: { $0 }, unbox: { $0 as? Value })
    }
  }

  /// A date whose accessor has seconds since 2001, while its key has a `Date`.
  public func seconds<Object: NSManagedObject>(
    _ object: Object, _ key: String, _ path: ReferenceWritableKeyPath<Object, TimeInterval>,
    get: (Object) -> TimeInterval, set: (Object, TimeInterval) -> Void
  ) {
    exercise(key) {
      self.check(
        object, key, path, [86_400, 0.5], get: get, set: set, box: { Date(timeIntervalSinceReferenceDate: $0) },
        unbox: { ($0 as? Date)?.timeIntervalSinceReferenceDate })
    }
  }

  /// A composite attribute.
  public func composite<Object: NSManagedObject>(
    _ object: Object, _ key: String, _ path: ReferenceWritableKeyPath<Object, [String: Any]?>,
    _ values: [[String: any Hashable & Sendable]], get: (Object) -> [String: Any]?,
    set: (Object, [String: Any]?) -> Void
  ) {
    exercise(key) {
      for value in values {
        let expected = NSDictionary(dictionary: value)
        func expect(_ found: [String: Any]?, _ way: String) {
          self.expect(found.map { NSDictionary(dictionary: $0) }, is: expected, way)
        }
        object.setValue(value, forKey: key)
        expect(get(object), "the accessor, set by key")
        set(object, [:])
        set(object, value)
        expect(object.value(forKey: key) as? [String: Any], "the key, set by the accessor")
        object[keyPath: path] = nil
        self.expect(get(object) == nil, "the accessor has a value after nil")
        object[keyPath: path] = value
        expect(object[keyPath: path], "the key path, set by itself")
        for (element, value) in value {
          self.expect(
            AnyHashable(value) == object.value(forKeyPath: "\(key).\(element)") as? AnyHashable,
            "\(key).\(element) is not what was set")
        }
      }
      name(path, key)
    }
  }

  /// A property that Core Data computes: it is read in the three ways. The accessor has `nothing` where the key has nil.
  public func reads<Object: NSManagedObject, Value: Equatable>(
    _ object: Object, _ key: String, _ path: KeyPath<Object, Value>, nothing: Value, get: (Object) -> Value
  ) {
    exercise(key) {
      let value = get(object)
      expect(object[keyPath: path], is: value, "the key path, compared with the accessor")
      let keyed = object.value(forKey: key)
      if let found = keyed == nil ? nothing : keyed as? Value {
        expect(found, is: value, "the key, compared with the accessor")
      } else {
        problems.append("the value of the key is \(text(keyed)), not of \(Value.self)")
      }
      name(path, key)
    }
  }

  // MARK: To-many relationships

  /// The functions of an unordered to-many relationship, or those that an ordered one has as well.
  public struct SetFunctions<Object: NSManagedObject, Member: NSManagedObject, Members: NSObject> {
    let add: (Object, Member) -> Void
    let remove: (Object, Member) -> Void
    let addAll: (Object, Members) -> Void
    let removeAll: (Object, Members) -> Void

    public init(
      add: @escaping (Object, Member) -> Void, remove: @escaping (Object, Member) -> Void,
      addAll: @escaping (Object, Members) -> Void, removeAll: @escaping (Object, Members) -> Void
    ) {
      self.add = add
      self.remove = remove
      self.addAll = addAll
      self.removeAll = removeAll
    }
  }

  /// The functions with indexes of an ordered relationship.
  public struct IndexFunctions<Object: NSManagedObject, Member: NSManagedObject> {
    let insert: (Object, Member, Int) -> Void
    let remove: (Object, Int) -> Void
    let insertAll: (Object, [Member], NSIndexSet) -> Void
    let removeAll: (Object, NSIndexSet) -> Void
    let replace: (Object, Int, Member) -> Void
    let replaceAll: (Object, NSIndexSet, [Member]) -> Void

    public init(
      insert: @escaping (Object, Member, Int) -> Void, remove: @escaping (Object, Int) -> Void,
      insertAll: @escaping (Object, [Member], NSIndexSet) -> Void, removeAll: @escaping (Object, NSIndexSet) -> Void,
      replace: @escaping (Object, Int, Member) -> Void, replaceAll: @escaping (Object, NSIndexSet, [Member]) -> Void
    ) {
      self.insert = insert
      self.remove = remove
      self.insertAll = insertAll
      self.removeAll = removeAll
      self.replace = replace
      self.replaceAll = replaceAll
    }
  }

  /// An unordered to-many relationship.
  public func toMany<Object: NSManagedObject, Member: NSManagedObject>(
    _ object: Object, _ key: String, _ path: ReferenceWritableKeyPath<Object, NSSet?>, _ members: [Member],
    get: (Object) -> NSSet?, set: (Object, NSSet?) -> Void, _ functions: SetFunctions<Object, Member, NSSet>
  ) {
    exercise(key) {
      guard members.count == 3 else { return }
      let sets = [members, [members[0]], [members[1], members[2]]].map { NSSet(array: $0) }
      check(object, key, path, sets, get: get, set: set, box: { $0 }, unbox: cast)
      run(functions, object, members, make: { NSSet(array: $0) }, get: get, set: set)
    }
  }

  /// An ordered to-many relationship.
  public func ordered<Object: NSManagedObject, Member: NSManagedObject>(
    _ object: Object, _ key: String, _ path: ReferenceWritableKeyPath<Object, NSOrderedSet?>, _ members: [Member],
    get: (Object) -> NSOrderedSet?, set: (Object, NSOrderedSet?) -> Void,
    _ functions: SetFunctions<Object, Member, NSOrderedSet>, _ indexed: IndexFunctions<Object, Member>
  ) {
    exercise(key) {
      guard members.count == 3 else { return }
      func make(_ members: [Member]) -> NSOrderedSet { NSOrderedSet(array: members) }
      let (a, b, c) = (members[0], members[1], members[2])
      check(
        object, key, path, [[a, b, c], [c, a], [b]].map(make), get: get, set: set, box: { $0 }, unbox: cast)
      run(functions, object, members, make: make, get: get, set: set)
      func step(_ expected: [Member], _ name: String, _ change: () -> Void) {
        change()
        expect(get(object), is: make(expected), name)
      }
      set(object, make([a]))
      step([b, a], "insertInto(_:at:)") { indexed.insert(object, b, 0) }
      step([b, c], "replace(at:with:)") { indexed.replace(object, 1, c) }
      step([c], "removeFrom(at:)") { indexed.remove(object, 0) }
      step([a, c, b], "insertInto with NSIndexSet") { indexed.insertAll(object, [a, b], indexes(0, 2)) }
      step([a], "removeFrom with NSIndexSet") { indexed.removeAll(object, indexes(1, 2)) }
      set(object, make([a, b]))
      step([c, b], "replace with NSIndexSet") { indexed.replaceAll(object, indexes(0), [c]) }
    }
  }

  private func indexes(_ indexes: Int...) -> NSIndexSet { NSIndexSet(indexSet: IndexSet(indexes)) }

  private func run<Object: NSManagedObject, Member: NSManagedObject, Members: NSObject>(
    _ functions: SetFunctions<Object, Member, Members>, _ object: Object, _ members: [Member],
    make: ([Member]) -> Members, get: (Object) -> Members?, set: (Object, Members?) -> Void
  ) {
    let (a, b, c) = (members[0], members[1], members[2])
    set(object, make([]))
    functions.add(object, a)
    expect(get(object), is: make([a]), "addTo with an object")
    functions.addAll(object, make([b, c]))
    expect(get(object), is: make([a, b, c]), "addTo with a set")
    functions.remove(object, b)
    expect(get(object), is: make([a, c]), "removeFrom with an object")
    functions.removeAll(object, make([a, c]))
    expect(get(object), is: make([]), "removeFrom with a set")
  }

  // MARK: Checks

  /// Sets each value by key, by the accessor and by the key path. After each of these it reads in the other ways.
  private func check<Object: NSManagedObject, Value: Equatable>(
    _ object: Object, _ key: String, _ path: ReferenceWritableKeyPath<Object, Value>, _ values: [Value],
    get: (Object) -> Value, set: (Object, Value) -> Void, box: (Value) -> Any?, unbox: (Any?) -> Value?
  ) {
    func readsByKey(_ value: Value, _ way: String) {
      let found = object.value(forKey: key)
      if let found = unbox(found) {
        expect(found, is: value, way)
      } else {
        problems.append("\(way): found \(text(found)), which is no \(Value.self)")
      }
    }
    for (index, value) in values.enumerated() {
      let other = values[(index + 1) % values.count]
      object.setValue(box(other), forKey: key)
      object.setValue(box(value), forKey: key)
      expect(get(object), is: value, "the accessor, set by key")
      expect(object[keyPath: path], is: value, "the key path, set by key")
      set(object, other)
      readsByKey(other, "the key, set by the accessor")
      set(object, value)
      readsByKey(value, "the key, set by the accessor")
      object[keyPath: path] = other
      expect(get(object), is: other, "the accessor, set by the key path")
      readsByKey(other, "the key, set by the key path")
    }
    name(path, key)
  }

  private func name<Object: NSManagedObject, Value>(_ path: KeyPath<Object, Value>, _ key: String) {
    expect(NSExpression(forKeyPath: path).keyPath, is: key, "the name of the key path")
  }

  private func cast<Value>(_ value: Any?) -> Value?? {
    guard let value else { return .some(nil) }
    return (value as? Value).map { .some($0) }
  }

  private func exercise(_ key: String, _ body: () -> Void) {
    property = key
    write("begin \(entity).\(key)")
    body()
    for problem in problems { report("FAILED \(entity).\(key): \(problem)") }
    if problems.isEmpty { write("done \(entity).\(key)") }
    problems = []
  }

  private func expect(_ condition: Bool, _ problem: String) {
    if !condition { problems.append(problem) }
  }

  private func expect<Value: Equatable>(_ found: Value, is expected: Value, _ way: String) {
    if found != expected { problems.append("\(way): found \(text(found)), expected \(text(expected))") }
  }

  private func text(_ value: Any?) -> String {
    String((value.map { "\($0)" } ?? "nil").replacing("\n", with: " ").prefix(200))
  }

  private func report(_ line: String) {
    hasFailed = true
    write(line)
  }

  /// Writes at once: a later property may stop the program.
  private func write(_ line: String) {
    print(line)
    fflush(nil)
  }
}
