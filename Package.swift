// swift-tools-version:6.2
import PackageDescription

/// Held by every target: Swift 6 language mode, explicit existentials, member lookup only through
/// imports of the same file, warnings are errors.
let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .treatAllWarnings(as: .error),
]

func library(
  _ name: String, path: String? = nil, exclude: [String] = [], _ dependencies: [Target.Dependency]
) -> Target {
  .target(name: name, dependencies: dependencies, path: path, exclude: exclude, swiftSettings: strict)
}

/// An engine or a backend. It is compiled as a third party's would be: without the `package` declarations of other
/// modules.
func publicOnly(_ name: String, path: String? = nil, _ dependencies: [Target.Dependency]) -> Target {
  .target(name: name, dependencies: dependencies, path: path, packageAccess: false, swiftSettings: strict)
}

/// The tests of a module, with the fixture world of all tests.
func tests(
  _ name: String, path: String? = nil, exclude: [String] = [], _ dependencies: [Target.Dependency],
  _ settings: [SwiftSetting] = strict
) -> Target {
  .testTarget(
    name: name, dependencies: dependencies + ["TestSupport"], path: path, exclude: exclude, swiftSettings: settings)
}

/// What needs liblmdb is built with the trait only, and its sources are empty without.
let withLMDB = TargetDependencyCondition.when(traits: ["LMDB"])

/// Foundation marks its own NSExpression, NSComparisonPredicate and predicateFormat as deprecated off Apple's
/// platforms; Core Data's API has to name them.
let namesFoundationsPredicates: [SwiftSetting] = strict + [.treatWarning("DeprecatedDeclaration", as: .warning)]

