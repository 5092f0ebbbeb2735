"""The steps of the project that are open. NotYet.swift and the census of declarations say what waits for which."""

import re

# The last one is for what belongs to none of the others.
STEPS = ("7", "8", "9", "10", "11", "12 or later")
PATTERN = re.compile(rf"step ({'|'.join(STEPS)}): \S")
FORM = f"“step N: what”, with N one of {', '.join(STEPS)}"


def names_step(reason: str) -> bool:
    """Whether a reason begins with a step that is open, and says what it brings."""
    return bool(PATTERN.match(reason))
