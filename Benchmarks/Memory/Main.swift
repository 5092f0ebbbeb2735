import Foundation

/// Compares the peak memory of common work with the ceilings.
@main
enum Main {
  static func main() {
    do {
      let options = try Options(Array(CommandLine.arguments.dropFirst()))
      if let step = options.step {
        let reading = try step.run(rows: options.rows, path: options.path)
        FileHandle.standardOutput.write(try JSONEncoder().encode(reading))
      } else if try !Measurements(options).run() {
        exit(1)
      }
    } catch {
      FileHandle.standardError.write(Data("\(error)\n".utf8))
      exit(2)
    }
  }
}

/// The command line.
struct Options {
  static let usage = """
    usage: store-memory [--n ROWS] [--folder FOLDER] [--only NAME,NAME,…]
    NAME is one of \(Ceiling.all.map(\.name).joined(separator: ", ")).
    Exit status: 0 where every peak is below its ceiling, 1 where one is not, 2 where something could not be measured.
    """

  /// The number of rows. The ceilings are made for a million.
  private(set) var rows = 1_000_000
  private(set) var folder = FileManager.default.temporaryDirectory.path
  private(set) var ceilings = Ceiling.all
  /// The work of a child process; nil in the parent.
  private(set) var step: Step?
  private(set) var path = ""

  init(_ arguments: [String]) throws {
    var rest = arguments[...]
    while let option = rest.popFirst() {
      guard let value = rest.popFirst() else { throw MemoryError(Self.usage) }
      switch option {
      case "--n":
        guard let number = Int(value), number >= 100 else { throw MemoryError("--n takes a number from 100 on.") }
        rows = number
      case "--folder": folder = value
      case "--only":
        let names = Set(value.split(separator: ",").map(String.init))
        ceilings = Ceiling.all.filter { names.contains($0.name) }
        guard ceilings.count == names.count else { throw MemoryError("There is no such name.\n\(Self.usage)") }
      case "--step":
        guard let known = try? JSONDecoder().decode(Step.self, from: Data(value.utf8)) else {
          throw MemoryError(Self.usage)
        }
        step = known
      case "--db": path = value
      default: throw MemoryError(Self.usage)
      }
    }
  }
}

/// A measurement that could not be made, with the reason.
struct MemoryError: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
