import CoreData
import Foundation
import StoreConformance
import Testing

/// What a walk decides at random, and what it expects. It is in the user info of its context.
final class CallbackWalk {
  var random: SplitMix64
  /// How many more changes callbacks make: a `willSave` that always changes something would never end.
  var changesLeft = 0
  /// The values that were set last, saved or not.
  var values: [CallbackNode: Int64] = [:]
  var saved: [CallbackNode: Int64] = [:]

  init(seed: UInt64) { random = SplitMix64(seed: seed) }

  func mayChange() -> Bool {
    if changesLeft == 0 || random.below(3) > 0 { return false }
    changesLeft -= 1
    return true
  }
}

final class CallbackNode: NSManagedObject {
  static let value = ManagedProperty<Int64>("value")
  static let parent = ManagedProperty<CallbackNode?>("parent")
  static let children = ManagedProperty<Set<CallbackNode>>("children")
  static let peers = ManagedProperty<Set<CallbackNode>>("peers")

  private var walk: CallbackWalk? { managedObjectContext?.userInfo["walk"] as? CallbackWalk }

  func set(_ value: Int64, isPrimitive: Bool = false) {
    if isPrimitive { setPrimitiveValue(value, forKey: "value") } else { setValue(value, of: Self.value) }
    walk?.values[self] = value
  }

  override func awakeFromInsert() {
    super.awakeFromInsert()
    set(1, isPrimitive: true)
  }

  override func willSave() {
    super.willSave()
    guard let walk, walk.mayChange(), let context = managedObjectContext else { return }
    let other = CallbackWalkTests.some(walk, context)
    switch walk.random.below(isDeleted ? 3 : 6) {
    case 0: other?.set(Int64(walk.random.below(1000)))
    case 1: CallbackNode(context: context).setValue(other, of: Self.parent)
    case 2: if let other, other !== self { context.delete(other) }
    case 3: set(Int64(walk.random.below(1000)))
    case 4: set(Int64(walk.random.below(1000)), isPrimitive: true)
    default: setValue(other, of: Self.parent)
    }
  }

  override func prepareForDeletion() {
    super.prepareForDeletion()
    guard let walk, walk.mayChange(), let context = managedObjectContext else { return }
    let other = CallbackWalkTests.some(walk, context)
    switch walk.random.below(4) {
    case 0: other?.set(Int64(walk.random.below(1000)))
    case 1: setValue(nil, of: Self.parent)
    case 2:
      var peers = value(of: Self.peers)
      guard let peer = peers.sorted(by: CallbackWalkTests.isBefore).first else { return }
      peers.remove(peer)
      setValue(peers, of: Self.peers)
    default: if let other, other !== self { context.delete(other) }
    }
  }
}

/// Random changes, also in callbacks: objects that change themselves and others, insert and delete while they are saved
/// or deleted. A failure reports its seed.
@Suite struct CallbackWalkTests {
  static func isBefore(_ a: CallbackNode, _ b: CallbackNode) -> Bool { a.objectID.description < b.objectID.description }

  static func some(_ walk: CallbackWalk, _ context: NSManagedObjectContext) -> CallbackNode? {
    let all = context.registeredObjects.compactMap { $0 as? CallbackNode }.filter { !$0.isDeleted && !$0.isFault }
    return all.isEmpty ? nil : all.sorted(by: isBefore)[walk.random.below(all.count)]
  }

  private static func model() -> NSManagedObjectModel {
    let node = NSEntityDescription()
    (node.name, node.managedObjectClassName) = ("Node", "CoreDataTests.CallbackNode")
    let value = NSAttributeDescription()
    (value.name, value.type) = ("value", .integer64)
    func relationship(_ name: String, _ most: Int, _ rule: NSDeleteRule) -> NSRelationshipDescription {
      let made = NSRelationshipDescription()
      (made.name, made.destinationEntity, made.maxCount, made.deleteRule) = (name, node, most, rule)
      return made
    }
    let pairs = [
      (relationship("parent", 1, .nullifyDeleteRule), relationship("children", 0, .cascadeDeleteRule)),
      (relationship("peers", 0, .nullifyDeleteRule), relationship("peersOf", 0, .nullifyDeleteRule)),
    ]
    for (a, b) in pairs { (a.inverseRelationship, b.inverseRelationship) = (b, a) }
    node.properties = [value] + pairs.flatMap { [$0, $1] }
    let model = NSManagedObjectModel()
    model.entities = [node]
    return model
  }

