// swift-tools-version:6.2
import PackageDescription

let package = Package(
  name: "DictionaryStore",
  dependencies: [.package(name: "OpenCoreData", path: "../..")],
  targets: [
    .target(
      name: "DictionaryStore",
      dependencies: [
        .product(name: "StoreProtocol", package: "OpenCoreData"),
        .product(name: "StoreSupport", package: "OpenCoreData"),
      ]),
    .executableTarget(
      name: "dictionary-conformance",
      dependencies: [
        "DictionaryStore", .product(name: "StoreProtocol", package: "OpenCoreData"),
        .product(name: "StoreConformance", package: "OpenCoreData"),
      ]),
    .testTarget(
      name: "DictionaryStoreTests",
      dependencies: ["DictionaryStore", .product(name: "StoreProtocol", package: "OpenCoreData")]),
  ],
  swiftLanguageModes: [.v6]
)
