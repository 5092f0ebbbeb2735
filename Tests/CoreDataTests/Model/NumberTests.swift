import Foundation
import StoreSchema
import TestSupport
import Testing

@testable import CoreData

/// Numbers of key-value coding are objects, as in `NSManagedObject` of Objective-C:
/// https://developer.apple.com/documentation/coredata/nsattributetype and the table of attribute types and their
/// classes, https://developer.apple.com/documentation/coredata/nsattributedescription/attributevalueclassname.
@Suite struct NumberTests {
  private static let types: [(name: String, type: NSAttributeDescription.AttributeType)] = [
    ("int16", .integer16), ("int32", .integer32), ("int64", .integer64), ("double", .double), ("float", .float),
    ("boolean", .boolean), ("decimal", .decimal),
  ]

  private static func context() throws -> NSManagedObjectContext {
    let attributes = types.map { Describing.attribute($0.name, $0.type) }
    let transient = Describing.attribute("transient", .integer32)
    transient.isTransient = true
    let preset = Describing.attribute("preset", .integer32, default: 1)
    preset.isTransient = true
    return try Describing.context(Describing.model([Describing.entity("A", attributes + [transient, preset])]))
  }

  /// Checks the casts of a value.
  private static func expectNumber(_ value: Any?, _ number: Int, _ location: SourceLocation = #_sourceLocation) {
    let value = value as Any
    #expect(value is NSNumber, "\(value)", sourceLocation: location)
    #expect(value as? Int == number && value as? Int64 == Int64(number), sourceLocation: location)
    #expect(value as? Int16 == Int16(number) && value as? Int32 == Int32(number), sourceLocation: location)
    #expect(value as? Double == Double(number) && value as? Float == Float(number), sourceLocation: location)
    #expect(value as? NSNumber == NSNumber(value: number), sourceLocation: location)
    #expect(value as? Bool == (number < 2 ? number == 1 : nil), sourceLocation: location)
  }

  @Test(arguments: [0, 1, 3]) func valuesCastToEveryTypeOfNumber(_ number: Int) throws {
    let context = try Self.context()
    try context.performAndWait {
      let object = NSEntityDescription.insertNewObject(forEntityName: "A", into: context)
      for (name, type) in Self.types {
        object.setValue(number, forKey: name)
        Self.expectNumber(object.value(forKey: name), type == .boolean ? min(number, 1) : number)
        Self.expectNumber(object.primitiveValue(forKey: name), type == .boolean ? min(number, 1) : number)
        Self.expectNumber(object.changedValues()[name], type == .boolean ? min(number, 1) : number)
      }
      Self.expectNumber(object.value(forKey: "preset"), 1)
      object.setValue(Int8(number), forKey: "transient")
      Self.expectNumber(object.value(forKey: "transient"), number)
      try context.save()
      Self.expectNumber(object.committedValues(forKeys: ["int16"])["int16"], number)
      context.refresh(object, mergeChanges: false)
      Self.expectNumber(object.value(forKey: "int32"), number)
      Self.expectNumber(object.value(forKeyPath: "int64"), number)
    }
  }

  /// Here Foundation returns a Boolean of an `NSDictionary` as a `Bool`, which casts to `NSNumber`, but to no other
  /// number.
  @Test func dictionariesOfFetchesHaveNumbers() throws {
    let context = try Self.context()
    try context.performAndWait {
      let object = NSEntityDescription.insertNewObject(forEntityName: "A", into: context)
      for (name, _) in Self.types { object.setValue(1, forKey: name) }
      try context.save()
      let request = NSFetchRequest<NSDictionary>(entityName: "A")
      request.resultType = .dictionaryResultType
      let sum = NSExpressionDescription()
      sum.name = "sum"
      sum.expression = NSExpression(forFunction: "sum:", arguments: [NSExpression(forKeyPath: "int32")])
      sum.expressionResultType = .integer32AttributeType
      request.propertiesToFetch = Self.types.map(\.name)
      let found = try #require(try context.fetch(request).first)
      let swift = try #require(found as? [String: Any])
      for (name, type) in Self.types where type != .boolean {
        Self.expectNumber(found[name], 1)
        Self.expectNumber(swift[name], 1)
      }
      #expect(found["boolean"] as? Bool == true && found["boolean"] as? NSNumber == 1)
      request.propertiesToFetch = [sum]
      Self.expectNumber(try context.fetch(request).first?["sum"], 1)
    }
  }

