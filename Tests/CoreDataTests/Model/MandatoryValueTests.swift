import Foundation
import StoreSchema
import TestSupport
import Testing

@testable import CoreData

/// Features 5.4, 4.10 and 3.18: the validation of values that every save does, whatever the validation predicates.
@Suite struct MandatoryValueTests {
  /// Of transient attributes, those that are mandatory must have a value.
  @Test func mandatoryTransientsMustHaveAValue() throws {
    let entity = NSEntityDescription()
    entity.name = "Item"
    entity.properties = [("free", true), ("bound", false)].map { name, isOptional in
      let attribute = NSAttributeDescription()
      (attribute.name, attribute.type, attribute.isTransient, attribute.isOptional) = (name, .string, true, isOptional)
      return attribute
    }
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let stack = try UndoStack(model: model)
    try stack.event { context in
      let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
      var nothing: AnyObject?
      try item.validateValue(&nothing, forKey: "free")
      let error = #expect(throws: CocoaError.self) { try item.validateValue(&nothing, forKey: "bound") }
      #expect(error?.code == .validationMissingMandatoryProperty && error?.validationKey == "bound")
      item["bound"] = "x"
      try context.save()
    }
  }

  /// A department with employees. Each employee must have a department, and a department at least one employee.
  private func company() -> NSManagedObjectModel {
    let department = Describing.entity("Department", [Describing.attribute("name")])
    let name = Describing.attribute("name")
    name.isOptional = false
    let employee = Describing.entity("Employee", [name, Describing.attribute("note")])
    Describing.relate(department, "employees", toMany: true, employee, "department", toManyBack: false)
    department.relationshipsByName["employees"]?.isOptional = false
    department.relationshipsByName["employees"]?.minCount = 1
    employee.relationshipsByName["department"]?.isOptional = false
    return Describing.model([department, employee])
  }

  /// The error codes of a save, by key.
  private func errors(_ context: NSManagedObjectContext) throws -> [String: Int] {
    do { try context.save() } catch let error as CocoaError {
      let all = error.userInfo[NSDetailedErrorsKey] as? [any Error] ?? [error]
      let cocoa = all.compactMap { $0 as? CocoaError }
      #expect(cocoa.count == all.count)
      return Dictionary(
        cocoa.map { ($0.userInfo[NSValidationKeyErrorKey] as? String ?? "", $0.errorCode) }, uniquingKeysWith: +)
    }
    return [:]
  }

  private func insert(_ entity: String, _ context: NSManagedObjectContext) -> NSManagedObject {
    NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
  }

  @Test func relationshipsThatMustHaveADestination() throws {
    let context = try Describing.context(company())
    try context.performAndWait { () throws in
      let employee = insert("Employee", context)
      #expect(try errors(context) == ["department": 1570, "name": 1570])
      employee.setValue("", forKey: "name")
      // An empty string is a value.
      #expect(try errors(context) == ["department": 1570])
      let department = insert("Department", context)
      #expect(try errors(context) == ["department": 1570, "employees": 1570])
      employee.setValue(department, forKey: "department")
      #expect(try errors(context) == [:])
      // The last member leaves: the owner is validated although only its member was set.
      let other = insert("Department", context)
      employee.setValue(other, forKey: "department")
      #expect(try errors(context) == ["employees": 1570])
      employee.setValue(department, forKey: "department")
      context.delete(other)
      #expect(try errors(context) == [:])
    }
  }

  /// Feature 25.6: a destination that the same save deletes does not count, also where nothing resets the link.
  @Test(arguments: [false, true]) func aDeletedDestinationIsNone(withInverse: Bool) throws {
    let (name, owner) = (Describing.attribute("name"), Describing.entity("Owner", [Describing.attribute("note")]))
    let entity = Describing.entity("Thing", [name])
    if withInverse {
      Describing.relate(owner, "thing", toMany: false, entity, "owners", toManyBack: true)
      entity.relationshipsByName["owners"]?.deleteRule = .noActionDeleteRule
    } else {
      let link = NSRelationshipDescription()
      (link.name, link.destinationEntity, link.maxCount) = ("thing", entity, 1)
      owner.properties.append(link)
    }
    owner.relationshipsByName["thing"]?.isOptional = false
    let context = try Describing.context(Describing.model([owner, entity]))
    try context.performAndWait { () throws in
      let (owner, thing) = (insert("Owner", context), insert("Thing", context))
      owner.setValue(thing, forKey: "thing")
      #expect(try errors(context) == [:])
      context.delete(thing)
      owner.setValue("changed", forKey: "note")
      #expect(try errors(context) == ["thing": 1570])
      var value: AnyObject? = thing
      #expect(throws: CocoaError.self) { try owner.validateValue(&value, forKey: "thing") }
      owner.setValue(insert("Thing", context), forKey: "thing")
      #expect(try errors(context) == [:])
    }
  }

