import Foundation
import StoreConformance
import StoreProtocol

/// The command `races`: contexts link and delete the same objects at the same time, and a judge checks the result.
public enum RacesCommand {
  /// The help text of the command.
  public static let usage = """

      races [--backend B]... [--seconds N] [--seed S] [--least N] [--at-most SECONDS] [--count] [--kind K]... [--shrink SECONDS] [--replay-to FILE]
      contexts that link and delete the same objects at the same time. With --least the run continues, up to
      --at-most, until the two have overlapped N times; fewer overlaps are a failure. With --count it continues
      after faults and counts them.
      races --backend B --replay FILE [--times N]          runs a program that failed again, N times
    """

  /// Runs the command if the first word names it; returns nil otherwise. The status is 0 if everything is explained, 1
  /// for faults or too few overlaps, 2 for wrong use.
  public static func run(_ words: [String], _ harnesses: [any StoreHarness]) -> Int32? {
    guard let name = words.first, ["races", "races-worker"].contains(name) else { return nil }
    do {
      let options = try RaceOptions(Array(words.dropFirst()), harnesses)
      if name == "races-worker" { return try work(options) }
      if let file = options.replay { return try replay(file, options) }
      return options.harnesses.map { walk($0, options) }.max() ?? 0
    } catch {
      FileHandle.standardError.write(Data("store-conformance: \(error)\n".utf8))
      return 2
    }
  }

  private static func work(_ options: RaceOptions) throws -> Int32 {
    guard !options.urls.isEmpty, let harness = options.harnesses.first else {
      throw RaceProblem("races-worker needs --backend and --url")
    }
    try RacePeerProcess.run(harness, options.urls, process: options.process)
    return 0
  }

  private static func walk(_ harness: any StoreHarness, _ options: RaceOptions) -> Int32 {
    var generator = RaceGenerator(seed: options.seed, harness.backend.capabilities, kinds: options.kinds)
    var (overlaps, counts) = (RaceOverlaps(), [RaceFault.Kind: Int]())
    let start = Date()
    var episodes = 0
    func isOver() -> Bool {
      let time = Date().timeIntervalSince(start)
      if time < Double(options.seconds) { return false }
      return time >= Double(options.most) || overlaps.missing(least: options.least, options.kinds).isEmpty
    }
    while !isOver() {
      let program = generator.next()
      episodes += 1
      let faults: [RaceFault]
      do {
        let result = try RaceRun(harness, program).run()
        overlaps.add(result)
        generator.learn(from: result)
        faults = RaceJudge.faults(of: result)
      } catch { faults = [RaceFault(.process, [], "the run cannot be made: \(Graph.text(of: error))")] }
      for fault in faults {
        counts[fault.kind, default: 0] += 1
        if options.isCounting && counts[fault.kind] == 1 { print("  first of “\(fault.kind.text)”: \(fault.text)") }
      }
      if faults.isEmpty || options.isCounting { continue }
      let seconds = String(format: "%.1f", Date().timeIntervalSince(start))
      print("\(harness.name): seed \(options.seed) fails in episode \(episodes), after \(seconds) s")
      report(program, faults, harness, options)
      print(overlaps.text)
      return 1
    }
    let missing = overlaps.missing(least: options.least, options.kinds)
    let faults = counts.values.reduce(0, +)
    let time = Int(Date().timeIntervalSince(start))
    print("\(harness.name): \(episodes) episodes of seed \(options.seed) in \(time) s, \(faults) faults")
    for kind in RaceFault.Kind.allCases { if let count = counts[kind] { print("  \(kind.text): \(count)") } }
    print(overlaps.text)
    for sentence in missing { print("  too little: \(sentence)") }
    return missing.isEmpty && faults == 0 ? 0 : 1
  }

