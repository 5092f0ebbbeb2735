// swift-tools-version:6.2
import PackageDescription

let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .treatAllWarnings(as: .error),
]

// A package of its own, so that nobody who uses the library builds or resolves its benchmarks.
let package = Package(
  name: "Benchmarks",
  traits: [.trait(name: "LMDB", description: "The LMDB store beside LMDB itself.")],
  dependencies: [
    .package(name: "OpenCoreData", path: "..", traits: [.trait(name: "LMDB", condition: .when(traits: ["LMDB"]))])
  ],
  targets: [
    .systemLibrary(
      name: "CLMDBRaw", path: "CLMDBRaw", pkgConfig: "lmdb",
      providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]),
    .systemLibrary(
      name: "CSQLiteRaw", path: "CSQLiteRaw", pkgConfig: "sqlite3",
      providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
    .target(name: "BenchmarkSupport", path: "BenchmarkSupport"),
    .systemLibrary(
      name: "CLibXML2Raw", path: "CLibXML2Raw", pkgConfig: "libxml-2.0",
      providers: [.apt(["libxml2-dev"]), .brew(["libxml2"])]),
    .target(name: "RawXML", dependencies: ["CLibXML2Raw"], path: "RawXML"),
    .executableTarget(
      name: "store-benchmark",
      dependencies: [
        "CSQLiteRaw", "BenchmarkSupport", "RawXML", .product(name: "CoreData", package: "OpenCoreData"),
        .product(name: "LMDBStore", package: "OpenCoreData"),
        .product(name: "StoreProtocol", package: "OpenCoreData"),
        .target(name: "CLMDBRaw", condition: .when(traits: ["LMDB"])),
      ],
      path: "Sources", swiftSettings: strict),
    .executableTarget(
      name: "store-memory",
      dependencies: [
        .product(name: "CoreData", package: "OpenCoreData"), .product(name: "LMDBStore", package: "OpenCoreData"),
      ],
      path: "Memory", swiftSettings: strict),
    .executableTarget(
      name: "store-controller", dependencies: [.product(name: "CoreData", package: "OpenCoreData")],
      path: "Controller", swiftSettings: strict),
    .executableTarget(
      name: "store-accessors", dependencies: [.product(name: "CoreData", package: "OpenCoreData")],
      path: "Accessors", swiftSettings: strict),
  ]
)
