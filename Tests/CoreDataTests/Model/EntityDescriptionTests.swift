import Foundation
import StoreSchema
import TestSupport
import Testing

@testable import CoreData

/// Entities: features 2.1 to 2.9.
@Suite struct EntityDescriptionTests {
  private func family() -> (root: NSEntityDescription, middle: NSEntityDescription, leaf: NSEntityDescription) {
    let root = Describing.entity("Root", [Describing.attribute("a")])
    let middle = Describing.entity("Middle", [Describing.attribute("b")])
    let leaf = Describing.entity("Leaf", [Describing.attribute("c")])
    root.subentities = [middle]
    middle.subentities = [leaf]
    return (root, middle, leaf)
  }

  /// What Objective-C reads of no object. A client library asks it for uniqueness constraints.
  @Test func aPropertyOfNoEntityNamesAnEmptyOne() {
    let attribute = NSAttributeDescription()
    #expect(attribute.entity.name == nil && attribute.entity.properties.isEmpty)
    #expect(attribute.entity.uniquenessConstraints.isEmpty)
    let entity = NSEntityDescription()
    entity.properties = [attribute]
    #expect(attribute.entity === entity)
  }

  @Test func aNewEntityHasAppleDefaults() {
    let entity = Describing.entity("A")
    #expect(entity.managedObjectClassName == "NSManagedObject" && !entity.isAbstract)
    #expect(entity.renamingIdentifier == "A" && entity.versionHashModifier == nil && entity.userInfo?.isEmpty == true)
    #expect(entity.superentity == nil && entity.subentities.isEmpty && entity.uniquenessConstraints.isEmpty)
    entity.renamingIdentifier = "Old"
    #expect(entity.renamingIdentifier == "Old")
  }

  @Test func propertiesAreInheritedByName() {
    let (root, middle, leaf) = family()
    #expect(Set(leaf.propertiesByName.keys) == ["a", "b", "c"] && Set(leaf.attributesByName.keys) == ["a", "b", "c"])
    #expect(leaf.properties.map(\.name) == ["a", "b", "c"] && root.properties.map(\.name) == ["a"])
    #expect(leaf.propertiesByName["a"]?.entity === root)
    leaf.properties += [Describing.attribute("d")]
    #expect(leaf.properties.map(\.name) == ["a", "b", "c", "d"] && middle.properties.count == 2)
    root.properties[0].name = "renamed"
    #expect(leaf.propertiesByName["renamed"] != nil && leaf.propertiesByName["a"] == nil)
  }

  @Test func settingSubentitiesSetsTheParent() {
    let (root, middle, leaf) = family()
    #expect(leaf.superentity === middle && root.subentitiesByName["Middle"] === middle)
    #expect(leaf.isKindOf(entity: root) && leaf.isKindOf(entity: leaf) && !root.isKindOf(entity: leaf))
    middle.subentities = []
    #expect(leaf.superentity == nil && leaf.properties.map(\.name) == ["c"])
  }

  @Test func anEntityHasOneParent() {
    let (root, middle, leaf) = family()
    root.subentities = [middle, leaf]
    #expect(leaf.superentity === root && middle.subentities.isEmpty)
  }

