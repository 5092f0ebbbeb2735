"""Compares the conformance cases with the rules and with the rows of the specification."""


class SpecificationError(Exception):
    """Why the cases cannot be compared with the specification, and what the reader can do."""
