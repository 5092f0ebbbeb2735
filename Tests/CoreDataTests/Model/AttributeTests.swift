import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Feature sections 3 and 4: attributes and their types.
@Suite struct AttributeTests {
  @Test func aNewPropertyHasAppleDefaults() {
    let attribute = Describing.attribute("x")
    #expect(attribute.isOptional && !attribute.isTransient && attribute.renamingIdentifier == "x")
    #expect(attribute.validationPredicates.isEmpty && attribute.validationWarnings.isEmpty)
    #expect(NSAttributeDescription().attributeType == .undefinedAttributeType)
    let relationship = NSRelationshipDescription()
    #expect(relationship.deleteRule == .nullifyDeleteRule && relationship.isToMany && !relationship.isOrdered)
  }

  @Test func typesHaveApplesNumbers() {
    let numbers: [NSAttributeDescription.AttributeType: UInt] = [
      .undefined: 0, .integer16: 100, .integer32: 200, .integer64: 300, .decimal: 400, .double: 500, .float: 600,
      .string: 700, .boolean: 800, .date: 900, .binaryData: 1000, .uuid: 1100, .uri: 1200, .transformable: 1800,
      .objectID: 2000, .composite: 2100,
    ]
    for (type, number) in numbers {
      #expect(type.rawValue.rawValue == number && NSAttributeType(rawValue: number) == type.rawValue)
      let attribute = NSAttributeDescription()
      attribute.type = type
      #expect(attribute.attributeType.rawValue == number && attribute.type == type)
    }
    #expect(
      [NSDeleteRule.noActionDeleteRule, .nullifyDeleteRule, .cascadeDeleteRule, .denyDeleteRule].map(\.rawValue) == [
        0, 1, 2, 3,
      ])
  }

  @Test func theValueClassFollowsTheType() {
    let attribute = Describing.attribute("x", .string)
    #expect(attribute.attributeValueClassName == "NSString")
    attribute.attributeValueClassName = "MyText"
    #expect(attribute.attributeValueClassName == "MyText")
    attribute.type = .date
    #expect(attribute.attributeValueClassName == "NSDate")
    attribute.type = .transformable
    #expect(attribute.attributeValueClassName == nil)
    attribute.attributeValueClassName = "Colour"
    attribute.type = .transformable
    #expect(attribute.attributeValueClassName == "Colour")
  }

  @Test func defaultsAreForNewObjectsOnly() throws {
    let model = Describing.model([
      Describing.entity(
        "A",
        [
          Describing.attribute("s", .string, default: "d"), Describing.attribute("n", .integer16, default: 7),
          Describing.attribute("list", .transformable, default: ["x"]),
          Describing.attribute("blob", .binaryData, default: Data([1])),
        ])
    ])
    model.entitiesByName["A"]?.attributesByName["blob"]?.allowsExternalBinaryDataStorage = true
    let context = try Describing.context(model)
    try context.performAndWait {
      let object = NSEntityDescription.insertNewObject(forEntityName: "A", into: context)
      #expect(object.value(forKey: "s") as? String == "d" && object.value(forKey: "n") as? Int16 == 7)
      #expect(object.value(forKey: "list") as? [String] == ["x"] && object.value(forKey: "blob") as? Data == Data([1]))
      try context.save()
      context.refresh(object, mergeChanges: false)
      #expect(object.value(forKey: "list") as? [String] == ["x"] && object.value(forKey: "blob") as? Data == Data([1]))
      object.setValue(nil, forKey: "s")
      object.setValue(nil, forKey: "list")
      try context.save()
      context.refresh(object, mergeChanges: false)
      #expect(object.value(forKey: "s") == nil && object.value(forKey: "list") == nil)
    }
  }

  @Test func theWrongClassOfValueIsRefusedWhenItIsSet() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let context = try Describing.context(Describing.library())
      context.performAndWait {
        NSEntityDescription.insertNewObject(forEntityName: "Book", into: context).setValue(5, forKey: "title")
      }
    }
    let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(text.contains("Unacceptable type of value for attribute: property = \"title\""))
  }

  @Test func theValueClassOfATransformableAttributeIsKept() async throws {
    let list = Describing.attribute("list", .transformable)
    list.attributeValueClassName = "NSArray"
    let context = try Describing.context(Describing.model([Describing.entity("A", [list])]))
    try context.performAndWait {
      let object = NSEntityDescription.insertNewObject(forEntityName: "A", into: context)
      for value in [["a"] as Any, NSMutableArray(array: [1]), [] as [Int]] { object.setValue(value, forKey: "list") }
      object.setValue(nil, forKey: "list")
      try context.save()
    }
    await #expect(processExitsWith: .failure) {
      let list = Describing.attribute("list", .transformable)
      list.attributeValueClassName = "NSArray"
      let context = try Describing.context(Describing.model([Describing.entity("A", [list])]))
      context.performAndWait {
        NSEntityDescription.insertNewObject(forEntityName: "A", into: context).setValue("text", forKey: "list")
      }
    }
  }

  /// A class of the application, a subclass of it, and a name that the process does not know and so cannot check.
  @Test(arguments: ["ShadeOfGrey", "CoreDataTests.ShadeOfGrey", "UIColor"])
  func valuesOfTheApplicationsClassesAreAccepted(_ name: String) throws {
    let shade = Describing.attribute("shade", .transformable)
    shade.attributeValueClassName = name
    let context = try Describing.context(Describing.model([Describing.entity("A", [shade])]))
    context.performAndWait {
      let object = NSEntityDescription.insertNewObject(forEntityName: "A", into: context)
      for value in [ShadeOfGrey(), LightGrey()] {
        object.setValue(value, forKey: "shade")
        #expect(object.value(forKey: "shade") as? NSObject === value)
      }
    }
  }

  @Test(arguments: ["ShadeOfGrey", "CoreDataTests.LightGrey", "NSAttributedString"])
  func valuesOfOtherClassesAreRefused(_ name: String) async throws {
    ExitTestChoice.set(["ShadeOfGrey", "CoreDataTests.LightGrey", "NSAttributedString"].firstIndex(of: name) ?? 0)
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let shade = Describing.attribute("shade", .transformable)
      let choice = ExitTestChoice.current
      shade.attributeValueClassName = ["ShadeOfGrey", "CoreDataTests.LightGrey", "NSAttributedString"][choice]
      let context = try Describing.context(Describing.model([Describing.entity("A", [shade])]))
      context.performAndWait {
        let object = NSEntityDescription.insertNewObject(forEntityName: "A", into: context)
        object.setValue(choice == 0 ? NSObject() : ShadeOfGrey(), forKey: "shade")
      }
    }
    let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(text.contains("Unacceptable type of value for attribute: property = \"shade\""))
  }

  @Test func integersOutOfRangeAreRefusedAtSave() throws {
    let context = try Describing.context(
      Describing.model([
        Describing.entity("A", [Describing.attribute("i16", .integer16), Describing.attribute("i32", .integer32)])
      ]))
    try context.performAndWait {
      let object = NSEntityDescription.insertNewObject(forEntityName: "A", into: context)
      object.setValue(40_000, forKey: "i16")
      #expect(#expect(throws: CocoaError.self) { try context.save() }?.code == .validationNumberTooLarge)
      object.setValue(1, forKey: "i16")
      object.setValue(Int64.min, forKey: "i32")
      #expect(#expect(throws: CocoaError.self) { try context.save() }?.code == .validationNumberTooSmall)
      object.setValue(1, forKey: "i32")
      try context.save()
    }
  }

  @Test func transientAttributesTakeAnyValueAndAreNotStored() throws {
    let transient = Describing.attribute("t", .undefined, default: 1)
    transient.isTransient = true
    let context = try Describing.context(Describing.model([Describing.entity("A", [transient])]))
    try context.performAndWait {
      let object = NSEntityDescription.insertNewObject(forEntityName: "A", into: context)
      #expect(object.value(forKey: "t") as? Int == 1)
      try context.save()
      object.setValue(["any": "thing"], forKey: "t")
      #expect(object.hasChanges && object.changedValues().isEmpty)
      #expect(object.value(forKey: "t") as? [String: String] == ["any": "thing"])
      context.refresh(object, mergeChanges: false)
      #expect(object.value(forKey: "t") as? Int == 1)
      let request = NSFetchRequest<NSManagedObject>(entityName: "A")
      request.predicate = NSPredicate(format: "t == 1")
      #expect(throws: CocoaError.self) { try context.fetch(request) }
    }
  }

  @Test func derivedAttributesOfModelsMadeInCodeAreComputed() throws {
    let context = try Describing.context(Describing.library())
    try context.performAndWait {
      let book = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
      book.setValue("Ömlaut", forKey: "title")
      try context.save()
      context.refresh(book, mergeChanges: false)
      #expect(book.value(forKey: "folded") as? String == "omlaut")
    }
  }

  /// A number is derived as a number of the attribute's type; what cannot be one stays nil.
  @Test func derivedNumbersHaveTheTypeOfTheAttribute() throws {
    let sources = [("price", .decimal), ("count", .integer64), ("ratio", .double), ("title", .string)]
      .map { (name: String, type: NSAttributeDescription.AttributeType) in Describing.attribute(name, type) }
    let item = Describing.entity(
      "Item",
      sources + [
        Describing.derived("priceAsDouble", .double, "price"), Describing.derived("countAsDecimal", .decimal, "count"),
        Describing.derived("ratioAsInteger", .integer32, "ratio"),
        Describing.derived("priceAsInteger", .integer16, "price"),
        Describing.derived("titleAsInteger", .integer32, "title"), Describing.derived("countAsText", .string, "count"),
      ])
    let context = try Describing.context(Describing.model([item]))
    try context.performAndWait {
      let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
      item.setValuesForKeys(["price": Decimal(1.5), "count": 3, "ratio": -2.5, "title": "7"])
      try context.save()
      for _ in 0..<2 {
        #expect(item.value(forKey: "priceAsDouble") as? Double == 1.5)
        #expect(item.value(forKey: "countAsDecimal") as? Decimal == 3)
        #expect(item.value(forKey: "ratioAsInteger") as? Int == -2)
        #expect(item.value(forKey: "priceAsInteger") as? Int == 1)
        #expect(item.value(forKey: "titleAsInteger") == nil && item.value(forKey: "countAsText") == nil)
        context.refresh(item, mergeChanges: false)
      }
    }
  }

  @Test(arguments: ["canonical:(name)", "uppercase:(name)", "lowercase:(name)", "now()", "name", "other.name"])
  func derivationExpressionsAreKeptAsGiven(_ format: String) throws {
    let attribute = NSDerivedAttributeDescription()
    attribute.derivationExpression = NSExpression(format: format)
    let copy = try #require(attribute.copy() as? NSDerivedAttributeDescription)
    #expect(copy.derivation != nil && copy.derivation == attribute.derivation)
    #expect(copy.derivationExpression == NSExpression(format: format))
    attribute.derivationExpression = nil
    #expect(attribute.derivation == nil && attribute.derivationExpression == nil)
  }

  @Test func compositesAreDictionariesOfTheirElements() throws {
    let nested = Describing.composite("place", [Describing.attribute("city"), Describing.attribute("zip", .integer32)])
    let address = Describing.composite("address", [Describing.attribute("street"), nested])
    let context = try Describing.context(Describing.model([Describing.entity("A", [address])]))
    try context.performAndWait {
      let object = NSEntityDescription.insertNewObject(forEntityName: "A", into: context)
      #expect(object.value(forKey: "address") == nil)
      object.setValue(["street": "S"], forKey: "address")
      try context.save()
      let request = NSFetchRequest<NSManagedObject>(entityName: "A")
      request.predicate = NSPredicate(format: "address.street == 'S' AND address.place.city == nil")
      #expect(try context.fetch(request) == [object])
      context.refresh(object, mergeChanges: false)
      #expect(object.value(forKey: "address") as? [String: String] == ["street": "S"])
    }
  }

  @Test func aCompositeCannotContainItself() async {
    await #expect(processExitsWith: .failure) {
      let (outer, inner) = (Describing.composite("o", []), Describing.composite("i", []))
      outer.elements = [inner]
      inner.elements = [outer]
    }
  }

  @Test func propertiesAreEqualWhenTheySayTheSame() throws {
    let (a, b) = (Describing.attribute("x", .date), Describing.attribute("x", .date))
    #expect(a == b && a.hash == b.hash && (a.copy() as? NSObject) == a)
    b.isOptional = false
    #expect(a != b && a != Describing.fetched("x", "A", nil))
    let (e, f) = (NSExpressionDescription(), NSExpressionDescription())
    (e.name, f.name) = ("e", "e")
    e.expression = NSExpression(format: "a + 1")
    f.expression = NSExpression(format: "a + 1")
    #expect(e == f)
    f.expressionResultType = .doubleAttributeType
    #expect(e != f && f.resultType == .double)
    let element = NSFetchIndexElementDescription(property: a, collationType: .binary)
    let index = NSFetchIndexDescription(name: "i", elements: [element])
    #expect((index.copy() as? NSObject) == index && element.indexDescription === index)
    #expect(element.propertyName == "x" && element.isAscending)
  }

  @Test func thePropertyHashIsOfWhatStoresKeep() {
    let (a, b) = (Describing.attribute("x"), Describing.attribute("x"))
    #expect(a.versionHash.count == 32 && a.versionHash == b.versionHash)
    b.defaultValue = "d"
    #expect(a.versionHash == b.versionHash)
    b.isOptional = false
    #expect(a.versionHash != b.versionHash)
    b.isTransient = true
    #expect(b.versionHash.isEmpty && Describing.fetched("f", "A", nil).versionHash.isEmpty)
    let entity = Describing.entity("A")
    Describing.relate(entity, "one", toMany: false, entity, "many", toManyBack: true)
    let one = entity.relationshipsByName["one"]
    let before = one?.versionHash
    one?.deleteRule = .cascadeDeleteRule
    #expect(before?.count == 32 && one?.versionHash == before)
    one?.inverseRelationship = nil
    #expect(one?.versionHash != before)
  }
}

class ShadeOfGrey: NSObject {}
final class LightGrey: ShadeOfGrey {}
