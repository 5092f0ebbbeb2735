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

do {
  ConformanceCommand.main(harnesses: harnesses, sabotaged: try SabotagedStores.all(), cases: GraphSuite.all)
} catch {
  FileHandle.standardError.write(
    Data("store-conformance: the list of sabotaged stores cannot be read: \(error)\n".utf8))
  exit(2)
}
