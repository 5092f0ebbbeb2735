import CoreData
import Foundation
import Testing

/// Custom accessors and validation methods that a class lists.
@Suite struct KeyValueMethodTests {
  func context() throws -> NSManagedObjectContext {
    func attribute(_ name: String, _ type: NSAttributeType, mandatory: Bool = false) -> NSAttributeDescription {
      let attribute = NSAttributeDescription()
      (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, !mandatory)
      return attribute
    }
    let member = NSEntityDescription()
    (member.name, member.managedObjectClassName) = ("KeyedMember", "CoreDataTests.KeyedMember")
    let list = attribute("list", .transformableAttributeType)
    member.properties = [
      attribute("first", .stringAttributeType, mandatory: true), attribute("last", .stringAttributeType),
      attribute("age", .integer16AttributeType), list,
    ]
    let senior = NSEntityDescription()
    (senior.name, senior.managedObjectClassName) = ("KeyedSenior", "CoreDataTests.KeyedSenior")
    member.subentities = [senior]
    let friends = NSRelationshipDescription()
    (friends.name, friends.destinationEntity, friends.isOrdered, friends.maxCount) = ("friends", member, true, 0)
    let others = NSRelationshipDescription()
    (others.name, others.destinationEntity, others.maxCount) = ("others", member, 0)
    let best = NSRelationshipDescription()
    (best.name, best.destinationEntity, best.maxCount) = ("best", member, 1)
    member.properties += [friends, others, best]
    let model = NSManagedObjectModel()
    model.entities = [member, senior]
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  @Test func keyValueCodingReachesAccessors() throws {
    let context = try context()
    context.performAndWait {
      let member = KeyedMember(context: context)
      member.setValue("Ada Lovelace", forKey: "fullName")
      #expect(
        member.value(forKey: "first") as? String == "Ada" && member.value(forKey: "last") as? String == "Lovelace")
      #expect(member.value(forKey: "fullName") as? String == "Ada Lovelace")
      #expect(member.value(forKeyPath: "fullName.length") as? Int == 12)
      #expect(NSPredicate(format: "fullName BEGINSWITH 'Ada'").evaluate(with: member))
      #expect((member.dictionaryWithValues(forKeys: ["fullName"]) as? [String: String]) == ["fullName": "Ada Lovelace"])
      // The accessor of a modelled key; the property itself is behind it.
      member.setValue(NSNumber(value: 30), forKey: "age")
      #expect(member.value(forKey: "age") as? Int == 31 && member.primitiveValue(forKey: "age") as? Int16 == 30)
      member.setValue(7, forKey: "score")
      #expect(member.score == 7)
      member.setValuesForKeys(["score": NSNull()])
      #expect(member.score == nil && member.value(forKey: "score") == nil)
      member.setValue(2.5, forKey: "weight")
      #expect(member.weight == 2.5)
    }
  }

  /// As attributes of these types: any number is a truth value, and a number of any type is a decimal.
  @Test func accessorsTakeTruthValuesAndDecimalsAsNumbers() throws {
    let context = try context()
    context.performAndWait {
      let member = KeyedMember(context: context)
      for value in [1, 5, NSNumber(value: 2), true] as [Any] {
        member.isActive = false
        member.setValue(value, forKey: "isActive")
        #expect(member.isActive, "\(value)")
      }
      member.setValue(NSNumber(value: 0), forKey: "isActive")
      #expect(!member.isActive)
      for (value, cost) in [(1, 1), (NSNumber(value: 2.5), 2.5), (1.1, 1.1), (Int16(7), 7)] as [(Any, Decimal)] {
        member.setValue(value, forKey: "cost")
        #expect(member.cost == cost)
      }
      member.setValue(nil, forKey: "cost")
      #expect(member.cost == nil)
    }
  }

