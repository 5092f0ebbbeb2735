import Foundation
import StoreSchema
import TestSupport
import Testing

@testable import CoreData

/// Feature 3.19: attributes whose value is a dictionary of elements.
@Suite struct CompositeTests {
  /// `address`: street, `position` (city, zip with the default 1000, `point` (lat, lon)), note.
  private func model(
    default value: Any? = nil, _ change: (NSCompositeAttributeDescription) -> Void = { _ in }
  ) -> NSManagedObjectModel {
    let point = Describing.composite(
      "point", [Describing.attribute("lat", .double), Describing.attribute("lon", .double)])
    let position = Describing.composite(
      "place", [Describing.attribute("city"), Describing.attribute("zip", .integer16, default: 1000), point])
    let address = Describing.composite(
      "address", [Describing.attribute("street"), position, Describing.attribute("note")])
    address.defaultValue = value
    change(address)
    return Describing.model([Describing.entity("A", [address, Describing.attribute("name")])])
  }

  private func withObject(
    _ model: NSManagedObjectModel, _ body: (NSManagedObject, NSManagedObjectContext) throws -> Void
  ) throws {
    let context = try Describing.context(model)
    try context.performAndWait {
      try body(NSEntityDescription.insertNewObject(forEntityName: "A", into: context), context)
    }
  }

  private func dictionary(_ object: NSManagedObject) -> NSDictionary? {
    (object.value(forKey: "address") as? [String: Any]).map { NSDictionary(dictionary: $0) }
  }

  @Test func nestedCompositesAreNestedDictionaries() throws {
    let value: [String: Any] = [
      "street": "S", "place": ["city": "C", "zip": Int16(7), "point": ["lat": 1.5, "lon": -2.5]], "note": "N",
    ]
    try withObject(model()) { object, context in
      object.setValue(value, forKey: "address")
      #expect(dictionary(object) == NSDictionary(dictionary: value))
      try context.save()
      context.refresh(object, mergeChanges: false)
      #expect(dictionary(object) == NSDictionary(dictionary: value))
      let request = NSFetchRequest<NSManagedObject>(entityName: "A")
      request.predicate = NSPredicate(format: "address.place.point.lat > 1 AND address.note == 'N'")
      #expect(try context.fetch(request) == [object])
      object.setValue(["note": "M"], forKey: "address")
      #expect(dictionary(object) == ["note": "M"])
      let committed = object.committedValues(forKeys: ["address"])["address"] as? [String: Any]
      #expect(committed.map { NSDictionary(dictionary: $0) } == NSDictionary(dictionary: value))
      object.setValue(nil, forKey: "address")
      #expect(object.value(forKey: "address") == nil)
    }
  }

  @Test func keyPathsReadAndSetElements() throws {
    try withObject(model()) { object, context in
      object.setValue("C", forKeyPath: "address.place.city")
      #expect(object.value(forKeyPath: "address.place.city") as? String == "C")
      try context.save()
      object.setValue(2.5, forKeyPath: "address.place.point.lon")
      #expect(object.isUpdated && object.value(forKeyPath: "address.place.point.lon") as? Double == 2.5)
      object.setValue(nil, forKeyPath: "address.place.city")
      #expect(dictionary(object) == ["place": ["zip": Int16(1000), "point": ["lon": 2.5]] as NSDictionary])
    }
  }

  @Test func primitiveValuesAreDictionariesToo() throws {
    try withObject(model()) { object, _ in
      object.setPrimitiveValue(["street": "S"], forKey: "address")
      #expect(object.primitiveValue(forKey: "address") as? [String: String] == ["street": "S"])
    }
  }

  @Test func newObjectsBeginWithTheDefaultsOfElements() throws {
    try withObject(model()) { object, _ in
      #expect(dictionary(object) == ["place": ["zip": Int16(1000)] as NSDictionary])
    }
    // The composite's own default takes precedence.
    try withObject(model(default: ["street": "S", "place": ["zip": 5]])) { object, _ in
      #expect(dictionary(object) == ["street": "S", "place": ["zip": Int16(5)] as NSDictionary])
    }
  }

