import ClientStores
import GraphConformance
import StoreConformanceRunner
import StoreProtocol

// The cases of objects in contexts, on one store of each kind that clients can implement.
ConformanceCommand.main(
  harnesses: [
    ClassHarness(ListStore.self, ListStore.type, name: "atomic", [.persistent, .localFiles]),
    ClassHarness(DictionaryStore.self, DictionaryStore.type, name: "incremental", []),
  ],
  cases: GraphSuite.all, runsStoreCases: false)
