"""What became of the mutants: the results that are kept, the mutants that change nothing, and the table."""

import json
from collections import defaultdict
from pathlib import Path

from .choice import Mutant
from .world import Verdict


class Results:
    """Verdicts by what a mutant changes, kept from run to run."""

    def __init__(self, file: Path):
        self.file = file
        self.known = json.loads(file.read_text()) if file.exists() else {}

    def verdict(self, mutant: Mutant) -> dict | None: return self.known.get(mutant.key)

    def note(self, mutant: Mutant, verdict: Verdict, seconds: float, is_reached: bool):
        self.known[mutant.key] = {"caught": bool(verdict), "by": verdict.failure, "how": verdict.how,
                                  "seconds": round(seconds, 1), "reached": is_reached}
        self.file.write_text(json.dumps(self.known, indent=1))

    def forget(self, mutant: Mutant): self.known.pop(mutant.key, None)


def read_equivalents(file: Path) -> dict[str, str]:
    """The mutants that change nothing that can be seen, by key, with the reason."""
    lines = [line.split("\t") for line in file.read_text().splitlines() if line]
    for line in lines:
        if len(line) != 4 or not line[3].strip():
            raise SystemExit(f"mutants: {file.name} wants file, before, after and reason: {line}")
    return {"\t".join(line[:3]): line[3] for line in lines[1:]}


def counts(mutants: list[Mutant], results: Results, name) -> list[tuple[str, int, int]]:
    """By a name: how many were caught, of how many."""
    caught, total = defaultdict(int), defaultdict(int)
    for mutant in mutants:
        total[name(mutant)] += 1
        caught[name(mutant)] += results.verdict(mutant)["caught"]
    return [(key, caught[key], total[key]) for key in sorted(total)]


def line_of(mutant: Mutant, results: Results) -> str:
    verdict = results.verdict(mutant)
    note = "" if verdict["reached"] else "  (nothing reaches it)"
    return f"{mutant.number}  {mutant.file}:{mutant.line}  {mutant.operator}{note}\n    - {mutant.before.strip()}\n" \
           f"    + {mutant.after.strip()}"


def print_report(judged: list[Mutant], equal: list[Mutant], results: Results) -> float:
    """Prints the table and gives the caught ones in percent."""
    for name in (lambda mutant: mutant.folder), (lambda mutant: mutant.operator):
        for key, caught, total in counts(judged, results, name): print(f"{key:28} {caught:4} / {total}")
        print()
    survivors = [mutant for mutant in judged if not results.verdict(mutant)["caught"]]
    if survivors: print("Survivors:", *(line_of(mutant, results) for mutant in survivors), "", sep="\n")
    hung = sum(results.verdict(mutant)["how"] == "hung" for mutant in judged)
    crashed = sum(results.verdict(mutant)["how"] == "crashed" for mutant in judged)
    caught, total = len(judged) - len(survivors), len(judged)
    percent = 100 * caught / total if total else 0
    print(f"mutants: {caught} / {total} caught ({percent:.1f} %), {crashed} by a crash, {hung} by a hang; "
          f"{len(equal)} more change nothing that can be seen")
    return percent


def as_json(judged: list[Mutant], equal: list[Mutant], dropped: list[Mutant], results: Results, seed: int) -> str:
    def entry(mutant): return {**mutant.as_dictionary(), **(results.verdict(mutant) or {})}
    survivors = [mutant for mutant in judged if not results.verdict(mutant)["caught"]]
    return json.dumps({"seed": seed, "caught": len(judged) - len(survivors), "all": len(judged),
                       "equivalent": [entry(mutant) for mutant in equal], "dropped": len(dropped),
                       "folders": counts(judged, results, lambda mutant: mutant.folder),
                       "operators": counts(judged, results, lambda mutant: mutant.operator),
                       "mutants": [entry(mutant) for mutant in judged]}, indent=1)