  /// Prints the faults and a short program that reproduces them, and saves the program.
  private static func report(
    _ program: RaceProgram, _ faults: [RaceFault], _ harness: any StoreHarness, _ options: RaceOptions
  ) {
    for fault in faults.prefix(10) { print("  \(fault.text)") }
    if faults.count > 10 { print("  and \(faults.count - 10) more") }
    let short = RaceShrinker(harness, seconds: Double(options.shrinking)).shrink(program, faults)
    print("  with \(short.program.size) operations of \(program.size):")
    for fault in short.faults.prefix(3) { print("  \(fault.text)") }
    if short.program.size <= 60 { print(short.program.text) }
    let file = URL(filePath: options.replayTo ?? "races-\(harness.name)-\(options.seed).txt")
    do {
      try Data(short.program.text.utf8).write(to: file)
      print("  store-conformance races --backend \(harness.name) --replay \(file.path)")
    } catch { print("  the program could not be written to \(file.path): \(error)") }
  }

  private static func replay(_ file: String, _ options: RaceOptions) throws -> Int32 {
    let program = try RaceProgram(text: String(decoding: try Data(contentsOf: URL(filePath: file)), as: UTF8.self))
    guard options.harnesses.count == 1, let harness = options.harnesses.first else {
      throw RaceProblem("--replay needs exactly one --backend")
    }
    var failures = 0
    for _ in 0..<options.times {
      let result = try RaceRun(harness, program).run()
      let faults = RaceJudge.faults(of: result)
      if faults.isEmpty { continue }
      if failures == 0 {
        for fault in faults { print("  \(fault.text)") }
        for line in RaceHistory(result.records).lines(about: faults[0].objects) { print("    \(line)") }
      }
      failures += 1
    }
    print("\(harness.name): \(failures) of \(options.times) runs of \(file) fail")
    return failures == 0 ? 0 : 1
  }
}

/// The options of the command.
struct RaceOptions {
  var harnesses: [any StoreHarness] = []
  var seconds = 20
  var seed = UInt64(Date().timeIntervalSince1970)
  var least = 0
  /// The maximum time in seconds to reach `least` overlaps.
  var most = 0
  var shrinking = 30
  var times = 20
  var process = 1
  var urls: [URL] = []
  var replay: String?
  var replayTo: String?
  /// Whether to continue after faults and count them.
  var isCounting = false
  /// The kinds of relationships; all kinds by default.
  var kinds: [RaceKind] = []

  init(_ words: [String], _ all: [any StoreHarness]) throws(RaceProblem) {
    var rest = words[...]
    while let option = rest.popFirst() {
      if option == "--count" {
        isCounting = true
        continue
      }
      guard let value = rest.popFirst() else { throw RaceProblem("\(option) needs a value") }
      func number<N: FixedWidthInteger>(_ type: N.Type = N.self) throws(RaceProblem) -> N {
        guard let number = N(value), number >= 0 else { throw RaceProblem("\(option) must be a number, not \(value)") }
        return number
      }
      switch option {
      case "--backend":
        guard let found = all.first(where: { $0.name == value }) else {
          throw RaceProblem("there is no backend \(value); known: \(all.map(\.name).joined(separator: ", "))")
        }
        harnesses.append(found)
      case "--kind":
        guard let kind = RaceKind(text: Substring(value)) else {
          throw RaceProblem("there is no kind \(value); known: \(RaceKind.all.map(\.text).joined(separator: ", "))")
        }
        kinds.append(kind)
      case "--seconds": seconds = try number()
      case "--seed": seed = try number()
      case "--least": least = try number()
      case "--at-most": most = try number()
      case "--shrink": shrinking = try number()
      case "--times": times = try number()
      case "--process": process = try number()
      case "--url": URL(string: value).map { urls.append($0) }
      case "--replay": replay = value
      case "--replay-to": replayTo = value
      default: throw RaceProblem("races has no option \(option)")
      }
    }
    if kinds.isEmpty { kinds = RaceKind.all }
    if harnesses.isEmpty { harnesses = all.filter(\.opensStores) }
  }
}