  @Test func metadataHasNumbers() throws {
    let context = try Self.context()
    let coordinator = try #require(context.persistentStoreCoordinator)
    let store = try #require(coordinator.persistentStores.first)
    coordinator.setMetadata(["whole": 3, "truth": true, "half": 0.5, "deep": ["x": 1]], for: store)
    try context.performAndWait { try context.save() }
    let metadata = coordinator.metadata(for: store)
    Self.expectNumber(metadata["whole"], 3)
    Self.expectNumber(metadata["truth"], 1)
    Self.expectNumber((metadata["deep"] as? [String: Any])?["x"], 1)
    #expect(metadata["half"] as? Double == 0.5 && metadata["half"] is NSNumber)
  }

  /// Integers and truth values together. Both cast to `Bool` and to `Int` here; only their encoding differs.
  private static var zerosAndOnes: [(name: String, value: Any, isTruth: Bool)] {
    [
      ("zero", NSNumber(value: 0), false), ("one", NSNumber(value: 1), false),
      ("long", NSNumber(value: Int64(1)), false), ("short", NSNumber(value: Int16(0)), false),
      ("swiftZero", 0, false), ("swiftOne", 1, false), ("swiftSmall", Int8(1), false),
      ("no", NSNumber(value: false), true), ("yes", NSNumber(value: true), true),
      ("swiftFalse", false, true), ("swiftTrue", true, true),
    ]
  }

  private static func expectSame(_ found: [String: Any], _ location: SourceLocation = #_sourceLocation) {
    let truth = String(cString: NSNumber(value: true).objCType)
    for (name, value, isTruth) in zerosAndOnes {
      let number = found[name] as? NSNumber
      #expect(number == value as? NSNumber, "\(name)", sourceLocation: location)
      let type = number.map { String(cString: $0.objCType) }
      #expect((type == truth) == isTruth, "\(name) is \(type ?? "nothing")", sourceLocation: location)
    }
  }

  @Test(arguments: StoreMigrationTests.persistentTypes)
  func metadataTellsTruthValuesFromIntegers(_ type: NSPersistentStore.StoreType) throws {
    let stack = try AcknowledgedStack(type)
    let store = try #require(stack.coordinator.persistentStores.first)
    let values = Dictionary(uniqueKeysWithValues: Self.zerosAndOnes.map { ($0.name, $0.value) })
    stack.coordinator.setMetadata(
      values.merging(["deep": values, "list": Self.zerosAndOnes.map(\.value)]) { $1 }, for: store)
    let context = stack.context()
    try context.performAndWait { try context.save() }
    let url = try #require(store.url)
    try stack.coordinator.remove(store)
    let found = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type.rawValue, at: url)
    Self.expectSame(found)
    Self.expectSame(try #require(found["deep"] as? [String: Any]))
    let list = try #require(found["list"] as? [Any])
    Self.expectSame(Dictionary(uniqueKeysWithValues: zip(Self.zerosAndOnes.map(\.name), list)))
  }

