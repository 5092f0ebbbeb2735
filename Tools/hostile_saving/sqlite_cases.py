"""Hostile SQLite stores: every column of every table with every extreme value, and rows that are double or missing."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

VALUES = {
    "null": "NULL",  # what SQLite makes of NaN too
    "zero": "0",
    "one": "1",
    "minus-one": "-1",
    "least": "-9223372036854775807 - 1",
    "most": "9223372036854775807",
    "most-less-one": "9223372036854775806",
    "2-31": "2147483648",
    "2-32": "4294967296",
    "huge": "1e308",
    "minus-huge": "-1e308",
    "infinity": "9e999",
    "minus-infinity": "-9e999",
    "minus-zero": "-0.0",
    "beyond-integers": "1e19",
    "half": "0.5",
    "empty-text": "''",
    "long-text": "replace(hex(zeroblob(50000)), '0', 'x')",
    "nul-text": "'a' || char(0) || 'b'",
    "bad-utf8": "CAST(x'ff' AS TEXT)",
    "cut-utf8": "CAST(x'61c3' AS TEXT)",
    "number-text": "'12abc'",
    "empty-blob": "x''",
    "blob-of-1": "x'01'",
    "blob-of-2": "x'02'",
    "blob-of-100": "zeroblob(50) || zeroblob(50)",
    "copy": None,  # the value of the first row
}
# Rows of single-row tables are hostile too.
ROWS = {"Z_METADATA": ("1",), "Z_MODELCACHE": ("1",), "Z_PRIMARYKEY": ("rowid % 2 = 0", "rowid % 2 = 1")}
SCRIPTS = {
    "metadata-twice": "INSERT INTO Z_METADATA SELECT 0, Z_UUID, Z_PLIST FROM Z_METADATA",
    "metadata-twice-higher": "INSERT INTO Z_METADATA SELECT 2, Z_UUID, Z_PLIST FROM Z_METADATA",
    "metadata-missing": "DELETE FROM Z_METADATA",
    "cache-twice": "INSERT INTO Z_MODELCACHE SELECT Z_CONTENT FROM Z_MODELCACHE",
    "cache-missing": "DELETE FROM Z_MODELCACHE",
    "keys-missing": "DELETE FROM Z_PRIMARYKEY",
    "keys-of-roots-missing": "DELETE FROM Z_PRIMARYKEY WHERE Z_SUPER = 0",
    "keys-of-history-missing": "DELETE FROM Z_PRIMARYKEY WHERE Z_ENT > 16000",
    "keys-twice": "INSERT INTO Z_PRIMARYKEY SELECT Z_ENT + 100, Z_NAME, Z_SUPER, Z_MAX FROM Z_PRIMARYKEY",
    "keys-too-small": "UPDATE Z_PRIMARYKEY SET Z_MAX = 1",
    "pairs-without-keys": "INSERT INTO Z_3TAGS DEFAULT VALUES; INSERT INTO Z_3TAGS DEFAULT VALUES",
    "friends-both-ways": "INSERT OR IGNORE INTO Z_3FRIENDS SELECT REFLEXIVE, Z_3FRIENDS FROM Z_3FRIENDS",
    "friend-of-itself": "INSERT INTO Z_3FRIENDS VALUES (2, 2)",
    "parent-ring": "UPDATE ZITEM SET ZPARENT = 1 + Z_PK % 10",
    "own-parent": "UPDATE ZITEM SET ZPARENT = Z_PK",
    "orders-equal": "UPDATE ZITEM SET Z_FOK_BOX = 2048; UPDATE ZDESK SET Z_FOK_1DESKS = 2048",
    "orders-at-the-end": "UPDATE ZITEM SET Z_FOK_BOX = 9223372036854775807 - Z_PK",
    "orders-at-the-beginning": "UPDATE ZITEM SET Z_FOK_BOX = -9223372036854775807 + Z_PK",
    "orders-close": "UPDATE ZITEM SET Z_FOK_BOX = Z_PK; UPDATE ZDESK SET Z_FOK_1DESKS = Z_PK",
    "desk-of-two": "UPDATE ZITEM SET ZDESK = 2 WHERE Z_ENT = 4",
    "names-equal": "DROP INDEX Z_Box_UNIQUE_name; UPDATE ZBOX SET ZNAME = 'same'",
    "history-rows-missing": "DELETE FROM ACHANGE; DELETE FROM ATRANSACTION; DELETE FROM ATRANSACTIONSTRING",
    "rows-without-entities": "UPDATE ZITEM SET Z_ENT = 99; UPDATE ZTAG SET Z_ENT = NULL",
}


@dataclass(frozen=True)
class Case:
    """A store that is made from the good one by a script of SQL."""

    name: str
    script: str

    def make(self, base: Path, folder: Path) -> Path:
        """Makes the store, with its external files, in a new folder."""
        shutil.copytree(base.parent, folder)
        path = folder / base.name
        _run(path, self.script)
        return path


def cases(base: Path) -> Iterator[Case]:
    """Every case whose store differs from the good one and from those before it."""
    db = _open(base)
    db.execute("BEGIN")
    for name, in db.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
        db.execute(f"DROP TRIGGER {name.decode()}")
    for table, columns in _tables(db).items():
        for column in columns:
            for number, rows in enumerate(ROWS.get(table, ("rowid % 2 = 0",))):
                seen = {_content(db, table, column)}
                for name, value in VALUES.items():
                    value = value or _first(table, column)
                    script = f'UPDATE OR IGNORE "{table}" SET "{column}" = {value} WHERE {rows}'
                    content = _try(db, script, table, column)
                    if content is not None and content not in seen:
                        seen.add(content)
                        yield Case(f"{table}-{column}-{name}" + "-odd" * number, script)
    db.close()
    for name, script in SCRIPTS.items():
        yield Case(f"script-{name}", script)


def _first(table: str, column: str) -> str:
    return f'(SELECT "{column}" FROM "{table}" ORDER BY rowid LIMIT 1)'


def _try(db: sqlite3.Connection, script: str, table: str, column: str) -> int | None:
    """What a script would leave in a column; None where no file can hold it."""
    db.execute("SAVEPOINT try")
    try:
        db.execute(script)
        return _content(db, table, column)
    except sqlite3.IntegrityError:
        return None
    finally:
        db.execute("ROLLBACK TO try")


def _content(db: sqlite3.Connection, table: str, column: str) -> int:
    return hash(tuple(db.execute(f'SELECT rowid, typeof("{column}"), quote("{column}") FROM "{table}" ORDER BY rowid')))


def _tables(db: sqlite3.Connection) -> dict[str, list[str]]:
    names = db.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
    tables = [name.decode() for name, in names]
    return {name: [row[1].decode() for row in db.execute(f'PRAGMA table_info("{name}")')] for name in tables}


def _open(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path, isolation_level=None)
    db.text_factory = bytes
    db.execute("PRAGMA synchronous = OFF")
    return db


def _run(path: Path, script: str) -> None:
    """Runs a script without the triggers of the store, so that nothing else changes, not even what is derived."""
    db = _open(path)
    try:
        triggers = db.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' ORDER BY rowid").fetchall()
        db.execute("BEGIN")
        for name, _ in triggers:
            db.execute(f"DROP TRIGGER {name.decode()}")
        for statement in script.split("; "):
            db.execute(statement)
        for _, sql in triggers:
            db.execute(sql.decode())
        db.execute("COMMIT")
    finally:
        db.close()