  /// "coercing the value into an appropriate type for the object, and validating it according to the object's rules".
  @Test func valuesAreCoerced() throws {
    let model = NSManagedObjectModel()
    let entity = NSEntityDescription()
    entity.name = "Typed"
    let types: [(String, NSAttributeType)] = [
      ("int16", .integer16AttributeType), ("double", .doubleAttributeType), ("decimal", .decimalAttributeType),
      ("flag", .booleanAttributeType), ("uuid", .UUIDAttributeType), ("url", .URIAttributeType),
      ("text", .stringAttributeType), ("date", .dateAttributeType),
    ]
    entity.properties = types.map { name, type in
      let attribute = NSAttributeDescription()
      (attribute.name, attribute.attributeType) = (name, type)
      return attribute
    }
    model.entities = [entity]
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      let object = NSManagedObject(entity: entity, insertInto: context)
      func validated(_ value: Any, _ key: String) throws -> Any? {
        var pointee: AnyObject? = value as AnyObject
        try object.validateValue(&pointee, forKey: key)
        return pointee
      }
      #expect(try validated("12", "int16") as? NSNumber == 12)
      #expect(try validated(12.7, "int16") as? NSNumber == 12)
      #expect(try validated("2.5", "double") as? Double == 2.5)
      #expect(try validated("1.10", "decimal") as? NSDecimalNumber == NSDecimalNumber(string: "1.1"))
      #expect(try validated("YES", "flag") as? Bool == true && validated(0, "flag") as? Bool == false)
      // An equal number of another type.
      #expect(
        (try validated(NSNumber(value: 1), "flag") as? NSNumber)?.objCType.pointee
          == NSNumber(value: true).objCType.pointee)
      let uuid = UUID()
      #expect(try validated(uuid.uuidString, "uuid") as? UUID == uuid)
      #expect(try validated("https://example.org/a", "url") as? URL == URL(string: "https://example.org/a"))
      for (value, key) in [
        ("12.5", "int16"), ("1e400", "double"), ("nan", "double"), ("1,5", "double"), ("twelve", "decimal"),
        ("maybe", "flag"), ("1", "uuid"), ("now", "date"),
        (5, "text"),
      ] as [(Any, String)] {
        let error = #expect(throws: CocoaError.self) { try validated(value, key) }
        #expect(error?.code.rawValue == NSManagedObjectValidationError, "\(value) as \(key)")
      }
      let error = #expect(throws: CocoaError.self) { try validated("40000", "int16") }
      #expect(error?.code.rawValue == NSValidationNumberTooLargeError)
      // The object stays as it was, and a value that fits is returned itself.
      #expect(object.value(forKey: "int16") == nil)
      let number = NSNumber(value: Int16(3))
      var pointee: AnyObject? = number
      try object.validateValue(&pointee, forKey: "int16")
      #expect(pointee === number)
    }
  }

  @Test func destinationsAreValidated() throws {
    let (context, other) = (try context(), try context())
    let stranger = other.performAndWait { KeyedMember(context: other) }
    context.performAndWait {
      let (member, senior) = (KeyedMember(context: context), KeyedSenior(context: context))
      func code(_ value: AnyObject?, _ key: String) -> Int? {
        var value = value
        do { try member.validateValue(&value, forKey: key) } catch { return (error as? CocoaError)?.code.rawValue }
        return nil
      }
      #expect(code(NSSet(object: senior), "others") == nil && code(NSOrderedSet(object: senior), "friends") == nil)
      #expect(code(senior, "others") == NSManagedObjectValidationError)
      #expect(code(NSSet(object: "text"), "others") == NSManagedObjectValidationError)
      #expect(code(NSSet(object: stranger), "others") == NSManagedObjectValidationError)
      // An object that is in no context yet comes into this one when it is set.
      let free = KeyedMember(entity: member.entity, insertInto: nil)
      #expect(code(NSSet(object: free), "others") == nil)
    }
  }

  @Test func aSubclassAddsMethods() throws {
    let context = try context()
    context.performAndWait {
      let senior = KeyedSenior(context: context)
      senior.setValue("Grace Hopper", forKey: "fullName")
      #expect(senior.value(forKey: "greeting") as? String == "Good day, Grace Hopper")
      #expect(throws: CocoaError.self) {
        var age: AnyObject? = NSNumber(value: 20)
        try senior.validateValue(&age, forKey: "age")
      }
    }
  }

  /// An object may be of a subclass of the class of its entity. Then the methods of its own class count.
  @Test func anObjectHasTheMethodsOfItsOwnClass() throws {
    let context = try context()
    try context.performAndWait {
      let member = KeyedMember(context: context)
      let senior = KeyedSenior(entity: member.entity, insertInto: context)
      for object in [member, senior] { object.setValue("Ada Lovelace", forKey: "fullName") }
      #expect(senior.value(forKey: "greeting") as? String == "Good day, Ada Lovelace")
      senior.setValue(20, forKey: "age")
      #expect(throws: CocoaError.self) { try context.save() }
      member.setValue(20, forKey: "age")
      senior.setValue(70, forKey: "age")
      try context.save()
    }
  }

  /// "It then searches for a method of the form validate<Key>:error:": after the rules of the model.
  @Test func validationMethodsAreCalled() throws {
    let context = try context()
    try context.performAndWait {
      let member = KeyedMember(context: context)
      var first: AnyObject?
      // The model's rule comes first: a mandatory value is missing.
      #expect(throws: CocoaError.self) { try member.validateValue(&first, forKey: "first") }
      #expect(member.validated == [])
      first = "  Ada " as NSString
      try member.validateValue(&first, forKey: "first")
      #expect(first as? String == "Ada" && member.validated == ["first"])
      member.setValue(" Ada", forKey: "first")
      member.setValue(5, forKey: "age")
      let error = try #require(throws: CocoaError.self) { try context.save() }
      #expect(error.code == .validationNumberTooSmall && error.userInfo[NSValidationKeyErrorKey] as? String == "age")
      member.setValue(50, forKey: "age")
      try context.save()
      // The value by which the method has replaced it is saved.
      #expect(member.value(forKey: "first") as? String == "Ada")
      member.setValue(1, forKey: "age")
      member.setValue("", forKey: "first")
      let both = try #require(throws: CocoaError.self) { try context.save() }
      let codes = (both.userInfo[NSDetailedErrorsKey] as? [any Error])?.map { ($0 as NSError).code }.sorted()
      #expect(both.code == .validationMultipleErrors && codes == [1620, 1670])
    }
  }

  /// Relationships are validated at updates, too; an integer that a method refuses and that is too large is one error.
  @Test func updatesAreValidatedByMethods() throws {
    let context = try context()
    try context.performAndWait {
      let member = KeyedMember(context: context)
      member.setValue("Ada", forKey: "first")
      try context.save()
      member.setValue(member, forKey: "best")
      let error = try #require(throws: CocoaError.self) { try context.save() }
      #expect(error.code == .managedObjectValidation)
      member.setValue(nil, forKey: "best")
      // The method gets it as an integer of 16 bits, which is 5.
      member.setValue(65_541, forKey: "age")
      let one = try #require(throws: CocoaError.self) { try context.save() }
      #expect(one.code == .validationNumberTooSmall && one.userInfo[NSDetailedErrorsKey] == nil)
    }
  }

  /// The accessor of Apple's guide: the announcement of a read fires the fault, and is no change.
  @Test func accessorsAnnounceTheirReads() throws {
    let model = try #require(UndoStack.model.copy() as? NSManagedObjectModel)
    model.entitiesByName["Item"]?.managedObjectClassName = "CoreDataTests.AccessedItem"
    let stack = try UndoStack(model: model)
    let item = try #require(try stack.savedItem() as? AccessedItem)
    stack.event { context in
      context.refresh(item, mergeChanges: false)
      #expect(item.primitiveValue(forKey: "name") == nil && item.isFault)
      #expect(item.label == "a" && !item.isFault)
      #expect(item.accessed == ["will name", "did name"] && !context.hasChanges)
    }
  }

  @Test func aValueOfAnotherTypeStopsTheProgram() async {
    await #expect(processExitsWith: .failure) {
      let context = try KeyValueMethodTests().context()
      context.performAndWait { KeyedMember(context: context).setValue("seven", forKey: "score") }
    }
  }
}

