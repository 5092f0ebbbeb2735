"""Which lines of the package are mutated: chosen at random with a seed, of each file its part."""

import hashlib
import random
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path

from .operators import changes
from .source import Source

FOLDERS = ["Conflicts", "Container", "Context", "Coordinator", "CustomStores", "Fetching", "Object", "Observing", "Results", "Undo"]
# Files of these folders that are not what the table is about, and why.
LEFT_OUT = {
    "Context/Queue/PlatformThread.swift": "the system's calls",
    "Coordinator/StoreConstants.swift": "names",
    "Object/SecureArchive.swift": "archives of predicates",
    "Object/SecureArchiveCheck.swift": "archives of predicates",
}
MOST_OF_A_FILE = 9
SOURCES = "Sources/CoreData"


@dataclass
class Mutant:
    """A changed line. `text` is what is compiled in its stead, without the number."""
    number: int
    file: str
    line: int
    operator: str
    before: str
    after: str
    text: str

    @property
    def folder(self) -> str: return Path(self.file).parent.name

    @property
    def key(self) -> str:
        """The same as long as the line is, wherever it stands in its file."""
        return "\t".join((Path(self.file).relative_to(SOURCES).as_posix(), self.before.strip(), self.after.strip()))

    @property
    def compiled(self) -> str: return self.text.replace("@@", f"mutated({self.number})")

    def as_dictionary(self) -> dict: return asdict(self)


def files(root: Path) -> list[Path]:
    found = [path for folder in FOLDERS for path in sorted((root / SOURCES / folder).rglob("*.swift"))]
    return [path for path in found if path.relative_to(root / SOURCES).as_posix() not in LEFT_OUT]


def candidates(text: str) -> dict[int, list]:
    """The mutants of each line that has any."""
    source = Source(text)
    found = {index: changes(source, index) for index in source.usable()}
    return {index: options for index, options in found.items() if options}


def choose(root: Path, count: int, seed: int, under: list[str] | None = None) -> list[Mutant]:
    """At most so many mutants of the files whose paths in Sources/CoreData begin with one of `under`, not two of one line; each file has a part of them by the number of its lines. Those whose key two
    lines of the file have are left out: the verdict of one would be taken for that of the other."""
    by_file = {path: candidates(path.read_text()) for path in files(root)
               if under is None or path.relative_to(root / SOURCES).as_posix().startswith(tuple(under))}
    shares = share(count, {path: len(lines) for path, lines in by_file.items()})
    result = []
    for path, lines in by_file.items():
        name = path.relative_to(root).as_posix()
        text = path.read_text().split("\n")
        keys = Counter(key for index, options in lines.items()
                       for key in {(text[index].strip(), option.after.strip()) for option in options})
        for index, change in sorted(pick(lines, shares[path], f"{seed} {name}")):
            if keys[text[index].strip(), change.after.strip()] > 1: continue
            number = len(result) + 1
            result.append(Mutant(number, name, index + 1, change.operator, text[index], change.after, change.text))
    return result


def find(root: Path, keys: set[str]) -> list[Mutant]:
    """Those of all mutants that could be made which have one of these keys. Keys that two lines of a file have are left
    out."""
    result: dict[str, Mutant] = {}
    twice: set[str] = set()
    for path in files(root):
        if not any(key.startswith(path.relative_to(root / SOURCES).as_posix() + "\t") for key in keys): continue
        text = path.read_text().split("\n")
        for index, options in sorted(candidates(path.read_text()).items()):
            for change in options:
                mutant = Mutant(len(result) + 1, path.relative_to(root).as_posix(), index + 1, change.operator, text[index],
                                change.after, change.text)
                if mutant.key not in keys: continue
                if mutant.key in result: twice.add(mutant.key)
                result.setdefault(mutant.key, mutant)
    return [mutant for key, mutant in result.items() if key not in twice]


def share(count: int, sizes: dict[Path, int]) -> dict[Path, int]:
    """How many of each file. A large one has more, but not in proportion: small files are looked at too."""
    shares = {path: 0 for path in sizes}
    for _ in range(min(count, sum(min(size, MOST_OF_A_FILE) for size in sizes.values()))):
        free = [path for path in sizes if shares[path] < min(sizes[path], MOST_OF_A_FILE)]
        shares[max(free, key=lambda path: (sizes[path] ** 0.5 / (shares[path] + 0.7), str(path)))] += 1
    return shares


def pick(lines: dict[int, list], count: int, seed: str) -> list[tuple]:
    """Lines by chance, each with one of its changes; kinds of changes that are rare come first."""
    chance = random.Random(hashlib.sha256(seed.encode()).digest())
    used: dict[str, int] = {}
    order = sorted(lines)
    chance.shuffle(order)
    chosen = []
    for index in order[:count]:
        options = list(lines[index])
        chance.shuffle(options)
        change = min(options, key=lambda option: used.get(option.operator, 0))
        used[change.operator] = used.get(change.operator, 0) + 1
        chosen.append((index, change))
    return chosen
