import Testing

@testable import StoreSchema

@Suite struct SchemaTests {
  private func entity(_ name: String, parent: String? = nil, _ attributes: [String] = []) -> EntityDefinition {
    var result = EntityDefinition(name: name)
    result.superentity = parent
    result.attributes = attributes.map { AttributeDefinition(name: $0, type: .string) }
    return result
  }

  @Test func entitiesAreOrderedWithoutRegardToCaseAndParentsComeFirst() throws {
    let schema = try Schema([
      entity("NWActivity"), entity("NetworkItem"), entity("GraphicNovel", parent: "Book"), entity("Book"),
      entity("Feedback"),
    ])
    #expect(schema.entities.map(\.name) == ["Book", "GraphicNovel", "Feedback", "NetworkItem", "NWActivity"])
    #expect(schema.entities[0].subtree == 0..<2)
    #expect(schema.entities[1].root == 0)
  }

  @Test func slotsOfASubentityBeginWithItsParents() throws {
    let schema = try Schema([entity("A", ["x", "b"]), entity("B", parent: "A", ["a"])])
    #expect(schema.entities[0].attributes.map(\.name) == ["b", "x"])
    #expect(schema.entities[1].attributes.map(\.name) == ["b", "x", "a"])
    #expect(schema.entities[1].attributes.map(\.slot) == [0, 1, 2])
  }

  @Test func namesThatDifferOnlyByCaseAreRefused() {
    #expect(throws: SchemaError.self) { try Schema([entity("Item"), entity("ITEM")]) }
    #expect(throws: SchemaError.self) { try Schema([entity("Item", ["title", "Title"])]) }
    #expect(throws: SchemaError.self) {
      try Schema([entity("A"), entity("B", parent: "A", ["title"]), entity("C", parent: "A", ["TITLE"])])
    }
  }

  @Test func parentsInACycleAreRefused() {
    #expect(throws: SchemaError.self) { try Schema([entity("A", parent: "B"), entity("B", parent: "A")]) }
  }

  @Test func relationshipsNeedTheirDestinationAndInverse() {
    var owner = entity("Owner")
    owner.relationships = [RelationshipDefinition(name: "pet", destination: "Pet")]
    #expect(throws: SchemaError.self) { try Schema([owner]) }
    owner.relationships[0].inverse = "owner"
    #expect(throws: SchemaError.self) { try Schema([owner, entity("Pet")]) }
  }

  @Test func inheritedRelationshipsMayOnlyBeNarrowed() throws {
    func related(_ name: String, _ destination: String, _ inverse: String) -> RelationshipDefinition {
      var result = RelationshipDefinition(name: name, destination: destination)
      result.inverse = inverse
      return result
    }
    func schema(_ destination: String, redefiningInverse: Bool = false) throws -> Schema {
      var (owner, heir) = (entity("Owner"), entity("Heir", parent: "Owner"))
      var (pet, dog, animal) = (entity("Pet", parent: "Animal"), entity("Dog", parent: "Pet"), entity("Animal"))
      owner.relationships = [related("pet", "Pet", "owner")]
      heir.relationships = [related("pet", destination, "owner")]
      animal.relationships = [related("owner", "Owner", "pet")]
      pet.relationships = [related("owner", "Owner", "pet")]
      var plant = entity("Plant")
      plant.relationships = [related("owner", "Owner", "pet")]
      if redefiningInverse { dog.relationships = [related("owner", "Heir", "pet")] }
      return try Schema([owner, heir, pet, dog, animal, plant])
    }
    for destination in ["Pet", "Dog"] { #expect(try schema(destination).entities.count == 6) }
    #expect(try schema("Dog", redefiningInverse: true).entities.count == 6)
    for destination in ["Animal", "Plant"] {
      let error = #expect(throws: SchemaError.self) { try schema(destination) }
      #expect(error.map { "\($0)".contains("no subentity of Pet") } == true)
    }
  }
}

@Suite struct RowTests {
  @Test func valuesComeBackAsTheyWentIn() {
    let builder = RowBuilder()
    builder.begin(slots: 130)
    builder.setInt(0, .min)
    builder.setDouble(64, -0.0)
    builder.setString(65, "a\u{0}é")
    builder.setString(129, "")
    let row = builder.finish(key: 7, entity: 3, version: 2)
    #expect(row.key == 7 && row.entity == 3 && row.version == 2 && row.slotCount == 130)
    #expect(row.int(0) == .min)
    #expect(row.value(64, .double) == .double(0) && row.double(64).sign == .plus)
    #expect(row.value(65, .string) == .string("a\u{0}é"))
    #expect(row.value(129, .string) == .string(""))
    #expect(row.isNull(1) && row.value(128, .int64) == .null)
  }

  @Test func aRowCopiesIntoAnother() {
    let builder = RowBuilder()
    builder.begin(slots: 2)
    builder.setString(0, String(repeating: "x", count: 5000))
    let first = builder.finish(key: 1, entity: 0, version: 1)
    builder.begin(slots: 2)
    builder.copy(0, .string, from: first)
    builder.setInt(1, 5)
    let second = builder.finish(key: 1, entity: 0, version: 2)
    #expect(second.string(0) == first.string(0) && second.int(1) == 5)
    #expect(first.hasEqualSlot(0, .string, second) && !first.hasEqualSlot(1, .int64, second))
  }

  @Test func slotSetsHoldAnyNumber() {
    var set = SlotSet()
    for slot in [0, 63, 64, 1000] { set.insert(slot) }
    #expect(set.slots == [0, 63, 64, 1000])
    #expect(set.contains(64) && !set.contains(65) && !set.contains(5000))
  }
}
