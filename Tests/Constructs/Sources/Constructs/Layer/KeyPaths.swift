import CoreData

@objc(ConstructsPlant) class Plant: NSManagedObject {
  @NSManaged var name: String?
  @NSManaged var height: Double
  @NSManaged var garden: Garden?
  @objc(latinName) @NSManaged var scientific: String?
  @NSManaged var `case`: String?
  @NSManaged private var secret: String?
  @objc var shout: String { name?.uppercased() ?? "" }
  @objc var details = Details()
  static let secretKey = #keyPath(Plant.secret)
  static let nameKey = #keyPath(name)
  let heightKey = #keyPath(height)
  func ownKey() -> String { #keyPath(garden.name) }
  static func sort(by key: String = #keyPath(Plant.name)) -> String { key }
}

final class Shrub: Plant {
  static let inherited = #keyPath(Shrub.name)
}

@objc(ConstructsGarden) final class Garden: NSManagedObject {
  @NSManaged var name: String?
  @NSManaged var plants: Set<Plant>
  @NSManaged var beds: NSSet?
  @NSManaged var shrubs: NSOrderedSet?
  @NSManaged var owner: Gardener?
  enum Keys {
    static let owner = #keyPath(Garden.owner)
  }
}

enum Club {
  @objc(ConstructsGardener) final class Member: NSManagedObject {
    @NSManaged var name: String?
    @NSManaged var gardens: Set<Garden>?
  }
}
typealias Gardener = Club.Member

@objc(ConstructsDetails) final class Details: NSObject {
  @objc var color = "green"
  @objc var URL = "https://example.org"
  @objc var parts: [Details] = []
  @objc dynamic var count = 2
}

@MainActor @objc(ConstructsViewModel) final class ViewModel: NSObject {
  @objc var title = "title"
  @objc var details = Details()
  static let key = #keyPath(ViewModel.title)
  func longKey() -> String { #keyPath(details.color) }
}

private struct Key: ExpressibleByStringLiteral {
  let text: String
  init(stringLiteral value: String) { text = value }
}

private let topLevel = #keyPath(Plant.name)
private let literal: StaticString = #keyPath(Plant.name)

private var entities: [NSEntityDescription] {
  let names = texts("name", "latinName", "case", "secret")
  let plant = entity(Plant.self, names + [attribute("height", .doubleAttributeType, 0)])
  let garden = entity(Garden.self, texts("name"))
  let member = entity(Club.Member.self, texts("name"))
  let shrub = entity(Shrub.self, [])
  plant.subentities = [shrub]
  relate(plant, "garden", .one, garden, "plants", .many)
  relate(garden, "beds", .many, garden, "bedOf", .one)
  relate(garden, "shrubs", .ordered, plant, "shrubOf", .one)
  relate(garden, "owner", .one, member, "gardens", .many)
  return [plant, garden, member, shrub]
}

/// A plant in a garden.
private func planted() -> Plant {
  let context = World.context()
  let plant = Plant(context: context)
  plant.name = "Rose"
  plant.garden = Garden(context: context)
  plant.garden?.name = "Kew"
  return plant
}

func keyPathConstructs() {
  World.add(entities)
  plainKeyPaths()
  longKeyPaths()
  usedKeyPaths()
}

private func plainKeyPaths() {
  construct(.keyPaths, "an attribute") { expect(#keyPath(Plant.name), is: "name") }
  construct(.keyPaths, "a relationship") { expect(#keyPath(Plant.garden), is: "garden") }
  construct(.keyPaths, "a property with a name in Objective-C") {
    expect(#keyPath(Plant.scientific), is: "latinName")
  }
  construct(.keyPaths, "a property with the name of a keyword") { expect(#keyPath(Plant.case), is: "case") }
  construct(.keyPaths, "a property that begins in upper case") { expect(#keyPath(Details.URL), is: "URL") }
  construct(.keyPaths, "a private property, in its class") { expect(Plant.secretKey, is: "secret") }
  construct(.keyPaths, "a computed property") { expect(#keyPath(Plant.shout), is: "shout") }
  construct(.keyPaths, "a property without its class, in a constant of the class") {
    expect(Plant.nameKey, is: "name")
  }
  construct(.keyPaths, "a property without its class, in a constant of the object") {
    expect(planted().heightKey, is: "height")
  }
  construct(.keyPaths, "a path without its class, in a function") { expect(planted().ownKey(), is: "garden.name") }
  construct(.keyPaths, "a default argument") { expect(Plant.sort(), is: "name") }
  construct(.keyPaths, "a property of a superclass") {
    expect(Shrub.inherited, is: "name")
    expect(#keyPath(Shrub.garden.name), is: "garden.name")
  }
  construct(.keyPaths, "a property of a class of Core Data") {
    expect(#keyPath(NSManagedObject.objectID), is: "objectID")
    expect(#keyPath(NSManagedObjectContext.name), is: "name")
  }
  construct(.keyPaths, "in an enumeration of the class") { expect(Garden.Keys.owner, is: "owner") }
  construct(.keyPaths, "outside of a type") { expect(topLevel, is: "name") }
  construct(.keyPaths, "a class that is not managed") { expect(#keyPath(Details.color), is: "color") }
  construct(.keyPaths, "a property of the main actor") {
    let keys = MainActor.assumeIsolated { ViewModel.key + " " + ViewModel().longKey() }
    expect(keys, is: "title details.color")
  }
  construct(.keyPaths, "a text that is known when it is compiled") { expect("\(literal)", is: "name") }
  construct(.keyPaths, "a literal of another type, and an optional one") {
    let key: Key = #keyPath(Plant.garden.name)
    let text: String? = #keyPath(Plant.name)
    expect(key.text, is: "garden.name")
    expect(text, is: "name")
  }
}

private func longKeyPaths() {
  construct(.keyPaths, "a property of a to-one relationship") {
    expect(#keyPath(Plant.garden.name), is: "garden.name")
    expect(planted().value(forKeyPath: #keyPath(Plant.garden.name)) as? String, is: "Kew")
  }
  construct(.keyPaths, "over two relationships and a typealias") {
    expect(#keyPath(Plant.garden.owner.name), is: "garden.owner.name")
  }
  construct(.keyPaths, "through a Set") { expect(#keyPath(Garden.plants.height), is: "plants.height") }
  construct(.keyPaths, "through an optional Set") { expect(#keyPath(Club.Member.gardens.name), is: "gardens.name") }
  construct(.keyPaths, "a nested class by its names") { expect(#keyPath(Club.Member.name), is: "name") }
  construct(.keyPaths, "through a typealias") { expect(#keyPath(Gardener.gardens.plants), is: "gardens.plants") }
  construct(.keyPaths, "through an array") { expect(#keyPath(Details.parts.color), is: "parts.color") }
  construct(.keyPaths, "through an object of another class") {
    expect(planted().value(forKey: #keyPath(Plant.details)) as? Details != nil)
  }
}

private func usedKeyPaths() {
  construct(.keyPaths, "in a predicate") {
    let plant = planted()
    let request = NSFetchRequest<Plant>(entityName: "Plant")
    request.predicate = NSPredicate(format: "%K == %@", #keyPath(Plant.garden.name), "Kew")
    expect(try plant.managedObjectContext?.count(for: request), is: 1)
    request.predicate = NSPredicate(format: "\(#keyPath(Plant.name)) == %@", "Tulip")
    expect(try plant.managedObjectContext?.count(for: request), is: 0)
  }
  construct(.keyPaths, "in a raw string with interpolation") {
    expect(#"$source.\#(#keyPath(Plant.name)) + "\(x)""#, is: "$source.name + \"\\(x)\"")
  }
  construct(.keyPaths, "in a dictionary literal and an array literal") {
    let values = [#keyPath(Plant.name): "a", #keyPath(Plant.case): "b"]
    expect(values["case"], is: "b")
    expect([#keyPath(Plant.name), #keyPath(Plant.height)].joined(), is: "nameheight")
  }
  construct(.keyPaths, "in a sort descriptor") {
    expect(NSSortDescriptor(key: #keyPath(Plant.height), ascending: true).key, is: "height")
  }
  construct(.keyPaths, "in an expression") {
    expect(NSExpression(forKeyPath: #keyPath(Plant.garden.name)).keyPath, is: "garden.name")
  }
  construct(.keyPaths, "on several lines, with comments") {
    // swift-format-ignore
    let path = #keyPath(
      Plant.garden.name  // of the garden
    )
    // swift-format-ignore
    expect(#keyPath( /* a name */ Plant . name ), is: "name")
    expect(path, is: "garden.name")
  }
  construct(.keyPaths, "followed by a member") {
    expect(#keyPath(Plant.garden.name).split(separator: ".").count, is: 2)
  }
  construct(.keyPaths, "in a switch") {
    switch "height" {
    case #keyPath(Plant.name): expect(false)
    case #keyPath(Plant.height): expect(true)
    default: expect(false)
    }
  }
}
