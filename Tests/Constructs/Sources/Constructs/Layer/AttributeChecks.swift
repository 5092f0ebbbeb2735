import CoreData

func attributeConstructs() {
  let attributed = entity(
    Attributed.self, texts("title") + [attribute("isDone", .booleanAttributeType, false)])
  World.add([
    entity(Named.self, texts("title")), entity(Unnamed.self, texts("title")), entity(AllMembers.self, texts("title")),
    entity(InheritingMembers.self, texts("title")), entity(PublicMembers.self, []), attributed,
    entity(Numbering.self, texts("title")), entity(Modelled.self, []), entity(DerivedModelled.self, []),
    entity(OwnInitializer.self, texts("title")),
  ])
  classAttributes()
  memberAttributes()
  spelledAttributes()
  protocolAttributes()
}

private func titled() -> Attributed {
  let object = World.make(Attributed.self)
  object.title = "Ada"
  return object
}

private func classAttributes() {
  construct(.attributes, "objc with a name on a class") {
    let object = World.make(Named.self)
    object.title = "x"
    expect(object.title, is: "x")
    expect(object.entity.name, is: "Named")
  }
  construct(.attributes, "objc without a name on a class") {
    let object: NSManagedObject = World.make(Unnamed.self)
    expect(object is Unnamed)
  }
  construct(.attributes, "objcMembers shows computed properties to key-value coding") {
    let object = World.make(AllMembers.self)
    expect(object.value(forKey: "label") as? String, is: "label of nobody")
  }
  construct(.attributes, "objcMembers shows constants to key-value coding") {
    expect(World.make(AllMembers.self).value(forKey: "constant") as? String, is: "constant")
  }
  construct(.attributes, "nonobjc on a property that Objective-C has no type for") {
    expect(World.make(AllMembers.self).pair.1, is: 2)
  }
  construct(.attributes, "nonobjc on a function of a class with objcMembers") {
    expect(World.make(AllMembers.self).sum((4, 5)), is: 9)
  }
  construct(.attributes, "a private member of a class with objcMembers is not shown") {
    expect(World.make(AllMembers.self).secretSum, is: 7)
  }
  construct(.attributes, "objcMembers is inherited") {
    let object = World.make(InheritingMembers.self)
    expect(object.value(forKey: "motto") as? String, is: "motto")
    expect(object.value(forKey: "label") as? String, is: "label of nobody")
  }
  construct(.attributes, "objcMembers on a public final class, on a line of its own") {
    expect(World.make(PublicMembers.self).value(forKey: "label") as? String, is: "public")
  }
  construct(.attributes, "objc on an extension") {
    expect(titled().value(forKey: "fromExtension") as? String, is: "extension")
    expect(titled().functionFromExtension(), is: 10)
  }
  construct(.attributes, "nonobjc on an extension") { expect(titled().pairFromExtension().0, is: 11) }
  construct(.attributes, "objc on a class that is not managed, with its initializers and deinit") {
    expect(NoObject().value, is: 14)
    expect(NoObject(value: 3).value, is: 3)
  }
}

