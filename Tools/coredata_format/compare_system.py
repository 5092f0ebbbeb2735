"""The judge's comparison of what a save leaves as it is: the file's form, the catalogue and the system tables."""

import plistlib
import re

from .check_schema import fetch_indexes
from .contents import HISTORY_ENTITIES, HISTORY_STATEMENTS, Contents, exact, shown
from .findings import Findings
from .values import ValueEncoder

TOMBSTONES = re.compile(r"(, ZTOMBSTONE\d+ BLOB)+")
# SQLite keeps an R-tree in three tables of its own.
RTREE_PART = re.compile(r"_(rowid|node|parent)$")
PRAGMAS = ("page_size", "auto_vacuum", "encoding", "user_version", "application_id")


class SystemComparison:
    """Compares everything but the rows of objects and their links."""

    def __init__(self, before: Contents, after: Contents, metadata_keys: set[str], findings: Findings):
        self.before, self.after, self.metadata_keys, self.findings = before, after, metadata_keys, findings

    def run(self) -> None:
        for name, check in {"the headers": self._header, "the catalogues": self._catalogue,
                            "Z_PRIMARYKEY of before and after": self._primary_keys,
                            "the metadata of before and after": self._metadata,
                            "the model caches": self._model_cache, "the external files": self._external_files}.items():
            self.findings.run(name, check)

    def _header(self) -> None:
        """The journal mode is that of the file itself; what else the header says may still be in the log."""
        old, new = ({"journal mode": contents.store.journal_mode()} | {
            name: contents.store.rows(f"PRAGMA {name}").fetchone()[0] for name in PRAGMAS}
            for contents in (self.before, self.after))
        for name, value in old.items():
            if value != new[name]:
                self.findings.find("header", f"{name} was {value} and is {new[name]}")

    # The catalogue

    def _catalogue(self) -> None:
        old, new = (_catalogue(contents) for contents in (self.before, self.after))
        for name in sorted(old.keys() | new.keys()):
            if old.get(name) == new.get(name):
                continue
            if name not in new:
                self._missing(name, *old[name])
            elif self._is_asked_for(name) or self._is_new_history(name, old, new[name][2]):
                self.findings.note("catalogue", f"{name} was {'changed' if name in old else 'added'}")
            else:
                self.findings.find("catalogue", f"{name} was {'changed' if name in old else 'added'}: {new[name][2]}")

    def _missing(self, name: str, kind: str, table: str, sql: str | None) -> None:
        """An index named as a fetch index of the table's entities may go when the model has it no longer."""
        former = kind == "index" and sql and not sql.upper().startswith("CREATE UNIQUE") and any(
            name.startswith(f"Z_{entity}_") and self.before.layout.table(entity) == table
            for entity in self.before.model.entities)
        if former and name not in fetch_indexes(self.before):
            self.findings.note("catalogue", f"the former fetch index {name} was dropped")
        else:
            self.findings.find("catalogue", f"{name} was dropped")

    def _is_asked_for(self, name: str) -> bool:
        """Whether what has the name now is a fetch index of the model, with its columns."""
        asked = fetch_indexes(self.after)
        kind, actual_table, sql = _catalogue(self.after)[name]
        rtree = RTREE_PART.sub("", name)
        if rtree in asked and asked[rtree][1].rtree:
            return kind == "table"
        if name not in asked:
            return False
        table, index, terms = asked[name]
        columns = [tuple(row) for row in self.after.store.rows(
            'SELECT name, "desc" FROM pragma_index_xinfo(?) WHERE key', (name,))]
        return (kind, actual_table) == ("index", table) and terms in (None, columns) and (
            " WHERE " in sql.upper()) == index.partial and not sql.upper().startswith("CREATE UNIQUE")

    def _is_new_history(self, name: str, old: dict, sql: str | None) -> bool:
        """A store gets its history tables when its history is switched on."""
        return "ACHANGE" not in old and TOMBSTONES.sub("", sql or "") in HISTORY_STATEMENTS

    # The system tables

    def _primary_keys(self) -> None:
        old, new = ({number: row for number, *row in contents.store.rows(
            "SELECT Z_ENT, Z_NAME, Z_SUPER, Z_MAX FROM Z_PRIMARYKEY")} for contents in (self.before, self.after))
        for number in sorted(old.keys() | new.keys()):
            if number not in new or number not in old and number not in HISTORY_ENTITIES:
                what = "removed" if number in old else "added"
                self.findings.find("primary-key-changed", f"row {number} of Z_PRIMARYKEY was {what}")
            elif number in old:
                self._primary_key(number, old[number], new[number])

    def _primary_key(self, number: int, old: list, new: list) -> None:
        if list(map(exact, old[:2])) != list(map(exact, new[:2])):
            self.findings.find("primary-key-changed", f"row {number} of Z_PRIMARYKEY was {old} and is {new}")
        if isinstance(old[2], int) and (not isinstance(new[2], int) or new[2] < old[2]):
            self.findings.find("primary-key-changed", f"Z_MAX of {old[0]} was {old[2]} and is {shown(new[2])}")

    def _metadata(self) -> None:
        rows = [[list(map(exact, row)) for row in contents.store.rows("SELECT * FROM Z_METADATA")]
                for contents in (self.before, self.after)]
        if rows[0] == rows[1]:
            return
        same_identifier = self.before.store.uuid() == self.after.store.uuid()
        if not same_identifier:
            self.findings.find("metadata-changed", "Z_UUID is another one")
        old, new = self.before.store.metadata(), self.after.store.metadata()
        changed = [key for key in sorted(old.keys() | new.keys())
                   if key not in old or key not in new or _plist(old[key]) != _plist(new[key])]
        for key in changed:
            if key not in self.metadata_keys:
                self.findings.find("metadata-changed",
                                   f"{key} was {old.get(key, 'missing')!r} and is {new.get(key, 'missing')!r}")
        if not changed and same_identifier:
            self.findings.note("metadata-changed", "Z_METADATA was written anew with the same keys and values")

    def _model_cache(self) -> None:
        old, new = ([list(map(exact, row)) for row in contents.store.rows("SELECT * FROM Z_MODELCACHE")]
                    if "Z_MODELCACHE" in contents.store.tables() else None for contents in (self.before, self.after))
        if old != new:
            self.findings.find("model-cache", "Z_MODELCACHE is not what it was")

    def _external_files(self) -> None:
        """A file of external data is written once."""
        old, new = (ValueEncoder(contents.store.path).external_folder for contents in (self.before, self.after))
        for file in sorted(old.iterdir()) if old.is_dir() else ():
            if (new / file.name).is_file() and file.read_bytes() != (new / file.name).read_bytes():
                self.findings.find("external-changed", f"the file {file.name} has other bytes than before")


def _catalogue(contents: Contents) -> dict[str, tuple[str, str, str | None]]:
    """Kind, table and statement of everything in the catalogue."""
    rows = contents.store.rows("SELECT name, type, tbl_name, sql FROM sqlite_master")
    return {name: tuple(row) for name, *row in rows}


def _plist(value) -> bytes:
    """A text that tells property-list values apart by type, too, and not by the order of a dictionary's keys."""
    return plistlib.dumps(value, fmt=plistlib.FMT_XML, sort_keys=True)
