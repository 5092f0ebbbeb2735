"""The table of mutants and the conformance cases that were seen to notice them, from which CI takes some."""

import hashlib
import time
from pathlib import Path

from .choice import SOURCES, Mutant, find
from .report import Results
from .world import STORES, World

HEAD = "file\tbefore\tafter\tnoticed by"
# What these notice depends on which of two threads comes first.
THREADS = ("FET-075",)


def read_noticed(file: Path) -> dict[str, str]:
    """By a mutant's key: a store and a case, such as `memory SAV-001`."""
    lines = [line.split("\t") for line in file.read_text().splitlines()[1:] if line]
    return {"\t".join(line[:3]): line[3] for line in lines}


def write_noticed(file: Path, judged: list[Mutant], results: Results):
    """The mutants that a case of store-conformance noticed, each time, without waiting for what hangs."""
    rows = []
    for mutant in judged:
        verdict = results.verdict(mutant)
        store, _, case = verdict["by"].partition(" ")
        if not case or case.startswith(THREADS) or verdict["how"] == "hung": continue
        if STORES.get(store) == "store-conformance":
            rows.append(f"{mutant.key}\t{store} {case}")
    file.write_text("\n".join([HEAD, *sorted(rows)]) + "\n")


def choose_sample(root: Path, noticed: dict[str, str], count: int, seed: int) -> list[Mutant]:
    """So many of those whose lines are still there, not two of one line."""
    def rank(mutant): return hashlib.sha256(f"{seed} {mutant.key}".encode()).digest()
    by_line = {(mutant.file, mutant.line): mutant for mutant in find(root, set(noticed))}
    if len(by_line) < count:
        raise SystemExit(f"mutants: of the table's mutants {len(by_line)} can still be made, and {count} are wanted. "
                         f"Write the table again: Scripts/mutants --update")
    return sorted(by_line.values(), key=rank)[:count]


def judge_sample(world: World, mutants: list[Mutant], noticed: dict[str, str]) -> bool:
    """Runs each mutant's case, without the mutant and with it. Gives whether all are noticed."""
    caught = 0
    for mutant in mutants:
        start, unit = time.monotonic(), noticed[mutant.key]
        store, case = unit.split(" ", 1)
        before, after = (world.run_cases(store, [(case, 20)], number) for number in (0, mutant.number))
        said = "fails without the mutant, too" if before else f"notices {after.how}" if after else "DOES NOT NOTICE IT"
        caught += bool(after and not before)
        print(f"mutants: {mutant.file.removeprefix(SOURCES + '/')}:{mutant.line} {unit} {said} "
              f"({time.monotonic() - start:.0f} s)", flush=True)
    print(f"mutants: {caught} / {len(mutants)} caught, each by the case that noticed it before")
    return caught == len(mutants)