private func memberAttributes() {
  construct(.attributes, "objc with a name on a managed property") {
    let object = titled()
    object.done = true
    expect(object.value(forKey: "isDone") as? Bool, is: true)
    object.setValue(false, forKey: "isDone")
    expect(object.done, is: false)
  }
  construct(.attributes, "objc on a computed property") {
    expect(titled().value(forKey: "heading") as? String, is: "# Ada")
  }
  construct(.attributes, "objc with a name on a computed property") {
    expect(titled().value(forKey: "shownTitle") as? String, is: "ADA")
  }
  construct(.attributes, "objc on a property that key-value coding sets") {
    let object = titled()
    object.setValue("Grace", forKey: "settable")
    expect(object.title, is: "Grace")
  }
  construct(.attributes, "objc dynamic on a stored property") {
    let object = titled()
    object.level += 1
    expect(object.level, is: 2)
    expect(object.value(forKey: "level") as? Int, is: 2)
  }
  construct(.attributes, "dynamic without objc") {
    let object = titled()
    object.depth *= 2
    expect(object.depth, is: 4)
  }
  construct(.attributes, "objc, dynamic, final and an access level") { expect(titled().both, is: 3) }
  construct(.attributes, "objc on a constant") {
    expect(titled().value(forKey: "kind") as? String, is: "attributed")
  }
  construct(.attributes, "objc on a lazy property") { expect(titled().tags.count, is: 2) }
  construct(.attributes, "objc on a weak property") {
    let (one, other) = (titled(), titled())
    one.partner = other
    expect(one.partner === other)
  }
  construct(.attributes, "NSCopying on a stored property") {
    let object = titled()
    let text = NSMutableString(string: "a")
    object.copied = text
    text.append("b")
    expect(object.copied as String, is: "a")
  }
  construct(.attributes, "objc on a function that key-value coding finds") {
    expect(titled().fullName(), is: "full Ada")
    expect(titled().value(forKey: "fullName") as? String, is: "full Ada")
  }
  construct(.attributes, "objc with a selector on a function") {
    let object = titled()
    object.rename("a", reason: "b")
    expect(object.title, is: "ab")
  }
  construct(.attributes, "objc on private and final functions") { expect(titled().visible(), is: 5) }
  construct(.attributes, "objc on class and static functions") {
    expect(Attributed.className2() + Attributed.staticName(), is: "classstatic")
  }
  construct(.attributes, "objc on class and static properties") {
    Attributed.counter += 1
    expect(Attributed.counter, is: 1)
    expect(Attributed.plural, is: "attributeds")
  }
  construct(.attributes, "objc on a subscript") { expect(titled()[3], is: "3") }
  construct(.attributes, "nonobjc on a class function that makes a fetch request") {
    let object = titled()
    let found = try object.managedObjectContext?.fetch(Attributed.fetchRequest())
    expect(found?.count, is: 1)
  }
}

private func spelledAttributes() {
  construct(.attributes, "objc behind and before discardableResult") {
    titled().touch()
    titled().poke()
    expect(titled().touch())
  }
  construct(.attributes, "objc on a line of its own") { expect(titled().onItsOwnLine(), is: 6) }
  construct(.attributes, "objc between other attributes on lines of their own") {
    expect(titled().underSeveral(), is: 7)
  }
  construct(.attributes, "objc with a name over several lines") {
    expect(titled().overLines(4, second: 5), is: 9)
  }
  construct(.attributes, "modifiers over several lines") { expect(titled().modifiersOverLines(), is: 9) }
  construct(.attributes, "objc on an overriding initializer that is private") {
    let object = OwnInitializer(in: World.context())
    expect(object.title, is: "made")
  }
  construct(.attributes, "objc on a convenience initializer in an extension of a fetch request") {
    let object = titled()
    let request = NSFetchRequest<Attributed>(entityClass: Attributed.self)
    expect(try object.managedObjectContext?.count(for: request), is: 1)
  }
}

private func protocolAttributes() {
  construct(.attributes, "objc on an enumeration") { expect(Size(rawValue: 2) == .large) }
  construct(.attributes, "objc with a name on an enumeration") { expect(Weight.allCases.count, is: 2) }
  construct(.attributes, "objc on a public enumeration") { expect(Plain.one.rawValue, is: 0) }
  construct(.attributes, "objc on a protocol") {
    let object = World.make(Named.self)
    let titled: any Titled = object
    titled.title = "through the protocol"
    expect(object.title, is: "through the protocol")
  }
  construct(.attributes, "objc with a name on a protocol of NSObjectProtocol") {
    let object: any Numbered = World.make(Numbering.self)
    expect(object.number(), is: 13)
  }
  construct(.attributes, "objc on a protocol that refines others") {
    let object: NSObject = World.make(Numbering.self)
    expect((object as? any Chained)?.number(), is: 13)
  }
  construct(.attributes, "what fulfils a requirement is shown to key-value coding") {
    expect(World.make(Numbering.self).value(forKey: "number") as? Int, is: 13)
  }
  construct(.attributes, "objc on a protocol with a static requirement") {
    let types: [any EntityNamed.Type] = [Modelled.self, DerivedModelled.self]
    expect(types.map { $0.entityName }, is: ["Modelled", "DerivedModelled"])
  }
}
