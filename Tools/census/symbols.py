"""The public symbols of the module CoreData, from a build of the package."""

import json
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlparse

from . import CensusError
from .declaration import TYPES, Declaration, parse
from .typetree import MODULES

MODULE = "CoreData"
TARGET = "x86_64-unknown-linux-gnu"
# Libraries whose headers a module map of the package includes.
LIBRARIES = ("sqlite3", "zlib", "libxml-2.0", "lmdb")
# A declaration that does not do its work yet says so in its documentation, or its body throws such an error.
UNFINISHED_TEXT = re.compile(r"\bNot (\w+ )?yet\b")
UNFINISHED_CODE = re.compile(r"\bnotYet\(|not supported yet")
RESTRICTED_SETTER = re.compile(r"\b(private|fileprivate|internal|package)\(set\)")


@dataclass
class Symbol:
    """A declaration of ours. `path` has the names of the enclosing types and its own, and `source` is None where the
    compiler made the declaration.
    """
    id: str
    path: tuple[str, ...]
    text: str
    declaration: Declaration
    is_open: bool
    documentation: str
    source: tuple[Path, int] | None
    has_default: bool = False

    @property
    def owner(self) -> str:
        return ".".join(self.path[:-1])

    @property
    def public_text(self) -> str:
        """The declaration with its access, which the symbol graph keeps apart."""
        return f"{'open' if self.is_open else 'public'} {self.text}"


def bin_path(build: Path) -> Path:
    """The folder of build products in a scratch folder of SwiftPM; `build` itself where it is one."""
    for folder in (build, build / "debug", build / TARGET / "debug"):
        if (folder / "Modules" / f"{MODULE}.swiftmodule").exists(): return folder
    raise CensusError(f"There is no debug build of {MODULE} in {build}. Run `swift build --traits LMDB` in the package "
                      "first, or name the scratch folder of another build with --build.")


def is_stale(build: Path, sources: Path) -> bool:
    """Whether a source of the module is newer than the build."""
    built = (bin_path(build) / "Modules" / f"{MODULE}.swiftmodule").stat().st_mtime
    return any(file.stat().st_mtime > built for file in sources.rglob("*.swift"))


def module_maps(root: Path, products: Path) -> list[Path]:
    """The maps of the package's C modules: its own, and those that SwiftPM writes into the build. Packages in folders
    below have builds of their own, whose maps have the same names.
    """
    return [*root.glob("Backends/*/C*/module.modulemap"), *root.glob("Sources/C*/module.modulemap"),
            *products.glob("C*.build/module.modulemap")]


def include_flags(root: Path, products: Path) -> list[str]:
    """Where the compiler finds the C modules that the package imports."""
    flags = [flag for file in module_maps(root, products) for flag in ("-I", str(file.parent))]
    for library in LIBRARIES if shutil.which("pkg-config") else ():
        found = subprocess.run(["pkg-config", "--cflags-only-I", library], capture_output=True, text=True)
        flags += found.stdout.split()
    return flags


def extract(root: Path, build: Path) -> list[dict]:
    """The symbol graphs of the module: its own and those of its extensions of other modules."""
    products = bin_path(build)
    if not shutil.which("swift"): raise CensusError("There is no `swift` on the path. Install a Swift toolchain.")
    with tempfile.TemporaryDirectory() as folder:
        command = ["swift", "symbolgraph-extract", "-module-name", MODULE, "-I", str(products / "Modules"),
                   *include_flags(root, products), "-minimum-access-level", "public", "-emit-extension-block-symbols",
                   "-output-dir", folder, "-module-cache-path", f"{folder}/cache", "-target", TARGET]
        result = subprocess.run(command, capture_output=True, text=True)
        files = sorted(Path(folder).glob(f"{MODULE}*.symbols.json"))
        if result.returncode or not files:
            raise CensusError("The symbol graph cannot be extracted. If the toolchain has changed since the build, run "
                              f"`swift build --traits LMDB` again.\n{result.stderr.strip()}")
        return [json.loads(file.read_text()) for file in files]


class Source:
    """The lines of source files, read once."""

    def __init__(self):
        self.files: dict[Path, list[str]] = {}

    def lines(self, file: Path) -> list[str]:
        if file not in self.files:
            self.files[file] = file.read_text().split("\n") if file.exists() else []
        return self.files[file]

    def body(self, file: Path, start: int) -> str:
        """A declaration from its name to the end of its braces, or of its line where it has none."""
        parentheses, braces, text = 0, 0, []
        for line in self.lines(file)[start:start + 400]:
            text.append(line)
            parentheses += line.count("(") - line.count(")")
            braces += line.count("{") - line.count("}")
            if parentheses <= 0 and braces <= 0: break
        return "\n".join(text)

    def restricts_setter(self, file: Path, line: int) -> bool:
        """Whether `private(set)` or the like stands before the name. The symbol graph does not say it."""
        lines = self.lines(file)
        return line < len(lines) and bool(RESTRICTED_SETTER.search(lines[line].split("{")[0]))


