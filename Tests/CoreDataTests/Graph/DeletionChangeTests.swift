import CoreData
import Foundation
import Testing

/// An object that changes itself when it is told of its deletion.
final class Leaver: NSManagedObject {
  override func prepareForDeletion() {
    setValue("left", forKey: "name")
    setValue(nil, forKey: "boss")
  }
}

/// "You can implement this method to perform any operations required before the object is deleted":
/// https://developer.apple.com/documentation/coredata/nsmanagedobject/preparefordeletion()
@Suite struct DeletionChangeTests {
  @Test(arguments: [true, false]) func anObjectMayChangeWhileItIsToldOfItsDeletion(_ changesBefore: Bool) throws {
    let leaver = Describing.entity("Leaver")
    leaver.managedObjectClassName = "CoreDataTests.Leaver"
    let name = NSAttributeDescription()
    (name.name, name.type) = ("name", .string)
    leaver.properties.append(name)
    Describing.relate(leaver, "reports", toMany: true, leaver, "boss", toManyBack: false)
    let context = try Describing.context(Describing.model([leaver]))
    try context.performAndWait {
      let object = NSEntityDescription.insertNewObject(forEntityName: "Leaver", into: context)
      try context.save()
      if changesBefore { object.setValue("before", forKey: "name") }
      context.delete(object)
      #expect(context.hasChanges)
      try context.save()
      #expect(!context.hasChanges)
      context.reset()
      #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Leaver")) == 0)
    }
  }
}
