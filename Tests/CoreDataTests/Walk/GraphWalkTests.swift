import Testing

/// Random programs over chains of one to three contexts with undo, and another coordinator on the same file, against
/// plain values. A failure is shrunk to a short program.
@Suite struct GraphWalkTests {
  /// Each program has 100 steps: 20 000 steps, or what the environment says.
  @Test(arguments: 0..<10) func contextsShowWhatPlainValuesDo(part: Int) throws {
    for seed in WalkProgram.seeds(part, of: 10) {
      let levels = 1 + seed % 3
      let program = Self.program(seed, levels)
      guard let found = try GraphRun.divergence(program, levels: levels) else { continue }
      let short = try WalkProgram.shrunk(program, found) { try GraphRun.divergence($0, levels: levels) }
      Issue.record("seed \(seed), \(levels) levels:\n\(short)")
      return
    }
  }

  private static func program(_ seed: Int, _ levels: Int) -> [GraphOperation] {
    var dice = Dice(state: UInt64(seed) &* 104_729 &+ 17)
    return (0..<100).map { _ in GraphOperation.random(&dice, levels: levels) }
  }

  /// Plain values that differ are seen, on both sides of a link.
  @Test func aDifferenceIsFound() {
    var (one, two) = (PlainGraph(), PlainGraph())
    for name in ["a", "b"] {
      one.insert(name)
      two.insert(name)
    }
    one.set("a", queue: ["b"])
    #expect(one.differing(from: two) == ["a", "b"])
    two.set("a", queue: ["b"])
    two.set("b", parent: "a")
    one.set("b", parent: "a")
    one.delete("a")
    #expect(one.names.isEmpty && two.names == ["a", "b"])
  }
}
