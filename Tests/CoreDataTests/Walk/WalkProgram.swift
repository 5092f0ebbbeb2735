import Foundation

/// Random programs of steps.
enum WalkProgram {
  /// The step after which something is wrong, and what.
  typealias Fault = (step: Int, text: String)

  private static func setting(_ name: String, _ usual: Int) -> Int {
    ProcessInfo.processInfo.environment["OPENCOREDATA_WALK_\(name)"].flatMap(Int.init) ?? usual
  }

  /// The seeds of one part of the programs: of 200, or of as many as the environment says. A night tries other programs
  /// than CI.
  static func seeds(_ part: Int, of parts: Int) -> StrideTo<Int> {
    let first = setting("SEED", 0) % 1_000_000 * 1_000_000
    return stride(from: first + part, to: first + setting("PROGRAMS", 200), by: parts)
  }

  /// A faulty program from which no step can be left out, with its fault, as text.
  static func shrunk<Step>(_ program: [Step], _ fault: Fault, _ run: ([Step]) throws -> Fault?) rethrows -> String {
    var (program, text) = (Array(program[...fault.step]), fault.text)
    var size = program.count / 2
    while size > 0 {
      var start = 0
      while start < program.count {
        var shorter = program
        shorter.removeSubrange(start..<min(start + size, program.count))
        if let found = try run(shorter) {
          (program, text) = (Array(shorter[...found.step]), found.text)
        } else {
          start += size
        }
      }
      size /= 2
    }
    return program.map { "  .\($0)\n" }.joined() + text
  }
}
