"""What the project has written down: the rows, what kinds of stores declare, and the narrowings that are accepted."""

from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from . import SpecificationError

ROWS = ["id", "requires", "absent", "numbers", "hash"]
NARROWINGS = ["case", "narrowing", "leaves out", "reason"]
BY_HAND = "by hand: "
# Capabilities of this project beyond the specification's, with the one whose stores, or with `!` whose other stores, have it.
ADDED = {"salvage": "file", "objectValues": "!persistent"}
# Steps of a ladder, as the table of capabilities writes them.
LADDERS = {("multiProc", "detect"): "multiProcDetect", ("rowVersion", "file"): "fileVersion"}


@dataclass(frozen=True)
class Row:
    """A row of the specification. `absent` says what holds in a store without `requires`: NA, E for a typed refusal, or
    ALT with what holds instead."""
    id: str
    requires: str
    absent: str
    numbers: str
    hash: str

    @property
    def capabilities(self) -> set[str]:
        """What a store must declare to be held to the row: nothing where an alternative holds in its absence."""
        return set() if self.absent.startswith("ALT") else set(self.requires.split())

    @property
    def needs(self) -> str: return " / ".join(part for part in (self.requires or "core", self.absent) if part)


@dataclass
class Kinds:
    """Kinds of stores, each with the capabilities that the specification expects of it."""
    names: list[str]
    marks: dict[str, list[str]] = field(default_factory=dict)

    def declare(self, capability: str, marks: list[str]) -> None:
        if len(marks) != len(self.names): raise SpecificationError(f"{capability} has {len(marks)} marks.")
        self.marks[capability] = marks

    def has(self, kind: str, capability: str) -> bool:
        """Whether a kind declares it. `!` in front: does not declare it."""
        if capability.startswith("!"): return not self.has(kind, capability[1:])
        if capability in ADDED: return self.has(kind, ADDED[capability])
        for (stronger, mark), weaker in LADDERS.items():
            if capability == weaker: return self._mark(kind, stronger) in (mark, "Y")
        return self._mark(kind, capability) in ("Y", "part")

    def meeting(self, capabilities: set[str]) -> list[str]:
        """The kinds that declare all of them."""
        if "or" in capabilities:
            return [kind for kind in self.names if any(self.has(kind, one) for one in capabilities - {"or"})]
        return [kind for kind in self.names if all(self.has(kind, one) for one in capabilities)]

    def _mark(self, kind: str, capability: str) -> str:
        if capability == "core": return "Y"
        marks = self.marks.get(capability)
        if not marks: raise SpecificationError(f"There is no capability {capability} in Conformance/capabilities.tsv.")
        return marks[self.names.index(kind)]


@dataclass
class Record:
    rows: dict[str, Row]
    kinds: Kinds

    @staticmethod
    def read(folder: Path) -> "Record":
        lines = read_tsv(folder / "capabilities.tsv")
        kinds = Kinds(lines[0][1:])
        for capability, *marks in lines[1:]: kinds.declare(capability, marks)
        rows = [Row(*line) for line in read_tsv(folder / "specification.tsv", ROWS)]
        return Record({row.id: row for row in rows}, kinds)


def write_record(folder: Path, rows: dict[str, Row], kinds: Kinds) -> None:
    table = [["capability", *kinds.names], *([name, *marks] for name, marks in kinds.marks.items())]
    write_tsv(folder / "capabilities.tsv", table)
    table = [ROWS, *([row.id, row.requires, row.absent, row.numbers, row.hash] for row in rows.values())]
    write_tsv(folder / "specification.tsv", table)


@dataclass(frozen=True)
class Accepted:
    """A line of narrowings.tsv. In `id` and `what` an asterisk stands for any text. An open line is to be widened."""
    id: str
    what: str
    leaves_out: str
    reason: str

    @property
    def is_by_hand(self) -> bool:
        """Whether somebody has found it, and the check cannot."""
        return self.what.startswith(BY_HAND)

    def matches(self, id: str, what: str) -> bool: return fnmatchcase(id, self.id) and fnmatchcase(what, self.what)

    @property
    def is_open(self) -> bool: return self.reason.startswith("open:")


def read_narrowings(file: Path) -> list[Accepted]:
    lines = [Accepted(*line) for line in read_tsv(file, NARROWINGS)]
    for line in lines:
        if not line.reason: raise SpecificationError(f"{file}: {line.id}, {line.what} has no reason.")
    return lines


def read_tsv(file: Path, columns: list[str] | None = None) -> list[list[str]]:
    """The lines of a table. With `columns`, which its first line must have, the lines behind that."""
    if not file.exists(): raise SpecificationError(f"There is no {file}.")
    lines = [line.split("\t") for line in file.read_text().rstrip("\n").split("\n")]
    for number, line in enumerate(lines, 1):
        if len(line) != len(lines[0]): raise SpecificationError(f"{file}, line {number}: {len(line)} columns.")
    if columns is None: return lines
    if lines[0] != columns: raise SpecificationError(f"{file} has other columns than {', '.join(columns)}.")
    return lines[1:]


def write_tsv(file: Path, lines: list[list[str]]) -> None:
    file.write_text("".join("\t".join(line) + "\n" for line in lines))
