// swift-tools-version:6.0
import PackageDescription

// A package for Apple's platforms, as its author wrote it.
let package = Package(
  name: "Library",
  platforms: [.macOS(.v14), .iOS(.v17)],
  products: [.library(name: "Catalogue", targets: ["Catalogue"])],
  targets: [
    .target(name: "Catalogue", resources: [.process("Model/Catalogue.xcdatamodeld"), .copy("Resources/titles.txt")]),
    .executableTarget(name: "Report", dependencies: ["Catalogue"]),
    .testTarget(name: "CatalogueTests", dependencies: ["Catalogue"]),
  ],
  swiftLanguageModes: [.v5]
)
