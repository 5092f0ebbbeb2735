"""The baseline of states, the exceptions, and the tests that the baseline names."""

import re
from dataclasses import dataclass
from pathlib import Path

from rows.steps import FORM, names_step

from . import CensusError
from .code import code_of
from .table import Row, rank

BASELINE = ["type", "declaration", "state", "test", "step"]
EXCEPTIONS = ["type", "declaration", "reason"]
TEST_FOLDERS = ("Tests", "Conformance")
# `Suite/function` of Swift Testing, or the id of a case of the conformance suite, such as SAV-001 or SAV-002/graph.
TEST = re.compile(r"[A-Za-z_]\w*/[A-Za-z_]\w*")
CASE = re.compile(r"([A-Z]{3}-\d{3})(/[\w.-]+)*")

Name = tuple[str, str]


@dataclass
class Entry:
    """A row of the baseline. `step` names the open step that does the row's work, where there is one."""
    state: str
    test: str = ""
    step: str = ""


def read_tsv(file: Path, columns: list[str]) -> list[list[str]]:
    """The rows of a table with a header; none where the file does not exist."""
    if not file.exists(): return []
    header, *lines = (line.split("\t") for line in file.read_text().rstrip("\n").split("\n"))
    if header != columns: raise CensusError(f"{file} has other columns than {', '.join(columns)}.")
    for number, line in enumerate(lines, 2):
        if len(line) != len(columns): raise CensusError(f"{file}, line {number}: {len(line)} columns")
    return lines


def read_baseline(file: Path) -> dict[Name, Entry]:
    entries = {}
    for number, (owner, declaration, *rest) in enumerate(read_tsv(file, BASELINE), 2):
        entry = Entry(*rest)
        if (owner, declaration) in entries: raise CensusError(f"{file}, line {number}: the row is there twice")
        try:
            rank(entry.state)
        except ValueError:
            raise CensusError(f"{file}, line {number}: {entry.state} is no state") from None
        entries[owner, declaration] = entry
    return entries


def write_baseline(file: Path, rows: list[Row], old: dict[Name, Entry]) -> None:
    """Writes the states of now. Tests and steps stay as they are in the old baseline."""
    lines = ["\t".join(BASELINE)]
    for row in sorted(rows, key=lambda row: row.id):
        entry = old.get(row.id, Entry(""))
        lines.append("\t".join([*row.id, row.state, entry.test, entry.step]))
    file.write_text("\n".join(lines) + "\n")


def read_exceptions(file: Path) -> dict[Name, str]:
    return {(owner, declaration): reason for owner, declaration, reason in read_tsv(file, EXCEPTIONS)}


@dataclass(frozen=True)
class Call:
    """What must be in a file's code, as text for people and as a pattern."""
    text: str
    pattern: str

    @staticmethod
    def of_word(word: str) -> "Call": return Call(word, rf"\b{re.escape(word)}\b")

    @staticmethod
    def of_initialiser(type: str) -> "Call":
        """A call of the type, which may have arguments of generics, or of an initialiser whose type is inferred."""
        return Call(f"{type}( and no .init(", rf"\b{re.escape(type)}(<[^()\n]*>)?\(|\.init\(")


class Tests:
    """The sources of the tests and of the conformance suite."""

    def __init__(self, root: Path):
        self.texts = [file.read_text() for folder in TEST_FOLDERS for file in sorted((root / folder).rglob("*.swift"))]
        self.codes: dict[str, str] = {}

    def problem(self, test: str, call: Call) -> str | None:
        """What is wrong with the name of a test whose file should have a call; None where nothing is."""
        if not TEST.fullmatch(test) and not CASE.fullmatch(test):
            return f"{test} is neither Suite/function nor the id of a case"
        texts = self._texts(test)
        if not texts: return f"there is no test {test} in {' or '.join(TEST_FOLDERS)}"
        if not any(re.search(call.pattern, self._code(text)) for text in texts):
            return f"the code of the file of the test {test} has no {call.text}"
        return None

    def _code(self, text: str) -> str:
        """A file without its comments and strings."""
        if text not in self.codes: self.codes[text] = code_of(text)
        return self.codes[text]

    def _texts(self, test: str) -> list[str]:
        """The files that have the test."""
        if case := CASE.fullmatch(test):
            # What stands behind the row's number may be made when the program runs.
            id = re.compile(rf'"({re.escape(test)}|{case[1]}/[^"\n]*\\\([^"\n]*)"')
            return [text for text in self.texts if id.search(text)]
        suite, function = test.split("/")
        return [text for text in self.texts if re.search(rf"\b(struct|class|enum|actor|extension) {suite}\b", text)
                and re.search(rf"\bfunc {function}\b", text)]


def named_tests(rows: list[Row], baseline: dict[Name, Entry], tests: Tests) -> dict[Name, str]:
    """The tests that the baseline names, without those that are not there."""
    named = {row.id: baseline[row.id].test for row in rows if row.id in baseline and baseline[row.id].test}
    return {row.id: named[row.id] for row in rows if row.id in named and not tests.problem(named[row.id], call_of(row))}


def call_of(row: Row) -> Call:
    """What a file that uses the row's declaration must have in its code."""
    kind, name = row.declaration.kind, row.declaration.name
    if kind == "conformance": return Call.of_word(row.declaration.subject.split(".")[-1])
    if kind == "init": return Call.of_initialiser(row.owner.split(".")[-1])
    if kind == "subscript": return Call.of_word(row.owner.split(".")[-1])
    return Call.of_word(name.split(".")[-1])


def unassigned(rows: list[Row], baseline: dict[Name, Entry], exceptions: dict[Name, str]) -> list[Row]:
    """Rows that are not exact, belong to no open step, and are no exceptions."""
    return [row for row in rows if row.state != "exact" and row.id not in exceptions
            and not names_step(baseline.get(row.id, Entry("")).step)]


def check(rows: list[Row], baseline: dict[Name, Entry], exceptions: dict[Name, str], tests: Tests) -> list[str]:
    """One line for each thing that is wrong."""
    found, known = [], {row.id: row for row in rows}
    for row in rows:
        name, entry = "  ".join(row.id), baseline.get(row.id)
        if not entry:
            found.append(f"{name}: the row is not in the baseline; add it with --update")
            continue
        if rank(row.state) > rank(entry.state):
            found.append(f"{name}: {row.state} now, {entry.state} in the baseline; {row.reason}")
        was = max(row.recorded, entry.state, key=rank)
        if rank(was) >= rank("stub") and rank(row.state) < rank("stub") and not entry.test:
            found.append(f"{name}: {row.state} now, {was} before; name a test that calls it in the baseline")
        if entry.step and not names_step(entry.step): found.append(f"{name}: its step is no {FORM}: {entry.step}")
        if entry.step and row.state == "exact": found.append(f"{name}: the row is exact, and waits for {entry.step}")
        problem = tests.problem(entry.test, call_of(row)) if entry.test else None
        if problem: found.append(f"{name}: {problem}")
    found += [f"{'  '.join(name)}: the row of the baseline is not in Apple's table" for name in baseline.keys() - known]
    found += [f"{'  '.join(name)}: the exception has no reason" for name, reason in exceptions.items() if not reason.strip()]
    for name in exceptions:
        if name in baseline and baseline[name].step:
            found.append(f"{'  '.join(name)}: the row waits for a step, and is an exception")
        if name not in known:
            found.append(f"{'  '.join(name)}: the exception is not in Apple's table")
        elif known[name].state == "exact":
            found.append(f"{'  '.join(name)}: the row is exact, so the exception is not needed")
    return sorted(found)
