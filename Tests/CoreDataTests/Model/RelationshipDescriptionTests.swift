import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Features 3.12 to 3.15, 5.4 to 5.6: a save enforces the description of a relationship.
@Suite struct RelationshipDescriptionTests {
  /// A team and its players; `change` sets the relationship to the players.
  private func context(
    _ change: (_ players: NSRelationshipDescription, _ team: NSRelationshipDescription) -> Void
  ) throws -> NSManagedObjectContext {
    let (team, player) = (Describing.entity("Team"), Describing.entity("Player"))
    Describing.relate(team, "players", toMany: true, player, "team", toManyBack: false)
    if let there = team.relationshipsByName["players"], let back = player.relationshipsByName["team"] {
      change(there, back)
    }
    return try Describing.context(Describing.model([team, player]))
  }

  private func team(_ count: Int, _ context: NSManagedObjectContext) -> NSManagedObject {
    let team = NSEntityDescription.insertNewObject(forEntityName: "Team", into: context)
    for _ in 0..<count {
      NSEntityDescription.insertNewObject(forEntityName: "Player", into: context).setValue(team, forKey: "team")
    }
    return team
  }

  private func code(_ context: NSManagedObjectContext) -> Int? {
    do { try context.save() } catch { return (error as? CocoaError)?.errorCode }
    return nil
  }

  @Test func toOneMeansExactlyOneAtMost() {
    let relationship = NSRelationshipDescription()
    for (count, isToMany) in [(0, true), (1, false), (2, true), (-1, true)] {
      relationship.maxCount = count
      #expect(relationship.isToMany == isToMany)
    }
  }

  @Test(arguments: [(0, nil), (1, 1580), (2, nil), (3, nil), (4, 1590)] as [(Int, Int?)])
  func theNumberOfDestinationsIsChecked(_ count: Int, _ expected: Int?) throws {
    let context = try context { players, _ in (players.minCount, players.maxCount) = (2, 3) }
    context.performAndWait {
      let team = team(count, context)
      let found = code(context)
      #expect(found == expected, "\(team.entity)")
    }
  }

  /// A set without members is a value, not nil:
  /// https://developer.apple.com/documentation/coredata/nspropertydescription/isoptional
  @Test func aMandatorySetWithoutAMinimumMayBeEmpty() throws {
    let context = try context { players, _ in players.isOptional = false }
    context.performAndWait {
      _ = team(0, context)
      #expect(code(context) == nil)
    }
  }

  @Test func aMandatoryRelationshipNeedsADestination() throws {
    let context = try context { players, team in
      (players.isOptional, players.minCount, team.isOptional) = (false, 1, false)
    }
    context.performAndWait {
      let team = team(0, context)
      #expect(code(context) == 1570)
      let player = NSEntityDescription.insertNewObject(forEntityName: "Player", into: context)
      #expect(code(context) == 1560)
      player.setValue(team, forKey: "team")
      #expect(code(context) == nil)
    }
  }

  @Test func denyRefusesWhileADestinationStays() throws {
    let context = try context { players, _ in players.deleteRule = .denyDeleteRule }
    try context.performAndWait {
      let team = team(1, context)
      try context.save()
      context.delete(team)
      #expect(code(context) == 1600)
      for player in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Player")) { context.delete(player) }
      #expect(code(context) == nil)
    }
  }

  @Test(arguments: [(NSDeleteRule.nullifyDeleteRule, 2, 0), (.cascadeDeleteRule, 0, 0)])
  func theDeleteRuleIsFollowed(_ rule: NSDeleteRule, _ left: Int, _ linked: Int) throws {
    let context = try context { players, _ in players.deleteRule = rule }
    try context.performAndWait {
      let team = team(2, context)
      try context.save()
      context.delete(team)
      try context.save()
      let players = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Player"))
      #expect(players.count == left && players.count { $0.value(forKey: "team") != nil } == linked)
    }
  }

  @Test func orderIsPartOfTheValue() throws {
    let context = try context { players, _ in players.isOrdered = true }
    try context.performAndWait {
      let team = team(3, context)
      let players = try #require(team.value(forKey: "players") as? NSOrderedSet)
      try context.save()
      team.setValue(players.reversed, forKey: "players")
      #expect(team.hasChanges)
      try context.save()
      context.refresh(team, mergeChanges: false)
      #expect(team.value(forKey: "players") as? NSOrderedSet == players.reversed)
    }
  }

  @Test func aRelationshipMayHaveNoInverse() throws {
    let (a, b) = (Describing.entity("A"), Describing.entity("B"))
    let oneWay = NSRelationshipDescription()
    (oneWay.name, oneWay.destinationEntity, oneWay.maxCount) = ("b", b, 1)
    a.properties = [oneWay]
    let context = try Describing.context(Describing.model([a, b]))
    try context.performAndWait {
      let (from, to) = (
        NSEntityDescription.insertNewObject(forEntityName: "A", into: context),
        NSEntityDescription.insertNewObject(forEntityName: "B", into: context)
      )
      from.setValue(to, forKey: "b")
      try context.save()
      context.refresh(from, mergeChanges: false)
      #expect(from.value(forKey: "b") as? NSManagedObject === to)
    }
  }
}
