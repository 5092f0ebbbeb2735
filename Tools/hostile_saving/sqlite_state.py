"""What is in a SQLite store, read by plain SQL, and how it may differ after a save."""

from __future__ import annotations

import hashlib
import sqlite3
import struct
from dataclasses import dataclass, field
from pathlib import Path

ENTITY_TABLES = {"Box": "ZBOX", "Desk": "ZDESK", "Item": "ZITEM", "SubItem": "ZITEM", "Tag": "ZTAG"}
# A to-one's column, and the columns that are written with it: the order among the owner's objects, the entity.
TO_ONES = {
    "box": ("ZBOX", ("Z_FOK_BOX",)),
    "parent": ("ZPARENT", ("Z3_PARENT",)),
    "desk": ("ZDESK", ()),
    "user": ("ZUSER", ()),
}
# A to-many whose links are in the members' table: entity and name; table, the owner's column, the order's column.
COLUMN_LINKS = {
    ("Box", "items"): ("ZITEM", "ZBOX", "Z_FOK_BOX"),
    ("Item", "children"): ("ZITEM", "ZPARENT", None),
    ("Box", "desks"): ("ZDESK", "Z1DESKS", "Z_FOK_1DESKS"),
}
# A to-many whose links are pairs: table, the column of the owner and of the member, the order's column.
PAIR_LINKS = {
    ("Item", "tags"): ("Z_3TAGS", "Z_3ITEMS", "Z_5TAGS", "Z_FOK_5TAGS"),
    ("Tag", "items"): ("Z_3TAGS", "Z_5TAGS", "Z_3ITEMS", None),
    ("Item", "likes"): ("Z_3LIKES", "Z_3LIKEDBY", "Z_3LIKES", "Z_FOK_3LIKES"),
    ("Item", "likedBy"): ("Z_3LIKES", "Z_3LIKES", "Z_3LIKEDBY", None),
    ("Item", "friends"): ("Z_3FRIENDS", "Z_3FRIENDS", "REFLEXIVE", None),
}
DERIVED = {("ZITEM", "ZBOXNAME"), ("ZBOX", "ZITEMCOUNT")}
HISTORY_TABLES = ("ACHANGE", "ATRANSACTION", "ATRANSACTIONSTRING")
HISTORY_NUMBERS = (16001, 16002, 16003)
Cell = tuple[str, object]


def cell(kind: bytes, value: object) -> Cell:
    """A value with its type. Reals are compared by their bits, so that -0.0 is not 0."""
    return kind.decode(), struct.pack("d", value) if isinstance(value, float) else value


@dataclass
class State:
    """All rows of all tables; the statements of the schema; and the files of large values, by their digests."""

    tables: dict[str, dict[object, dict[str, Cell]]] = field(default_factory=dict)
    schema: list[tuple] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)


def read(path: Path, _driver: object = None) -> State:
    """The state of a store, which stays as it is. Raises sqlite3.Error where SQLite cannot read it."""
    state = State()
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    db.text_factory = bytes
    try:
        state.schema = db.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY 1, 2").fetchall()
        names = [row[1].decode() for row in state.schema if row[0] == b"table"]
        for name in names:
            state.tables[name] = _rows(db, name)
    finally:
        db.close()
    folder = path.parent / f".{path.stem}_SUPPORT" / "_EXTERNAL_DATA"
    for file in sorted(folder.iterdir()) if folder.is_dir() else ():
        state.files[file.name] = hashlib.sha256(file.read_bytes()).hexdigest()
    return state


def _rows(db: sqlite3.Connection, table: str) -> dict[object, dict[str, Cell]]:
    columns = [row[1].decode() for row in db.execute(f'PRAGMA table_info("{table}")')]
    terms = ", ".join(f'typeof("{name}"), "{name}"' for name in columns)
    is_join = table.startswith("Z_") and table[2].isdigit()
    rows: dict[object, dict[str, Cell]] = {}
    for row in db.execute(f'SELECT rowid, {terms} FROM "{table}"'):
        values = {name: cell(row[2 * at + 1], row[2 * at + 2]) for at, name in enumerate(columns)}
        key: object = row[0]
        if is_join:
            # A pair is known by its keys; others give a row the number of one that is gone.
            key = (values[columns[0]], values[columns[1]], 0)
            while key in rows:
                key = (*key[:2], key[2] + 1)
        rows[key] = values
    return rows


def difference(before: State, after: State) -> str | None:
    """The first difference between two states, for saves that failed. New files of large values are no difference."""
    if before.schema != after.schema:
        return "another schema"
    for table, rows in before.tables.items():
        for key in rows.keys() | after.tables[table].keys():
            old, new = rows.get(key), after.tables[table].get(key)
            if old != new:
                columns = [] if old is None or new is None else [name for name in old if old[name] != new[name]]
                what = "appeared" if old is None else "is gone" if new is None else f"has another {columns}"
                return f"row {key} of {table} {what}: {_values(old, columns)} -> {_values(new, columns)}"
    return lost_files(before, after)


def _values(row: dict[str, Cell] | None, columns: list[str]) -> str:
    return str(None if row is None else {name: row[name] for name in columns})[:200]


def lost_files(before: State, after: State) -> str | None:
    """Files of large values that a row names, and that are gone or have another content."""
    names = {
        bytes(value[1:37]).decode(errors="replace")
        for row in after.tables.get("ZITEM", {}).values()
        for kind, value in [row.get("ZPHOTO", ("null", None))]
        if kind == "blob" and value[:1] == b"\2"
    }
    for name in sorted(names & before.files.keys()):
        if before.files[name] != after.files.get(name):
            return f"the file {name} of a large value is gone or has another content"
    return None

