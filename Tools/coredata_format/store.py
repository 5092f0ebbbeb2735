"""Opens a copy of a store file and reads its system tables; the schema facts that two stores are compared by."""

import datetime
import plistlib
import shutil
import sqlite3
import tempfile
import zlib
from dataclasses import dataclass
from pathlib import Path

from . import StoreError
from .model import Model, model_from_archive

SIDECARS = ("", "-wal", "-shm", "-journal")
JOURNAL_MODES = {(1, 1): "rollback", (2, 2): "wal"}
METADATA_TYPES = {bool: "boolean", int: "integer", float: "real", str: "string", bytes: "data", list: "array",
                  dict: "dictionary", datetime.datetime: "date"}


@dataclass(frozen=True)
class InvalidText:
    """A stored text that is not valid UTF-8."""
    data: bytes

    def __repr__(self) -> str:
        return "(text that is not valid UTF-8)"


def decoded(data: bytes) -> str | InvalidText:
    """A text as it is read from a store: one bad value must not keep the others from being read."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return InvalidText(data)


class Store:
    """A store opened on a temporary copy, so that the original and its sidecar files stay as they are."""

    def __init__(self, path: Path):
        if not path.is_file():
            raise StoreError(f"no such store: {path}")
        self.path = path
        self.folder = tempfile.TemporaryDirectory()
        for sidecar in SIDECARS:
            original = path.with_name(path.name + sidecar)
            if original.exists():
                shutil.copyfile(original, Path(self.folder.name) / original.name)
        self.connection = sqlite3.connect(Path(self.folder.name) / path.name)
        self.connection.text_factory = decoded

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_) -> None:
        self.connection.close()
        self.folder.cleanup()

    def rows(self, sql: str, parameters: tuple = ()) -> sqlite3.Cursor:
        return self.connection.execute(sql, parameters)

    def tables(self) -> dict[str, list[list[str]]]:
        """Every table with its columns, as [name, declared type], in order."""
        names = [name for name, in self.rows("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {name: [list(row) for row in self.rows("SELECT name, type FROM pragma_table_info(?)", (name,))]
                for name in names if not name.startswith("sqlite_")}

    def row_count(self, table: str) -> int:
        return self.rows(f'SELECT COUNT(*) FROM "{table}"').fetchone()[0]

    def primary_keys(self) -> list[list]:
        """The rows [Z_ENT, Z_NAME, Z_SUPER] of Z_PRIMARYKEY."""
        return [list(row) for row in self.rows("SELECT Z_ENT, Z_NAME, Z_SUPER FROM Z_PRIMARYKEY ORDER BY Z_ENT")]

    def uuid(self) -> str:
        return self._metadata_row()[0]

    def metadata(self) -> dict:
        return plistlib.loads(self._metadata_row()[1], fmt=plistlib.FMT_BINARY)

    def _metadata_row(self) -> tuple[str, bytes]:
        rows = self.rows("SELECT Z_UUID, Z_PLIST FROM Z_METADATA").fetchall()
        if len(rows) != 1:
            raise StoreError(f"Z_METADATA has {len(rows)} rows instead of one")
        return rows[0]

    def journal_mode(self) -> str:
        """The journal mode by the header of the original file."""
        with self.path.open("rb") as file:
            versions = file.read(20)[18:]
        try:
            return JOURNAL_MODES[tuple(versions)]
        except KeyError as error:
            raise StoreError(f"the file header has the write and read versions {list(versions)}") from error

    def embedded_model(self) -> Model:
        """The model of Z_MODELCACHE; a missing, empty or truncated one is an error that asks for a model file."""
        content = None
        if "Z_MODELCACHE" in self.tables():
            content, = self.rows("SELECT Z_CONTENT FROM Z_MODELCACHE").fetchone() or (None,)
        if content is None:
            raise StoreError("the store has no embedded model: name one with --model")
        try:
            return model_from_archive(zlib.decompress(content, -zlib.MAX_WBITS))
        except (zlib.error, plistlib.InvalidFileException) as error:
            raise StoreError(f"the embedded model is damaged, name one with --model: {error}") from error


def schema_facts(store: Store) -> dict:
    """What a freshly written store must share with a real one of the same model."""
    metadata = store.metadata()
    statements = {kind: dict(store.rows("SELECT name, sql FROM sqlite_master WHERE type = ? AND sql NOTNULL", (kind,)))
                  for kind in ("table", "index", "trigger")}
    return {
        "frameworkVersion": metadata.get("NSPersistenceFrameworkVersion"),
        "indexes": statements["index"],
        "metadata": {key: METADATA_TYPES[type(value)] for key, value in metadata.items()},
        "pragmas": {name: store.rows(f"PRAGMA {name}").fetchone()[0]
                    for name in ("auto_vacuum", "encoding", "page_size")} | {"journal_mode": store.journal_mode()},
        "primaryKeys": store.primary_keys(),
        "tables": {name: {"columns": columns, "sql": statements["table"][name]}
                   for name, columns in store.tables().items()},
        "triggers": statements["trigger"],
    }
