/// Which module may import which: the table of the design, as data.
enum ImportTable {
  /// The modules of this package that each module under Sources and Conformance may import.
  static let sources: [String: Set<String>] = [
    "StoreSchema": [],
    "StoreQuery": ["StoreSchema"],
    "StoreProtocol": ["StoreQuery", "StoreSchema", "PropertyLists"],
    "StoreSupport": ["StoreProtocol", "StoreQuery", "StoreSchema", "PropertyLists"],
    "AtomicEngine": ["StoreProtocol", "StoreQuery", "StoreSchema", "StoreSupport", "PropertyLists", "CPosix"],
    "KeyValueEngine": ["StoreProtocol", "StoreQuery", "StoreSchema", "StoreSupport", "PropertyLists"],
    "SQLEngine": ["StoreProtocol", "StoreQuery", "StoreSchema", "StoreSupport", "PropertyLists"],
    "PropertyLists": [],
    "ModelFiles": ["StoreQuery", "StoreSchema", "PropertyLists"],
    "ModelCompiler": ["ModelFiles", "StoreQuery", "StoreSchema", "PropertyLists"],
    "SourceRewriter": [],
    "Porting": ["ModelCompiler", "SourceRewriter"],
    "BuildTool": ["ModelCompiler", "ModelFiles", "Porting", "SourceRewriter"],
    "CoreData": [
      "StoreProtocol", "StoreQuery", "StoreSchema", "StoreSupport", "ModelFiles", "PropertyLists", "CRuntime",
      "RuntimeAccess",
    ],
    "CPosix": [],
    "CRuntime": [],
    "RuntimeAccess": ["CRuntime"],
    "StoreConformance": [
      "StoreProtocol", "StoreQuery", "StoreSchema", "StoreSupport", "PropertyLists", "CFailingFiles",
    ],
    "StoreConformanceRunner": ["StoreConformance", "StoreProtocol", "StoreSchema"],
    "GraphConformance": ["CoreData", "StoreConformance", "StoreProtocol"],
    "SabotagedStores": [
      "StoreConformance", "StoreConformanceRunner", "StoreProtocol", "StoreQuery", "StoreSchema", "InMemoryBackend",
      "XMLBackend",
    ],
    "store-conformance": [
      "StoreConformance", "StoreConformanceRunner", "GraphConformance", "SabotagedStores", "StoreProtocol",
      "BinaryBackend", "InMemoryBackend", "LMDBBackend", "SQLiteBackend", "XMLBackend", "CSQLite",
    ],
    // Client code uses the public API only.
    "ClientStores": ["CoreData"],
    "client-conformance": [
      "ClientStores", "CoreData", "GraphConformance", "StoreConformance", "StoreConformanceRunner", "StoreProtocol",
      "StoreSchema", "BinaryBackend", "InMemoryBackend", "SQLiteBackend", "XMLBackend",
    ],
    // This target also compiles on Apple's platforms.
    "AppleProbe": ["CoreData"],
    "CoreDataTool": [
      "CoreData", "StoreProtocol", "StoreQuery", "StoreSchema", "StoreSupport", "ModelFiles", "ModelCompiler",
      "PropertyLists",
    ],
  ]

  /// The modules that every backend may import in addition to one engine and its own C libraries.
  static let backend: Set<String> = [
    "StoreProtocol", "StoreQuery", "StoreSchema", "StoreSupport", "PropertyLists", "CPosix",
  ]
  static let engines: Set<String> = ["AtomicEngine", "KeyValueEngine", "SQLEngine"]

  /// Single files that may import more than the rest of their module.
  static let exceptions: [String: Set<String>] = [
    "Sources/CoreData/Coordinator/StoreRegistration.swift": [
      "BinaryBackend", "InMemoryBackend", "SQLiteBackend", "XMLBackend",
    ],
    "Sources/CoreData/CustomStores/AtomicNodes.swift": ["AtomicEngine"],
    "Sources/CoreData/CustomStores/ClassBackend.swift": ["AtomicEngine"],
    "Sources/CoreData/CustomStores/CustomStore.swift": ["AtomicEngine"],
    // `withObservationTracking` learns of reads and changes here, and nowhere else.
    "Sources/CoreData/Observing/ObjectObservers.swift": ["Observation"],
    "Sources/CoreData/Observing/ObservedObjects.swift": ["Observation"],
    // A store with a product of its own registers itself.
    "Backends/LMDB/Registration/LMDBStore.swift": ["CoreData", "LMDBBackend"],
    "Sources/CoreDataTool/main.swift": ["LMDBStore"],
  ]

  /// Modules of the toolchain on every platform.
  static let toolchain: Set<String> = ["Foundation", "Dispatch", "Synchronization"]

  /// Modules of one platform, allowed only in files named `Platform*.swift`.
  static let platforms: Set<String> = ["Glibc", "Musl", "Android", "WinSDK", "Darwin"]

  /// Modules whose types have Apple's names.
  static let withAppleNames: Set<String> = ["CoreData"]

  /// Files that may be longer than `longestFile` lines, each with a reason.
  static let longFiles: Set<String> = []
  static let longestFile = 400
}
