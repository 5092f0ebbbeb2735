"""Which cases are run, and what is asked about each: everything, or as much as a minute and a half allows."""

from __future__ import annotations

import fnmatch
import zlib
from collections.abc import Iterable, Iterator

from .case import Case
from .past import PAST

COMMANDS_OF_CASE, OPS_OF_CASE = 2, 1


class Choice:
    """Chooses by a number made from the seed and the case's name, so that equal seeds choose equally and other seeds,
    in time, everything. What failed once is always run, with every command."""

    def __init__(self, seed: int, wide: int, everything: bool, only: str | None):
        self.seed, self.wide, self.everything, self.only = seed, wide, everything, only

    def cases(self, cases: Iterable[Case]) -> list[Case]:
        """Of each family the cases that stand for themselves, and some of those that are one of very many alike."""
        found = [case for case in cases if self._is_named(case)]
        if self.everything or self.only is not None:
            return found
        many: dict[str, list[Case]] = {}
        for case in found:
            if case.wide and case.title not in PAST:
                many.setdefault(case.family, []).append(case)
        kept = {case for members in many.values() for case in sorted(members, key=self._number)[: self.wide]}
        return [case for case in found if not case.wide or case.title in PAST or case in kept]

    def commands(self, case: Case, plan: list) -> list:
        return (
            plan if self._is_whole(case) else [plan[index] for index in self._some(case, len(plan), COMMANDS_OF_CASE)]
        )

    def ops(self, case: Case, count: int) -> Iterable[int]:
        return range(count) if self._is_whole(case) else self._some(case, count, OPS_OF_CASE)

    def _is_whole(self, case: Case) -> bool:
        return self.everything or self.only is not None or case.title in PAST

    def _is_named(self, case: Case) -> bool:
        only = self.only
        return (
            only is None
            or only in case.title
            or any(fnmatch.fnmatchcase(name, only) for name in (case.title, case.name))
        )

    def _number(self, case: Case) -> int:
        return zlib.crc32(f"{self.seed} {case.title}".encode(errors="surrogateescape"))

    def _some(self, case: Case, count: int, most: int) -> Iterator[int]:
        start = self._number(case)
        return iter(sorted({(start + step * max(1, count // most)) % count for step in range(min(most, count))}))
