import CoreData

/// Overrides in another file than the class.
extension Cat {
  private var suffix: String { " of a cat" }
  override var sound: String { "meow" + suffix }
  override func willTurnIntoFault() {
    super.willTurnIntoFault()
    Cat.faults += 1
  }
  nonisolated(unsafe) static var faults = 0
}

extension Zoo.Lion {
  override var color: String { "yellow" }
  override func rest() -> String { "lion " + super.rest() }
}

extension Puppy.Toy.Ball {
  override var description: String { "ball" }
}

private func animal<Object: NSManagedObject>(_ type: Object.Type) -> Object { World.make(type) }

func extensionConstructs() {
  let attributes = { texts("name", "owner") + [attribute("age", .integer16AttributeType, 0)] }
  World.add([
    entity(Animal.self, attributes()), entity(Dog.self, attributes()), entity(Puppy.self, attributes()),
    entity(Zoo.Lion.self, attributes()), entity(Cat.self, attributes()), entity(Shown.self, []),
    entity(ShownMore.self, []),
  ])
  overrides()
  overriddenExtensions()
  lifeOfObjects()
  otherExtensions()
}

private func overrides() {
  construct(.extensions, "an override of a variable") {
    expect(animal(Puppy.self).sound, is: "yip, bark")
    expect(animal(Dog.self).sound, is: "bark")
  }
  construct(.extensions, "an override of a variable that is set") {
    let dog = animal(Dog.self)
    dog.legs = dog.legs
    expect(dog.log.suffix(2), is: ["dog", "legs 3"])
  }
  construct(.extensions, "an override of a class variable") { expect(Puppy.kingdom, is: "dogs in animals") }
  construct(.extensions, "an override of a class function") { expect(Dog.describe(), is: "a dog") }
  construct(.extensions, "an override with labels that calls super") {
    expect(animal(Dog.self).move(2, to: "home"), is: "runs, moves 4 to home")
  }
  construct(.extensions, "an override with a default argument that is private") {
    expect(animal(Dog.self).greet(), is: "licks everybody")
  }
  construct(.extensions, "an override that throws") { expect(try animal(Dog.self).feed(), is: "hay and meat") }
  construct(.extensions, "an override with an attribute") {
    let dog = animal(Dog.self)
    dog.call()
    expect(dog.log.last, is: "come")
  }
  construct(.extensions, "an override in another file, with what is private there") {
    expect(animal(Cat.self).sound, is: "meow of a cat")
  }
  construct(.extensions, "an override in an extension of a nested class") {
    expect(animal(Zoo.Lion.self).move(1, to: "here"), is: "jumps")
  }
  construct(.extensions, "an override in an extension of a typealias") {
    expect(animal(Zoo.Lion.self).greet("you"), is: "eats you")
  }
  construct(.extensions, "an override in a public extension") {
    expect(animal(ShownMore.self).show(), is: "more shown")
  }
  construct(.extensions, "overrides in an extension of a class that is not managed") {
    expect(Plainly(3), is: Plainly(3))
    expect(Set([Plainly(1), Plainly(1)]).count, is: 1)
    expect("\(Plainly(2))", is: "Plainly 2")
  }
  construct(.extensions, "an override in an extension of a class in a nested enumeration") {
    expect("\(Puppy.Toy.Ball())", is: "ball")
  }
}

private func overriddenExtensions() {
  construct(.extensions, "an override of a function of an extension, in extensions") {
    expect(animal(Puppy.self).speak(), is: "puppy, dog, animal")
    expect(animal(Cat.self).speak(), is: "animal")
  }
  construct(.extensions, "an override of a variable of an extension, in extensions") {
    expect([animal(Dog.self), animal(Zoo.Lion.self), animal(Cat.self)].map(\.color), is: ["brown", "yellow", "grey"])
  }
  construct(.extensions, "an override of a variable of an extension that is set") {
    let cat = animal(Cat.self)
    cat.size = 3
    expect(cat.size, is: 2)
    expect(cat.log.last, is: "size 30")
  }
  construct(.extensions, "an override of a class function of an extension") {
    expect(Puppy.family(), is: "puppies of animals")
  }
  construct(.extensions, "an override of a function of an extension with a default argument") {
    expect((animal(Cat.self) as Animal).take("fish"), is: "never fish at 12")
  }
  construct(.extensions, "an override of a throwing function of an extension") {
    try animal(Cat.self).attempt()
    do {
      try animal(Dog.self).attempt()
      expect(false)
    } catch {}
  }
  construct(.extensions, "an override of a managed property of an extension") {
    expect(animal(Cat.self).owner, is: "nobody")
    let dog = animal(Dog.self)
    dog.owner = "Ada"
    expect(dog.owner, is: "Ada")
  }
  construct(.extensions, "an override of a function of an extension with objc") {
    expect(animal(Dog.self).wake(), is: "dog wakes")
  }
  construct(.extensions, "an override of a function of an extension with the module's name") {
    expect(animal(Cat.self).qualified() + animal(Dog.self).qualified(), is: "catqualified")
  }
  construct(.extensions, "a function of an extension that an extension in another file overrides") {
    expect(animal(Zoo.Lion.self).rest(), is: "lion rests")
  }
}

private func lifeOfObjects() {
  construct(.extensions, "awakeFromInsert in an extension, with a private function") {
    expect(animal(Dog.self).log, is: ["insert", "private animal"])
  }
  construct(.extensions, "willSave and prepareForDeletion in an extension") {
    let dog = animal(Dog.self)
    try dog.managedObjectContext?.save()
    dog.managedObjectContext?.delete(dog)
    expect(dog.log.suffix(2), is: ["save", "delete"])
  }
  construct(.extensions, "willTurnIntoFault in an extension") {
    let cat = animal(Cat.self)
    try cat.managedObjectContext?.save()
    let before = Cat.faults
    cat.managedObjectContext?.refresh(cat, mergeChanges: false)
    expect(Cat.faults, is: before + 1)
  }
  construct(.extensions, "validation of a property in an extension") {
    let dog = animal(Dog.self)
    dog.age = 99
    do {
      try dog.managedObjectContext?.save()
      expect(false)
    } catch {}
    var value: AnyObject? = NSNumber(value: 98)
    try dog.validateValue(&value, forKey: "age")
    expect((value as? NSNumber)?.intValue, is: 97)
  }
  construct(.extensions, "validateForUpdate in an extension") {
    let dog = animal(Dog.self)
    dog.name = "invalid"
    try dog.managedObjectContext?.save()
    dog.age = 3
    do {
      try dog.managedObjectContext?.save()
      expect(false)
    } catch {}
  }
}

private func otherExtensions() {
  construct(.extensions, "a protocol extension for managed objects") {
    let dog = animal(Dog.self)
    guard let context = dog.managedObjectContext else { return expect(false) }
    expect(try Dog.count(in: context), is: 1)
  }
  construct(.extensions, "a conformance in an extension") {
    let dog = animal(Dog.self)
    expect(dog.id, is: ObjectIdentifier(dog))
  }
}
