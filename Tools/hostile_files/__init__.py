"""Hostile and broken files, and the judgement of a tool that reads them."""
