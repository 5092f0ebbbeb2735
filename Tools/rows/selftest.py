"""Rows and cases whose findings are known."""

import dataclasses
import tempfile
from pathlib import Path

from .cases import Case, NotYet
from .compare import Narrowing, compare, literals, narrowings
from .record import Accepted, Record, Row
from .requirements import Rule, problems, table
from .text import numbers, read_specification

SPECIFICATION = """
| capability | sqlite | xml | memory | meaning |
|---|---|---|---|---|
| persistent | Y | Y | - | survives close |
| file | Y | Y | - | has files |
| multiProc | Y | detect | - | several processes |
| unique | Y | Y | Y | constraints |

| ID | Precondition | Action | Expected | Cap / absent | Src |
|---|---|---|---|---|---|
| LIF-001 | - | create 1 000 stores | 1 000 UUIDs | core | A |
| LIF-002 | - | open again | code 134100 | persistent / NA | A |
| LIF-003 | - | metadata | kept | persistent / ALT(gone) | A |
| LIF-004 | - | two inserts of one key | refused | unique | A |
| LIF-005 | - | later | later | core | A |
"""
ROWS = {"LIF-001": ("", "", "1000"), "LIF-002": ("persistent", "NA", ""), "LIF-003": ("persistent", "ALT(gone)", ""),
        "LIF-004": ("unique", "E", ""), "LIF-005": ("", "", "")}
NUMBERS = [("8 writers x 1 000 saves", "8 1000"), ("1e6 inserts", "1000000"), ("code 134100", ""), ("2 stores", ""),
           ("a 255-byte name", "255"), ("1582-10-10, 2^53, 0.1", ""), ("10 MB", "10MB")]
LITERALS = [("for _ in 0..<1_000 {", 1000), ("(0...255).map", 256), ("count: 1 << 20", 1 << 20), ("1e6", 1_000_000)]
# A case's requirements and what it is not for, the literal in its source, and what is found.
CASES = [
    ("LIF-001", [], [], "1_000", None),
    ("LIF-001", [], [], "20", ("number 1000", "")),
    ("LIF-001", ["file"], [], "1_000", ("requires file", "memory")),
    ("LIF-002", ["persistent"], [], "", None),
    ("LIF-002", [], [], "", None),
    ("LIF-002", ["persistent", "file"], [], "", None),
    ("LIF-002", ["multiProc"], [], "", ("requires multiProc", "xml")),
    ("LIF-002", ["multiProcDetect"], [], "", None),
    ("LIF-002", ["persistent"], ["multiProc"], "", ("requires !multiProc", "sqlite")),
    ("LIF-003", [], [], "", None),
    ("LIF-003", ["persistent"], [], "", ("requires persistent", "memory")),
    ("LIF-004", ["unique"], [], "", ("no refusal without unique", "")),
]


def case(id: str, requires: list[str], absent: list[str] = []) -> Case:
    return Case(id, "", frozenset(requires), frozenset(absent), frozenset([id.split("/")[0]]))


def record() -> Record:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "text.md"
        file.write_text(SPECIFICATION)
        return Record(*read_specification(file))


def run_self_test() -> list[str]:
    """One line for each failure, and one with the counts."""
    known, failures, done = record(), [], 0

    def expect(what: str, found, expected):
        nonlocal done
        done += 1
        if found != expected: failures.append(f"FAILED {what}: {found}, expected {expected}")

    for id, expected in ROWS.items():
        row = known.rows[id]
        expect(id, (row.requires, row.absent, row.numbers), expected)
    expect("hashes", len({row.hash for row in known.rows.values()}), len(ROWS))
    for text, expected in NUMBERS: expect(text, numbers(text), expected)
    expect("expected", numbers("", "134100 with 1 000 objects (of 2 000)"), "1000")
    for text, expected in LITERALS: expect(text, expected in literals(text), True)
    for id, requires, absent, source, expected in CASES:
        one = Record({id: known.rows[id]}, known.kinds)
        lines = narrowings(one, [case(id, requires, absent)], NotYet({}, {}), {id: source})
        found = [(line.what, line.leaves_out) for line in lines]
        expect(f"{id} {requires} {absent}", found, [expected] if expected else [])
    both = [case("LIF-001/file", ["file"]), case("LIF-001/memory", [], ["file"])]
    one = Record({"LIF-001": known.rows["LIF-001"]}, known.kinds)
    found = narrowings(one, both, NotYet({}, {}), {"LIF-001": "1000"})
    expect("two cases hold a row", [line.leaves_out for line in found], ["", ""])
    large = [dataclasses.replace(case("LIF-001", []), size=size) for size in "ML"]
    found = narrowings(one, large, NotYet({}, {}), {"LIF-001": "1000"})
    expect("no case of size S", [line.what for line in found], ["size L M"])
    compare_lines(known, expect)
    judge_rules(expect)
    return failures + [f"specification: {done} checks, {len(failures)} failed"]


