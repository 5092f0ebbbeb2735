"""Runs all cases and prints what came of them."""

from __future__ import annotations

import argparse
import itertools
import os
import shutil
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from . import entity_tables, files, mutants as random_mutants, pages, places, system_tables, values
from .base import Base
from .case import Case
from .choice import Choice
from .run import Judge

JOBS, WIDE, COLUMNS = 2, 25, ("ok", "error", "invalid", "failure")


def all_cases(base: Base, seed: int, mutants: int) -> Iterator[Case]:
    for module in (files, system_tables, entity_tables, pages, values, places):
        yield from module.cases(base)
    yield from random_mutants.cases(base, seed, mutants)


def run_all(options: argparse.Namespace, folder: Path) -> int:
    begun = time.monotonic()
    base = Base(folder / "base", options.seed)
    choice = Choice(options.seed, WIDE, options.all, options.only)
    chosen = choice.cases(all_cases(base, options.seed, options.mutants))
    if options.list:
        print(*(case.title for case in chosen), sep="\n")
        return 0
    print(f"hostile: {len(chosen)} files, {options.mutants} mutants, seed {options.seed}", flush=True)
    kept = (options.keep or Path(tempfile.mkdtemp(prefix="hostile-kept-"))).absolute()
    judge = Judge(options.tool.resolve(), folder, kept, choice)
    outcomes: dict[str, Counter] = defaultdict(Counter)
    most, runs, failures, cpu = (0.0, 0.0, 0), 0, 0, 0.0
    with ThreadPoolExecutor(JOBS) as threads:
        for case, verdict in zip(chosen, threads.map(judge.judge, chosen)):
            outcomes[case.family] += verdict.outcomes
            outcomes[case.family]["files"] += 1
            most = tuple(max(pair) for pair in zip(most, verdict.most))
            runs += verdict.runs
            cpu += verdict.cpu
            failures += len(verdict.failures)
            for command, wrong, errors in verdict.failures:
                print(f"FAILED {case.title}: {wrong}\n  {command}" + (f"\n  {errors}" if errors else ""), flush=True)
    print_table(outcomes)
    if failures:
        shutil.copytree(base.folder, kept / "base", dirs_exist_ok=True)
        print(f"what failed is in {kept}")
    elif options.keep is None:
        os.rmdir(kept)
    print(
        f"the most of a run: {most[0]:.1f} s of CPU, {most[1]:.1f} s in all, {most[2] >> 20} MiB; "
        f"{cpu:.0f} s of CPU in all, {time.monotonic() - begun:.0f} s, seed {options.seed}"
    )
    print(f"hostile: files={len(chosen)} runs={runs} failures={failures}")
    return 1 if failures or not chosen else 0


def print_table(outcomes: dict[str, Counter]) -> None:
    print("".join(f"{name:>10}" for name in itertools.chain(("family", "files"), COLUMNS)))
    for family, counts in outcomes.items():
        print(f"{family:>10}{counts['files']:>10}" + "".join(f"{counts[name]:>10}" for name in COLUMNS))
