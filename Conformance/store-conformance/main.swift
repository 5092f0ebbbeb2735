import BinaryBackend
import Foundation
import GraphConformance
import InMemoryBackend
import LMDBBackend
import SabotagedStores
import SQLiteBackend
import StoreConformance
import StoreConformanceRunner
import StoreProtocol
import XMLBackend

var harnesses: [any StoreHarness] = [
  RepositoryHarness(SQLiteBackend(), "SQLite"), RepositoryHarness(BinaryBackend(), "Binary"),
  RepositoryHarness(XMLBackend(), "XML"), RepositoryHarness(InMemoryBackend(), "InMemory", name: "memory"),
]
#if LMDB
  harnesses.append(RepositoryHarness(LMDBBackend(), "LMDB", companion: "-lock"))
#endif

let words = Array(CommandLine.arguments.dropFirst())
if let status = RacesCommand.run(words, harnesses) { exit(status) }
do {
  if let status = try ScriptCommand.run(words) { exit(status) }
} catch {
  FileHandle.standardError.write(Data("store-conformance: \(error)\n".utf8))
  exit(2)
}

do {
  ConformanceCommand.main(
    harnesses: harnesses, sabotaged: try SabotagedStores.all(), cases: GraphSuite.all,
    stacks: { try ContextStack($0, at: $1) },
    moreUsage: RacesCommand.usage + ScriptCommand.usage)
} catch {
  FileHandle.standardError.write(
    Data("store-conformance: the list of sabotaged stores cannot be read: \(error)\n".utf8))
  exit(2)
}
