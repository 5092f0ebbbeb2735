"""Apple's table of declarations, and the state of each of its rows."""

from dataclasses import dataclass
from pathlib import Path

from . import CensusError
from .comparison import Comparison, Outcome
from .declaration import TYPES, Declaration, parse
from .symbols import Symbols
from .typetree import SyntaxProblem

COLUMNS = ["type", "declaration", "state", "note", "deprecated", "availability"]
# The heading of messages of NotificationCenter, whose identifiers are members of a protocol of Foundation.
MESSAGES, MESSAGE_IDENTIFIER = "typed notifications (iOS 27)", "NotificationCenter.MessageIdentifier"
# From best to worst.
STATES = ("exact", "different", "stub", "absent")


def rank(state: str) -> int:
    return STATES.index(state)


@dataclass
class Row:
    """A row of Apple's table. `type` and `spelled` together are its name, and `recorded` is the state in the table."""
    type: str
    text: str
    recorded: str
    note: str
    is_deprecated: bool
    declaration: Declaration
    outcome: Outcome = None
    state: str = ""
    reason: str = ""

    @property
    def spelled(self) -> str:
        return self.declaration.spelled()

    @property
    def id(self) -> tuple[str, str]:
        return self.type, self.spelled

    @property
    def differs_by_access_alone(self) -> bool:
        return all(difference.startswith("access:") for difference in self.outcome.differences)

    @property
    def owner(self) -> str:
        """The type that has the member, or the type itself; '' for globals."""
        if self.declaration.kind in TYPES and "." in self.declaration.name: return self.declaration.name
        if self.type == MESSAGES: return MESSAGE_IDENTIFIER
        return "" if self.type.startswith("global:") else self.type


def read_table(file: Path) -> list[Row]:
    if not file.exists():
        raise CensusError(f"There is no table of Apple's declarations at {file}. Name it with --table.")
    header, *lines = (line.split("\t") for line in file.read_text().rstrip("\n").split("\n"))
    if header != COLUMNS: raise CensusError(f"{file} has other columns than {', '.join(COLUMNS)}.")
    rows, seen = [], set()
    for number, line in enumerate(lines, 2):
        if len(line) != len(COLUMNS): raise CensusError(f"{file}, line {number}: {len(line)} columns")
        owner, text, state, note, deprecated, _ = line
        if state not in STATES: raise CensusError(f"{file}, line {number}: {state} is no state")
        try:
            row = Row(owner, text, state, note, bool(deprecated), parse(text))
        except SyntaxProblem as problem:
            raise CensusError(f"{file}, line {number}: {problem}") from None
        # The table leaves `{ get }` out here.
        if owner == MESSAGES: row.declaration.settable = False
        if row.id in seen: raise CensusError(f"{file}, line {number}: the row is there twice")
        seen.add(row.id)
        rows.append(row)
    return rows


def judge(rows: list[Row], symbols: Symbols, tests: dict[tuple[str, str], str], with_access: bool = True) -> None:
    """Fills the outcome and the state of each row. `tests` names the tests of rows that are no longer stubs.

    Exact matches come first: a declaration of ours that is one row's own stands for no other row.
    """
    classes = {row.owner for row in rows if row.declaration.kind == "class"}
    conformances = {(row.declaration.subject, row.declaration.name) for row in rows
                    if row.declaration.kind == "conformance"}
    comparison, taken = Comparison(symbols, classes, conformances, with_access), set()
    for row in rows:
        if row.declaration.kind == "conformance":
            row.outcome = comparison.conformance(row.declaration)
        elif row.declaration.kind in TYPES:
            row.outcome = comparison.type(row.owner, row.declaration)
        elif symbol := comparison.exact_member(row.owner, row.declaration):
            row.outcome = Outcome("exact", symbol)
            taken.add(symbol.id)
    # Then rows that are recorded as present, so that they take what is theirs before rows that are recorded as absent.
    for row in sorted((row for row in rows if not row.outcome), key=lambda row: row.recorded == "absent"):
        row.outcome = comparison.near_member(row.owner, row.declaration, taken)
        if row.outcome.symbol: taken.add(row.outcome.symbol.id)
    for row in rows: row.state, row.reason = state(row, symbols, tests.get(row.id, ""))


def state(row: Row, symbols: Symbols, test: str) -> tuple[str, str]:
    """The state of a row, and why. A stub has its declaration and does not do its work."""
    found = "; ".join(row.outcome.differences)
    if row.outcome.state == "absent": return "absent", row.note
    if row.outcome.symbol and symbols.is_unfinished(row.outcome.symbol):
        return "stub", "; ".join(filter(None, ["says that it does not work yet", row.note, found]))
    if row.recorded == "stub" and not test:
        return "stub", "; ".join(filter(None, ["recorded, and no test is named", row.note, found]))
    return row.outcome.state, found
