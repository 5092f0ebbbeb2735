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
}
