"""The list of the objects that a writer meant to write: JSON lines of entity, key and change."""

import json
from pathlib import Path

from . import StoreError
from .contents import Contents

CHANGES = ("insert", "update", "delete")
Touched = dict[tuple[str, int], tuple[str, str]]


def load_touched(path: Path, contents: Contents) -> Touched:
    """The (entity, change) of every touched object by (table, key)."""
    touched: Touched = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip():
            continue
        entity, key, change = _fields(line, f"{path.name}, line {number}")
        if entity not in contents.model.entities:
            raise StoreError(f"{path.name}, line {number}: the model has no entity {entity}")
        place = contents.layout.table(entity), key
        if place in touched:
            raise StoreError(f"{path.name}, line {number}: {entity} {key} is listed twice")
        touched[place] = entity, change
    return touched


def _fields(line: str, place: str) -> tuple[str, int, str]:
    try:
        item = json.loads(line)
        entity, key, change = item["entity"], item["key"], item["change"]
    except (ValueError, TypeError, KeyError) as error:
        raise StoreError(f"{place}: not an object with entity, key and change") from error
    if not isinstance(key, int) or change not in CHANGES:
        raise StoreError(f"{place}: the key is an integer, the change one of {', '.join(CHANGES)}")
    return entity, key, change
