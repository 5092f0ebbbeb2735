"""Which tests reach a mutant, and whether one of them notices it."""

import json
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from .choice import Mutant
from .world import Trace, Verdict, World

# A suite and a case of so many seconds are quick; the others come last, and only for what nothing else has noticed.
QUICK_SUITE = 4.0
QUICK_CASE = 1.0
# Longer suites judge no mutant: they are about files, and would take most of the time for next to nothing.
LONGEST_SUITE = 25.0
AT_ONCE = 2


@dataclass
class Reach:
    """Of each case and suite: how long it takes, and the mutants that it reaches. `wrong` has those that fail anyway.

    A suite is `suite CoreDataTests.Name`, a case has its store before it: `memory SAV-001`.
    """
    seconds: dict[str, float] = field(default_factory=dict)
    mutants: dict[str, list[int]] = field(default_factory=dict)
    wrong: dict[str, str] = field(default_factory=dict)

    def units(self, mutant: int, kind: str) -> list[tuple[str, float]]:
        """The names of a kind that reach a mutant, the quick ones first."""
        found = [(unit[len(kind) + 1:], self.seconds[unit]) for unit, reached in self.mutants.items()
                 if unit.startswith(kind + " ") and mutant in reached and unit not in self.wrong]
        return sorted(found, key=lambda unit: unit[1])

    def is_reached(self, mutant: int) -> bool:
        return any(mutant in reached for unit, reached in self.mutants.items() if unit not in self.wrong)


class OutOfTime(Exception):
    """What was found so far is kept; the next run goes on."""


class Judge:
    def __init__(self, world: World, folder: Path, stores: list[str], until: float):
        self.world, self.folder, self.stores, self.until = world, folder, stores, until
        self.reach = Reach()
        self.file = folder / "reach.json"

    # What reaches what

    def read_reach(self, states: dict[str, str]):
        """What is known of this very build; of the cases, where only tests have changed."""
        if not self.file.exists(): return
        known = json.loads(self.file.read_text())
        def is_known(unit):
            kind = "suites" if unit.startswith("suite ") else "cases"
            return known["states"][kind] == states[kind]
        for name, values in vars(self.reach).items():
            values.update({unit: value for unit, value in known[name].items() if is_known(unit)})

    def keep_reach(self, states: dict[str, str]):
        self.file.write_text(json.dumps({"states": states, **vars(self.reach)}))

    def trace(self, states: dict[str, str]):
        """Runs everything once without a mutant. It must pass; what does not is named."""
        self.read_reach(states)
        jobs = [("cases", store) for store in self.stores]
        missing = [suite for suite in self.world.suites() if f"suite {suite}" not in self.reach.seconds]
        jobs += [("suites", missing[index::8]) for index in range(8) if missing[index::8]]
        with ThreadPoolExecutor(AT_ONCE) as pool:
            for failure in [pool.submit(self.trace_part, *job) for job in jobs]: failure.result()
        self.keep_reach(states)
        if time.monotonic() > self.until: raise OutOfTime

    def trace_part(self, kind: str, what):
        trace = Trace(self.folder)
        try:
            if kind == "cases": self.trace_cases(what, trace)
            else:
                for suite in what: self.trace_suite(suite, trace)
        finally: trace.close()

    def trace_cases(self, store: str, trace: Trace):
        def done(case, outcome, seconds):
            reached = trace.take()
            # What a store is not expected to do is no judge of it.
            self.note(f"{store} {case}", seconds, reached if outcome == "passed" else [])
            if outcome is None: self.reach.wrong[f"{store} {case}"] = "crashed"
        missing = [case for case in self.world.cases(store) if f"{store} {case}" not in self.reach.seconds]
        while missing and time.monotonic() < self.until:
            verdict = self.world.run_cases(store, [(case, 20) for case in missing[:20]], 0, done, trace)
            if verdict.how == "hung":
                again = [(verdict.failure.split()[1], 60)]
                verdict = self.world.run_cases(store, again, 0, done, trace)
            if verdict.how == "hung":
                self.note(verdict.failure, 20, [])
                self.reach.wrong[verdict.failure] = "hung"
            missing = [case for case in missing if f"{store} {case}" not in self.reach.seconds]

    def trace_suite(self, suite: str, trace: Trace):
        if time.monotonic() > self.until: return
        start = time.monotonic()
        verdict = self.world.run_suites([suite], 0, trace, 120)
        if verdict.how == "hung": verdict = self.world.run_suites([suite], 0, trace, 120)
        if verdict: self.reach.wrong[f"suite {suite}"] = f"{verdict.how}: {verdict.failure}"
        self.note(f"suite {suite}", time.monotonic() - start, trace.take())

    def note(self, unit: str, seconds: float, mutants: list[int]):
        self.reach.seconds[unit], self.reach.mutants[unit] = round(seconds, 2), mutants

    # What notices a mutant

    def judge(self, mutant: Mutant) -> Verdict:
        """The first failure of what reaches it, quick stages first; none where all of them pass."""
        for stage in self.stages(mutant.number):
            if time.monotonic() > self.until: raise OutOfTime
            verdict = stage()
            # A machine that is busy elsewhere may have made it wait.
            if verdict.how == "hung": verdict = stage()
            if verdict: return verdict
        return Verdict()

    def stages(self, number: int):
        """What reaches a mutant, in the order of what notices most in a second. Each stage gives a verdict."""
        units = {kind: self.reach.units(number, kind) for kind in (*self.stores, "suite")}
        suites = [name for name, seconds in units.pop("suite") if seconds <= QUICK_SUITE]
        slow = [unit for unit in self.reach.units(number, "suite") if QUICK_SUITE < unit[1] <= LONGEST_SUITE]
        quick = {store: [unit for unit in cases if unit[1] <= QUICK_CASE] for store, cases in units.items()}
        def cases(store, some): return lambda: self.world.run_cases(store, some, number)
        yield cases(self.stores[0], quick[self.stores[0]])
        if suites: yield lambda: self.world.run_suites(suites, number)
        for store in self.stores[1:]: yield cases(store, quick[store])
        for store in self.stores: yield cases(store, units[store][len(quick[store]):])
        for name, seconds in slow:
            yield lambda name=name, seconds=seconds: self.world.run_suites([name], number, seconds=60 + 6 * seconds)

    def judge_all(self, mutants: list[Mutant], done) -> bool:
        """Two at a time; `done` is told each verdict. Gives whether there was time for all."""
        def one(mutant):
            try:
                start = time.monotonic()
                verdict = self.judge(mutant)
                done(mutant, verdict, time.monotonic() - start)
                return True
            except OutOfTime: return False
        with ThreadPoolExecutor(AT_ONCE) as pool: return all(list(pool.map(one, mutants)))
