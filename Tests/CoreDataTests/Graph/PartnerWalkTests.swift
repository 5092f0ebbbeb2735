import CoreData
import Foundation
import StoreConformance
import Testing

/// One-to-one relationships that a context changes. It has read their objects at different times while another context
/// changed them too.
@Suite struct PartnerWalkTests {
  private static func model() -> NSManagedObjectModel {
    let (owner, member) = (NSEntityDescription(), NSEntityDescription())
    (owner.name, member.name) = ("Owner", "Member")
    let (forth, back) = (NSRelationshipDescription(), NSRelationshipDescription())
    (forth.name, forth.destinationEntity, forth.maxCount, forth.isOptional) = ("member", member, 1, true)
    (back.name, back.destinationEntity, back.maxCount, back.isOptional) = ("owner", owner, 1, true)
    (forth.inverseRelationship, back.inverseRelationship) = (back, forth)
    (forth.deleteRule, back.deleteRule) = (.nullifyDeleteRule, .nullifyDeleteRule)
    (owner.properties, member.properties) = ([forth], [back])
    let model = NSManagedObjectModel()
    model.entities = [owner, member]
    return model
  }

  /// With the policy that prefers the context's changes, these win, and the two sides agree.
  @Test(arguments: 0..<8) func aLinkThatWinsIsThereOnBothSides(_ part: UInt64) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "partners-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    // Each coordinator has its own rows.
    let coordinators = try (0..<2).map { _ in
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
      try coordinator.addPersistentStore(type: .sqlite, at: folder.appending(path: "store.sqlite"))
      return coordinator
    }
    for round in 0..<150 {
      let seed = part * 1000 + UInt64(round)
      try Self.walk(coordinators, SplitMix64(seed: seed), "seed \(seed)")
    }
    for coordinator in coordinators { try coordinator.remove(coordinator.persistentStores[0]) }
  }

  private static func context(_ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  private static func walk(_ coordinators: [NSPersistentStoreCoordinator], _ random: SplitMix64, _ what: Comment) throws
  {
    var random = random
    let (mine, others) = (context(coordinators[0]), coordinators.map(context))
    let theirs = others[1]
    let (owners, members) = try theirs.performAndWait {
      let objects = ["Owner", "Member"].map { name in
        (0..<3).map { _ in NSEntityDescription.insertNewObject(forEntityName: name, into: theirs) }
      }
      for (owner, member) in zip(objects[0], objects[1].shuffled(using: &random)) where random.below(3) > 0 {
        owner.setValue(member, forKey: "member")
      }
      try theirs.save()
      return (objects[0].map(\.objectID), objects[1].map(\.objectID))
    }
    func pair() -> (NSManagedObjectID, NSManagedObjectID) { (owners[random.below(3)], members[random.below(3)]) }
    func change() throws {
      for _ in 0..<random.below(3) {
        let (owner, member) = pair()
        let unlinks = random.below(4) == 0
        let theirs = others[random.below(2)]
        try theirs.performAndWait {
          theirs.reset()
          theirs.mergePolicy = NSMergePolicy.overwrite
          theirs.object(with: owner).setValue(unlinks ? nil : theirs.object(with: member), forKey: "member")
          try theirs.save()
        }
      }
    }
    func read() {
      for _ in 0..<random.below(4) {
        let (owner, member) = pair()
        mine.performAndWait {
          _ = mine.object(with: owner).value(forKey: "member")
          _ = mine.object(with: member).value(forKey: "owner")
        }
      }
    }
    for _ in 0..<2 {
      read()
      try change()
    }
    let (owner, member) = pair()
    let fromOwner = random.below(2) == 0
    let isChange = mine.performAndWait {
      let (owner, member) = (mine.object(with: owner), mine.object(with: member))
      if fromOwner { owner.setValue(member, forKey: "member") } else { member.setValue(owner, forKey: "owner") }
      return owner.changedValues()["member"] != nil || member.changedValues()["owner"] != nil
    }
    try change()
    try mine.performAndWait {
      mine.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      try mine.save()
    }
    let fresh = context(coordinators[random.below(2)])
    fresh.stalenessInterval = 0
    fresh.performAndWait {
      for id in owners + members {
        let (there, back) = owners.contains(id) ? ("member", "owner") : ("owner", "member")
        guard let partner = fresh.object(with: id).value(forKey: there) as? NSManagedObject else { continue }
        #expect((partner.value(forKey: back) as? NSManagedObject)?.objectID == id, what)
      }
      if !isChange { return }
      let found = fresh.object(with: owner).value(forKey: "member") as? NSManagedObject
      #expect(found?.objectID == member, what)
    }
  }
}
