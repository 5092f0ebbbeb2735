"""The same targets as a package that Swift's package manager builds, with the plugin."""
import subprocess
from pathlib import Path

from .build import SUPPORT, WORK, Failure, first_error, output, program_text, write

MANIFEST = """// swift-tools-version:6.2
import PackageDescription

let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny"), .treatAllWarnings(as: .error),
]
let coreData: Target.Dependency = .product(name: "CoreData", package: "OpenCoreData")
let models = [
{names}]

let package = Package(
  name: "GeneratedClasses",
  dependencies: [.package(name: "OpenCoreData", path: "../..")],
  targets: [
    .target(name: "ExerciseSupport", dependencies: [coreData], swiftSettings: settings),
    .executableTarget(
      name: "GeneratedClasses", dependencies: ["ExerciseSupport"] + models.map {{ .target(name: $0) }}, swiftSettings: settings),
  ] + models.map {{
    .target(
      name: $0, dependencies: [coreData, "ExerciseSupport"], exclude: ["Layer"], swiftSettings: settings,
      plugins: [.plugin(name: "ManagedSources", package: "OpenCoreData")])
  }}
)
"""


def build(targets):
    """Builds the package, and returns its program."""
    sources = WORK / "Sources"
    for name in ("ExerciseSupport", "GeneratedClasses"): (sources / name).mkdir(exist_ok=True)
    write(sources / "ExerciseSupport" / "Exercise.swift", SUPPORT.read_text(encoding="utf-8"))
    write(sources / "GeneratedClasses" / "main.swift", program_text(targets))
    write(WORK / "Package.swift", MANIFEST.format(names="".join(f"  \"{target.model.module}\",\n" for target in targets)))
    command = ["swift", "build", "--package-path", WORK]
    result = output(command)
    if result.returncode != 0: raise Failure(f"the package is not built: {first_error(result.stdout)}")
    folder = subprocess.run([*map(str, command), "--show-bin-path"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    return Path(folder) / "GeneratedClasses"


def model(program, target):
    """The compiled model among the resources of a target."""
    folder = program.parent / f"GeneratedClasses_{target.model.module}.resources"
    return next(path for path in folder.iterdir() if path.suffix in (".mom", ".momd"))
