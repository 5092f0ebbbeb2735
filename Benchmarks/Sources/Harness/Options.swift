import Foundation

/// The command line.
struct Options {
  enum Command: String {
    /// All cells, interleaved, and the report.
    case run
    /// One cell; the result as JSON on standard output.
    case cell
    /// Makes a store to begin with.
    case prepare
    /// The SQL that each side of a workload sends.
    case statements
    /// The instructions that each side executes, by valgrind.
    case instructions
  }

  private(set) var command = Command.run
  private(set) var workloads = Workload.allCases
  private(set) var sides = Side.allCases
  private(set) var employees = 100_000
  private(set) var rounds = 5
  private(set) var json: String?
  private(set) var synchronous = "NORMAL"
  private(set) var store = "SQLite"
  private(set) var path = ""
  private(set) var folder = FileManager.default.temporaryDirectory.path
  private(set) var profiles: String?
  private(set) var isEmpty = false
  private(set) var isTraced = false

  /// Who can do a workload, of those who are asked for.
  func sides(of workload: Workload) -> [Side] {
    sides.filter { $0 == .library || RawStore.workloads(of: store).contains(workload) }
  }

  var scale: Scale { Scale(employees: employees) }

  static let usage = """
    usage: store-benchmark [--only W1,W2,…] [--n EMPLOYEES] [--rounds N] [--json FILE|-] [--synchronous NORMAL|FULL]
                           [--side raw|library] [--folder FOLDER] [--store TYPE]
           store-benchmark cell --workload W --side raw|library --db STORE --n EMPLOYEES [--trace]
           store-benchmark prepare --db STORE --n EMPLOYEES [--empty]
           store-benchmark statements [--only W1,W2,…] [--n EMPLOYEES]
           store-benchmark instructions [--only W1,W2,…] [--n EMPLOYEES] [--profiles FOLDER]
    """

  init(_ arguments: [String]) throws {
    var rest = arguments[...]
    if let first = rest.first, let command = Command(rawValue: first) {
      self.command = command
      rest = rest.dropFirst()
    }
    var hasWorkloads = false
    while let option = rest.popFirst() {
      switch option {
      case "--empty": isEmpty = true
      case "--trace": isTraced = true
      default:
        guard let value = rest.popFirst() else { throw BenchmarkError("\(option) needs a value.\n\(Self.usage)") }
        try set(option, value)
        hasWorkloads = hasWorkloads || option == "--only" || option == "--workload"
      }
    }
    if !hasWorkloads { workloads = RawStore.defaults(of: store, sides) }
  }

  private mutating func set(_ option: String, _ value: String) throws {
    let fault = BenchmarkError("\(option) \(value) is not understood.\n\(Self.usage)")
    func number() throws -> Int {
      guard let number = Int(value), number > 0 else { throw fault }
      return number
    }
    switch option {
    case "--only", "--workload":
      workloads = try value.split(separator: ",").map { name in
        guard let workload = Workload(name: name) else { throw fault }
        return workload
      }
    case "--side":
      guard let side = Side(rawValue: value) else { throw fault }
      sides = [side]
    case "--synchronous":
      synchronous = value.uppercased()
      guard ["NORMAL", "FULL"].contains(synchronous) else { throw fault }
    case "--store": store = value
    case "--n": employees = try number()
    case "--rounds": rounds = try number()
    case "--json": json = value
    case "--db": path = value
    case "--folder": folder = value
    case "--profiles": profiles = value
    default: throw fault
    }
  }
}
