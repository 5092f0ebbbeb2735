"""The rules of Conformance/Requirements, one file an area, and what is wrong with them."""

import re
from dataclasses import dataclass
from pathlib import Path

from . import SpecificationError

ROW = re.compile(r"\| ([^|]+?) \| ?(.*?) ?\| ?([^|]*?) ?\|$")
ID = re.compile(r"([A-Z0-9]{3})-\d{3}")
SOURCES = {"Apple", "observed", "ours"}
# Files of the folder without rules of cases.
OTHERS = {"README.md", "Meaning.md"}


@dataclass(frozen=True)
class Rule:
    id: str
    text: str
    source: str
    file: str


def table(text: str) -> list[tuple[str, str, str]]:
    """The rows of a table of three columns, without its head."""
    rows = [match.groups() for line in text.split("\n") if (match := ROW.match(line))]
    return rows[1:] if rows[:1] and rows[0][0] == "Id" else rows


def read_requirements(folder: Path) -> list[Rule]:
    rules = [Rule(*row, file.name) for file in sorted(folder.glob("*.md")) if file.name not in OTHERS
             for row in table(file.read_text())]
    if not rules: raise SpecificationError(f"{folder} has no rules.")
    return rules


def read_meaning(folder: Path) -> list[tuple[str, str, list[str]]]:
    """The rules that tests of CoreData show: id, rule and names of tests."""
    return [(id, rule, re.findall(r"`([^`]+)`", tests)) for id, rule, tests in table((folder / "Meaning.md").read_text())]


def problems(rules: list[Rule], ids: set[str], reasons: set[str]) -> list[str]:
    """One line for each thing that is wrong. `ids` are those of the cases, `reasons` those of rules without a case."""
    wrong, known, files = [], {}, {}
    for rule in rules:
        area = ID.fullmatch(rule.id)
        if not area: wrong.append(f"{rule.file}: {rule.id} is no id")
        elif files.setdefault(area[1], rule.file) != rule.file:
            wrong.append(f"{rule.id}: {rule.file} has it, and the other rules of its area are in {files[area[1]]}")
        if rule.id in known: wrong.append(f"{rule.id}: {known[rule.id].file} and {rule.file} have it, so that it is there twice")
        known.setdefault(rule.id, rule)
        if not rule.text.endswith("."): wrong.append(f"{rule.id}: {rule.file} has no rule that is a sentence")
        if not rule.source or not set(rule.source.split(", ")) <= SOURCES:
            wrong.append(f"{rule.id}: {rule.file} has no source of {', '.join(sorted(SOURCES))}: “{rule.source}”")
    for file in sorted(set(files.values())):
        areas = [area for area, name in files.items() if name == file]
        if len(areas) > 1: wrong.append(f"{file} has rules of the areas {' and '.join(areas)}")
    wrong += [f"{id}: a case has it, and no file of Conformance/Requirements" for id in sorted(ids - known.keys())]
    wrong += [f"{id}: the rule has neither a case nor a line in NotYet.swift" for id in known
              if id not in ids and id not in reasons]
    return wrong
