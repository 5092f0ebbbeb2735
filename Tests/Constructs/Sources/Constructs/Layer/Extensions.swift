import CoreData

class Animal: NSManagedObject {
  @NSManaged var name: String?
  @NSManaged var age: Int16
  var log: [String] = []
  @objc dynamic var sound: String { "..." }
  @objc dynamic var legs: Int {
    get { 4 }
    set { log.append("legs \(newValue)") }
  }
  @objc dynamic class var kingdom: String { "animals" }
  @objc dynamic class func describe() -> String { "an animal" }
  @objc dynamic func move(_ steps: Int, to home: String) -> String { "moves \(steps) to \(home)" }
  @objc dynamic func greet(_ other: String = "you") -> String { "greets \(other)" }
  @objc dynamic func feed() throws -> String { "hay" }
  @discardableResult @objc dynamic func call() -> String { "called" }
}

class Dog: Animal {
  /// Overridden in the class, and in the extension of a subclass.
  override var sound: String { "bark" }
}

final class Puppy: Dog {
  enum Toy {
    final class Ball: NSObject {}
  }
}

enum Zoo {
  class Lion: Animal {}
}

typealias Beast = Zoo.Lion

extension Animal {
  override func awakeFromInsert() {
    super.awakeFromInsert()
    log.append("insert")
    note("animal")
  }
  override func prepareForDeletion() {
    super.prepareForDeletion()
    log.append("delete")
  }
  override func willSave() {
    super.willSave()
    if !log.contains("save") { log.append("save") }
  }
  private func note(_ text: String) { log.append("private " + text) }

  // Subclasses override these.
  @objc func speak() -> String { "animal" }
  @objc var color: String { "grey" }
  @objc var size: Int {
    get { 1 }
    set { log.append("size \(newValue)") }
  }
  @objc class func family() -> String { "animals" }
  @objc func take(_ food: String, at hour: Int = 12) -> String { "\(food) at \(hour)" }
  @objc func attempt() throws { throw CocoaError(.featureUnsupported) }
  @NSManaged var owner: String?
  /// No subclass overrides it.
  @objc func rest() -> String { "rests" }
}

@objc extension Animal {
  func wake() -> String { "wakes" }
}

extension Dog {
  override class var kingdom: String { "dogs in " + super.kingdom }
  override class func describe() -> String { "a dog" }
  override var legs: Int {
    get { super.legs - 1 }
    set {
      log.append("dog")
      super.legs = newValue
    }
  }
  override func move(_ steps: Int, to home: String) -> String { "runs, " + super.move(steps * 2, to: home) }
  override func greet(_ other: String = defaultName) -> String { "licks \(other)" }
  override func feed() throws -> String { try super.feed() + " and meat" }
  @discardableResult
  override func call() -> String {
    log.append("come")
    return "comes"
  }
  override func wake() -> String { "dog " + super.wake() }
  override func speak() -> String { "dog, " + super.speak() }
  override var color: String { "brown" }
}

private let defaultName = "everybody"

extension Puppy {
  override var sound: String { "yip, " + super.sound }
  override func speak() -> String { "puppy, " + super.speak() }
  override class func family() -> String { "puppies of " + super.family() }
}

extension Zoo.Lion {
  override func move(_ steps: Int, to home: String) -> String { "jumps" }
}

extension Beast {
  override func greet(_ other: String) -> String { "eats \(other)" }
}

extension Constructs.Animal {
  @objc func qualified() -> String { "qualified" }
}

final class Cat: Animal {
  override var size: Int {
    get { super.size + 1 }
    set { super.size = newValue * 10 }
  }
  override func take(_ food: String, at hour: Int) -> String { "never " + super.take(food, at: hour) }
  override func attempt() throws {}
  override var owner: String? {
    get { primitiveValue(forKey: "owner") as? String ?? "nobody" }
    set { setPrimitiveValue(newValue, forKey: "owner") }
  }
  override func qualified() -> String { "cat" }
}

public class Shown: NSManagedObject {
  @objc public dynamic func show() -> String { "shown" }
}
public class ShownMore: Shown {}
public extension ShownMore {
  override func show() -> String { "more " + super.show() }
}

final class Plainly: NSObject {
  let value: Int
  init(_ value: Int) { self.value = value }
}
extension Plainly {
  override var description: String { "Plainly \(value)" }
  override func isEqual(_ object: Any?) -> Bool { (object as? Plainly)?.value == value }
  override var hash: Int { value }
}

extension Animal {
  @objc func validateAge(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws {
    if (value.pointee as? NSNumber)?.intValue == 99 { throw CocoaError(.validationNumberTooLarge) }
    if (value.pointee as? NSNumber)?.intValue == 98 { value.pointee = NSNumber(value: 97) }
  }
  override func validateForUpdate() throws {
    try super.validateForUpdate()
    if name == "invalid" { throw CocoaError(.validationStringPatternMatching) }
  }
}

protocol Countable: NSFetchRequestResult {}
extension Countable where Self: NSManagedObject {
  static func count(in context: NSManagedObjectContext) throws -> Int {
    try context.count(for: NSFetchRequest<Self>(entityName: String(describing: Self.self)))
  }
}
extension Animal: Countable {}
extension Animal: Identifiable {}