  /// The same where no code has read the owner's members.
  @Test func theOwnerOfUnreadMembersIsJudged() throws {
    let context = try Describing.context(company())
    try context.performAndWait { () throws in
      let (first, second, employee) = (
        insert("Department", context), insert("Department", context), insert("Employee", context)
      )
      let keeper = insert("Employee", context)
      for (object, department) in [(employee, first), (keeper, second)] {
        object.setValue("E", forKey: "name")
        object.setValue(department, forKey: "department")
      }
      #expect(try errors(context) == [:])
      context.refreshAllObjects()
      employee.setValue(second, forKey: "department")
      #expect(try errors(context) == ["employees": 1570])
    }
  }

  /// Feature 25.6: a member that is deleted does not count, whether its owner's members have been read, and whether the
  /// owner itself has.
  @Test(arguments: [false, true]) func aDeletedMemberDoesNotCount(manyToMany: Bool) throws {
    let model = company()
    if manyToMany {
      let (department, employee) = try (
        #require(model.entitiesByName["Department"]), #require(model.entitiesByName["Employee"])
      )
      employee.relationshipsByName["department"]?.maxCount = 0
      #expect(department.relationshipsByName["employees"]?.minCount == 1)
    }
    let context = try Describing.context(model)
    try context.performAndWait { () throws in
      let (department, employee) = (insert("Department", context), insert("Employee", context))
      employee.setValue("E", forKey: "name")
      department.setValue(NSSet(object: employee), forKey: "employees")
      #expect(try errors(context) == [:])
      for isRead in [true, false] {
        context.refreshAllObjects()
        if isRead { department.setValue("read", forKey: "name") }
        context.delete(employee)
        #expect(try errors(context) == ["employees": 1570])
        #expect(department.isUpdated)
        context.rollback()
      }
      // With its owner it may go.
      context.refreshAllObjects()
      context.delete(employee)
      context.delete(department)
      #expect(try errors(context) == [:])
    }
  }

  /// A mandatory value that is null in the file, in an object of which only a link is changed: "iterates through all of
  /// the receiver's properties validating each in turn",
  /// https://developer.apple.com/documentation/coredata/nsmanagedobject/validateforupdate()
  @Test func whatWasReadIsJudgedAlsoWhenOnlyLinksChange() throws {
    let model = company()
    let employee = try #require(model.entitiesByName["Employee"])
    let tag = Describing.entity("Tag", [])
    Describing.relate(employee, "tags", toMany: true, tag, "employees", toManyBack: true)
    model.entities = model.entities + [tag]
    let context = try Describing.context(model)
    try context.performAndWait { () throws in
      let (department, object) = (insert("Department", context), insert("Employee", context))
      object.setValue("E", forKey: "name")
      object.setValue(department, forKey: "department")
      #expect(try errors(context) == [:])
      // As in a file that other software has written.
      let row = try #require(object.row)
      let damaged = row.draft(version: row.version)
      for (slot, _) in object.info.mandatorySlots { #expect(damaged.patch(slot, .null)) }
      #expect(damaged.seal(key: row.key, version: row.version))
      object.row = damaged.sealedRow
      object.mutableSetValue(forKey: "tags").add(insert("Tag", context))
      #expect(object.isUpdated && object.value(forKey: "name") == nil)
      #expect(try errors(context) == ["department": 1570, "name": 1570])
    }
  }

  @Test func transientsAreJudgedWhereTheyAreKnown() throws {
    let mood = Describing.attribute("mood")
    (mood.isTransient, mood.isOptional) = (true, false)
    let context = try Describing.context(Describing.model([Describing.entity("A", [mood, Describing.attribute("x")])]))
    try context.performAndWait { () throws in
      let object = insert("A", context)
      #expect(try errors(context) == ["mood": 1570])
      object.setValue("good", forKey: "mood")
      #expect(try errors(context) == [:])
      context.refresh(object, mergeChanges: false)
      object.setValue("y", forKey: "x")
      #expect(try errors(context) == [:])
      object.setValue(nil, forKey: "mood")
      #expect(try errors(context) == ["mood": 1570])
    }
  }

  @Test func aTextThatIsNoURIIsRefusedAtSave() throws {
    let context = try Describing.context(
      Describing.model([Describing.entity("A", [Describing.attribute("link", .uri)])]))
    try context.performAndWait { () throws in
      let object = insert("A", context)
      for text in ["", "http://[broken"] {
        object._setString(PropertyKey("link", .string), text)
        #expect(try errors(context) == ["link": 1690])
      }
      object.setValue(URL(string: "https://example.org/ä?x=1#y"), forKey: "link")
      #expect(try errors(context) == [:])
      context.refresh(object, mergeChanges: false)
      #expect(object.value(forKey: "link") as? URL == URL(string: "https://example.org/ä?x=1#y"))
    }
  }

  /// A derived value exists only after the save, so an object with a mandatory one can never be saved, as on Apple's
  /// platforms.
  @Test func mandatoryDerivedAttributesCannotBeInserted() throws {
    let derived = NSDerivedAttributeDescription()
    (derived.name, derived.type, derived.isOptional) = ("folded", .string, false)
    derived.derivationExpression = NSExpression(format: "canonical:(title)")
    let model = Describing.model([Describing.entity("A", [Describing.attribute("title"), derived])])
    let context = try Describing.context(model)
    try context.performAndWait { () throws in
      insert("A", context).setValue("T", forKey: "title")
      #expect(try errors(context) == ["folded": 1570])
    }
  }
}