let package = Package(
  name: "OpenCoreData",
  products: [
    .library(name: "CoreData", targets: ["CoreData"]),
    .library(name: "StoreProtocol", targets: ["StoreProtocol", "StoreQuery", "StoreSchema"]),
    .library(name: "StoreSupport", targets: ["StoreSupport"]),
    .library(name: "AtomicEngine", targets: ["AtomicEngine"]),
    .library(name: "KeyValueEngine", targets: ["KeyValueEngine"]),
    .library(name: "SQLEngine", targets: ["SQLEngine"]),
    .library(name: "ModelFiles", targets: ["ModelFiles"]),
    .library(name: "ModelCompiler", targets: ["ModelCompiler"]),
    .library(name: "SourceRewriter", targets: ["SourceRewriter"]),
    .library(name: "LMDBStore", targets: ["LMDBStore"]),
    .library(name: "StoreConformance", targets: ["StoreConformance", "StoreConformanceRunner"]),
    .library(name: "GraphConformance", targets: ["GraphConformance"]),
    .plugin(name: "ManagedSources", targets: ["ManagedSources"]),
    .plugin(name: "Port", targets: ["Port"]),
    .plugin(name: "GenerateModels", targets: ["GenerateModels"]),
    .executable(name: "coredata", targets: ["CoreDataTool"]),
    .executable(name: "store-conformance", targets: ["store-conformance"]),
  ],
  traits: [
    .trait(name: "LMDB", description: "Stores in LMDB files, which need liblmdb.")
  ],
  targets: [
    library("StoreSchema", []),
    library("StoreQuery", ["StoreSchema"]),
    library("StoreProtocol", ["StoreQuery", "StoreSchema", "PropertyLists"]),
    .systemLibrary(name: "CPosix"),
    library("StoreSupport", ["StoreProtocol", "StoreQuery", "StoreSchema", "PropertyLists"]),
    publicOnly(
      "AtomicEngine", ["StoreProtocol", "StoreQuery", "StoreSchema", "StoreSupport", "PropertyLists", "CPosix"]),
    publicOnly("KeyValueEngine", ["StoreProtocol", "StoreQuery", "StoreSchema", "StoreSupport", "PropertyLists"]),
    publicOnly("SQLEngine", ["StoreProtocol", "StoreQuery", "StoreSchema", "StoreSupport"]),
    library("PropertyLists", []),
    library("ModelFiles", ["StoreQuery", "StoreSchema", "PropertyLists"]),
    library("SourceRewriter", []),
    library("ModelCompiler", ["ModelFiles", "StoreQuery", "StoreSchema", "PropertyLists"]),
    library("Porting", ["ModelCompiler", "SourceRewriter"]),

    .systemLibrary(
      name: "CSQLite", path: "Backends/SQLite/CSQLite", pkgConfig: "sqlite3",
      providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
    .systemLibrary(
      name: "CZlib", path: "Backends/SQLite/CZlib", pkgConfig: "zlib",
      providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]),
    publicOnly(
      "SQLiteBackend", path: "Backends/SQLite/Sources",
      ["SQLEngine", "StoreProtocol", "StoreQuery", "StoreSchema", "StoreSupport", "PropertyLists", "CSQLite", "CZlib"]),

    .systemLibrary(
      name: "CLibXML2", path: "Backends/XML/CLibXML2", pkgConfig: "libxml-2.0",
      providers: [.apt(["libxml2-dev"]), .brew(["libxml2"])]),
    .target(name: "CXMLParser", dependencies: ["CLibXML2"], path: "Backends/XML/CXMLParser"),
    publicOnly(
      "XMLBackend", path: "Backends/XML/Sources",
      ["AtomicEngine", "StoreProtocol", "StoreSchema", "StoreSupport", "PropertyLists", "CXMLParser"]),
    publicOnly(
      "BinaryBackend", path: "Backends/Binary/Sources",
      ["AtomicEngine", "StoreProtocol", "StoreSchema", "StoreSupport", "PropertyLists"]),
    publicOnly("InMemoryBackend", path: "Backends/InMemory/Sources", ["AtomicEngine", "StoreProtocol", "StoreSchema"]),

    .systemLibrary(
      name: "CLMDB", path: "Backends/LMDB/CLMDB", pkgConfig: "lmdb",
      providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]),
    publicOnly(
      "LMDBBackend", path: "Backends/LMDB/Sources",
      [
        "KeyValueEngine", "StoreProtocol", "StoreSchema", "StoreSupport", "CPosix",
        .target(name: "CLMDB", condition: withLMDB),
      ]),
    publicOnly("LMDBStore", path: "Backends/LMDB/Registration", ["CoreData", "LMDBBackend"]),

    .target(name: "CRuntime"),
    library("RuntimeAccess", exclude: ["README.md", "Marks.tsv"], ["CRuntime"]),
    .target(
      name: "CoreData",
      dependencies: [
        "StoreProtocol", "StoreQuery", "StoreSchema", "StoreSupport", "ModelFiles", "PropertyLists", "AtomicEngine",
        "BinaryBackend", "InMemoryBackend", "SQLiteBackend", "XMLBackend", "CRuntime",
        "RuntimeAccess",
      ],
      swiftSettings: namesFoundationsPredicates),

    // Not called coredata: where file names differ by case alone it would lie in one folder with CoreData.
    .executableTarget(
      name: "CoreDataTool",
      dependencies: [
        "CoreData", "LMDBStore", "StoreProtocol", "StoreQuery", "StoreSchema", "StoreSupport", "ModelFiles",
        "ModelCompiler", "PropertyLists",
      ],
      swiftSettings: strict),

    // What the plugin runs for each target: small, because it is built before the target.
    .executableTarget(
      name: "BuildTool", dependencies: ["ModelCompiler", "ModelFiles", "Porting", "SourceRewriter"],
      swiftSettings: strict),
    .plugin(name: "ManagedSources", capability: .buildTool(), dependencies: ["BuildTool"]),
    .plugin(
      name: "Port",
      // Without a permission: a report writes nothing, and the path may be outside of the package.
      capability: .command(
        intent: .custom(verb: "port", description: "Build a model layer of Apple's platforms elsewhere.")),
      dependencies: ["BuildTool"]),
    .plugin(
      name: "GenerateModels",
      capability: .command(
        intent: .custom(
          verb: "generate-models", description: "Write models and rewritten sources into the source tree."),
        permissions: [.writeToPackageDirectory(reason: "It writes a folder into each target.")]),
      dependencies: ["BuildTool"]),

    // What every store must do, as cases that are values; the runner of those; the program for the stores of this
    // package.
    library(
      "StoreConformance", path: "Conformance/StoreConformance",
      ["StoreProtocol", "StoreQuery", "StoreSchema", "StoreSupport", "PropertyLists", "CFailingFiles"]),
    .target(name: "CFailingFiles", path: "Conformance/CFailingFiles"),
    library(
      "StoreConformanceRunner", path: "Conformance/StoreConformanceRunner",
      ["StoreConformance", "StoreProtocol", "StoreSchema"]),
    library(
      "GraphConformance", path: "Conformance/GraphConformance", ["CoreData", "StoreConformance", "StoreProtocol"]),
    library(
      "SabotagedStores", path: "Conformance/SabotagedStores", exclude: ["Caught.json"],
      [
        "StoreConformance", "StoreConformanceRunner", "StoreProtocol", "StoreQuery", "StoreSchema", "InMemoryBackend",
        "XMLBackend",
      ]),
    .executableTarget(
      name: "store-conformance",
      dependencies: [
        "StoreConformance", "StoreConformanceRunner", "GraphConformance", "SabotagedStores", "StoreProtocol",
        "BinaryBackend", "InMemoryBackend", "LMDBBackend", "SQLiteBackend", "XMLBackend", "CSQLite",
      ],
      path: "Conformance/store-conformance", swiftSettings: strict),

    // Stores as clients implement them, and the program that runs the cases of objects on them.
    .target(
      name: "ClientStores", dependencies: ["CoreData"], path: "Conformance/ClientStores", exclude: ["Expectations"],
      swiftSettings: namesFoundationsPredicates),
    .executableTarget(
      name: "client-conformance",
      dependencies: [
        "BinaryBackend", "ClientStores", "CoreData", "GraphConformance", "InMemoryBackend", "SQLiteBackend",
        "StoreConformance", "StoreConformanceRunner", "StoreProtocol", "StoreSchema", "XMLBackend",
      ],
      path: "Conformance/client-conformance", swiftSettings: strict),

    // The probe for Apple's Core Data, built here for its check. The package in Conformance/AppleProbe builds the same
    // sources, on macOS with the system's framework, and in language mode 5 too.
    .executableTarget(
      name: "AppleProbe", dependencies: ["CoreData"], path: "Conformance/AppleProbe/Sources",
      swiftSettings: [
        .swiftLanguageMode(.v5), .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"), .treatAllWarnings(as: .error),
      ]),

    // Programs whose main threads differ, one that uses a context on the wrong queue, and what they share.
    library("QueueWorld", path: "Tests/QueuePrograms/World", ["CoreData"]),
    .executableTarget(
      name: "queue-run-loop", dependencies: ["QueueWorld"], path: "Tests/QueuePrograms/RunLoop", swiftSettings: strict),
    .executableTarget(
      name: "queue-dispatch-main", dependencies: ["QueueWorld"], path: "Tests/QueuePrograms/DispatchMain",
      swiftSettings: strict),
    .executableTarget(
      name: "queue-async-main", dependencies: ["CoreData", "QueueWorld"], path: "Tests/QueuePrograms/AsyncMain",
      swiftSettings: strict),
    .executableTarget(
      name: "queue-undrained", dependencies: ["CoreData", "QueueWorld"], path: "Tests/QueuePrograms/Undrained",
      swiftSettings: strict),
    .executableTarget(
      name: "queue-family", dependencies: ["QueueWorld"], path: "Tests/QueuePrograms/Family", swiftSettings: strict),
    .executableTarget(
      name: "queue-wrong", dependencies: ["CoreData", "QueueWorld"], path: "Tests/QueuePrograms/WrongQueue",
      swiftSettings: strict),
    // The program that Scripts/crash kills, and that Scripts/fault runs on a failing disk.
    .executableTarget(
      name: "crash-writer", dependencies: ["CoreData", "LMDBStore", "StoreProtocol", "StoreSupport", "CFailingFiles"],
      path: "Tests/CrashWriter", swiftSettings: strict),

    // The program that the LMDB store's tests run beside themselves.
    .executableTarget(
      name: "lmdb-process", dependencies: ["LMDBBackend", "StoreProtocol", "StoreSchema"],
      path: "Backends/LMDB/Tests/Process", swiftSettings: strict),

    // What fuzzers and tests feed with bytes from anywhere.
    .target(
      name: "FuzzTargets",
      dependencies: [
        "CoreData", "ModelCompiler", "ModelFiles", "PropertyLists", "SourceRewriter", "SQLiteBackend",
        "StoreConformance", "StoreProtocol", "StoreQuery",
      ],
      path: "Tests/FuzzTargets", exclude: ["Inputs", "Seeds", "predicate.dict"], swiftSettings: strict),

    // The fixture world of all tests: folders, seeds, models, the corpus, and runs of other programs.
    .target(
      name: "TestSupport", dependencies: ["CoreData", "StoreProtocol", "StoreSchema"], path: "Tests/Support",
      swiftSettings: namesFoundationsPredicates),

    tests("RuntimeAccessTests", ["CRuntime", "RuntimeAccess"]),
    tests("PropertyListsTests", ["PropertyLists"]),
    tests("ModelFilesTests", ["ModelFiles", "StoreQuery", "PropertyLists"]),
    tests("ModelCompilerTests", ["ModelCompiler", "ModelFiles", "PropertyLists", "StoreSchema"]),
    tests("SourceRewriterTests", ["SourceRewriter"]),
    tests("PortingTests", ["Porting", "SourceRewriter"]),
    tests("BuildToolTests", ["BuildTool", "CoreData"]),
    tests("StoreQueryTests", ["StoreQuery", "StoreSchema"]),
    tests("StoreSchemaTests", ["StoreSchema"]),
    tests("StoreProtocolTests", ["SQLiteBackend", "StoreProtocol", "StoreQuery", "StoreSchema", "StoreSupport"]),
    tests("StoreSupportTests", ["StoreProtocol", "StoreSchema", "StoreSupport"]),
    tests(
      "AtomicEngineTests",
      ["AtomicEngine", "BinaryBackend", "PropertyLists", "StoreProtocol", "StoreSchema", "StoreSupport", "XMLBackend"]),
    tests("KeyValueEngineTests", ["AtomicEngine", "KeyValueEngine", "StoreProtocol", "StoreSchema"]),
    tests(
      "SQLEngineTests", ["SQLEngine", "SQLiteBackend", "StoreProtocol", "StoreQuery", "StoreSchema", "StoreSupport"]),
    tests(
      "SQLiteBackendTests", path: "Backends/SQLite/Tests",
      ["CSQLite", "SQLEngine", "SQLiteBackend", "StoreProtocol", "StoreSchema", "StoreSupport"]),
    tests(
      "XMLBackendTests", path: "Backends/XML/Tests",
      ["AtomicEngine", "PropertyLists", "StoreProtocol", "StoreSchema", "StoreSupport", "XMLBackend"]),
    tests(
      "BinaryBackendTests", path: "Backends/Binary/Tests",
      ["AtomicEngine", "BinaryBackend", "PropertyLists", "StoreProtocol", "StoreSchema", "StoreSupport"]),
    tests(
      "InMemoryBackendTests", path: "Backends/InMemory/Tests", ["InMemoryBackend", "StoreProtocol", "StoreSchema"]),
    tests(
      "LMDBBackendTests", path: "Backends/LMDB/Tests", exclude: ["Process"],
      [
        "LMDBBackend", "PropertyLists", "lmdb-process", "StoreProtocol", "StoreSchema", "StoreSupport",
        .target(name: "CLMDB", condition: withLMDB),
      ]),
    tests(
      "CoreDataTests",
      [
        "ClientStores", "CoreData", "CoreDataTool", "crash-writer", "FuzzTargets", "InMemoryBackend", "LMDBStore",
        "PropertyLists", "SQLEngine", "SQLiteBackend", "StoreProtocol", "StoreQuery", "StoreSchema", "StoreSupport",
        "queue-run-loop", "queue-dispatch-main", "queue-async-main", "queue-undrained", "queue-family", "queue-wrong",
      ],
      namesFoundationsPredicates),
    tests(
      "CoreDataToolTests",
      ["CoreData", "CoreDataTool", "LMDBStore", "SQLiteBackend", "StoreProtocol", "StoreSupport"]),
    tests(
      "StoreConformanceTests",
      [
        "StoreConformance", "StoreConformanceRunner", "GraphConformance", "SabotagedStores", "StoreProtocol",
        "StoreQuery", "StoreSchema", "StoreSupport", "BinaryBackend", "InMemoryBackend", "SQLEngine", "SQLiteBackend",
        "store-conformance", "XMLBackend", "CoreData",
      ]),
    tests("HouseTests", []),
  ]
)

// libFuzzer brings the main function, so that this builds only with it: see Scripts/fuzz.
if Context.environment["OPENCOREDATA_FUZZ"] != nil {
  package.products.append(.executable(name: "fuzz", targets: ["Fuzz"]))
  package.targets.append(
    .executableTarget(name: "Fuzz", dependencies: ["FuzzTargets"], path: "Tests/Fuzz", swiftSettings: strict))
}
