import Foundation

@main
enum Main {
  static func main() {
    do { try run(Options(Array(CommandLine.arguments.dropFirst()))) } catch {
      FileHandle.standardError.write(Data("\(error)\n".utf8))
      exit(1)
    }
  }

  private static func run(_ options: Options) throws {
    switch options.command {
    case .run:
      let results = try Runner(options).run()
      if let target = options.json { try Report.writeJSON(results, to: target) }
      if options.json != "-" { print(Report.head(options) + Report.table(results), terminator: "") }
    case .cell:
      let cell = try cell(options)
      if options.isTraced { StatementTrace.start() }
      var result = try cell.run()
      if options.isTraced { StatementTrace.write() }
      result.checksum += try cell.digest()
      FileHandle.standardOutput.write(try JSONEncoder().encode(result))
    case .prepare: try StorePreparation.prepare(options.path, options.scale, options)
    case .statements: try Runner(options).printStatements()
    case .instructions: try Runner(options).printInstructions()
    }
  }

  private static func cell(_ options: Options) throws -> Cell {
    guard let workload = options.workloads.first, let side = options.sides.first, !options.path.isEmpty else {
      throw BenchmarkError(Options.usage)
    }
    return Cell(
      workload: workload, side: side, path: options.path, scale: options.scale,
      synchronous: workload.synchronous ?? options.synchronous,
      store: options.store)
  }
}