class KeyedMember: NSManagedObject {
  override class var keyValueMethods: KeyValueMethods {
    super.keyValueMethods
      .accessor("fullName", \KeyedMember.fullName)
      .accessor(
        "age", get: { (member: KeyedMember) in (member.primitiveValue(forKey: "age") as? Int16).map { Int($0) + 1 } }
      )
      .accessor("score", \KeyedMember.score)
      .accessor("weight", \KeyedMember.weight)
      .accessor("isActive", \KeyedMember.isActive)
      .accessor("cost", \KeyedMember.cost)
      .validation("first", KeyedMember.validateFirst)
      .validation("age", KeyedMember.validateAge)
      .validation("best", KeyedMember.validateBest)
  }

  var validated: [String] = []
  var score: Int?
  var weight: Float = 0
  var isActive = false
  var cost: Decimal?

  var fullName: String {
    get { [value(forKey: "first"), value(forKey: "last")].compactMap { $0 as? String }.joined(separator: " ") }
    set {
      let parts = newValue.split(separator: " ").map(String.init)
      setValue(parts.first, forKey: "first")
      setValue(parts.dropFirst().first, forKey: "last")
    }
  }

  func validateFirst(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws {
    validated.append("first")
    let trimmed = (value.pointee as? String ?? "").filter { $0 != " " }
    if trimmed.isEmpty { throw CocoaError(.validationStringTooShort) }
    value.pointee = trimmed as NSString
  }

  func validateBest(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws {
    if value.pointee === self { throw CocoaError(.managedObjectValidation) }
  }

  func validateAge(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws {
    guard let age = value.pointee as? NSNumber, age.intValue < 18 else { return }
    throw CocoaError(.validationNumberTooSmall, userInfo: [NSValidationKeyErrorKey: "age"])
  }
}

final class KeyedSenior: KeyedMember {
  override class var keyValueMethods: KeyValueMethods {
    super.keyValueMethods.accessor("greeting", get: { (senior: KeyedSenior) in "Good day, \(senior.fullName)" })
  }

  override func validateAge(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws {
    if let age = value.pointee as? NSNumber, age.intValue < 65 {
      throw CocoaError(.validationNumberTooSmall, userInfo: [NSValidationKeyErrorKey: "age"])
    }
  }
}

final class AccessedItem: NSManagedObject {
  var accessed: [String] = []

  var label: String? {
    willAccessValue(forKey: "name")
    defer { didAccessValue(forKey: "name") }
    return primitiveValue(forKey: "name") as? String
  }

  override func willAccessValue(forKey key: String?) {
    accessed.append("will \(key ?? "")")
    super.willAccessValue(forKey: key)
  }

  override func didAccessValue(forKey key: String?) {
    super.didAccessValue(forKey: key)
    accessed.append("did \(key ?? "")")
  }
}
