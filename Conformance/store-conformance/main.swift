import BinaryBackend
import Foundation
import InMemoryBackend
import SQLiteBackend
import StoreConformance
import StoreConformanceRunner
import StoreProtocol
import XMLBackend

ConformanceCommand.main(harnesses: [
  RepositoryHarness(SQLiteBackend(), "SQLite"), RepositoryHarness(BinaryBackend(), "Binary"),
  RepositoryHarness(XMLBackend(), "XML"), RepositoryHarness(InMemoryBackend(), "InMemory", name: "memory"),
])
