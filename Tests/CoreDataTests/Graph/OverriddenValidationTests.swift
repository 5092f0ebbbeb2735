import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import SQLiteBackend

/// Objects of classes that override `validateValue(_:forKey:)`.
@Suite struct OverriddenValidationTests {
  private func context(at url: URL? = nil) throws -> NSManagedObjectContext {
    let number = NSAttributeDescription()
    (number.name, number.type, number.isOptional) = ("number", .integer16, true)
    let fraction = NSAttributeDescription()
    (fraction.name, fraction.type, fraction.isOptional) = ("fraction", .double, true)
    let entity = NSEntityDescription()
    (entity.name, entity.managedObjectClassName) = ("OverridingNumber", "CoreDataTests.OverridingNumber")
    let others = NSRelationshipDescription()
    (others.name, others.destinationEntity, others.maxCount) = ("others", entity, 0)
    entity.properties = [number, fraction, others]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    if let url {
      try coordinator.addPersistentStore(type: .sqlite, at: url)
    } else {
      try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    }
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

  /// Also not where it was read, and another value has changed.
  @Test func aStoredIntegerOutOfRangeIsRefused() throws {
    let folder = try StoreFolder("validation")
    defer { folder.remove() }
    let writer = try context(at: folder.url)
    try writer.performAndWait {
      OverridingNumber(context: writer).setValue(7, forKey: "number")
      try writer.save()
    }
    let connection = try SQLiteConnection(folder.url.path, .readWrite, timeout: 1)
    try connection.execute("UPDATE ZOVERRIDINGNUMBER SET ZNUMBER = 70000")
    let context = try context(at: folder.url)
    try context.performAndWait {
      let request = NSFetchRequest<OverridingNumber>(entityName: "OverridingNumber")
      let object = try #require(try context.fetch(request).first)
      object.allowsAll = true
      object.setValue(0.5, forKey: "fraction")
      let error = try #require(throws: CocoaError.self) { try context.save() }
      #expect(error.validationKey == "number")
      object.setValue(8, forKey: "number")
      try context.save()
    }
  }

  /// A save reads no members for the sake of their validation.
  @Test func unreadMembersStayUnread() throws {
    let context = try context()
    try context.performAndWait {
      let object = OverridingNumber(context: context)
      object.mutableSetValue(forKey: "others").add(object)
      try context.save()
      context.refresh(object, mergeChanges: false)
      object.setValue(7, forKey: "number")
      try context.save()
      #expect(object.hasFault(forRelationshipNamed: "others"))
    }
  }

  /// The rules of a composite's elements count in a class with validation code, too.
  @Test func rulesOfElementsAreChecked() throws {
    let zip = Describing.attribute("zip")
    zip.setValidationPredicates([NSPredicate(format: "length == 5")], withValidationWarnings: ["wrong"])
    let entity = Describing.entity("OverridingHome", [Describing.composite("address", [zip])])
    entity.managedObjectClassName = "CoreDataTests.OverridingHome"
    let context = try Describing.context(Describing.model([entity]))
    try context.performAndWait {
      let object = OverridingHome(context: context)
      object.setValue(["zip": "1"], forKey: "address")
      let error = try #require(throws: CocoaError.self) { try context.save() }
      #expect(error.validationKey == "address.zip")
      object.setValue(["zip": "12345"], forKey: "address")
      try context.save()
    }
  }

  /// A validation that replaces a text by a canonically equivalent one has replaced it.
  @Test func anEquivalentTextIsAnotherText() throws {
    let entity = Describing.entity("ComposingName", [Describing.attribute("name")])
    entity.managedObjectClassName = "CoreDataTests.ComposingName"
    let context = try Describing.context(Describing.model([entity]))
    try context.performAndWait {
      let object = ComposingName(context: context)
      object.setValue("e\u{301}", forKey: "name")
      try context.save()
      #expect((object.value(forKey: "name") as? String).map { Array($0.utf8) } == Array("\u{e9}".utf8))
    }
  }
}

final class OverridingHome: NSManagedObject {
  override func validateValue(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, forKey key: String) throws {
    try super.validateValue(value, forKey: key)
  }
}

final class ComposingName: NSManagedObject {
  override func validateValue(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, forKey key: String) throws {
    value.pointee = (value.pointee as? String)?.precomposedStringWithCanonicalMapping as NSString?
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
