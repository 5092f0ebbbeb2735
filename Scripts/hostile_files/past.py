"""The cases that the tool once failed: they are run always, with every command."""

PAST = frozenset(())
