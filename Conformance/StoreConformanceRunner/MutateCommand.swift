import Foundation
import StoreConformance
import StoreProtocol

/// `mutate`: reads damaged files in processes of their own. A crash or a hang fails, and where a store declares
/// checksums so does anything that is read otherwise than it was written.
struct MutateCommand {
  private let harnesses: [any StoreHarness]
  private let seed: UInt64
  private let count: Int
  private let operations: Int
  /// Seconds for one mutant.
  private static let limit: UInt32 = 20

  init(_ arguments: Arguments, _ all: [any StoreHarness]) throws {
    harnesses = try arguments.harnesses(of: all).filter {
      $0.backend.capabilities.contains([.persistent, .localFiles])
    }
    seed = try arguments.number("--seed", default: UInt64(Date().timeIntervalSince1970))
    count = try arguments.number("--count", default: 300)
    operations = try arguments.number("--operations", default: 60)
  }

  func run() throws -> Int32 {
    var isBad = false
    for harness in harnesses {
      var outcomes: [String: Int] = [:]
      var next = 0
      while next < count {
        let worker = try ChildProcess(
          [
            "mutants", "--backend", harness.name, "--seed", "\(seed)", "--operations", "\(operations)", "--count",
            "\(count)", "\(next)",
          ], input: "")
        var answer: String?
        while let line = worker.line() {
          answer = line
          outcomes[String(line.prefix { $0 != ":" }), default: 0] += 1
          next += 1
          if line.hasPrefix("other") && harness.backend.capabilities.contains(.checksums) {
            print("\(harness.name) mutant \(next - 1) of seed \(seed) is read otherwise, unnoticed: \(line)")
            isBad = true
          }
        }
        let status = worker.wait()
        if status == 0 && next == count { break }
        guard status < 0 else { throw UsageError("the worker ended with \(status) after \(answer ?? "nothing")") }
        print(
          "\(harness.name) mutant \(next) of seed \(seed): \(status == -SIGALRM ? "hangs" : "crashes with \(-status)")")
        outcomes[status == -SIGALRM ? "hangs" : "crashes", default: 0] += 1
        isBad = true
        next += 1
      }
      let text = outcomes.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
      print("\(harness.name): \(count) mutants of seed \(seed): \(text)")
    }
    return isBad ? 1 : 0
  }

  /// The side that reads them, from a number on.
  func work(from first: Int) throws -> Int32 {
    guard let harness = harnesses.first else { throw UsageError("mutants needs a store with a file") }
    let run = try MutationRun(harness, ModelOperation.stream(count: operations, seed: seed))
    for number in first..<max(first, count) {
      alarm(Self.limit)
      let (outcome, damage) = try run.judge(number, seed: seed)
      alarm(0)
      let word =
        switch outcome {
        case .refused(let code): "refused as \(code)"
        case .equal: "equal"
        case .other: "other"
        }
      FileHandle.standardOutput.write(Data("\(word): \(damage)\n".utf8))
    }
    return 0
  }
}
