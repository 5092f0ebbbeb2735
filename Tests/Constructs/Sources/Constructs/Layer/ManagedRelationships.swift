import CoreData

class Person: NSManagedObject {
  @NSManaged var name: String?
  @NSManaged var employer: Company?
  @NSManaged var boss: Person
  @NSManaged var staff: Set<Person>
  // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
  @NSManaged var mentor: Person!
  @NSManaged var pupils: NSSet?
  @NSManaged var anyFriend: NSManagedObject?
  @NSManaged var friendOf: Set<NSManagedObject>
  @NSManaged var anyBoss: NSManagedObject
  @NSManaged var anyStaff: NSSet?
  @NSManaged var qualified: CoreData.NSManagedObject?
  @NSManaged var qualifiedOf: NSSet
  @NSManaged var badge: (any Badge)?
  @NSManaged var home: Map.Address?
}

final class Company: NSManagedObject, Badge {
  @NSManaged var name: String?
  @NSManaged var people: Set<Person>?
  @NSManaged var badgeOf: NSMutableSet
  @NSManaged var ordered: NSOrderedSet?
  @NSManaged var orderedOf: Company?
  @NSManaged var mutable: NSMutableOrderedSet
  @NSManaged var mutableOf: Company?
  @NSManaged var anyObjects: Set<NSManagedObject>?
  @NSManaged var anyObjectsOf: NSOrderedSet
  @NSManaged var named: [Person]?
  @NSManaged var requiredNamed: [Person]
  @NSManaged var namedArray: NSArray?
}

@objc protocol Badge: NSObjectProtocol {
  var name: String? { get set }
}

enum Map {
  final class Address: NSManagedObject {
    @NSManaged var street: String?
    @NSManaged var residents: Set<Person>
  }
}

class Noted<Value>: NSManagedObject {
  @NSManaged var note: String?
  var memory: Value?
}
final class Remark: Noted<Int> {
  @NSManaged var text: String?
}

private func named(_ name: String, of company: NSEntityDescription, _ person: NSEntityDescription)
  -> NSFetchedPropertyDescription
{
  let property = NSFetchedPropertyDescription()
  property.name = name
  let request = NSFetchRequest<NSFetchRequestResult>()
  request.entity = person
  request.predicate = NSPredicate(format: "name == %@", "Ada")
  property.fetchRequest = request
  return property
}

private var entities: [NSEntityDescription] {
  let person = entity(Person.self, texts("name"))
  let company = entity(Company.self, texts("name"))
  let address = entity(Map.Address.self, texts("street"))
  relate(person, "employer", .one, company, "people", .many)
  relate(person, "boss", .one, person, "staff", .many)
  relate(person, "mentor", .one, person, "pupils", .many)
  relate(person, "anyFriend", .one, person, "friendOf", .many)
  relate(person, "anyBoss", .one, person, "anyStaff", .many)
  relate(person, "qualified", .one, person, "qualifiedOf", .many)
  relate(person, "badge", .one, company, "badgeOf", .many)
  relate(person, "home", .one, address, "residents", .many)
  relate(company, "ordered", .ordered, company, "orderedOf", .one)
  relate(company, "mutable", .ordered, company, "mutableOf", .one)
  relate(company, "anyObjects", .many, company, "anyObjectsOf", .ordered)
  company.properties += ["named", "requiredNamed", "namedArray"].map { named($0, of: company, person) }
  return [person, company, address, entity(Remark.self, texts("note", "text"))]
}

private func people() -> (Person, Person, Company) {
  let context = World.context()
  return (Person(context: context), Person(context: context), Company(context: context))
}

func relationshipTypeConstructs() {
  World.add(entities)
  toOneTypes()
  toManyTypes()
  orderedTypes()
}

