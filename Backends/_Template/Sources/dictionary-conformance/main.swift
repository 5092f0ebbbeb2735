import DictionaryStore
import Foundation
import StoreConformance
import StoreConformanceRunner
import StoreProtocol

/// What the suite needs to know of the store.
struct DictionaryHarness: StoreHarness {
  let name = "dictionary"
  var backend: any StoreBackend { DictionaryBackend() }
  var expectations: URL? {
    URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Expectations.json")
  }
}

ConformanceCommand.main(harnesses: [DictionaryHarness()], cases: DictionaryCases.all)