class Symbols:
    """All symbols, by the name of their owner and their own base name. Globals have the owner ''."""

    def __init__(self, graphs: list[dict]):
        self.source = Source()
        self.names = {symbol["identifier"]["precise"]: ".".join(symbol["pathComponents"])
                      for graph in graphs for symbol in graph["symbols"]}
        self.aliases = self._aliases(graphs)
        self.members: dict[tuple[str, str], list[Symbol]] = {}
        self.conformances: dict[str, set[str]] = {}
        self.superclasses: dict[str, str] = {}
        self.left_out: set[str] = set()
        with_default = self._relations(graphs)
        for graph in graphs:
            for entry in graph["symbols"]: self._add(entry, with_default)

    def _aliases(self, graphs: list[dict]) -> dict[str, tuple]:
        """Our own type aliases. One that only repeats a name of Foundation is left out, and so is a generic one."""
        aliases = {}
        for graph in graphs:
            for entry in graph["symbols"]:
                if entry["kind"]["identifier"] != "swift.typealias" or "location" not in entry: continue
                path = ".".join(entry["pathComponents"])
                alias = parse(self._text(entry))
                if alias.type[:2] != ("name", path) and not alias.generics: aliases[path] = alias.type
        return aliases

    def _relations(self, graphs: list[dict]) -> set[str]:
        """Fills conformances and superclasses. Returns the requirements that have a default implementation. The
        implementations are left out of the symbols.
        """
        with_default = set()
        for graph in graphs:
            for relation in graph["relationships"]:
                subject = self.names.get(relation["source"], relation["source"])
                target = self.names.get(relation["target"], relation.get("targetFallback", relation["target"]))
                for module in MODULES: target = target.removeprefix(module)
                if relation["kind"] == "conformsTo": self.conformances.setdefault(subject, set()).add(target)
                if relation["kind"] == "inheritsFrom": self.superclasses[subject] = target
                if relation["kind"] == "defaultImplementationOf":
                    with_default.add(relation["target"])
                    self.left_out.add(relation["source"])
        return with_default

    def _text(self, entry: dict) -> str:
        return "".join(fragment["spelling"] for fragment in entry["declarationFragments"])

    def _add(self, entry: dict, with_default: set[str]) -> None:
        precise, kind = entry["identifier"]["precise"], entry["kind"]["identifier"]
        if kind in ("swift.extension", "swift.func.op") or precise in self.left_out: return
        # What a class has from a protocol counts where the protocol is the package's own.
        if "::SYNTHESIZED::" in precise and "location" not in entry: return
        text, path = self._text(entry), tuple(entry["pathComponents"])
        source = None
        if "location" in entry:
            location = entry["location"]
            source = Path(unquote(urlparse(location["uri"]).path)), location["position"]["line"]
        lines = [line["text"] for line in entry.get("docComment", {}).get("lines", [])]
        symbol = Symbol(precise, path, text, parse(text, self.aliases), entry["accessLevel"] == "open",
                        "\n".join(lines), source, precise in with_default)
        if symbol.declaration.settable and source and self.source.restricts_setter(*source):
            symbol.declaration.settable = False
        base = symbol.declaration.name if symbol.declaration.kind not in TYPES else path[-1]
        self.members.setdefault((symbol.owner, base), []).append(symbol)

    def resolved(self, path: str) -> str:
        """The path of a type whose name may be an alias."""
        for apple, ours in (("Notification.Name", "NSNotification.Name"),):
            if path == apple: return ours
        alias = self.aliases.get(path)
        return alias[1] if alias and alias[0] == "name" else path

    def type(self, path: str) -> Symbol | None:
        owner, _, name = self.resolved(path).rpartition(".")
        found = self.members.get((owner, name), ())
        return next((symbol for symbol in found if symbol.declaration.kind in TYPES), None)

    def named(self, owner: str, name: str) -> list[Symbol]:
        """Members of a type or of its superclasses, the nearest first."""
        found, owner = [], self.resolved(owner)
        while True:
            found += [symbol for symbol in self.members.get((owner, name), ()) if symbol.declaration.kind not in TYPES]
            if not owner or owner not in self.superclasses: return found
            owner = self.superclasses[owner]

    def ancestors(self, path: str) -> set[str]:
        found, path = set(), self.resolved(path)
        # A class whose superclass is hidden by its underscore is an NSObject by what it conforms to.
        if "NSObjectProtocol" in self.conformances.get(path, ()): found.add("NSObject")
        while path in self.superclasses:
            path = self.superclasses[path]
            found.add(path)
        return found

    def conforms(self, path: str) -> set[str]:
        names = {self.resolved(path), *self.ancestors(path)}
        return set().union(*(self.conformances.get(name, set()) for name in names))

    def is_unfinished(self, symbol: Symbol) -> bool:
        """Whether the declaration says that it does not do its work yet."""
        if UNFINISHED_TEXT.search(symbol.documentation): return True
        if not symbol.source or symbol.declaration.kind in TYPES: return False
        return bool(UNFINISHED_CODE.search(self.source.body(*symbol.source)))
