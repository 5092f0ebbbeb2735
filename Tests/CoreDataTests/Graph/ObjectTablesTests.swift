import Foundation
import StoreSchema
import TestSupport
import Testing

@testable import CoreData

/// The tables of a context: objects, members and keys of batched fetches.
@Suite struct ObjectTablesTests {
  private func people(_ count: Int, in context: NSManagedObjectContext) throws -> [Person] {
    for index in 0..<count { Person(context: context).age = Int16(index) }
    try context.save()
    return try context.all(Person.self).sorted { $0.age < $1.age }
  }

  @Test func aTableThatGrowsCountsItsObjectsOnce() throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      let objects = try people(3, in: context)
      var table = IdentityMap()
      defer { table.removeAll() }
      for key in 1...200 { table.set(Int64(key), objects[key % 3]) }
      #expect(table.count == 200)
      for key in 1...150 { table.remove(Int64(key), objects[key % 3]) }
      for key in 301...400 { table.set(Int64(key), objects[key % 3]) }
      #expect(table.count == 150 && table.object(350) === objects[350 % 3] && table.object(10) == nil)
    }
  }

  @Test func aPageWithoutRowsIsFreed() {
    let builder = RowBuilder()
    var table = RowTable()
    for key in Int64(1)...100 {
      builder.begin(slots: 0)
      table.put(builder.finish(key: key, entity: 0, version: 1))
    }
    #expect(table.pageCount == 4 && table.count == 100)
    for key in Int64(1)...31 { table.remove(key) }
    #expect(table.pageCount == 3)
    for key in Int64(32)...100 { table.remove(key) }
    #expect(table.pageCount == 0 && table.count == 0)
  }

  /// Results that are sorted by other values than their keys are read in batches too.
  @Test(arguments: [[1, 2, 3, 4, 5, 6], [6, 1, 5, 2, 4, 3]]) func aBatchIsFoundByEachOfItsKeys(_ keys: [Int64]) {
    var batches = FetchBatches()
    batches.remember(keys, store: 0, root: 0, size: 2, FetchBatches.Options())
    for (index, key) in keys.enumerated() {
      let first = index / 2 * 2
      #expect(batches.batch(key, store: 0, root: 0).map { Array($0) } == [keys[first], keys[first + 1]])
    }
    #expect(batches.batch(7, store: 0, root: 0) == nil && batches.batch(1, store: 1, root: 0) == nil)
  }

  /// A fetch of one object is not a batch: it displaces no batch, and leaves no work for later.
  @Test func aSingleResultIsNoBatch() throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      let keys = try people(6, in: context).map(\.key)
      context.reset()
      let all = NSFetchRequest<Person>(entityName: "Person")
      all.fetchBatchSize = 3
      let found = try context.fetch(all)
      let one = NSFetchRequest<Person>(entityName: "Person")
      (one.fetchBatchSize, one.relationshipKeyPathsForPrefetching) = (3, ["department"])
      one.predicate = NSPredicate(format: "age == 4")
      for _ in 0..<20 { #expect(try context.fetch(one).count == 1) }
      let batches = context.core.fetchBatches
      #expect(!batches.hasOptions)
      for key in keys { #expect(batches.batch(key, store: 0, root: found[0].info.root)?.count == 3) }
    }
  }

  @Test func objectsThatNothingElseOrdersComeByTheirKeys() throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      let saved = try people(3, in: context).sorted { $0.key < $1.key }
      let new = [Person(context: context), Person(context: context)]
      #expect((saved.reversed() + new.reversed()).sorted { $0.isBefore($1) } == saved + new)
    }
  }

  @Test func statesOfRelationshipsAreFoundByTheirIndex() throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      let owner = Department(context: context)
      let info = owner.info
      try #require(info.toManys.count == 2 && owner.toManys.isEmpty)
      let relationships = info.toManys.sorted { ($0.toManyIndex ?? 0) < ($1.toManyIndex ?? 0) }
      let (first, second) = (owner.toMany(relationships[0]), owner.toMany(relationships[1]))
      #expect(owner.toManys[0] === first && owner.toManys[1] === second && owner.toManys[2] == nil)
      #expect(owner.toManys[relationships[1]] === second && owner.toMany(relationships[0]) === first)
      var seen: [ToManyState] = []
      owner.toManys.forEach { seen.append($0) }
      #expect(Set(seen.map(ObjectIdentifier.init)) == [ObjectIdentifier(first), ObjectIdentifier(second)])
      #expect(!owner.toManys.hasChanges && owner.toManys.contains { $0 === first })
      second.add(Person(context: context))
      #expect(owner.toManys.hasChanges && owner.hasNewMembers)
      // The last of the chain, then the first.
      owner.toManys.remove(relationships[0])
      #expect(owner.toManys[0] == nil && owner.toManys[1] === second && first.next == nil)
      let third = owner.toMany(relationships[0])
      owner.toManys.remove(relationships[0])
      #expect(third.next == nil && owner.toManys[0] == nil && owner.toManys[1] === second)
      owner.toManys.removeAll()
      #expect(owner.toManys.isEmpty && owner.toManys[1] == nil)
    }
  }

  @Test func aStateInTheMiddleIsRemoved() throws {
    let (owner, member) = (Describing.entity("Owner"), Describing.entity("Member"))
    for name in ["a", "b", "c"] { Describing.relate(owner, name, toMany: true, member, name, toManyBack: false) }
    let context = try Describing.context(Describing.model([owner, member]))
    try context.performAndWait {
      let object = NSEntityDescription.insertNewObject(forEntityName: "Owner", into: context)
      let relationships = object.info.toManys
      let states = relationships.map(object.toMany)
      try #require(states.count == 3)
      object.toManys.remove(relationships[1])
      #expect(object.toManys[relationships[1]] == nil && states[1].next == nil)
      #expect(object.toManys[relationships[0]] === states[0] && object.toManys[relationships[2]] === states[2])
    }
  }

  /// `body` may free the other states: the current one stays, and nothing more is visited.
  @Test func aWalkThatRetainsMayEmptyTheChain() {
    var visited = 0
    let holder = StatesHolder()
    for index in 0..<3 { holder.states.add(ToManyState(index, isFault: true)) }
    holder.states.forEachRetained { state in
      weak let known = state
      visited += 1
      holder.states.removeAll()
      #expect(known != nil && known?.next == nil)
    }
    let isEmpty = holder.states.isEmpty
    #expect(visited == 1 && isEmpty)
  }

  private final class StatesHolder { @exclusivity(unchecked) var states = ToManyStates() }

  @Test func aLongChainOfStatesIsFreedOneByOne() {
    var states = ToManyStates()
    for index in 0..<300_000 { states.add(ToManyState(index, isFault: true)) }
    states.removeAll()
    let isEmpty = states.isEmpty
    #expect(isEmpty)
    for index in 0..<300_000 { states.add(ToManyState(index, isFault: true)) }
    weak let last = states[0]
    #expect(last != nil)
    states = ToManyStates()
    #expect(last == nil)
  }

  /// Members that will be read again are not kept alive by values derived from them.
  @Test func membersThatAreForgottenAreLetGo() throws {
    let company = try CompanyStore()
    try company.run { (context) throws in
      _ = try people(20, in: context)
      context.reset()
      let state = ToManyState(0, isFault: true)
      weak var member: Person?
      try scoped {
        let found = try people(0, in: context)
        member = found[0]
        state.load(ContiguousArray(found), isOrdered: false)
        #expect(state.asSet.count == 20 && state.asOrderedSet.count == 20 && state.contains(found[19]))
      }
      #expect(member != nil)
      state.unload()
      #expect(member == nil)
    }
  }

  /// Releases what `body` holds when it returns.
  private func scoped(_ body: () throws -> Void) rethrows { try body() }

  /// A temporary key that stays in the registry would outlive its object.
  @Test func aSavedObjectIsRegisteredOnce() throws {
    let company = try CompanyStore()
    try company.run { context in
      let person = Person(context: context)
      try context.save()
      #expect(context.core.registry.all == [person] && context.core.registry.count == 1)
    }
  }
}
