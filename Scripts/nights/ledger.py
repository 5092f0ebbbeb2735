"""What was done of each part, night after night, whatever the commit."""
import json
import os
import pathlib
import threading

from .part import Part


class Ledger:
    """A file with every run: its seed, size, what it did and found, its time and status, and the commit."""

    def __init__(self, file: pathlib.Path):
        self.file, self.lock = file, threading.Lock()
        self.parts = json.loads(file.read_text()) if file.exists() else {}

    def runs(self, part: Part, key: str) -> list[dict]:
        return self.parts.get(part.name, {}).get(key, [])

    def add(self, part: Part, key: str, run: dict) -> None:
        """Writes a run down at once, so that a night that is stopped keeps what it did."""
        with self.lock:
            self.parts.setdefault(part.name, {}).setdefault(key, []).append(run)
            self.file.parent.mkdir(parents=True, exist_ok=True)
            beside = self.file.with_suffix(".new")
            beside.write_text(json.dumps(self.parts, indent=1))
            os.replace(beside, self.file)

    def seeds(self, part: Part, key: str, base: int, count: int, again: bool) -> list[int]:
        """Seeds that no run of the key has had, from a base on; the first ones where the same is wanted `again`."""
        used = set() if again else {run["seed"] for run in self.runs(part, key)}
        found, seed = [], base * 1000
        while len(found) < count:
            if seed not in used: found.append(seed)
            seed += 1
        return found

    def done(self, part: Part, key: str) -> int:
        """What was done of a key: each seed counts once, with its largest run."""
        largest: dict[int, int] = {}
        for run in self.runs(part, key): largest[run["seed"]] = max(largest.get(run["seed"], 0), run["done"])
        return sum(largest.values()) if part.adds else max(largest.values(), default=0)

    def done_of_each(self, part: Part) -> int:
        """What was done of every key at least."""
        return min(self.done(part, key) for key in part.keys)

    def findings(self, part: Part) -> int:
        return sum(run["findings"] for key in part.keys for run in self.runs(part, key))
