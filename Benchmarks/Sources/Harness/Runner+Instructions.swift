import Foundation

extension Runner {
  /// Prints how many instructions each side executes in its measured section, counted by valgrind: one run is enough,
  /// on a busy machine too. What the kernel does is not in it.
  func printInstructions() throws {
    try withStores { stores in
      // Older valgrinds cannot read Swift's debug information.
      let program = stores.copy + ".program"
      try ChildProcess.run(["strip", "-g", "-o", program, ChildProcess.program.path], searches: true)
      for workload in options.workloads {
        var counts: [Double] = []
        for side in options.sides(of: workload) { counts.append(try instructions(workload, side, stores, program)) }
        let millions = counts.map { String(format: "%.1f", $0 / 1e6) }.joined(separator: "  ")
        let ratio = counts.count == 2 ? String(format: "  ratio %.2f", counts[1] / counts[0]) : ""
        print("\(workload.rawValue)  million instructions \(millions)\(ratio)")
      }
    }
  }

  private func instructions(
    _ workload: Workload, _ side: Side, _ stores: Stores, _ program: String
  ) throws -> Double {
    let profile = options.profiles.map { "\($0)/\(workload.rawValue).\(side.rawValue).callgrind" } ?? "/dev/null"
    let valgrind = ["valgrind", "--tool=callgrind", "--collect-atstart=no", "--callgrind-out-file=\(profile)", program]
    progress("counting \(workload.rawValue) \(side.rawValue)")
    let errors = try child(workload, side, stores, [], under: valgrind).errors
    guard let line = errors.split(separator: "\n").last(where: { $0.contains("Collected :") }),
      let count = line.split(separator: " ").last.flatMap({ Double($0) })
    else { throw BenchmarkError("valgrind counted nothing:\n\(errors)") }
    return count
  }
}
