import Foundation

let usage = """
  usage: apple-probe write DIR
             writes models and stores into a new folder
         apple-probe describe DIR
             writes what the compiled models in the folder DIR/compiled have, for a check
         apple-probe check DIR --report FILE
             reads and changes the stores of a folder, runs the cases, and writes what it found
         apple-probe reread DIR
             reads stores that a check has changed
         apple-probe judge FILE --expected TABLE [--update]
             prints how a report differs from a table of outcomes, or makes the table of it
         apple-probe cases
             runs the cases and prints what happened
  """

func option(_ name: String, _ arguments: [String]) -> String? {
  arguments.firstIndex(of: name).flatMap { $0 + 1 < arguments.count ? arguments[$0 + 1] : nil }
}

func file(_ path: String?) throws -> URL {
  guard let path else { throw ProbeError(usage) }
  return URL(fileURLWithPath: path)
}

/// Writes each store in a process of its own. Says which of them could not be written.
func write(_ folder: URL) throws -> Int {
  try ProbeFolder(url: folder).prepare()
  var failures = 0
  for (number, store) in try Manifest.read(folder).stores.enumerated() {
    let result = try ChildProcess.run(["write-store", folder.path, "\(number)"], seconds: 300)
    guard let failure = result.failure else { continue }
    print("store \(store.file): \(failure): \(result.reason ?? "")")
    failures += 1
  }
  return failures == 0 ? 0 : 1
}

/// The report of one model or store, made by a process of its own. Where there is none, why there is none.
func childReport<Part: Decodable>(_ arguments: [String]) throws -> (Part?, failure: String) {
  let result = try ChildProcess.run(arguments, seconds: 300)
  let report = result.failure == nil ? try? JSONDecoder().decode(Part.self, from: result.output) : nil
  return (report, "\(result.failure ?? "no report"): \(result.reason ?? "")")
}

func modelReport(_ folder: URL, _ name: String, _ command: String) throws -> ModelReport {
  let (report, failure): (ModelReport?, String) = try childReport([command, folder.path, name])
  return report ?? ModelReport(name: name, differences: [failure])
}

func storeReport(_ folder: URL, _ number: Int, _ store: ProbeStore, _ command: String) throws -> StoreReport {
  let (report, failure): (StoreReport?, String) = try childReport([command, folder.path, "\(number)"])
  return report ?? StoreReport(file: store.file, failure: "end: \(failure)")
}

/// What a case says, in one line; `stopped` where its process was stopped.
func caseReport(_ graphCase: GraphCase) throws -> CaseReport {
  let result = try ChildProcess.run(["case", graphCase.id], seconds: 60)
  let outcome = result.failure ?? String(decoding: result.output, as: UTF8.self)
  let line = outcome.split(whereSeparator: { $0.isNewline || $0 == "\t" }).joined(separator: " ")
  return CaseReport(
    id: graphCase.id, question: graphCase.question, outcome: line, note: result.reason)
}

/// Prints what stores have otherwise than a check has changed them to.
func reread(_ folder: URL) throws -> Int {
  var differences = 0
  for (number, store) in try Manifest.read(folder).stores.enumerated() {
    let report = try storeReport(folder, number, store, "reread-store")
    let lines = (report.failure.map { ["failed to \($0)"] } ?? []) + report.differences
    lines.forEach { print("store \(store.file): \($0)") }
    differences += lines.count
  }
  print("\(differences) differences in changed stores")
  return differences == 0 ? 0 : 1
}

/// Prints how a report differs from the table; first makes the table from it on request.
func judge(_ arguments: [String]) throws -> Int {
  let report = try JSONDecoder().decode(Report.self, from: Data(contentsOf: file(arguments.first)))
  let table = try file(option("--expected", arguments))
  if arguments.contains("--update") { try Data(Judge.table(report.cases).utf8).write(to: table) }
  let judge = Judge(report: report, expected: try Judge.readTable(table))
  judge.differences.forEach { print($0) }
  print(judge.summary)
  return judge.differences.isEmpty ? 0 : 1
}

/// Runs a command. The result is the exit status.
func run(_ arguments: [String]) throws -> Int {
  let rest = Array(arguments.dropFirst())
  switch arguments.first {
  case "write": return try write(file(rest.first))
  case "check":
    let (folder, output) = (try file(rest.first), try file(option("--report", rest)))
    let manifest = try Manifest.read(folder)
    let compiled = try CompiledModels(folder: ProbeFolder(url: folder)).written().keys.sorted()
    let report = Report(
      platform: ProbeFolder.platform, writer: manifest.platform,
      models: try manifest.hashes.keys.sorted().map { try modelReport(folder, $0, "check-model") }
        + compiled.map { try modelReport(folder, $0, "check-compiled") },
      stores: try manifest.stores.enumerated().map { try storeReport(folder, $0, $1, "check-store") },
      cases: try GraphCase.all.map(caseReport))
    try report.json().write(to: output)
  case "describe": try CompiledModels(folder: ProbeFolder(url: file(rest.first))).writeDescription()
  case "reread": return try reread(file(rest.first))
  case "judge": return try judge(rest)
  case "cases": for one in GraphCase.all { print("\(one.id): \(try caseReport(one).outcome)") }
  // The parts that run in processes of their own.
  case "check-model":
    let folder = ProbeFolder(url: try file(rest.first))
    let (hashes, name) = (try Manifest.read(folder.url).hashes, rest.last ?? "")
    try FileHandle.standardOutput.write(contentsOf: folder.checkModel(name, hashes[name] ?? [:]).json())
  case "check-compiled":
    let compiled = CompiledModels(folder: ProbeFolder(url: try file(rest.first)))
    try FileHandle.standardOutput.write(contentsOf: compiled.check(rest.last ?? "").json())
  case "write-store", "check-store", "reread-store":
    let folder = ProbeFolder(url: try file(rest.first))
    let (stores, number) = (try Manifest.read(folder.url).stores, Int(rest.last ?? "") ?? -1)
    guard stores.indices.contains(number) else { throw ProbeError("no such store") }
    let store = stores[number]
    if arguments[0] == "write-store" {
      try folder.write(store)
    } else {
      let report = folder.check(store, isChanged: arguments[0] == "reread-store")
      try FileHandle.standardOutput.write(contentsOf: report.json())
    }
  case "case":
    guard let found = GraphCase.all.first(where: { $0.id == rest.first }) else { throw ProbeError("no such case") }
    try FileHandle.standardOutput.write(contentsOf: Data(found.outcome().utf8))
  default: throw ProbeError(usage)
  }
  return 0
}

do { exit(Int32(try run(Array(CommandLine.arguments.dropFirst())))) } catch {
  FileHandle.standardError.write(Data("\(error)\n".utf8))
  exit(2)
}
