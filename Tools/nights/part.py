"""A part of the night, and its size."""
import dataclasses
import math
from collections.abc import Callable
from typing import Any

NIGHT = 8 * 3600
# A divisible part runs in slices of about so many seconds. The ledger records each slice when it ends.
SLICE = 600


@dataclasses.dataclass
class Command:
    """A program with its arguments, and variables added to the environment."""
    arguments: list[Any]
    environment: dict[str, str] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class Outcome:
    """The numbers in the output of a run; None where the output has no such number."""
    done: int | None = None
    findings: int | None = None
    # The output shows a failure, whatever the exit status.
    is_wrong: bool = False


@dataclasses.dataclass
class Part:
    """A line of the table."""
    name: str
    # The reliability goal, such as G1.
    row: str
    unit: str
    # The size of the long run in the goal, for each key; None where the goal states none.
    stated: int | None
    # The size of one night.
    night: int
    # Units a second of one run; 0 for a part of fixed size.
    rate: float
    # The command of a run, from the programs, the key, the size and the seed.
    command: Callable[[Any, str, int, int], Command]
    # The stores that the part runs over, each with the full size. A single empty key for a part without stores.
    keys: tuple[str, ...] = ("",)
    # The build that the part needs: "debug", "release", "benchmarks" or none.
    needs: str = ""
    # The duration of a part of fixed size.
    seconds: int = 0
    # The smallest useful size.
    least: int = 1
    # The largest size of one run, where that is below a slice; 0 for none.
    most: int = 0
    # The number of keys that run at a time: two where a run uses one processor.
    beside: int = 1
    # Runs with different seeds add up. Otherwise the largest run counts.
    adds: bool = True
    read: Callable[[str], Outcome] = lambda text: Outcome()
    # Exit statuses of success.
    good: tuple[int, ...] = (0,)
    # Those of them that say that the time was over before everything was done.
    short: tuple[int, ...] = ()
    # The goal allows a share of findings. The exit status says whether there were more.
    may_find: bool = False
    # The part is skipped where this script does not exist.
    script: str = ""

    @property
    def is_divisible(self) -> bool:
        return self.rate > 0

    def is_bad(self, run: dict) -> bool:
        """Whether a run of the ledger failed, or found what the goal does not allow."""
        return run["status"] not in self.good or (run["findings"] > 0 and not self.may_find)

    def time(self, amount: float) -> float:
        """The expected seconds of a size."""
        if not self.is_divisible: return self.seconds if amount else 0
        rounds = math.ceil(len(self.keys) / self.beside)
        return rounds * amount / self.rate

    def slices(self, amount: int) -> list[int]:
        """The sizes of the runs of one key. Their sum is the amount."""
        if amount <= 0: return []
        if not self.is_divisible: return [amount]
        size = max(self.least, int(self.rate * SLICE))
        if self.most: size = min(size, self.most)
        count = math.ceil(amount / size)
        return [amount // count + (number < amount % count) for number in range(count)]


def scaled(parts: list[Part], share: float) -> dict[str, int]:
    """The sizes of a night multiplied by a share, except fixed ones."""
    return {part.name: max(part.least, round(part.night * share)) if part.is_divisible else part.night
            for part in parts}


def in_hours(parts: list[Part], hours: float) -> dict[str, int]:
    """The sizes that take so many hours. Raises ValueError where the parts of fixed size take longer."""
    fixed = sum(part.time(part.night) for part in parts if not part.is_divisible)
    divisible = sum(part.time(part.night) for part in parts if part.is_divisible)
    left = hours * 3600 - fixed
    if left < 0 or (left == 0 and divisible):
        names = " ".join(part.name for part in parts if not part.is_divisible)
        raise ValueError(f"the fixed sizes of {names} take {fixed / 3600:.1f} hours: name fewer parts, or --skip some")
    return scaled(parts, left / divisible if divisible else 1)


def rest(parts: list[Part], done: Callable[[Part, str], int]) -> dict[str, dict[str, int]]:
    """The rest of the stated sizes, for each key; the size of a night for a part without one."""
    return {part.name: {key: max(0, (part.stated or part.night) - (done(part, key) if part.stated else 0))
                        for key in part.keys} for part in parts}
