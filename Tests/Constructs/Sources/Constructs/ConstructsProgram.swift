import CoreData

/// Checks all constructs: `Constructs [--names] [--number N]`. Each construct whose check fails is printed, and the
/// numbers of each category. `--names` prints the name of each construct before its check. `--number` checks one
/// construct only, by its number in the list from 0. The exit code is 1 where a check failed.
@main
enum ConstructsProgram {
  static func main() {
    attributeConstructs()
    managedTypeConstructs()
    managedFunctionConstructs()
    keyPathConstructs()
    selectorConstructs()
    conditionConstructs()
    commentConstructs()
    extensionConstructs()
    bundleConstructs()
    importConstructs()
    let arguments = CommandLine.arguments
    if let index = arguments.firstIndex(of: "--number"), let number = arguments.dropFirst(index + 1).first {
      Registry.constructs = Int(number).map { Array(Registry.constructs.dropFirst($0).prefix(1)) } ?? []
    }
    // What was printed is to be seen if a check stops the program.
    setvbuf(stdout, nil, _IOLBF, 0)
    exit(run(names: arguments.contains("--names")) ? 0 : 1)
  }

  private static func run(names: Bool) -> Bool {
    var found: [Category: Int] = [:]
    var passed: [Category: Int] = [:]
    for construct in Registry.constructs {
      if names { print("construct \(construct.category) \(construct.name)") }
      Registry.failures = []
      do {
        try construct.check()
      } catch {
        Registry.failures.append("\(error)")
      }
      World.removeContexts()
      found[construct.category, default: 0] += 1
      if Registry.failures.isEmpty { passed[construct.category, default: 0] += 1 }
      for failure in Registry.failures { print("FAILED \(construct.category): \(construct.name): \(failure)") }
    }
    for category in Category.allCases {
      print("\(category) found \(found[category, default: 0]) passed \(passed[category, default: 0])")
    }
    let sums = [found, passed].map { $0.values.reduce(0, +) }
    print("all found \(sums[0]) passed \(sums[1])")
    return sums[0] == sums[1]
  }
}
