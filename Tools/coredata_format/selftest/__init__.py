"""Stores made by hand in which each check fails once: a check that cannot fail is a defect."""
