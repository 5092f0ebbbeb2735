"""Makes the hostile files, lets the program save into them, and prints what came of it."""

from __future__ import annotations

import argparse
import random
import re
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from . import dumped_state, lmdb_cases, sqlite_cases, sqlite_judge, sqlite_state, whole_cases, whole_judge, whole_state
from .driver import MEMORY, Died, Driver

JOBS = 2
# Each sequence begins with a file made anew. The first saves everything at once, the second one thing after the other.
EVERYTHING = ("all", "read")
ONE_BY_ONE = ("link", "insert", "delete", "change", "over")


@dataclass(frozen=True)
class Store:
    """A type of store: how its files are damaged, read without the library, and judged."""

    type: str
    cases: Callable
    read: Callable
    judge: Callable
    sequences: tuple[tuple[str, ...], ...]
    # A file into which everything can be saved.
    harmless: str
    # How many of a hundred files are of this store, where a number of files is wanted.
    share: int
    # How many of the files are taken, by the seed, where neither a number nor --all is given.
    most: int = 1 << 30


BOTH = (EVERYTHING, ONE_BY_ONE)
STORES = {
    store.type: store
    for store in (
        Store("SQLite", sqlite_cases.cases, sqlite_state.read, sqlite_judge.judge, BOTH, "ZITEM-ZLARGE-most", 60),
        Store("XML", whole_cases.cases, whole_state.read, whole_judge.judge, (EVERYTHING,), "good", 15),
        Store("Binary", whole_cases.cases, whole_state.read, whole_judge.judge, (EVERYTHING,), "good", 15),
        Store("LMDB", lmdb_cases.cases, dumped_state.read, dumped_state.judge, (EVERYTHING,), "good", 10, 400),
    )
}


class Run:
    """Runs cases of one type of store on a driver of its own, in one thread."""

    def __init__(self, program: Path, store: Store, base: Path, folder: Path, kept: Path, mistake: str | None):
        self.store, self.base, self.folder, self.kept = store, base, folder, kept
        self.driver = Driver(program, store.type, folder, mistake)
        self.outcomes: Counter = Counter()
        self.failures: list[str] = []

    def run(self, cases: list) -> None:
        for case in cases:
            for number, steps in enumerate(self.store.sequences):
                self._sequence(case, number, steps)
        self.driver.close()

    def _sequence(self, case, number: int, steps: tuple[str, ...]) -> None:
        folder = self.folder / f"{case.name}-{number}"
        path = case.make(self.base, folder)
        wrong = []
        state = None
        for step in steps:
            try:
                before = state or self.store.read(path, self.driver)
                report = self.driver.step(step, path)
                after = self.store.read(path, self.driver)
            except Died as end:
                self.outcomes["died"] += 1
                wrong.append(f"{step}: {end}")
                break
            found = self.store.judge(before, after, report)
            state = after
            wrong += [f"{step}: {text}" for text in found]
            self.outcomes["wrong" if found else _outcome(report)] += 1
            if found or report.get("phase") == "open":
                break
        wrong += self._close(path)
        if wrong:
            self.failures += [f"{case.name}: {text}" for text in wrong]
            shutil.rmtree(self.kept / folder.name, ignore_errors=True)
            case.make(self.base, self.kept / folder.name)
        shutil.rmtree(folder)


    def _close(self, path: Path) -> list[str]:
        try:
            report = self.driver.step("close", path)
        except Died as end:
            return [f"close: {end}"]
        return [] if report["outcome"] == "read" else [f"close: {report['error']}"]


def _outcome(report: dict) -> str:
    """How a step ended; of an error where it was met, its code and its cause."""
    if report["outcome"] != "failed":
        return report["outcome"] + (" without what cannot be fetched" if report.get("errors") else "")
    error = report["error"]
    return f"refused at {report['phase']} ({error.get('code')} {error.get('cause') or 'Core Data'})"


def make_base(program: Path, store: Store, folder: Path) -> Path:
    folder.mkdir(parents=True)
    path = folder / f"store.{store.type.lower()}"
    driver = Driver(program, store.type, folder.parent)
    # Two saves, so that the history has two records.
    for step in ("make", "change"):
        report = driver.step(step, path)
        if report["outcome"] != "saved":
            raise SystemExit(f"hostile_saves: the good store cannot be made: {report}")
    driver.step("close", path)
    driver.close()
    return path