private func toOneTypes() {
  construct(.managedTypes, "a class for a to-one relationship, optional") {
    let (one, _, company) = people()
    one.employer = company
    expect(company.people == [one])
    one.employer = nil
    expect(company.people?.isEmpty == true)
  }
  construct(.managedTypes, "a class for a to-one relationship, required") {
    let (one, other, _) = people()
    one.boss = other
    expect(one.boss === other)
    expect(other.staff == [one])
  }
  construct(.managedTypes, "a class for a to-one relationship, unwrapped") {
    let (one, other, _) = people()
    expect(one.mentor == nil)
    one.mentor = other
    expect(one.mentor === other)
  }
  construct(.managedTypes, "NSManagedObject?") {
    let (one, other, _) = people()
    one.anyFriend = other
    expect(one.anyFriend === other)
    expect(other.friendOf.contains(one))
  }
  construct(.managedTypes, "NSManagedObject") {
    let (one, other, _) = people()
    one.anyBoss = other
    expect(one.anyBoss === other)
    expect(other.anyStaff?.contains(one) == true)
  }
  construct(.managedTypes, "CoreData.NSManagedObject?") {
    let (one, other, _) = people()
    one.qualified = other
    expect(one.qualified === other)
    expect(other.qualifiedOf.contains(one))
  }
  construct(.managedTypes, "a protocol for a to-one relationship") {
    let (one, _, company) = people()
    company.name = "Analytical Engines"
    one.badge = company
    expect(one.badge?.name, is: "Analytical Engines")
    one.badge = nil
    expect(one.badge == nil)
  }
  construct(.managedTypes, "a nested class of managed objects") {
    let context = World.context()
    let (person, address) = (Person(context: context), Map.Address(context: context))
    person.home = address
    address.street = "Main Street"
    expect(person.home?.street, is: "Main Street")
    expect(address.residents == [person])
  }
  construct(.managedTypes, "a property of a generic superclass") {
    let remark = World.make(Remark.self)
    remark.note = "noted"
    remark.text = "text"
    remark.memory = 3
    expect(remark.value(forKey: "note") as? String, is: "noted")
    expect(remark.text, is: "text")
  }
}

private func toManyTypes() {
  construct(.managedTypes, "Set of a class") {
    let (one, other, _) = people()
    one.staff.insert(other)
    expect(other.boss === one)
    one.staff.remove(other)
    expect(one.staff.isEmpty)
  }
  construct(.managedTypes, "Set of a class, optional") {
    let (one, other, company) = people()
    company.people = [one, other]
    expect(one.employer === company)
    company.people?.remove(one)
    expect(one.employer == nil)
  }
  construct(.managedTypes, "Set of NSManagedObject") {
    let (_, _, company) = people()
    company.anyObjects = [company]
    expect(company.anyObjectsOf.count, is: 1)
  }
  construct(.managedTypes, "NSSet?") {
    let (one, other, _) = people()
    one.pupils = NSSet(object: other)
    expect(other.mentor === one)
    expect((one.pupils?.anyObject() as? Person) === other)
    one.pupils = NSSet()
    expect(one.pupils?.count, is: 0)
  }
  construct(.managedTypes, "NSSet") {
    let (one, other, _) = people()
    one.qualifiedOf = NSSet(array: [one, other])
    expect(other.qualified === one)
  }
  construct(.managedTypes, "NSMutableSet") {
    let (one, _, company) = people()
    company.badgeOf = NSMutableSet(object: one)
    expect(one.badge === company)
    expect(company.badgeOf.count, is: 1)
  }
  construct(.managedTypes, "the value of a relationship as a set that can be changed") {
    let (one, other, company) = people()
    (company.value(forKey: "badgeOf") as? NSMutableSet)?.add(one)
    expect(company.badgeOf.count, is: 1)
    other.badge = company
    (other.value(forKeyPath: "badge.badgeOf") as! NSMutableSet).removeAllObjects()
    expect(company.badgeOf.count, is: 0)
  }
}

private func orderedTypes() {
  construct(.managedTypes, "NSOrderedSet?") {
    let (one, two) = (World.make(Company.self), World.context())
    let others = [Company(context: one.managedObjectContext ?? two), Company(context: one.managedObjectContext ?? two)]
    one.ordered = NSOrderedSet(array: others)
    expect((one.ordered?.lastObject as? Company) === others[1])
    expect(others[0].orderedOf === one)
  }
  construct(.managedTypes, "NSOrderedSet") {
    let (_, _, company) = people()
    company.anyObjectsOf = NSOrderedSet(object: company)
    expect(company.anyObjects?.count, is: 1)
  }
  construct(.managedTypes, "NSMutableOrderedSet") {
    let (_, _, company) = people()
    company.mutable = NSMutableOrderedSet(object: company)
    expect(company.mutableOf === company)
  }
  construct(.managedTypes, "an array for a fetched property") {
    let (one, _, company) = people()
    one.name = "Ada"
    try company.managedObjectContext?.save()
    expect(company.named?.count, is: 1)
    expect(company.named?.first === one)
  }
  construct(.managedTypes, "an array for a fetched property, not optional") {
    let (one, _, company) = people()
    one.name = "Ada"
    try company.managedObjectContext?.save()
    expect(company.requiredNamed, is: [one])
  }
  construct(.managedTypes, "NSArray? for a fetched property") {
    let (one, _, company) = people()
    one.name = "Ada"
    try company.managedObjectContext?.save()
    expect(company.namedArray?.count, is: 1)
  }
}
