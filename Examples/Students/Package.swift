// swift-tools-version:6.1
import PackageDescription

// Off Apple's platforms the plugin compiles the model and rewrites Xcode's classes, which the target then leaves out.
#if os(macOS)
  let modelLayer: [String] = []
  let plugins: [Target.PluginUsage] = []
#else
  let modelLayer = ["Model"]
  let plugins: [Target.PluginUsage] = [.plugin(name: "ManagedSources", package: "OpenCoreData")]
#endif

let package = Package(
  name: "Students",
  dependencies: [.package(name: "OpenCoreData", path: "../..")],
  targets: [
    .executableTarget(
      name: "Students",
      dependencies: [
        .product(
          name: "CoreData", package: "OpenCoreData", condition: .when(platforms: [.linux, .windows, .android]))
      ],
      exclude: modelLayer,
      plugins: plugins)
  ]
)