  private static func state(_ context: NSManagedObjectContext) throws -> [String] {
    func names(_ nodes: some Sequence<CallbackNode>) -> [String] { nodes.map { $0.objectID.description }.sorted() }
    return try context.fetch(NSFetchRequest<CallbackNode>(entityName: "Node")).map {
      "\($0.objectID) \($0.value(of: CallbackNode.value)) \(names([$0.value(of: CallbackNode.parent)].compactMap { $0 })) "
        + "\(names($0.value(of: CallbackNode.children))) \(names($0.value(of: CallbackNode.peers)))"
    }.sorted()
  }

  /// What a save has written is what the context has, with the value that was set last, wherever that was.
  @Test(arguments: 0..<60)
  func whatCallbacksChangeIsSaved(seed: UInt64) throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
    let folder = FileManager.default.temporaryDirectory.appending(path: "callbacks-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let store = try coordinator.addPersistentStore(type: .sqlite, at: folder.appending(path: "store.sqlite"))
    func makeContext() -> NSManagedObjectContext {
      let context = NSManagedObjectContext(.privateQueue)
      context.persistentStoreCoordinator = coordinator
      return context
    }
    let (context, walk) = (makeContext(), CallbackWalk(seed: seed))
    context.userInfo["walk"] = walk
    // Objects that nobody holds would be read again, and no longer be among those that the walk chooses from.
    context.retainsRegisteredObjects = true
    try context.performAndWait {
      for round in 0..<12 {
        let what: Comment = "seed \(seed) round \(round)"
        walk.changesLeft = 12
        while walk.values.count < 8 {
          CallbackNode(context: context).setValue(Self.some(walk, context), of: CallbackNode.parent)
        }
        for _ in 0..<1 + walk.random.below(10) { try Self.step(walk, context) }
        try context.save()
        #expect(!context.hasChanges, what)
        walk.values = walk.values.filter { !$0.key.isDeleted && $0.key.managedObjectContext != nil }
        walk.saved = walk.values
        let fresh = makeContext()
        let found = try fresh.performAndWait {
          let nodes = try fresh.fetch(NSFetchRequest<CallbackNode>(entityName: "Node"))
          let values = Dictionary(
            uniqueKeysWithValues: nodes.map { ($0.objectID.description, $0.value(of: CallbackNode.value)) })
          return (try Self.state(fresh), values)
        }
        #expect(try Self.state(context) == found.0, what)
        let expected = Dictionary(uniqueKeysWithValues: walk.values.map { ($0.key.objectID.description, $0.value) })
        #expect(expected == found.1, what)
      }
    }
    try coordinator.remove(store)
  }

  private static func step(_ walk: CallbackWalk, _ context: NSManagedObjectContext) throws {
    let (one, other) = (some(walk, context), some(walk, context))
    switch walk.random.below(14) {
    case 0, 1, 2: CallbackNode(context: context).setValue(one, of: CallbackNode.parent)
    case 3:
      // Inserted and deleted before the first save, with links.
      let node = CallbackNode(context: context)
      node.setValue(one, of: CallbackNode.parent)
      if let other { node.setValue([other], of: CallbackNode.peers) }
      if walk.random.below(2) == 0 { context.processPendingChanges() }
      context.delete(node)
    case 4: if let one { try context.obtainPermanentIDs(for: [one]) }
    case 5, 6: one?.set(Int64(walk.random.below(1000)))
    case 7: one?.setValue(other, of: CallbackNode.parent)
    case 8, 9:
      if let one, let other {
        one.setValue(one.value(of: CallbackNode.peers).symmetricDifference([other]), of: CallbackNode.peers)
      }
    case 10: if let one { context.delete(one) }
    case 11: context.processPendingChanges()
    case 12: if let one { context.refresh(one, mergeChanges: true) }
    default:
      if walk.random.below(4) > 0 { return }
      context.rollback()
      walk.values = walk.saved
    }
  }
}
