"""What a judge says of a store: findings and notes, each with the name of its check."""

from collections.abc import Callable

# A fault in many rows is said of the first ones; the others are only counted.
LIMIT = 20
# Where these are found other checks say nothing, so that they never end well.
UNFORGIVEN = {"integrity", "unreadable", "layout"}


class Findings:
    """Collects (check, text): `findings` are faults, `notes` are what is odd and allowed."""

    def __init__(self, grace: float = 0):
        self.grace = grace
        self.findings: list[tuple[str, str]] = []
        self.notes: list[tuple[str, str]] = []

    def find(self, check: str, text: str) -> None:
        self.findings.append((check, text))

    def note(self, check: str, text: str) -> None:
        self.notes.append((check, text))

    def run(self, name: str, check: Callable[[], None]) -> None:
        """Runs a check. A store on which it stumbles is not what the check expects: a finding, not a crash."""
        try:
            check()
        except Exception as error:
            self.find("unreadable", f"{name}: {error.__class__.__name__}: {error}")

    def forgive(self, before: "Findings") -> None:
        """Turns into notes what was said of the store as it was before in the same words, values included."""
        known = {(check, text) for check, text in before.findings if check not in UNFORGIVEN}
        self.notes += [(check, f"as before: {text}") for check, text in self.findings if (check, text) in known]
        self.findings = [finding for finding in self.findings if finding not in known]

    def lines(self) -> list[str]:
        """One line for each, notes first."""
        return _limited("note", self.notes) + _limited("finding", self.findings)


def _limited(kind: str, items: list[tuple[str, str]]) -> list[str]:
    lines, seen = [], {}
    for check, text in items:
        seen[check] = seen.get(check, 0) + 1
        if seen[check] <= LIMIT:
            lines.append(f"{kind}: {check}: {text}")
    return lines + [f"{kind}: {check}: and {count - LIMIT} more" for check, count in seen.items() if count > LIMIT]
