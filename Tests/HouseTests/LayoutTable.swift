/// Where the layout of the repository has exceptions, each with its reason.
enum LayoutTable {
  /// Modules without a test target of their name.
  static let withoutTests: [String: String] = [
    "CPosix": "C declarations only. The tests of AtomicEngine use them.",
    "CRuntime": "C functions. RuntimeAccessTests and CoreDataTests call them through Swift.",
    "CFailingFiles": "The conformance cases and Scripts/fault make files fail with it.",
    "StoreConformanceRunner": "StoreConformanceTests run it.",
    "GraphConformance": "StoreConformanceTests run its cases.",
    "SabotagedStores": "StoreConformanceTests check that each mistake is caught.",
    "ClientStores": "CoreDataTests and client-conformance use these stores.",
    "store-conformance": "A program. StoreConformanceTests start it.",
    "client-conformance": "A program. Scripts/test runs it.",
    "AppleProbe": "A program. Scripts/apple_probe_check runs it.",
  ]

  /// Folders of Tests that are no tests of a module.
  static let besideTests: [String: String] = [
    "HouseTests": "Tests of the repository as a whole.",
    "Support": "The fixture world of all tests.",
    "BrokenLines": "Patches that Scripts/broken_line applies.",
    "Ports": "A package and a project of Xcode, which Scripts/ports makes build here.",
    "Constructs": "A package of sources for Apple's platforms, which the plugin rewrites. Scripts/constructs runs it.",
    "Consumer": "A package that depends on this one.",
    "CrashWriter": "The program that Scripts/crash kills.",
    "Fuzz": "The program that Scripts/fuzz builds.",
    "FuzzTargets": "What fuzzers and tests feed with bytes.",
    "QueuePrograms": "Programs whose main threads differ.",
  ]
}