  @Test(arguments: 0..<5) func defaultsThatDoNotFitAreErrorsOfTheModel(_ choice: Int) throws {
    let values: [[String: Any]] = [
      ["street": 1], ["strasse": "S"], ["place": "S"], ["place": ["point": ["lat": "x"]]], [:],
    ]
    let keys = ["address.street", "address.strasse", "address.place", "address.place.point.lat", "address.place.zip"]
    let model = model(default: values[choice]) {
      if choice == 4 { $0.element("place.zip")?.defaultValue = "no number" }
    }
    let error = try #require(throws: SchemaError.self) { try model.freeze() }
    #expect(error.property == keys[choice])
  }

  @Test(arguments: 0..<3) func whatIsNoElementStopsTheProgram(_ choice: Int) async {
    ExitTestChoice.set(choice)
    await #expect(processExitsWith: .failure) {
      try CompositeTests().withObject(CompositeTests().model()) { object, _ in
        switch ExitTestChoice.current {
        case 0: object.setValue(["strasse": "S"], forKey: "address")
        case 1: object.setValue(["place": "S"], forKey: "address")
        default: object.setValue(1, forKeyPath: "address.city")
        }
      }
    }
  }

  /// A mandatory composite, and elements that are mandatory where the composite has a value (feature 5.4).
  @Test func mandatoryElementsAreJudgedWhereTheCompositeHasAValue() throws {
    func code(_ value: [String: Any]?, mandatory: Bool) throws -> [String: Int] {
      var result: [String: Int] = [:]
      let model = model {
        $0.isOptional = !mandatory
        $0.element("street")?.isOptional = false
        $0.element("place.zip")?.defaultValue = nil
      }
      try withObject(model) { object, context in
        object.setValue(value, forKey: "address")
        do { try context.save() } catch let error as CocoaError {
          result[error.userInfo[NSValidationKeyErrorKey] as? String ?? ""] = error.errorCode
        }
      }
      return result
    }
    #expect(try code(nil, mandatory: false) == [:])
    #expect(try code(nil, mandatory: true) == ["address": 1570])
    #expect(try code(["note": "N"], mandatory: false) == ["address.street": 1570])
    #expect(try code(["street": "S"], mandatory: true) == [:])
    #expect(try code(["street": "S", "place": ["zip": 40_000]], mandatory: true) == ["address.place.zip": 1610])
  }

  /// An unknown key is rejected also beside composites that are nil. Dictionaries have no order, so there are several
  /// composites.
  @Test func aKeyThatIsNoneIsRefusedBesideCompositesThatAreNil() throws {
    let inner = (0..<6).map { Describing.composite("inner\($0)", [Describing.attribute("leaf")]) }
    let model = Describing.model([Describing.entity("Item", [Describing.composite("whole", inner)])])
    let attribute = try #require(model.freeze().infos[0].attributes.first?.attribute)
    let nothing = Dictionary(uniqueKeysWithValues: (0..<6).map { ("inner\($0)", NSNull() as Any) })
    #expect(try CompositeCoding.leaves(nothing, attribute).count == 6)
    for number in 0..<20 {
      let error = #expect(throws: CompositeCoding.Refusal.self) {
        try CompositeCoding.leaves(nothing.merging(["none\(number)": 1]) { $1 }, attribute)
      }
      #expect(error?.key == "whole.none\(number)")
    }
  }

  /// The columns of a composite come before those that `havingPredicate` names.
  @Test func dictionariesOfCompositesCanBeLimitedByAnAggregate() throws {
    try withObject(model()) { object, context in
      object.setValue(["street": "S", "note": "N"], forKey: "address")
      for street in ["T", "T", "U"] {
        NSEntityDescription.insertNewObject(forEntityName: "A", into: context)
          .setValue(["street": street], forKey: "address")
      }
      try context.save()
      let count = NSExpressionDescription()
      count.name = "count"
      count.expression = NSExpression(forFunction: "count:", arguments: [NSExpression.expressionForEvaluatedObject()])
      count.expressionResultType = .integer64AttributeType
      let request = NSFetchRequest<NSDictionary>(entityName: "A")
      request.resultType = .dictionaryResultType
      request.propertiesToFetch = ["address", count]
      request.propertiesToGroupBy = ["address"]
      request.havingPredicate = NSPredicate(format: "$count > 1")
      let found = try context.fetch(request)
      #expect(found.count == 1 && found.first?["count"] as? Int == 2)
      #expect((found.first?["address"] as? [String: Any])?["street"] as? String == "T")
    }
  }
}
