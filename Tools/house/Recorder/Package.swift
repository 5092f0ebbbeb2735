// swift-tools-version:6.2
import PackageDescription

let package = Package(
  name: "Recorder",
  dependencies: [.package(name: "OpenCoreData", path: "../../..")],
  targets: [
    .target(name: "StepRecorder"),
    .executableTarget(
      name: "Recorder", dependencies: ["StepRecorder", .product(name: "CoreData", package: "OpenCoreData")]),
  ])
