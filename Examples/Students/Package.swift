// swift-tools-version:6.1
import PackageDescription

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
      resources: [.copy("Students.xcdatamodeld")])
  ]
)
