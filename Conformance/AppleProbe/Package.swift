// swift-tools-version:6.2
import PackageDescription

// The sources use Apple's API only. On macOS they are compiled against the system's Core Data, elsewhere against this
// package's. The language mode is 5, because the two frameworks do not promise the same to the concurrency checker.
#if os(macOS)
  let dependencies: [Package.Dependency] = []
  let products: [Target.Dependency] = []
#else
  let dependencies: [Package.Dependency] = [.package(name: "OpenCoreData", path: "../..")]
  let products: [Target.Dependency] = [.product(name: "CoreData", package: "OpenCoreData")]
#endif

let package = Package(
  name: "apple-probe",
  platforms: [.macOS(.v14)],
  dependencies: dependencies,
  targets: [.executableTarget(name: "apple-probe", dependencies: products, path: "Sources")],
  swiftLanguageModes: [.v5]
)
