// swift-format-ignore-file
import CoreData

// Branches for other versions of the language are not read by the compiler. They need not be Swift.

final class Unreadable: NSManagedObject {
  #if compiler(<5)
    this is not read } } }
  #endif
  @NSManaged var text: String?
  func values() -> [String] {
    #if swift(<4)
      return [ } "#if"
    #else
      return ["#else", #keyPath(Unreadable.text)]
    #endif
  }
}

#if swift(<4)
  @objc class Broken: NSManagedObject {
    @NSManaged var
    #selector(
#endif

func unreadableConditions() {
  construct(.conditions, "a branch that is no Swift, in a class") { try works(\Unreadable.text, "text", "a") }
  construct(.conditions, "a branch that is no Swift, in a function") {
    expect(World.make(Unreadable.self).values(), is: ["#else", "text"])
  }
  construct(.conditions, "a class that is never compiled and breaks off") {
    expect(NSClassFromString("Constructs.Broken") == nil)
  }
}
