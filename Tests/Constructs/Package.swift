// swift-tools-version:6.1
import PackageDescription

// On a Mac the sources compile against Apple's Core Data as they are. Elsewhere the plugin compiles rewritten copies of
// those in Layer.
#if os(macOS)
  let layer: [String] = []
  let plugins: [Target.PluginUsage] = []
#else
  let layer = ["Layer"]
  let plugins: [Target.PluginUsage] = [.plugin(name: "ManagedSources", package: "OpenCoreData")]
#endif

let package = Package(
  name: "Constructs",
  platforms: [.macOS(.v13)],
  dependencies: [.package(name: "OpenCoreData", path: "../..")],
  targets: [
    .executableTarget(
      name: "Constructs",
      dependencies: [
        .product(
          name: "CoreData", package: "OpenCoreData", condition: .when(platforms: [.linux, .windows, .android]))
      ],
      exclude: layer,
      swiftSettings: [.swiftLanguageMode(.v5)],
      plugins: plugins)
  ]
)