def chosen(cases: list, store: Store, options: argparse.Namespace) -> list:
    found = [case for case in cases if options.only is None or options.only in case.name]
    wanted = options.count if options.store or not options.count else max(1, options.count * store.share // 100)
    count = min(wanted or (len(found) if options.all else store.most), len(found))
    return sorted(random.Random(options.seed).sample(found, count), key=lambda case: case.name)


# What each mistake of the program must be noticed by; see HostileMistake.
MISTAKES = {
    "abort": "died by SIGABRT",
    "hang": "hangs",
    "overwrite": "overwritten",
    "forget": "never written",
    "deny": "changed",
    "untyped": "untyped error",
}


def self_test(options: argparse.Namespace, folder: Path) -> int:
    """Shows of each store that the check notices each mistake, and none where there is none."""
    missed = []
    for store in STORES.values():
        base = make_base(options.program, store, folder / store.type / "base")
        case = next(case for case in store.cases(base) if case.name == store.harmless)
        for mistake, text in {None: "", **MISTAKES}.items():
            run = Run(options.program, store, base, folder / "run", folder / "kept", mistake)
            run.run([case])
            is_noticed = any(re.search(text, failure) for failure in run.failures)
            if is_noticed == (mistake is None):
                missed.append(f"{store.type} {mistake or 'no mistake'}: {run.failures}")
    print(*(f"FAILED {text}\n" for text in missed), sep="", end="")
    print(f"hostile_saves: stores={len(STORES)} mistakes={len(MISTAKES)} not noticed={len(missed)}")
    return 1 if missed else 0


def run_store(store: Store, options: argparse.Namespace, folder: Path, kept: Path) -> tuple[int, int, list[str]]:
    """Runs the cases of a store. Gives how many files and steps there were, and what failed."""
    begun = time.monotonic()
    base = make_base(options.program, store, folder / "base")
    every = list(store.cases(base))
    cases = chosen(every, store, options)
    if options.list:
        print(*(f"{store.type}/{case.name}" for case in cases), sep="\n")
        return 0, 0, []
    runs = [Run(options.program, store, base, folder / str(job), kept, None) for job in range(JOBS)]
    with ThreadPoolExecutor(JOBS) as threads:
        list(threads.map(lambda job: runs[job].run(cases[job::JOBS]), range(JOBS)))
    failures = sorted(text for run in runs for text in run.failures)
    memory = max(run.driver.memory for run in runs)
    if memory > MEMORY:
        failures.append(f"the program grew to {memory >> 20} MiB")
    print(*(f"FAILED {store.type}/{text}\n" for text in failures), sep="", end="")
    outcomes = sum((run.outcomes for run in runs), Counter())
    steps = sum(run.driver.steps for run in runs)
    print(f"{store.type}: {len(cases)} files of {len(every)}, {steps} steps in {time.monotonic() - begun:.0f} s, "
          f"the longest {max(run.driver.longest for run in runs):.1f} s, {memory >> 20} MiB")
    for name, count in sorted(outcomes.items()):
        print(f"  {count:6} {name}")
    return len(cases), steps, failures


def run_all(options: argparse.Namespace, folder: Path) -> int:
    if options.self_test:
        return self_test(options, folder)
    begun = time.monotonic()
    kept = (options.keep or Path(tempfile.mkdtemp(prefix="hostile-saves-kept-"))).absolute()
    counts = [run_store(STORES[name], options, folder / name, kept / name) for name in options.store or STORES]
    files, steps = (sum(numbers) for numbers in list(zip(*counts))[:2])
    failures = [text for count in counts for text in count[2]]
    if failures:
        print(f"what failed is in {kept}")
    elif options.keep is None:
        kept.rmdir()
    if options.list:
        return 0
    print(f"hostile_saves: files={files} steps={steps} failures={len(failures)} "
          f"in {time.monotonic() - begun:.0f} s, seed {options.seed}")
    return 1 if failures or not files else 0
