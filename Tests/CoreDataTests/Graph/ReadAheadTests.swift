import Foundation
import StoreProtocol
import StoreQuery
import StoreSchema
import Testing

@testable import CoreData

/// Which rows are read ahead with those of faults.
@Suite struct ReadAheadTests {
  private struct NoRows: PreparedFetch {
    var residual: FetchResidual { .none }
    func fetch(_ body: (consuming Row) -> Void) throws(StoreError) {}
  }

  /// A view of rows with the keys from 1 on that counts its reads.
  private final class View: FetchingSnapshot, @unchecked Sendable {
    let count: Int64
    let readsKeyRanges: Bool
    let bytes: Data
    /// A key whose row cannot be read.
    var damaged: Int64?
    private(set) var singles = 0
    private(set) var keyRanges = 0
    private let builder = RowBuilder()
    let commitNumber: UInt64 = 0

    init(_ count: Int64, readsKeyRanges: Bool = true, bytes: Int = 0) {
      self.count = count
      self.readsKeyRanges = readsKeyRanges
      self.bytes = Data(count: bytes)
    }

    private func made(_ key: Int64) -> Row {
      builder.begin(slots: 2)
      builder.setInt(0, key)
      if !bytes.isEmpty { builder.set(1, .data(bytes)) }
      return builder.finish(key: key, entity: 0, version: 1)
    }

    func row(of entity: Int, key: Int64) throws(StoreError) -> Row? {
      singles += 1
      if key == damaged { throw StoreError(.corrupt, "The row is damaged.") }
      return key <= count ? made(key) : nil
    }

    func rows(
      of entity: Int, between keys: ClosedRange<Int64>, _ body: (consuming Row) -> Void
    ) throws(StoreError) -> Bool {
      guard readsKeyRanges else { return false }
      keyRanges += 1
      for key in keys where key <= count {
        if key == damaged { throw StoreError(.corrupt, "The row is damaged.") }
        body(made(key))
      }
      return true
    }

    func rows(of entity: Int, keys: [Int64], _ body: (consuming Row) -> Void) throws(StoreError) {}
    func scan(_ entities: Range<Int>, _ body: (consuming Row) -> Void) throws(StoreError) {}
    func destinations(
      of relationship: Relationship, owners: [Int64], _ body: (Int64, consuming Row) -> Void
    ) throws(StoreError) {}
    func prepare(_ plan: FetchPlan) -> any PreparedFetch { NoRows() }
    func estimatedCount(_ plan: FetchPlan) -> Int? { Int(count) }
  }

  private func read(_ keys: some Sequence<Int64>, _ view: View) throws {
    let ahead = ReadAhead(root: 0, subtree: 0..<1)
    for key in keys {
      let row = try ahead.take(key) ?? ahead.row(key, in: view)
      #expect(row?.key == (key <= view.count ? key : nil))
    }
  }

  @Test func whoReadsEverythingIsReadTo() throws {
    let view = View(20_000)
    try read((1...20_000).shuffled(), view)
    // About one search for each sixteen rows, except for the first ones.
    #expect(view.keyRanges > 1000)
    #expect(view.singles < 200)
  }

  /// The number of kept rows is limited; rows that were taken are not kept any more.
  @Test func rowsThatWereTakenMakeRoomForOthers() throws {
    let view = View(2000, bytes: 64 << 10)
    try read(1...2000, view)
    #expect(view.singles < 200)
  }

  @Test func fewFaultsAreReadOneByOne() throws {
    let view = View(1_000_000)
    try read((1...3000).map { $0 * 331 }, view)
    #expect(view.keyRanges == 0)
    #expect(view.singles == 3000)
  }

  @Test func whatIsReadInVainIsLimited() throws {
    let view = View(100_000)
    // No two keys in one key range.
    try read((1...6000).map { $0 * 16 }, view)
    #expect(view.keyRanges <= 32 + 100_000 / 128)
    #expect(view.singles + view.keyRanges == 6000)
  }

  @Test func rowsThatAreNotThereAreNotFound() throws {
    let view = View(300)
    try read((1...600).shuffled(), view)
  }

  @Test func aDamagedRowIsItsOwnFaultOnly() throws {
    let view = View(2000)
    view.damaged = 707
    try read((1...2000).filter { $0 != 707 }, view)
    #expect(view.keyRanges > 0)
    #expect(throws: StoreError.self) { try read(1...707, view) }
  }

  /// A damaged file may contain any key.
  @Test func keysThatNoRowCanHaveAreRequestedOneByOne() throws {
    let view = View(300)
    try read((1...200).map { $0 } + [-5, 0, -16, .min, .max, .max - 16], view)
    #expect(view.keyRanges > 0)
  }

  @Test func aStoreThatSearchesAsFastIsReadOnce() throws {
    let view = View(2000, readsKeyRanges: false)
    try read(1...2000, view)
    #expect(view.keyRanges == 0)
    #expect(view.singles == 2000)
  }

  /// A commit of the same process makes the view old: rows that were read ahead in it are not used.
  @Test func aCommitEndsWhatWasReadAlong() throws {
    let company = try CompanyStore()
    let (saving, reading) = (company.context(), company.context())
    let ids = try saving.performAndWait {
      let people = (0..<400).map { number in
        let person = Person(context: saving)
        person.name = "\(number)"
        return person
      }
      try saving.save()
      return people.map(\.objectID)
    }
    company.store.cache.removeAll()
    func name(_ id: NSManagedObjectID, _ context: NSManagedObjectContext) -> String? {
      (context.object(with: id) as? Person)?.value(forKey: "name") as? String
    }
    try reading.performAndWait {
      for (number, id) in ids.enumerated().prefix(200) { #expect(name(id, reading) == "\(number)") }
      try saving.performAndWait {
        for id in ids.suffix(200) { saving.object(with: id).setValue("new", forKey: "name") }
        try saving.save()
      }
      for id in ids.suffix(200) { #expect(name(id, reading) == "new") }
    }
  }
}
