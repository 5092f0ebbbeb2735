"""Where a case asks less than its row."""

import re
from collections import defaultdict
from dataclasses import dataclass

from .cases import Case, NotYet
from .record import Accepted, Kinds, Record, Row

UNITS = {"KB": 10, "MB": 20, "GB": 30, "GiB": 30}


@dataclass(frozen=True)
class Narrowing:
    """A case or a row, and what it requires beyond the row or leaves undone. `leaves_out` are the kinds of stores that
    the row is about, and none of its cases."""
    id: str
    what: str
    leaves_out: str

    def __str__(self) -> str:
        result = f"; no case of the row is for {self.leaves_out}" if self.leaves_out else ""
        return f"{self.id}: {self.what}{result}"


def narrowings(record: Record, cases: list[Case], not_yet: NotYet, sources: dict[str, str]) -> list[Narrowing]:
    """All of them, in the order of the rows."""
    by_row, refused = defaultdict(list), {name for case in cases for name in case.absent}
    for case in cases:
        for row in case.rows: by_row[row].append(case)
    found = []
    for row in record.rows.values():
        if row.id in not_yet.ids: continue
        found += of_requires(row, by_row[row.id], record.kinds)
        found += of_numbers(row, sources.get(row.id, ""))
        found += of_size(row, by_row[row.id])
        if row.absent == "E":
            found += [Narrowing(row.id, f"no refusal without {name}", "")
                      for name in sorted(row.capabilities - refused - {"or"}) if not name.startswith("!")]
    return found


def of_requires(row: Row, cases: list[Case], kinds: Kinds) -> list[Narrowing]:
    """The cases of a row that leave out a kind of store which the row is about."""
    wanted = kinds.meeting(row.capabilities)
    met = {kind for case in cases for kind in kinds.meeting(case.capabilities)}
    missed = " ".join(kind for kind in wanted if kind not in met)
    found = []
    for case in cases:
        if case.row != row.id: continue
        more = {name for name in case.capabilities - row.capabilities
                if any(not kinds.has(kind, name) for kind in wanted)}
        if more: found.append(Narrowing(case.id, f"requires {' '.join(sorted(more))}", missed))
    return found


def of_size(row: Row, cases: list[Case]) -> list[Narrowing]:
    """That no case of a row is small enough for CI."""
    sizes = {case.size for case in cases}
    return [Narrowing(row.id, f"size {' '.join(sorted(sizes))}", "")] if sizes and "S" not in sizes else []


def of_numbers(row: Row, source: str) -> list[Narrowing]:
    """The numbers of a row that are no literal in the source of its cases."""
    written = literals(source)
    return [Narrowing(row.id, f"number {number}", "") for number in row.numbers.split() if not values(number) & written]


def literals(source: str) -> set[int]:
    """The integers that are written in a source. `0...9` is also ten; `1 << 20` is its value."""
    found = {int(float(text)) for text in re.findall(r"(?<![\w.])\d[\d_]*(?:e\d+)?", source.replace("_", ""))}
    found |= {int(last) + 1 for last in re.findall(r"\.\.\.(\d+)", source)}
    return found | {int(a) << int(b) for a, b in re.findall(r"\b(\d+) << (\d+)\b", source)}


def values(number: str) -> set[int]:
    """The integers that stand for a number: for a size, in units of 1000 and of 1024 bytes."""
    amount, unit = re.fullmatch(r"(\d+)(\w*)", number).groups()
    if not unit: return {int(amount)}
    return {int(amount) << UNITS[unit], int(amount) * 1000 ** (UNITS[unit] // 10)}


def compare(record: Record, cases: list[Case], not_yet: NotYet, found: list[Narrowing],
            accepted: list[Accepted]) -> list[str]:
    """One line for each thing that is wrong."""
    covered = {row for case in cases for row in case.rows}
    wrong = [f"{id}: the row has neither a case nor a line in NotYet.swift"
             for id in record.rows if id not in covered and id not in not_yet.ids]
    wrong += [f"{id}: the row has a case, and a line in NotYet.swift, which is not needed"
              for id in sorted(covered & not_yet.ids)]
    wrong += [f"{id}: there is no such row in the specification"
              for id in sorted((covered | not_yet.ids) - record.rows.keys())]
    wrong += not_yet.problems()
    used = set()
    for one in found:
        lines = [line for line in accepted if line.matches(one.id, one.what)]
        used.update(lines)
        if not lines:
            wrong.append(f"{one}; widen the case, or add the line and its reason to narrowings.tsv")
        for line in lines:
            if line.leaves_out != one.leaves_out:
                wrong.append(f"{one}; narrowings.tsv says that it leaves out {line.leaves_out or 'nothing'}")
    ids = {case.id for case in cases}
    for line in accepted:
        if line.is_by_hand and line.id not in ids: wrong.append(f"{line.id}: narrowings.tsv has it, and no case has it")
        if not line.is_by_hand and line not in used: wrong.append(f"{line.id}: {line.what}: this is not found any more")
    return wrong