def judge_rules(expect) -> None:
    """What is wrong with rules, for each reason."""
    text = "| Id | Rule | Source |\n|---|---|---|\n| LIF-001 | A store is new. | Apple, ours |\n| LIF-002 | | |\n"
    expect("a table", table(text), [("LIF-001", "A store is new.", "Apple, ours"), ("LIF-002", "", "")])
    sound, later = Rule("LIF-001", "A store is new.", "Apple, ours", "Lifecycle.md"), Rule("SAV-001", "It waits.", "ours", "Saving.md")
    expect("sound rules", problems([sound, later], {"LIF-001"}, {"SAV-001"}), [])
    for what, rule, start in [
        ("no sentence", Rule("LIF-002", "", "ours", "Lifecycle.md"), "LIF-002: Lifecycle.md has no rule"),
        ("no source", Rule("LIF-002", "A rule.", "", "Lifecycle.md"), "LIF-002: Lifecycle.md has no source"),
        ("an unknown source", Rule("LIF-002", "A rule.", "hearsay", "Lifecycle.md"), "LIF-002: Lifecycle.md has no source"),
        ("a rule twice", Rule("LIF-001", "A rule.", "ours", "Lifecycle.md"), "LIF-001: Lifecycle.md and Lifecycle.md have it"),
        ("another file", Rule("LIF-002", "A rule.", "ours", "More.md"), "LIF-002: More.md has it"),
        ("another area", Rule("DEL-001", "A rule.", "ours", "Lifecycle.md"), "Lifecycle.md has rules of the areas"),
        ("no id", Rule("LIF-2", "A rule.", "ours", "Lifecycle.md"), "Lifecycle.md: LIF-2 is no id"),
        ("no case", Rule("LIF-003", "A rule.", "ours", "Lifecycle.md"), "LIF-003: the rule has neither"),
    ]:
        lines = problems([sound, rule], {"LIF-001", "LIF-002", "LIF-2", "DEL-001"} & {"LIF-001", rule.id}, set())
        expect(what, [line[:len(start)] for line in lines], [start])
    expect("no rule", problems([sound], {"LIF-001", "LIF-009"}, set()),
           ["LIF-009: a case has it, and no file of Conformance/Requirements"])


def waiting(reason: str, *ids: str) -> NotYet: return NotYet({id: reason for id in ids or ("LIF-005",)}, {})


def held(reason: str) -> NotYet: return NotYet({}, {"LIF-005": reason}, frozenset(["tsan"]))


def compare_lines(known: Record, expect) -> None:
    """What --check says, for each of its reasons."""
    rows = {"LIF-001": known.rows["LIF-001"], "LIF-005": Row("LIF-005", "", "", "", "")}
    one, found = Record(rows, known.kinds), [Narrowing("LIF-001", "requires file", "memory")]
    line = Accepted("LIF-00*", "requires *", "memory", "waits")
    no_step = "LIF-005: its line in NotYet.swift is no “step"
    no_check = "LIF-005: its line in NotYet.swift names no check"
    have, later = [case("LIF-001", ["file"])], waiting("step 11: history")
    for lines in later, waiting("step 12 or later: a server"), held("check tsan: threads"):
        expect("nothing is wrong", compare(one, have, lines, found, [line]), [])
    for what, arguments, start in [
        ("no case", (have, NotYet({}, {}), found, [line]), "LIF-005: the row has neither"),
        ("a case and not yet", (have, waiting("step 8: undo", "LIF-001", "LIF-005"), found, [line]),
         "LIF-001: the row has a case, and"),
        ("no step", (have, waiting("waits for history"), found, [line]), no_step),
        ("a step that has ended", (have, waiting("step 6: files"), found, [line]),
         no_step),
        ("a step for nothing", (have, waiting("step 11: "), found, [line]),
         no_step),
        ("no check", (have, held("check tests: it"), found, [line]), no_check),
        ("a check for a step", (have, waiting("check tsan: it"), found, [line]),
         no_step),
        ("no row", ([*have, case("LIF-009", [])], later, found, [line]), "LIF-009: there is no such row"),
        ("not accepted", (have, later, found, []), "LIF-001: requires file; no case of the row is for memory; widen"),
        ("another store", (have, later, found, [Accepted("LIF-001", "requires file", "", "why")]),
         "LIF-001: requires file; no case of the row is for memory; narrowings.tsv says"),
        ("not found", (have, later, [], [line]), "LIF-00*: requires *: this is not found any more"),
    ]:
        lines = compare(one, *arguments)
        expect(what, [text[:len(start)] for text in lines], [start])
