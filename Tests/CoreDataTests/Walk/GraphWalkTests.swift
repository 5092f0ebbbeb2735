import Foundation
import TestSupport
import Testing

/// Random programs over chains of one to three contexts with undo, and another coordinator on the same file, against plain
/// values. A failure is shrunk to a short program.
@Suite struct GraphWalkTests {
  private static func setting(_ name: String, _ usual: Int) -> Int {
    ProcessInfo.processInfo.environment["OPENCOREDATA_WALK_\(name)"].flatMap(Int.init) ?? usual
  }

  /// Each program has 100 steps: 20 000 steps, or what the environment says.
  private static let programs = setting("PROGRAMS", 200)
  /// A night tries other programs than CI.
  private static let first = setting("SEED", 0) % 1_000_000 * 1_000_000

  @Test(arguments: 0..<10) func contextsShowWhatPlainValuesDo(part: Int) throws {
    for seed in stride(from: Self.first + part, to: Self.first + Self.programs, by: 10) {
      let levels = 1 + seed % 3
      let program = Self.program(seed, levels)
      guard let found = try GraphRun.divergence(program, levels: levels) else { continue }
      let (short, text) = try Self.shrunk(Array(program[...found.step]), levels, found.text)
      Issue.record("seed \(seed), \(levels) levels:\n\(short.map { "  .\($0)," }.joined(separator: "\n"))\n\(text)")
      return
    }
  }

  private static func program(_ seed: Int, _ levels: Int) -> [GraphOperation] {
    var dice = Dice(state: UInt64(seed) &* 104_729 &+ 17)
    return (0..<100).map { _ in GraphOperation.random(&dice, levels: levels) }
  }

  /// A program that diverges, from which no step can be left out.
  private static func shrunk(
    _ program: [GraphOperation], _ levels: Int, _ text: String
  ) throws -> ([GraphOperation], String) {
    var (program, text, size) = (program, text, program.count / 2)
    while size > 0 {
      var start = 0
      while start < program.count {
        var shorter = program
        shorter.removeSubrange(start..<min(start + size, program.count))
        if let found = try GraphRun.divergence(shorter, levels: levels) {
          (program, text) = (Array(shorter[...found.step]), found.text)
        } else {
          start += size
        }
      }
      size /= 2
    }
    return (program, text)
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
