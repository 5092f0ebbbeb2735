"""The packages under .build/plugin-builds: App and Other with the plugin, Plain and PlainOther without it."""
from pathlib import Path

from . import sources

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / ".build" / "plugin-builds"
APP, OTHER, PLAIN, PLAIN_OTHER = (FOLDER / name for name in ("App", "Other", "Plain", "PlainOther"))
MODULES = {"Model": "Sources/Model", "Program": "Sources/Program", "ModelTests": "Tests/ModelTests"}

MANIFEST = """// swift-tools-version:6.1
import PackageDescription

let coreData: Target.Dependency = .product(name: "CoreData", package: "OpenCoreData")

let package = Package(
  name: "{name}",
  products: [{products}],
  dependencies: [.package(name: "OpenCoreData", path: "../../.."){dependencies}],
  targets: [
{targets}
  ]
)
"""


def app_manifest(rules, other):
    """`rules` has the last arguments of each target."""
    more = ', .product(name: "Other", package: "Other")'
    return MANIFEST.format(
        name="App", products="", dependencies=f', .package(name: "Other", path: "../{other}")', targets="\n".join([
            f'    .target(name: "Model", dependencies: [coreData{more}], {rules["Model"]}),',
            f'    .executableTarget(name: "Program", dependencies: [coreData, "Model"{more}], {rules["Program"]}),',
            f'    .testTarget(name: "ModelTests", dependencies: [coreData, "Model"{more}], {rules["ModelTests"]}),']))


def other_manifest(rule):
    return MANIFEST.format(name="Other", products='.library(name: "Other", targets: ["Other"])', dependencies="",
                           targets=f'    .target(name: "Other", dependencies: [coreData], {rule}),')


def write(file, text):
    """Leaves a file that has this text already as it is, so that it is not built again."""
    data = text if isinstance(text, bytes) else text.encode()
    file.parent.mkdir(parents=True, exist_ok=True)
    if not file.exists() or file.read_bytes() != data: file.write_bytes(data)


def write_package(folder, files):
    """Writes the files of a package. Everything else in its folder is removed, but not what was built."""
    for path in sorted(folder.rglob("*"), reverse=True):
        name = path.relative_to(folder)
        if name.parts[0] in (".build", "Package.resolved"): continue
        if path.is_symlink() or path.is_file():
            if str(name) not in files: path.unlink()
        elif not any(path.iterdir()): path.rmdir()
    for name, text in files.items(): write(folder / name, text)


def model_files(path, versions, current=None):
    """The files of a model with these versions."""
    files = {f"{path}/{name}.xcdatamodel/contents": sources.model(entities) for name, entities in versions.items()}
    if current: files[f"{path}/.xccurrentversion"] = sources.current_version(current)
    return files


RULE = 'exclude: ["Layer"], plugins: [.plugin(name: "ManagedSources", package: "OpenCoreData")]'
# `sources:` says what the target compiles itself.
SOURCES_RULE = RULE.replace('exclude: ["Layer"]', 'sources: ["Own.swift"]')


def write_packages(rule=RULE):
    """Writes App and Other as they are before the first step."""
    layer = "Sources/Model/Layer"
    write_package(APP, {
        "Package.swift": app_manifest(dict.fromkeys(MODULES, rule), "Other"),
        "Sources/Model/Own.swift": sources.own("Other"),
        f"{layer}/Book.swift": sources.BOOK,
        f"{layer}/Book+Labels.swift": sources.LABELS,
        f"{layer}/Note+Text.swift": sources.NOTE.replace("TEXT", "none"),
        f"{layer}/Book+Born.swift": sources.OVERRIDE.replace("MARK", "born here"),
        **model_files(f"{layer}/Library.xcdatamodeld", {
            "Library": {"Book": ["title"], "Note*": ["text"]}, "Library 2": LIBRARY_2}, "Library 2"),
        **model_files(f"{layer}/Extra.xcdatamodeld", {"Extra": {"Leaflet*": ["text"]}}),
        f"{layer}/OneToTwo.xcmappingmodel/xcmapping.xml": sources.mapping(["title"]),
        "Sources/Program/Own.swift": sources.own(),
        "Sources/Program/Layer/Program.swift": sources.PROGRAM,
        "Sources/Program/Layer/Setting.swift": sources.SETTING,
        **model_files("Sources/Program/Layer/Settings.xcdatamodeld", {"Settings": {"Setting": ["theme"]}}),
        "Tests/ModelTests/Own.swift": sources.own(),
        "Tests/ModelTests/Layer/BookTests.swift": sources.TESTS,
        **model_files("Tests/ModelTests/Layer/Drafts.xcdatamodeld", {"Drafts": {"Draft": ["text"]}}),
    })
    write_package(OTHER, {
        "Package.swift": other_manifest(rule),
        "Sources/Other/Own.swift": sources.own(),
        "Sources/Other/Layer/Author.swift": sources.AUTHOR.replace("GREETING", "hello"),
        **model_files("Sources/Other/Layer/Other.xcdatamodeld", {"Other": {"Author": ["name"]}}),
    })


LIBRARY_2 = {"Book": ["title", "pages"], "Note*": ["text"]}


def results(package, module):
    """The folder of the plugin's results for a module."""
    return APP / ".build" / "plugins" / "outputs" / package / module / "destination" / "ManagedSources" / "Results"


def write_plain():
    """Writes Plain and PlainOther: what the plugin has made of App and Other, and compiled directly."""
    def target(package, folder, module, path):
        files = {f"{path}/Own.swift": (folder / path / "Own.swift").read_bytes()}
        copied = []
        for result in sorted(results(package, module).iterdir()):
            if result.suffix != ".swift": copied.append(result.name)
            for file in [result, *result.rglob("*")]:
                if file.is_file(): files[f"{path}/{file.relative_to(result.parent)}"] = file.read_bytes()
        rows = ", ".join(f'.copy("{name}")' for name in copied)
        return files, f"resources: [{rows}]"
    found = {module: target("app", APP, module, path) for module, path in MODULES.items()}
    files = {"Package.swift": app_manifest({module: rule for module, (_, rule) in found.items()}, "PlainOther")}
    for more, _ in found.values(): files |= more
    write_package(PLAIN, files)
    files, rule = target("other", OTHER, "Other", "Sources/Other")
    write_package(PLAIN_OTHER, files | {"Package.swift": other_manifest(rule)})
