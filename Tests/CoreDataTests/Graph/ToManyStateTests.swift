import TestSupport
import Testing

@testable import CoreData

/// The state of the members of one relationship.
@Suite struct ToManyStateTests {
  /// If there are many members, they are looked up in a table.
  @Test func aMemberThatWasTakenOutOfManyIsNone() throws {
    let company = try CompanyStore()
    try company.run { context in
      let people = (0..<20).map { _ in Person(context: context) }
      let state = ToManyState(0, isFault: false)
      people.forEach(state.add)
      // The last one, one in the middle, and the one that has moved to its position.
      for index in [19, 3, 18] {
        #expect(state.contains(people[index]))
        state.remove(people[index], keepsOrder: false)
        #expect(!state.contains(people[index]), "\(index)")
      }
      #expect(people.filter(state.contains).count == 17 && state.members.count == 17)
    }
  }

  /// The table is made after several searches. It includes members that are added later.
  @Test func aMemberThatIsAddedToManyIsOne() throws {
    let company = try CompanyStore()
    try company.run { context in
      let people = (0..<30).map { _ in Person(context: context) }
      let state = ToManyState(0, isFault: false)
      people.prefix(20).forEach(state.add)
      for _ in 0..<10 { #expect(people.prefix(20).allSatisfy(state.contains) && !state.contains(people[20])) }
      for person in people.suffix(10) {
        state.add(person)
        #expect(state.contains(person))
      }
      for index in [29, 3, 28] {
        state.remove(people[index], keepsOrder: false)
        #expect(!state.contains(people[index]), "\(index)")
      }
      #expect(people.filter(state.contains).count == 27 && state.members.count == 27)
    }
  }

  /// Members are found while others are removed, inserted and moved, in the order of a plain array. Read, changed and
  /// read again: removals that wait for the members are applied to them.
  @Test(arguments: 0..<40) func manyOrderedMembersAreFound(seed: Int) throws {
    let company = try CompanyStore()
    try company.run { context in
      var dice = Dice(state: UInt64(seed) &* 104_729 &+ 5)
      let people = (0..<120).map { _ in Person(context: context) }
      let state = ToManyState(0, isFault: true)
      var plain = Array(people.prefix(100))
      func compare(_ step: Int) {
        #expect(state.members.elementsEqual(plain, by: ===), "seed \(seed), step \(step)")
        for person in people {
          let position = plain.firstIndex { $0 === person }
          #expect(state.position(of: person) == position, "seed \(seed), step \(step)")
        }
      }
      state.load(ContiguousArray(plain), isOrdered: true)
      for step in 0..<60 {
        let person = people[dice.next(120)]
        if let position = plain.firstIndex(where: { $0 === person }) {
          switch dice.next(8) {
          case 0:
            plain.reverse()
            state.reorder(ContiguousArray(plain))
          case 1...6:
            plain.remove(at: position)
            state.remove(person, keepsOrder: true)
          default: break
          }
        } else if dice.next(2) == 0 {
          plain.append(person)
          state.add(person)
        } else {
          let index = dice.next(plain.count + 1)
          plain.insert(person, at: index)
          state.insert(person, at: index)
        }
        if step % 5 == 0 { compare(step) }
      }
      compare(60)
      let (added, removed) = (state.added.compactMap { $0 as? Person }, Array(state.removed))
      state.unload()
      state.load(ContiguousArray<NSManagedObject>(people[..<100].map { $0 }), isOrdered: true)
      plain = people.prefix(100).filter { person in !removed.contains { $0 === person } }
      plain += added
      compare(61)
    }
  }

  /// Each removal and each search takes about the same time, however many members there are.
  @Test(.timeLimit(.minutes(1))) func manyMembersAreReplaced() throws {
    let stack = try UndoStack(.inMemory)
    try stack.context.performAndWait {
      let context = stack.context
      context.undoManager = nil
      let (owner, other) = (UndoStack.insert("owner", context), UndoStack.insert("other", context))
      let items = (0..<9_000).map { UndoStack.insert("\($0)", context) }
      owner["queue"] = NSOrderedSet(array: items)
      owner["owned"] = NSSet(array: items)
      try context.save()
      context.refresh(owner, mergeChanges: false)
      let start = threadTime()
      // The members are unread when they leave.
      for item in items.prefix(6_000) { item["line"] = other }
      #expect(UndoStack.linked(owner, "queue") == Array(items.suffix(3_000)))
      owner["queue"] = NSOrderedSet(array: stride(from: 0, to: 9_000, by: 2).map { items[$0] })
      #expect(UndoStack.linked(owner, "queue").count == 4_500)
      owner["owned"] = NSSet(array: (0..<9_000).map { UndoStack.insert("new\($0)", context) })
      #expect(UndoStack.linked(items[7], "owner").isEmpty)
      #expect(threadTime() - start < .seconds(20))
    }
  }
}
