import StoreSchema
import Testing

@testable import CoreData

@Suite struct ChangedValuesTests {
  /// Sets slots in random order and compares the result with a dictionary after each step.
  @Test(arguments: [1, 2, 3, 4, 5, 61, 62, 63, 64, 200], [true, false])
  func theyHoldWhatWasSet(slots: Int, isSpread: Bool) {
    var random = SplitMix(seed: UInt64(slots))
    for _ in 0..<50 {
      var values = ChangedValues()
      var expected: [Int: Value] = [:]
      #expect(values.isEmpty)
      for step in 0..<(slots * 2) {
        let slot = Int(random.next() % UInt64(slots))
        let value: Value = step % 5 == 0 ? .null : .string("a value too long to be kept in place \(step)")
        values.set(slot, value, slots: slots, isSpread: isSpread)
        expected[slot] = value
        if step < 8 || step == slots * 2 - 1 {
          for slot in 0..<slots { #expect(values[slot] == expected[slot]) }
          var seen: [Int] = []
          values.forEachSlot(slots) { seen.append($0) }
          #expect(seen == expected.keys.sorted())
        }
      }
      #expect(values.contains(slots) { $1.pointee?.isNull == true } == expected.values.contains { $0.isNull })
      values.removeAll(slots: slots)
      #expect(values.isEmpty && values[0] == nil)
    }
  }

  @Test func coveringTellsWhetherAllAreSet() {
    var values = ChangedValues()
    #expect(values.covers([]) && !values.covers([1]))
    values.set(2, .int(1), slots: 10, isSpread: false)
    #expect(values.covers([0b100]) && !values.covers([0b101]))
    values.set(0, .int(1), slots: 10, isSpread: false)
    #expect(values.covers([0b101]))
    values.removeAll(slots: 10)
  }
}

/// A generator that gives the same numbers in every run.
private struct SplitMix {
  var state: UInt64
  init(seed: UInt64) { state = seed }
  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var z = state
    z = (z ^ z >> 30) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ z >> 27) &* 0x94d0_49bb_1331_11eb
    return z ^ z >> 31
  }
}
