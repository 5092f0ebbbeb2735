import Foundation
import Testing

@testable import CoreData

/// Objects of classes that override `validateValue(_:forKey:)`.
@Suite struct OverriddenValidationTests {
  private func context() throws -> NSManagedObjectContext {
    let number = NSAttributeDescription()
    (number.name, number.type, number.isOptional) = ("number", .integer16, true)
    let fraction = NSAttributeDescription()
    (fraction.name, fraction.type, fraction.isOptional) = ("fraction", .double, true)
    let entity = NSEntityDescription()
    (entity.name, entity.managedObjectClassName) = ("OverridingNumber", "CoreDataTests.OverridingNumber")
    entity.properties = [number, fraction]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  /// The override gets an integer that is cut off to the attribute's type, and cannot see that it does not fit.
  @Test func anIntegerOutOfRangeIsRefused() throws {
    let context = try context()
    try context.performAndWait {
      let object = OverridingNumber(context: context)
      object.setValue(40_000, forKey: "number")
      let error = try #require(throws: CocoaError.self) { try context.save() }
      #expect(error.code.rawValue == NSValidationNumberTooLargeError)
      #expect(error.userInfo[NSValidationKeyErrorKey] as? String == "number")
      object.setValue(7, forKey: "number")
      try context.save()
      #expect(object.validated > 0)
    }
  }

  /// An override that allows everything lets in nothing that no store can hold.
  @Test func whatNoStoreCanHoldIsRefused() throws {
    let context = try context()
    try context.performAndWait {
      let object = OverridingNumber(context: context)
      object.allowsAll = true
      object.setValue(Double.nan, forKey: "fraction")
      let error = try #require(throws: CocoaError.self) { try context.save() }
      #expect(error.validationKey == "fraction")
      object.setValue(0.5, forKey: "fraction")
      try context.save()
    }
  }
}

final class OverridingNumber: NSManagedObject {
  var validated = 0
  var allowsAll = false

  override func validateValue(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, forKey key: String) throws {
    validated += 1
    if allowsAll { return }
    try super.validateValue(value, forKey: key)
  }
}
