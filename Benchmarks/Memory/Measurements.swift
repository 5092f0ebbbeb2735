import Foundation

/// Measures each ceiling in processes of its own.
struct Measurements {
  private let options: Options

  init(_ options: Options) { self.options = options }

  /// Prints a line for each ceiling. Gives false where a peak is above one.
  func run() throws -> Bool {
    let folder = URL(fileURLWithPath: options.folder).appendingPathComponent("store-memory-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    var areKept = true
    for ceiling in options.ceilings where Self.hasLMDB || ceiling.step.store != "LMDB" {
      let path = folder.appendingPathComponent(ceiling.name)
      try FileManager.default.createDirectory(at: path, withIntermediateDirectories: true)
      areKept = try measure(ceiling, path.appendingPathComponent("store").path) && areKept
      try FileManager.default.removeItem(at: path)
    }
    return areKept
  }

  private func measure(_ ceiling: Ceiling, _ path: String) throws -> Bool {
    let start = Date()
    if let preparation = ceiling.preparation { _ = try child(preparation, rows(of: preparation), path) }
    let found = try child(ceiling.step, rows(of: ceiling.step), path)
    let (text, isKept) = verdict(found, ceiling.limit)
    let seconds = Int(-start.timeIntervalSinceNow)
    print("memory: \(ceiling.name) \(rows(of: ceiling.step)) rows: \(text), \(seconds) s: \(isKept ? "ok" : "MISS")")
    return isKept
  }

  /// A tenth for stores that are whole files: their ceiling is a multiple of the file.
  private func rows(of step: Step) -> Int {
    ["Binary", "XML"].contains(step.store) ? max(100, options.rows / 10) : options.rows
  }

  private func verdict(_ found: Reading, _ limit: Ceiling.Limit) -> (text: String, isKept: Bool) {
    let peak = Double(found.peak) / 1e6
    switch limit {
    case .megabytes(let most): return ("\(Self.short(peak)) MB of \(Self.short(most))", peak <= most)
    case .times(let most):
      let times = Double(max(0, found.peak - found.start)) / Double(max(1, found.size))
      return (
        "\(Self.short(times)) times \(Self.short(Double(found.size) / 1e6)) MB, of \(Self.short(most))", times <= most
      )
    case .contexts(let bytes, let threads):
      let each = Double(max(0, found.peak - found.start)) / Double(max(1, found.size))
      return (
        "\(found.size) contexts, \(Int(each)) bytes of each of \(Int(bytes)), \(found.threads) threads of \(threads)",
        each <= bytes && found.threads <= threads
      )
    }
  }

  private func child(_ step: Step, _ rows: Int, _ path: String) throws -> Reading {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    let encoded = String(decoding: try JSONEncoder().encode(step), as: UTF8.self)
    process.arguments = ["--step", encoded, "--n", "\(rows)", "--db", path]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let written = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationReason == .exit, process.terminationStatus == 0 else {
      throw MemoryError("\(step.work) over \(step.store) ended with status \(process.terminationStatus).")
    }
    return try JSONDecoder().decode(Reading.self, from: written)
  }

  private static func short(_ number: Double) -> String { String(format: "%.1f", number) }

  #if LMDB
    private static let hasLMDB = true
  #else
    private static let hasLMDB = false
  #endif
}
