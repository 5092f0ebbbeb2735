"""What a part of the night is, and how its size is chosen."""
import dataclasses
import math
from collections.abc import Callable
from typing import Any

NIGHT = 8 * 3600
# A run of a part that can be divided takes about so many seconds, then what it did is written down.
SLICE = 600


@dataclasses.dataclass
class Command:
    """A program with its arguments, and what it finds in the environment beside the rest."""
    arguments: list[Any]
    environment: dict[str, str] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class Outcome:
    """What a run says that it did; None where it does not say it."""
    done: int | None = None
    findings: int | None = None
    # What it printed shows a fault that its status does not tell.
    is_wrong: bool = False


@dataclasses.dataclass
class Part:
    """A line of the table."""
    name: str
    # The goal of the project's reliability goals.
    row: str
    unit: str
    # The size that the goal states for the long run, in the unit, for each key; None where it states none.
    stated: int | None
    # The size of one night.
    night: int
    # How many of the unit one run does in a second; 0 for a part that cannot be divided.
    rate: float
    # Makes the command of a run from the programs, the key, the size and the seed.
    command: Callable[[Any, str, int, int], Command]
    # Of what there is one run each: a store. The size is that of each.
    keys: tuple[str, ...] = ("",)
    # What must be built: "debug", "release", "benchmarks" or nothing.
    needs: str = ""
    # Seconds of a part that cannot be divided.
    seconds: int = 0
    # The least size that says anything.
    least: int = 1
    # The most that one run may do, where that is less than a slice.
    most: int = 0
    # How many runs may go on beside one another: two where each uses one processor.
    beside: int = 1
    # Whether runs with other seeds add up; else the largest counts.
    adds: bool = True
    read: Callable[[str], Outcome] = lambda text: Outcome()
    # Statuses of an end that is no fault.
    good: tuple[int, ...] = (0,)
    # The script that must be there.
    script: str = ""

    @property
    def is_divisible(self) -> bool:
        return self.rate > 0

    def time(self, amount: float) -> float:
        """How many seconds a size takes, about."""
        if not self.is_divisible: return self.seconds if amount else 0
        rounds = math.ceil(len(self.keys) / self.beside)
        return rounds * amount / self.rate

    def slices(self, amount: int) -> list[int]:
        """The sizes of the runs of a key, which together are the amount."""
        if amount <= 0: return []
        if not self.is_divisible: return [amount]
        size = max(self.least, int(self.rate * SLICE))
        if self.most: size = min(size, self.most)
        count = math.ceil(amount / size)
        return [amount // count + (number < amount % count) for number in range(count)]


def scaled(parts: list[Part], share: float) -> dict[str, int]:
    """The sizes of a night of which everything that can be divided is done in a share."""
    return {part.name: max(part.least, round(part.night * share)) if part.is_divisible else part.night
            for part in parts}


def in_hours(parts: list[Part], hours: float) -> dict[str, int]:
    """The sizes that take so many hours. Raises ValueError where what cannot be divided takes longer than that."""
    fixed = sum(part.time(part.night) for part in parts if not part.is_divisible)
    divisible = sum(part.time(part.night) for part in parts if part.is_divisible)
    left = hours * 3600 - fixed
    if left < 0 or (left == 0 and divisible):
        names = " ".join(part.name for part in parts if not part.is_divisible)
        raise ValueError(f"{names} take {fixed / 3600:.1f} hours, and cannot be divided: choose parts, or --skip some")
    return scaled(parts, left / divisible if divisible else 1)


def rest(parts: list[Part], done: Callable[[Part, str], int]) -> dict[str, dict[str, int]]:
    """What is left of the stated sizes, for each key."""
    return {part.name: {key: max(0, (part.stated or part.night) - (done(part, key) if part.stated else 0))
                        for key in part.keys} for part in parts}
