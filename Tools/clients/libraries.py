"""The libraries whose sources are type-checked, and the modules that they are checked against."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
WORK = ROOT / ".build" / "clients"
MODULES = ROOT / ".build" / "debug" / "Modules"
SHIMS = Path(__file__).resolve().parent


class Library:
    def __init__(self, sources, flags=(), excluded=None, observes=False, nested=False):
        # `observes` where the observations of the library and its tests are those of Foundation's objects.
        # `nested` where macros, whose results are not rewritten, name classes within other types.
        self.sources, self.flags, self.excluded = sources, list(flags), excluded or {}
        self.aliases = "typealias NSKeyValueObservation = FoundationObservation\n" if observes else ""
        if nested:
            self.aliases += (
                "import CoreData\n"
                "@usableFromInline func NSStringFromClass(_ type: AnyClass) -> String { ModelClasses.name(of: type) }\n")


# Modules of Apple's that have no part here, and the files that stand in for them.
SHIM_SOURCES = {"os": "LoggingShim.swift", "OSLog": None, "FoundationShim": "FoundationShim.swift"}


# The language mode of each is that of its manifest or Xcode project; upcoming features that restrict imports are left out.
SWIFT4, SWIFT5, SWIFT6 = ["-swift-version", "4"], ["-swift-version", "5"], ["-swift-version", "6"]
LIBRARIES = {
    "core-data-model-description": Library("Sources/CoreDataModelDescription", SWIFT5),
    "QueryKit": Library("Sources/QueryKit", SWIFT5),
    "CoreDataKit": Library(
        "CoreDataKit", SWIFT4, {"TableViewFetchedResultsControllerDelegate.swift": "drives a UITableView"}
    ),
    "CoreDataServices": Library("CoreDataServices", SWIFT4),
    "Skopelos": Library("Sources/Skopelos", SWIFT5),
    "JSQCoreDataKit": Library("Sources", SWIFT5),
    "CoreDataStack": Library("Sources", SWIFT4),
    "ManagedModels": Library(
        "Sources/ManagedModels", SWIFT5 + ["-enable-experimental-feature", "StrictConcurrency"], nested=True
    ),
    "CoreDataEvolution": Library("Sources/CoreDataEvolution", SWIFT6, nested=True),
    "CoreDataPlus": Library("Sources", SWIFT6, observes=True),
}


def search_paths():
    """Where the module and the C modules that it stands on are found."""
    paths = ["-I", str(MODULES), "-I", str(WORK)]
    for folder in ["Sources/CPosix", "Backends/SQLite/CSQLite", "Backends/SQLite/CZlib", "Backends/XML/CLibXML2"]:
        paths += ["-I", str(ROOT / folder)]
    for name in ["CRuntime", "CXMLParser"]:
        paths += ["-Xcc", f"-fmodule-map-file={MODULES.parent / f'{name}.build' / 'module.modulemap'}"]
    return paths


def library_objects():
    """Those that the program coredata is linked of, without its own and the LMDB store's."""
    listed = (MODULES.parent / "coredata.product" / "Objects.LinkFileList").read_text(encoding="utf-8")
    files = [line.strip("'") for line in listed.splitlines()]
    return [file for file in files if not re.search(r"/(CoreDataTool|LMDB\w*|KeyValueEngine)\.build/", file)]
