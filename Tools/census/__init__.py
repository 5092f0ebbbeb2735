"""Compares the public declarations of the module CoreData with those of Apple's framework."""


class CensusError(Exception):
    """Why the census cannot be made, and what the reader can do."""
