import Foundation
import StoreProtocol
import StoreSchema
import StoreSupport
import Testing

/// The first half of a commit: the keys and checks that it needs, and the rows that it makes.
@Suite struct CommitDraftTests {
  private let schema: Schema
  private var team: Entity { schema.entities[schema.entity(named: "Team")?.index ?? 0] }
  private var person: Entity { schema.entities[schema.entity(named: "Person")?.index ?? 0] }
  private var boss: Int { person.relationship(named: "team")?.slot ?? 0 }

  init() throws {
    var (team, person, chief) = (
      EntityDefinition(name: "Team"), EntityDefinition(name: "Person"), EntityDefinition(name: "Chief")
    )
    team.attributes = [AttributeDefinition(name: "name", type: .string)]
    var toTeam = RelationshipDefinition(name: "team", destination: "Team")
    (toTeam.inverse, toTeam.maxCount) = ("members", 1)
    var members = RelationshipDefinition(name: "members", destination: "Person")
    (members.inverse, members.maxCount) = ("team", 0)
    (team.relationships, person.relationships) = ([members], [toTeam])
    chief.superentity = "Person"
    schema = try Schema([team, person, chief])
  }

  private func row(_ entity: Entity, key: Int64 = 0, version: Int64 = 1, team: Int64? = nil) -> RowDraft {
    let builder = RowBuilder()
    builder.begin(slots: entity.slots.count)
    if let team { builder.setInt(boss, team) }
    return builder.finishDraft(key: key, entity: entity.index, version: version)
  }

  private func changes(_ body: (inout ChangeSet) -> Void) -> ChangeSet {
    var changes = ChangeSet(time: 0)
    body(&changes)
    return changes
  }

  @Test func itSaysHowManyKeysEachHierarchyNeeds() throws {
    let chief = try #require(schema.entity(named: "Chief"))
    let draft = CommitDraft(
      changes { $0.insertions = [row(person), row(team), row(chief), row(person, key: 9), row(team)] }, schema)
    let needs = draft.keyNeeds
    #expect(needs.map(\.root) == [person.index, team.index])
    #expect(needs.map(\.count) == [2, 2])
    #expect(needs.map(\.highestGiven) == [9, 0])
    #expect(draft.givenKeys == [ObjectReference(entity: person.index, key: 9)])
  }

  @Test func everyReferenceLeadsToAKey() throws {
    let updated = row(person, key: 3, version: 2, team: -1)
    let sealed = try CommitDraft(
      changes {
        $0.insertions = [row(team), row(person, team: -1), row(person, key: 40, team: 8), row(person, team: -5)]
        $0.updates = [.init(row: updated, changed: SlotSet())]
      }, schema
    ).seal([team.index: 11..<12, person.index: 41..<43])
    #expect(sealed.keys == [11, 41, 40, 42])
    #expect(sealed.insertions.map(\.key) == [11, 41, 40, 42])
    #expect(sealed.insertions.map(\.version) == [1, 1, 1, 1])
    #expect(sealed.insertions[1].int(boss) == 11 && sealed.insertions[2].int(boss) == 8)
    // No insertion has this number. The checks before a commit refuse such a reference.
    #expect(sealed.insertions[3].int(boss) == -5)
    #expect(sealed.updates[0].row.int(boss) == 11 && sealed.updates[0].row.version == 2)
    #expect(sealed.permanentKey(-2) == 41 && sealed.permanentKey(5) == 5)
    #expect(updated.isSealed && updated.sealedRow.isIdentical(to: sealed.updates[0].row))
  }

  @Test func oneRangeIsUsedInTheOrderOfTheChangeSet() throws {
    let sealed = try CommitDraft(changes { $0.insertions = [row(team), row(person), row(team)] }, schema)
      .seal(all: 5..<8)
    #expect(sealed.keys == [5, 6, 7])
  }

  @Test func aRangeThatIsTooSmallIsAnError() {
    #expect(throws: StoreError.self) {
      _ = try CommitDraft(changes { $0.insertions = [row(team), row(team)] }, schema).seal([team.index: 5..<6])
    }
    #expect(throws: StoreError.self) {
      _ = try CommitDraft(changes { $0.insertions = [row(team), row(person)] }, schema).seal(all: 5..<6)
    }
  }

  /// Sealing again with the same keys is allowed, because a failed commit may be repeated. Other keys would leave
  /// references to the former ones.
  @Test func rowsAreSealedOnce() throws {
    let set = changes { $0.insertions = [row(team), row(person, team: -1)] }
    let first = try CommitDraft(set, schema).seal(all: 5..<7)
    let again = try set.sealed(keys: [5, 6], schema)
    #expect(again.insertions[1].isIdentical(to: first.insertions[1]))
    #expect(throws: StoreError.self) { _ = try set.sealed(keys: [5, 7], schema) }
    #expect(throws: StoreError.self) { _ = try set.sealed(keys: [5], schema) }
    #expect(first.insertions[1].key == 6 && first.insertions[1].int(boss) == 5)
  }

  @Test func aRehearsalSealsCopies() throws {
    let set = changes {
      $0.insertions = [row(team)]
      $0.updates = [.init(row: row(person, key: 3, version: 2, team: -1), changed: SlotSet())]
    }
    let sealed = try CommitDraft(set, schema, isRehearsal: true).seal(all: 5..<6)
    #expect(sealed.updates[0].row.int(boss) == 5)
    #expect(!set.insertions[0].isSealed && !set.updates[0].row.isSealed)
    #expect(set.updates[0].row.view.int(boss) == -1)
  }

  /// A caller that gets conflicts has no receipt, and knows new objects by their insertion numbers.
  @Test func conflictsNameNewObjectsByNumber() throws {
    let sealed = try CommitDraft(changes { $0.insertions = [row(team, key: 4), row(team)] }, schema)
      .seal([team.index: 5..<6])
    func reference(_ key: Int64) -> ObjectReference { ObjectReference(entity: team.index, key: key) }
    let conflicts = sealed.unsealed([
      Conflict(
        reference: reference(5), versionRead: 0,
        kind: .constraint(slots: [0], other: reference(4), persisted: nil)),
      Conflict(reference: reference(7), versionRead: 2, kind: .version(persisted: nil)),
      Conflict(
        reference: reference(4), versionRead: 0,
        kind: .constraint(slots: [0], other: reference(5), persisted: nil)),
    ])
    #expect(conflicts.map(\.reference.key) == [-2, 7, 4])
    guard case .constraint(_, let other, _) = conflicts[2].kind else {
      Issue.record("the kind has changed")
      return
    }
    #expect(other.key == -2)
  }

  @Test func aDraftIsChangedUntilItIsSealed() {
    let draft = row(person, team: 7)
    #expect(draft.patch(boss, .null) && draft.isNull(boss))
    #expect(!draft.patch(boss, .string("long")))
    draft.setKey(12)
    #expect(draft.seal(key: draft.key, version: 1) && !draft.gotKey)
    #expect(draft.sealedRow.key == 12)
    let copy = draft.copy(version: 5)
    #expect(!copy.isSealed && copy.version == 5 && copy.key == 12)
  }
}
