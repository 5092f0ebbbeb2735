import BinaryBackend
import ClientStores
import GraphConformance
import InMemoryBackend
import SQLiteBackend
import StoreConformance
import StoreConformanceRunner
import StoreProtocol
import XMLBackend

/// A store of this package, to copy to.
struct Target: StoreHarness {
  let backend: any StoreBackend
}

// The cases of objects in contexts, on one store of each kind that clients can implement.
ConformanceCommand.main(
  harnesses: [
    ClassHarness(
      ListStore.self, ListStore.type, name: "atomic",
      [.persistent, .localFiles, .wholeFile, .concurrentReads, .readOnlyOpen, .uniqueness]),
    ClassHarness(DictionaryStore.self, DictionaryStore.type, name: "incremental", [.rowLevel, .uniqueness]),
    Target(backend: SQLiteBackend()), Target(backend: XMLBackend()), Target(backend: BinaryBackend()),
    Target(backend: InMemoryBackend()),
  ],
  cases: GraphSuite.all, runsStoreCases: false)
