"""The specification's text: its rows, and its table of what each kind of store declares."""

import hashlib
import re
from pathlib import Path

from . import SpecificationError
from .record import Kinds, Row

ROW = re.compile(r"\| ([A-Z0-9]{3}-\d{3}) \|")
# Numbers that say how much is done: with a group of digits, an exponent, or a word behind them. Codes are none.
LARGE_NUMBER = r"\d{1,3}(?: \d{3})+|\de\d"
COUNT = re.compile(rf"(?<![\w.+:^-])({LARGE_NUMBER}|[1-9]\d*(?= [a-z]|-byte))(?![\w.:^])")
# In what is expected a word behind a number tells little, as in "134100 with"; and what is in parentheses explains.
EXPECTED_COUNT = re.compile(rf"(?<![\w.+:^-])({LARGE_NUMBER})(?![\w.:^])")
PARENTHESES = re.compile(r"\([^)]*\)")
SIZE = re.compile(r"(?<![\w.])(\d+) (KB|MB|GB|GiB)\b")
LEAST_NUMBER = 3
# The columns that say what is done.
INPUTS = {"Precondition", "Action", "Change v1 -> v2", "Operators", "Data", "Type", "Values", "Input"}
# What the tables require that have no column for it.
DEFAULTS = {"MIG": "migrateCopy or migrateInPlace / E", "BAT": "batch / E", "HIS": "history / E", "GEN": "queryGen / E",
            "S2S": "persistent / ALT(within one process)"}
REQUESTS = {"batch", "history", "queryGen", "readOnlyOpen", "unique", "groupBy", "migrateCopy", "migrateInPlace"}


def read_specification(file: Path) -> tuple[dict[str, Row], Kinds]:
    """The rows by id, and what each kind of store declares."""
    rows, heading, kinds = {}, [], None
    for line in file.read_text().split("\n"):
        if not line.startswith("|"):
            heading = []
            continue
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip()[1:-1])]
        if not heading:
            heading = cells
            if heading[0] == "capability": kinds = Kinds(cells[1:-1])
        elif match := ROW.match(line):
            if len(cells) != len(heading): raise SpecificationError(f"{file}: {match[1]} has {len(cells)} cells.")
            if match[1] in rows: raise SpecificationError(f"{file}: the row {match[1]} is there twice.")
            rows[match[1]] = row_of(match[1], dict(zip(heading, cells)))
        elif heading[0] == "capability" and not cells[0].startswith("-"):
            kinds.declare(cells[0], cells[1:-1])
    if not rows or not kinds: raise SpecificationError(f"{file} has no rows, or no table of capabilities.")
    return rows, kinds


def row_of(id: str, cells: dict[str, str]) -> Row:
    cap = next((cells[name] for name in ("Cap", "Cap / absent") if name in cells), DEFAULTS.get(id[:3], "core"))
    requires, _, absent = cap.partition(" / ")
    requires = "" if requires in ("core", "-") else requires.replace("multiProc=detect", "multiProcDetect")
    if requires and not absent: absent = "E" if set(requires.split(", ")) & REQUESTS else "NA"
    text = " ".join(" ".join(cells.values()).split())
    inputs = " | ".join(cells[name] for name in cells if name in INPUTS)
    hash = hashlib.sha256(text.encode()).hexdigest()[:16]
    return Row(id, requires.replace(", ", " "), absent, numbers(inputs, cells["Expected"]), hash)


def numbers(inputs: str, expected: str = "") -> str:
    """The numbers that say how much is done, without groups of digits; sizes have their unit."""
    found = COUNT.findall(inputs) + EXPECTED_COUNT.findall(PARENTHESES.sub("", expected))
    found = [str(int(float(number.replace(" ", "")))) for number in found]
    found = [number for number in found if int(number) >= LEAST_NUMBER]
    return " ".join(dict.fromkeys(found + [number + unit for number, unit in SIZE.findall(inputs)]))