  @Test func aCycleOfParentsIsRefused() async {
    await #expect(processExitsWith: .failure) {
      let (a, b) = (Describing.entity("A"), Describing.entity("B"))
      a.subentities = [b]
      b.subentities = [a]
    }
  }

  @Test func anAbstractEntityHasNoObjectsOfItsOwn() async throws {
    let (root, middle, leaf) = family()
    root.isAbstract = true
    let context = try Describing.context(Describing.model([root, middle, leaf]))
    try context.performAndWait {
      NSEntityDescription.insertNewObject(forEntityName: "Leaf", into: context)
      NSEntityDescription.insertNewObject(forEntityName: "Middle", into: context)
      try context.save()
      let request = NSFetchRequest<NSManagedObject>(entityName: "Root")
      #expect(Set(try context.fetch(request).map(\.entity.name)) == ["Leaf", "Middle"])
      request.includesSubentities = false
      #expect(try context.count(for: request) == 0)
    }
    await #expect(processExitsWith: .failure) {
      let entity = Describing.entity("A")
      entity.isAbstract = true
      let context = try Describing.context(Describing.model([entity]))
      context.performAndWait { _ = NSEntityDescription.insertNewObject(forEntityName: "A", into: context) }
    }
  }

  @Test func relationshipsAreFoundByTheirExactDestination() {
    let (root, middle, _) = family()
    let other = Describing.entity("Other")
    Describing.relate(other, "root", toMany: false, root, "others", toManyBack: true)
    Describing.relate(other, "middle", toMany: false, middle, "ones", toManyBack: true)
    #expect(other.relationships(forDestination: root).map(\.name) == ["root"])
    #expect(other.relationships(forDestination: middle).map(\.name) == ["middle"])
    #expect(Set(middle.relationshipsByName.keys) == ["others", "ones"])
  }

  @Test func entitiesAreFoundThroughTheContext() async throws {
    let context = try Describing.context(Describing.library())
    #expect(NSEntityDescription.entity(forEntityName: "Book", in: context)?.name == "Book")
    #expect(NSEntityDescription.entity(forEntityName: "None", in: context) == nil)
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let context = try Describing.context(Describing.library())
      context.performAndWait { _ = NSEntityDescription.insertNewObject(forEntityName: "None", into: context) }
    }
    let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(text.contains("no entity named 'None'") && text.contains("Author, Book, Comic"))
  }

  @Test func constraintsTakeNamesAndDescriptions() throws {
    let attribute = Describing.attribute("x")
    let (parent, child) = (
      Describing.entity("P", [attribute, Describing.attribute("y")]),
      Describing.entity("C", [Describing.attribute("z")])
    )
    parent.subentities = [child]
    parent.uniquenessConstraints = [[attribute]]
    child.uniquenessConstraints = [["y", "z"]]
    let model = Describing.model([parent, child])
    let context = try Describing.context(model)
    try context.performAndWait {
      for (entity, x, y) in [("P", "1", "1"), ("C", "1", "2")] {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        object.setValuesForKeys(["x": x, "y": y])
      }
      let error = #expect(throws: CocoaError.self) { try context.save() }
      #expect(error?.code == .managedObjectConstraintMerge)
      // Nil values never count as equal.
      for object in context.insertedObjects { object.setValue(nil, forKey: "x") }
      try context.save()
    }
  }

  @Test func theHashIsOfWhatStoresKeep() throws {
    func hash(_ change: (NSEntityDescription) -> Void) -> Data {
      let entity = Describing.entity("A", [Describing.attribute("x"), Describing.attribute("y", .date)])
      change(entity)
      return entity.versionHash
    }
    let plain = hash { _ in }
    #expect(plain.count == 32)
    let neutral: [(NSEntityDescription) -> Void] = [
      { $0.userInfo = ["a": 1] }, { $0.managedObjectClassName = "X" }, { $0.renamingIdentifier = "B" },
      { $0.attributesByName["x"]?.defaultValue = "d" }, { $0.attributesByName["x"]?.renamingIdentifier = "z" },
      { $0.attributesByName["x"]?.setValidationPredicates([NSPredicate(value: true)], withValidationWarnings: ["w"]) },
      { $0.properties += [Describing.fetched("f", "A", nil)] }, { $0.coreSpotlightDisplayNameExpression = nil },
      {
        let element = NSFetchIndexElementDescription(property: $0.properties[0], collationType: .binary)
        $0.indexes = [NSFetchIndexDescription(name: "i", elements: [element])]
      },
      {
        let transient = Describing.attribute("t")
        transient.isTransient = true
        $0.properties += [transient]
      },
    ]
    for change in neutral { #expect(hash(change) == plain) }
    let changes: [(NSEntityDescription) -> Void] = [
      { $0.name = "B" }, { $0.isAbstract = true }, { $0.versionHashModifier = "2" },
      { $0.uniquenessConstraints = [["x"]] }, { $0.attributesByName["x"]?.isOptional = false },
      { $0.attributesByName["x"]?.type = .uri }, { $0.attributesByName["x"]?.versionHashModifier = "2" },
      { $0.attributesByName["x"]?.preservesValueInHistoryOnDeletion = true },
      { $0.properties += [Describing.attribute("z")] },
    ]
    #expect(Set(changes.map(hash) + [plain]).count == changes.count + 1)
  }

  @Test func aCopyStandsAlone() throws {
    let model = Describing.library()
    _ = try model.freeze()
    let book = try #require(model.entitiesByName["Book"])
    let copy = try #require(book.copy() as? NSEntityDescription)
    copy.name = "Volume"
    copy.properties[0].isOptional = false
    #expect(book.name == "Book" && book.properties[0].isOptional && copy.managedObjectModelIfAny == nil)
    #expect(copy.userInfo?["note"] as? String == "x" && copy.uniquenessConstraints.count == 1)
    #expect(copy.indexes.first?.entity === copy && copy.properties.allSatisfy { $0.entity === copy })
  }

  @Test func entitiesAreEqualWhenTheySayTheSame() throws {
    let (one, two) = (Describing.library(), Describing.library())
    let (a, b) = (try #require(one.entitiesByName["Book"]), try #require(two.entitiesByName["Book"]))
    #expect(a == b && a.hash == b.hash && a !== b && Set([a, b]).count == 1)
    b.attributesByName["title"]?.defaultValue = "x"
    #expect(a != b && a != one.entitiesByName["Author"])
  }

  @Test func theOldIndexesBecomeFetchIndexes() throws {
    let entity = Describing.entity("A", [Describing.attribute("x"), Describing.attribute("y")])
    entity.compoundIndexes = [["x", "y"]]
    entity.attributesByName["x"]?.isIndexed = true
    #expect(entity.definition().fetchIndexes.map { $0.elements.map(\.property) } == [["x"], ["x", "y"]])
  }
}
