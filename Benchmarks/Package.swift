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
    .executableTarget(
      name: "store-benchmark",
      dependencies: [
        "CSQLiteRaw", "BenchmarkSupport", .product(name: "CoreData", package: "OpenCoreData"),
        .product(name: "LMDBStore", package: "OpenCoreData"),
        .target(name: "CLMDBRaw", condition: .when(traits: ["LMDB"])),
      ],
      path: "Sources", swiftSettings: strict),
  ]
)
