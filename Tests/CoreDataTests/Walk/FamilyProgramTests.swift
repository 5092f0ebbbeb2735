import Testing

/// Random programs over a family of contexts that read at different moments. A failure is shrunk to a short program.
@Suite struct FamilyProgramTests {
  @Test(arguments: 0..<4) func aSavePassesOnWhatHasChanged(part: Int) throws {
    for seed in WalkProgram.seeds(part, of: 4) {
      var dice = Dice(state: UInt64(seed) &* 7_919 &+ 3)
      let program = (0..<60).map { _ in FamilyStep.random(&dice) }
      guard let fault = try FamilyRun.fault(program) else { continue }
      Issue.record("seed \(seed):\n\(try WalkProgram.shrunk(program, fault, FamilyRun.fault))")
      return
    }
  }
}