  @Test func transformablesTellTruthValuesFromIntegers() throws {
    let values = Self.zerosAndOnes
    let context = try Describing.context(
      Describing.model([Describing.entity("A", [Describing.attribute("value", .transformable)])]))
    try context.performAndWait {
      let object = NSEntityDescription.insertNewObject(forEntityName: "A", into: context)
      func readAgain(_ value: Any) throws -> Any? {
        object.setValue(value, forKey: "value")
        try context.save()
        context.refresh(object, mergeChanges: false)
        return object.value(forKey: "value")
      }
      let list = try #require(try readAgain(values.map(\.value)) as? [Any])
      Self.expectSame(Dictionary(uniqueKeysWithValues: zip(values.map(\.name), list)))
      let dictionary = Dictionary(uniqueKeysWithValues: values.map { ($0.name, $0.value) })
      Self.expectSame(try #require(try readAgain(dictionary) as? [String: Any]))
      var single: [String: Any] = [:]
      for (name, value, _) in values { single[name] = try readAgain(value) }
      Self.expectSame(single)
    }
  }

  @Test func numbersOfExpressionsAreObjects() {
    Self.expectNumber(NSExpression(format: "1 + 2").expressionValue(with: nil, context: nil), 3)
    Self.expectNumber(NSExpression(format: "{5, 6}.@count").expressionValue(with: nil, context: nil), 2)
    let people = [["age": 1], ["age": 2]] as NSArray
    Self.expectNumber(NSExpression(forKeyPath: "@sum.age").expressionValue(with: people, context: nil), 3)
  }

  @Test func everyNumberIsStoredAsWhatItIs() throws {
    let context = try Self.context()
    let object = context.performAndWait { NSEntityDescription.insertNewObject(forEntityName: "A", into: context) }
    func encoded(_ value: Any, _ name: String) -> Value? {
      guard case .attribute(let index)? = object.info.keys[name] else { return nil }
      return AttributeCoding.encode(value, object.info.attributes[index].attribute)
    }
    #expect(encoded(NSNumber(value: 3.9), "int16") == .int(3) && encoded(-3.9, "int16") == .int(-3))
    #expect(encoded(NSNumber(value: Int64.max), "int64") == .int(.max))
    #expect(encoded(NSNumber(value: Int64.min), "int64") == .int(.min))
    #expect(encoded(NSNumber(value: UInt64.max), "int64") == nil && encoded(UInt64.max, "int64") == nil)
    #expect(encoded(NSNumber(value: 1e300), "int64") == nil && encoded(Double.nan, "int64") == nil)
    #expect(encoded(NSNumber(value: true), "int32") == .int(1) && encoded(true, "int32") == .int(1))
    #expect(encoded(NSNumber(value: 1), "boolean") == .bool(true) && encoded(0, "boolean") == .bool(false))
    #expect(encoded(NSNumber(value: 7), "boolean") == .bool(true) && encoded(7, "boolean") == .bool(true))
    #expect(encoded(Decimal(5), "int16") == .int(5) && encoded(CGFloat(-1.5), "int64") == .int(-1))
    #expect(encoded(Decimal(0), "boolean") == .bool(false) && encoded(CGFloat(1), "boolean") == .bool(true))
    #expect(encoded(CGFloat(1.5), "double") == .double(1.5) && encoded(CGFloat(1.5), "float") == .double(1.5))
    #expect(encoded(NSNumber(value: Float(0.1)), "float") == .double(Double(Float(0.1))))
    #expect(encoded(Float(0.1), "float") == .double(Double(Float(0.1))))
    #expect(encoded(NSNumber(value: Float(0.1)), "double") == .double(Double(Float(0.1))))
    #expect(
      encoded(NSDecimalNumber(string: "12345678901234567890.5"), "decimal")
        == encoded(
          Decimal(string: "12345678901234567890.5") as Any, "decimal"))
    #expect(encoded(NSNumber(value: 0.1), "decimal") == .decimal(Decimal(string: "0.1")!))
    #expect(encoded(0.1, "decimal") == .decimal(Decimal(string: "0.1")!))
    #expect(encoded(Int64.max, "decimal") == .decimal(Decimal(Int64.max)))
    #expect(encoded(UInt64.max, "decimal") == .decimal(Decimal(UInt64.max)))
    #expect(encoded("3", "int16") == nil && encoded("3", "decimal") == nil)
  }

  /// `AnyHashable(NSNumber(3)) == AnyHashable(3)`, but their hashes differ: the library must not look up one by the
  /// other.
  @Test func numbersOfBothKindsAreFoundInCollections() throws {
    let context = try Self.context()
    try context.performAndWait {
      let object = NSEntityDescription.insertNewObject(forEntityName: "A", into: context)
      object.setValue(3, forKey: "int64")
      try context.save()
      for list in [[3, 4] as Any, [NSNumber(value: 3)], Set([3]), NSSet(array: [3]), NSArray(array: [Int16(3)])] {
        let predicate = NSPredicate(format: "int64 IN %@", argumentArray: [list])
        #expect(predicate.evaluate(with: object), "\(list)")
        let request = NSFetchRequest<NSManagedObject>(entityName: "A")
        request.predicate = predicate
        #expect(try context.count(for: request) == 1, "\(list)")
      }
      for number in [3 as Any, NSNumber(value: 3), 3.0, Int8(3)] {
        #expect(NSPredicate(format: "%@ IN {1, 3}", argumentArray: [number]).evaluate(with: nil), "\(number)")
      }
    }
  }
}
