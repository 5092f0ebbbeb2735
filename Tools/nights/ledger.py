"""The record of all runs of all nights."""
import dataclasses
import json
import os
import pathlib
import threading

from .part import Part


class Ledger:
    """A JSON file: part, key, runs. A run has seed, size, units done, findings, seconds, status, date and commit."""

    def __init__(self, file: pathlib.Path):
        self.file, self.lock = file, threading.Lock()
        self.parts = json.loads(file.read_text()) if file.exists() else {}

    def runs(self, part: Part, key: str) -> list[dict]:
        return self.parts.get(part.name, {}).get(key, [])

    def add(self, part: Part, key: str, run: dict) -> None:
        """Records a run and writes the file, so that a stopped night keeps its finished runs."""
        with self.lock:
            self.parts.setdefault(part.name, {}).setdefault(key, []).append(run)
            self.file.parent.mkdir(parents=True, exist_ok=True)
            beside = self.file.with_suffix(".new")
            beside.write_text(json.dumps(self.parts, indent=1))
            os.replace(beside, self.file)

    def seeds(self, part: Part, key: str, base: int, count: int, again: bool) -> list[int]:
        """Seeds from base × 1000 on that no run of the key has used. With `again`, used seeds as well."""
        used = set() if again else {run["seed"] for run in self.runs(part, key)}
        found, seed = [], base * 1000
        while len(found) < count:
            if seed not in used: found.append(seed)
            seed += 1
        return found

    def done(self, part: Part, key: str) -> int:
        """The units done of a key. Each seed counts once, with its largest run. A failed run counts as nothing."""
        largest: dict[int, int] = {}
        for run in self.runs(part, key):
            if not part.is_bad(run): largest[run["seed"]] = max(largest.get(run["seed"], 0), run["done"])
        return sum(largest.values()) if part.adds else max(largest.values(), default=0)

    def done_of_each(self, part: Part) -> int:
        """The smallest of the units done over all keys."""
        return min(self.done(part, key) for key in part.keys)

    def measured(self, part: Part) -> Part:
        """The part with the rate of its runs so far, where these took a minute at least."""
        runs = [run for key in part.keys for run in self.runs(part, key) if not part.is_bad(run)]
        seconds, done = sum(run["seconds"] for run in runs), sum(run["done"] for run in runs)
        if not part.is_divisible or not part.adds or seconds < 60 or not done: return part
        return dataclasses.replace(part, rate=done / seconds)

    def last_runs(self, part: Part, key: str) -> list[dict]:
        """The last run of each seed. Where runs do not add up, only the last run of all."""
        return list({run["seed"] if part.adds else 0: run for run in self.runs(part, key)}.values())

    def failed_seeds(self, part: Part, key: str) -> list[int]:
        """Seeds that failed or had findings, and did not pass later."""
        return [run["seed"] for run in self.last_runs(part, key) if part.is_bad(run)]

    def commits(self, part: Part) -> list[str]:
        """The commits of the last run of each key, each once."""
        return list(dict.fromkeys(self.runs(part, key)[-1].get("commit", "?") for key in part.keys
                                  if self.runs(part, key)))

    def findings(self, part: Part) -> int:
        return sum(run["findings"] for key in part.keys for run in self.runs(part, key))
