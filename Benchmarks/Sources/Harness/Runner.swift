import Foundation

/// Runs cells in child processes and gathers their results.
struct Runner {
  let options: Options

  init(_ options: Options) { self.options = options }

  /// Every workload in every round, the sides taking turns in going first.
  func run() throws -> [WorkloadResult] {
    try withStores { stores in
      var cells: [Workload: [Side: [CellResult]]] = [:]
      for round in 0..<options.rounds {
        for workload in options.workloads {
          let sides = options.sides(of: workload)
          for side in round.isMultiple(of: 2) ? sides : sides.reversed() {
            let result = try cell(workload, side, stores)
            cells[workload, default: [:]][side, default: []].append(result)
            let milliseconds = String(format: "%.2f ms CPU", result.measurement.cpu * 1000)
            progress("round \(round + 1)/\(options.rounds) \(workload.rawValue) \(side.rawValue): \(milliseconds)")
          }
        }
      }
      return options.workloads.map { WorkloadResult($0, cells[$0] ?? [:], options) }
    }
  }

  /// Shows what SQL each side sends, with the number of times.
  func printStatements() throws {
    try withStores { stores in
      for workload in options.workloads {
        for side in options.sides(of: workload) {
          print("\(workload.rawValue) \(side.rawValue)")
          let child = try self.child(workload, side, stores, ["--trace"])
          for line in child.errors.split(separator: "\n") { print("  \(line)") }
        }
      }
    }
  }

  // MARK: Stores

  /// The stores that cells begin with, and the place for their copies.
  struct Stores {
    let empty: String
    let filled: String
    /// The same for the raw side, where its file is another one.
    let rawEmpty: String
    let rawFilled: String
    let copy: String
  }

  func withStores<T>(_ body: (Stores) throws -> T) throws -> T {
    let folder = URL(fileURLWithPath: options.folder)
      .appendingPathComponent("store-benchmark-\(ProcessInfo.processInfo.processIdentifier)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    func path(_ name: String) -> String { folder.appendingPathComponent(name).path }
    let isShared = ["SQLite", "XML"].contains(options.store)
    let stores = Stores(
      empty: path("empty"), filled: path("filled"), rawEmpty: path(isShared ? "empty" : "raw-empty"),
      rawFilled: path(isShared ? "filled" : "raw-filled"), copy: path("copy"))
    progress("preparing stores")
    let isFilled = options.workloads.contains { !$0.startsEmpty }
    for side in isShared ? [.library] : options.sides where side == .raw || options.store != "InMemory" {
      let arguments = ["--n", "\(options.employees)", "--store", options.store, "--side", side.rawValue, "--db"]
      try ChildProcess.run(["prepare", "--empty"] + arguments + [side == .raw ? stores.rawEmpty : stores.empty])
      if isFilled { try ChildProcess.run(["prepare"] + arguments + [side == .raw ? stores.rawFilled : stores.filled]) }
    }
    return try body(stores)
  }

  // MARK: Cells

  private func cell(_ workload: Workload, _ side: Side, _ stores: Stores) throws -> CellResult {
    let child = try child(workload, side, stores, [])
    return try JSONDecoder().decode(CellResult.self, from: child.output)
  }

  /// Runs a cell on a fresh store, with `more` arguments, or under another program that takes the cell as its own.
  func child(
    _ workload: Workload, _ side: Side, _ stores: Stores, _ more: [String], under program: [String] = []
  ) throws -> (output: Data, errors: String) {
    let files = FileManager.default
    for suffix in ["", "-wal", "-shm", "-lock", "-first"] { try? files.removeItem(atPath: stores.copy + suffix) }
    let (empty, filled) = side == .raw ? (stores.rawEmpty, stores.rawFilled) : (stores.empty, stores.filled)
    if side == .raw || options.store != "InMemory" {
      try files.copyItem(atPath: workload.startsEmpty ? empty : filled, toPath: stores.copy)
    }
    // What the copy left to be written must not slow the cell down.
    sync()
    return try ChildProcess.run(
      program + [
        "cell", "--workload", workload.rawValue, "--side", side.rawValue, "--db", stores.copy, "--n",
        "\(options.employees)", "--synchronous", options.synchronous,
        "--store", options.store,
      ] + more, searches: !program.isEmpty)
  }

  func progress(_ text: String) { FileHandle.standardError.write(Data("\(text)\n".utf8)) }
}

/// This program again, with other arguments.
enum ChildProcess {
  static var program: URL { URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath() }

  /// Runs it to its end, or, where it `searches`, the program that the first argument names. Throws with what it wrote
  /// to standard error when it fails.
  @discardableResult
  static func run(_ arguments: [String], searches: Bool = false) throws -> (output: Data, errors: String) {
    let process = Process()
    process.executableURL = searches ? URL(fileURLWithPath: "/usr/bin/env") : program
    process.arguments = arguments
    let output = Pipe()
    // A file, because a pipe that nobody reads yet would stop a child with much to say.
    let errors = FileManager.default.temporaryDirectory.appendingPathComponent("store-benchmark-\(UUID()).log")
    try Data().write(to: errors)
    defer { try? FileManager.default.removeItem(at: errors) }
    (process.standardOutput, process.standardError) = (output, try FileHandle(forWritingTo: errors))
    try process.run()
    let written = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    let text = try String(contentsOf: errors, encoding: .utf8)
    guard process.terminationReason == .exit, process.terminationStatus == 0 else {
      throw BenchmarkError("\(searches ? "" : "store-benchmark ")\(arguments.joined(separator: " ")) failed:\n\(text)")
    }
    return (written, text)
  }
}
