import CoreData

@NSManaged var outside: Int16  // finding: @NSManaged is for members of a class

struct Value {
  @NSManaged var number: Int16  // finding: @NSManaged is for classes, and Value is none
}

final class Shelf: NSManagedObject {
  @NSManaged var untyped  // finding: the type of this @NSManaged property could not be read
  @NSManaged func sortBooks(_ books: NSSet)  // finding: Core Data has no accessor sortBooks:
}

@objc protocol Decorated {
  @objc optional func decorate()  // finding: write decorate as a requirement
}

@MainActor final class Window: NSManagedObject {
  @objc var title: String { "title" }  // finding: add .accessor("title", \Window.title) to the keyValueMethods
}
