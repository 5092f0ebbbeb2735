import CoreData
import Foundation
import TestSupport
import Testing

/// The values that a stored object takes over from a new one with the same unique values.
@Suite struct ConstraintMergeTests {
  /// Its derived attributes stay. All others are taken over, in any order of the attributes.
  @Test func everyAttributeIsTakenOverBesideDerivedOnes() throws {
    let plain = (1...8).map { Describing.attribute("plain\($0)") }
    let derived = (1...8).map { number in
      let attribute = NSDerivedAttributeDescription()
      (attribute.name, attribute.type) = ("derived\(number)", .string)
      attribute.derivationExpression = NSExpression(format: "canonical:(plain\(number))")
      return attribute
    }
    let entity = Describing.entity("Thing", [Describing.attribute("code")] + plain + derived)
    entity.uniquenessConstraints = [["code"]]
    let context = try Describing.context(Describing.model([entity]))
    context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    try context.performAndWait {
      for value in ["Old", "New"] {
        let thing = NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context)
        thing.setValue("c", forKey: "code")
        for attribute in plain { thing.setValue(value, forKey: attribute.name) }
        try context.save()
      }
      let things = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Thing"))
      let thing = try #require(things.first)
      #expect(things.count == 1)
      context.refresh(thing, mergeChanges: false)
      #expect(plain.allSatisfy { thing.value(forKey: $0.name) as? String == "New" })
      #expect(derived.allSatisfy { thing.value(forKey: $0.name) as? String == "new" })
    }
  }
}
