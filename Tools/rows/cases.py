"""The cases, as the runner lists them and as their sources are written, and the rows that are no case yet."""

import json
import re
import subprocess
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from . import SpecificationError
from .steps import FORM, names_step

FOLDERS = ("Conformance/StoreConformance/Cases", "Conformance/GraphConformance/Cases")
ROW = re.compile(r'"([A-Z0-9]{3}-\d{3})(?=["/])')
FUNCTION = re.compile(r"  [a-z ]*func (\w+)")
CALL = re.compile(r"\b(\w+)\(")
COMMENT = re.compile(r"(^|\s)//.*")


@dataclass(frozen=True)
class Case:
    id: str
    title: str
    requires: frozenset[str]
    absent: frozenset[str]
    rows: frozenset[str]
    # S in CI, M at night, L by hand.
    size: str = "S"

    @property
    def row(self) -> str: return self.id.split("/")[0]

    @property
    def capabilities(self) -> set[str]:
        """What a store must declare, and with `!` in front what it must not."""
        return self.requires | {f"!{name}" for name in self.absent}

    @property
    def needs(self) -> str: return f"[{' '.join(sorted(self.capabilities))}]"


def read_cases(root: Path, file: Path | None) -> list[Case]:
    if file:
        text = file.read_text()
    else:
        program = root / ".build" / "debug" / "store-conformance"
        if not program.exists():
            raise SpecificationError(f"There is no {program}. Run `swift build --traits LMDB`, or give --cases.")
        text = subprocess.run([program, "list", "--json"], check=True, capture_output=True, text=True).stdout
    try:
        return [Case(case["id"], case["title"], frozenset(case["requires"]), frozenset(case["absent"]),
                     frozenset(case["requirements"]), case["size"]) for case in json.loads(text)]
    except (ValueError, KeyError):
        raise SpecificationError(f"{file or 'The runner'} gives no list of cases in the form of `list --json`.") from None


@dataclass(frozen=True)
class NotYet:
    """The rows that are no cases, each with its reason: those that wait for a step, and those that a check holds."""
    waiting: dict[str, str]
    checked: dict[str, str]
    # The checks that CI runs.
    checks: frozenset[str] = frozenset()

    def reason(self, id: str) -> str | None: return self.waiting.get(id) or self.checked.get(id)

    @property
    def ids(self) -> set[str]: return self.waiting.keys() | self.checked.keys()

    def problems(self) -> list[str]:
        """One line for each reason that does not begin with a step that is open, or with a check that CI runs."""
        wrong = [f"{id}: its line in NotYet.swift is no {FORM}: {reason}"
                 for id, reason in self.waiting.items() if not names_step(reason)]
        for id, reason in self.checked.items():
            found = re.match(r"check ([\w-]+): \S", reason)
            if not found or found[1] not in self.checks:
                wrong.append(f"{id}: its line in NotYet.swift names no check that Scripts/test runs: {reason}")
        return wrong + [f"{id}: NotYet.swift has it twice" for id in sorted(self.waiting.keys() & self.checked.keys())]


def read_not_yet(root: Path) -> NotYet:
    file = root / "Conformance" / "StoreConformance" / "NotYet.swift"
    text = file.read_text()
    groups = re.findall(r'\(\s*"([^"\n]+)",\s*"""(.*?)"""', text, re.DOTALL)
    if not groups: raise SpecificationError(f"{file} has no rows in the form that is expected.")
    waiting = {id: reason for reason, ids in groups for id in ids.split()}
    lists = re.findall(r"^(?:before|with_build|after)=\(([^)]*)\)", (root / "Scripts" / "test").read_text(), re.MULTILINE)
    return NotYet(waiting, dict(re.findall(r'Row\(id: "([^"]+)", reason: "([^"\n]+)"', text)),
                  frozenset(" ".join(lists).split()))


def sources(root: Path) -> dict[str, str]:
    """The source of each row's cases, and of the functions of the same file that they call."""
    parts = defaultdict(list)
    for file in (file for folder in FOLDERS for file in sorted((root / folder).glob("*.swift"))):
        lines = [COMMENT.sub("", line) for line in file.read_text().split("\n")]
        functions = functions_of(lines)
        for row, own in cases_of(lines).items():
            called = set(CALL.findall("\n".join(own)))
            parts[row] += own + [line for name in sorted(called & functions.keys()) for line in functions[name]]
    return {row: "\n".join(lines) for row, lines in parts.items()}


def cases_of(lines: list[str]) -> dict[str, list[str]]:
    """The lines of each row: from one that names the row up to one that names another, or up to a function."""
    parts, rows = defaultdict(list), []
    for line in lines:
        # The rows that a case proves beside its own may stand on a line of their own.
        if named := ROW.findall(line): rows = rows + named if line.strip().startswith("requirements:") else named
        elif FUNCTION.match(line): rows = []
        for row in rows: parts[row].append(line)
    return parts


def functions_of(lines: list[str]) -> dict[str, list[str]]:
    """The lines of each function of an extension."""
    parts, name = defaultdict(list), None
    for line in lines:
        if match := FUNCTION.match(line): name = match[1]
        if name: parts[name].append(line)
        if line == "  }": name = None
    return parts
