"""Writes to the store made by hand, what they say they touched, and what the judge of a write must say of them."""

import plistlib
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from ..contents import HISTORY_STATEMENTS
from .fixture import FILE, external_folder, metadata, set_metadata


@dataclass
class Write:
    """A write (SQL, or a function of connection and path), its touched objects, and what is to be found and noted."""
    change: list[str] | Callable[[sqlite3.Connection, Path], None]
    touched: str
    checks: set[str]
    words: str = ""
    notes: set[str] = field(default_factory=set)
    metadata_keys: set[str] = field(default_factory=set)
    before: list[str] = field(default_factory=list)


def fails(check: str, words: str, touched: str, *statements: str) -> Write:
    return Write(list(statements), touched, {check}, words)


def passes(touched: str, *statements: str, notes: set[str] = frozenset()) -> Write:
    return Write(list(statements), touched, set(), notes=set(notes))


def change_file(_: sqlite3.Connection, path: Path) -> None:
    (external_folder(path) / FILE).write_bytes(b"other")


def rewrite_metadata(connection: sqlite3.Connection, _: Path) -> None:
    turned = dict(reversed(metadata().items()))
    connection.execute("UPDATE Z_METADATA SET Z_PLIST = ?",
                       (plistlib.dumps(turned, fmt=plistlib.FMT_BINARY, sort_keys=False),))


ADD_TAG = "INSERT INTO ZTAG VALUES (3, 6, 1, NULL, NULL, NULL, 'green')"
MAX_TAG = "UPDATE Z_PRIMARYKEY SET Z_MAX = 3 WHERE Z_ENT = 6"
OPT_ALBUM = "UPDATE ZALBUM SET Z_OPT = 2 WHERE Z_PK = 1"
RECORD = ("INSERT INTO ATRANSACTION (Z_PK, Z_ENT, ZBUNDLEIDTS, ZTIMESTAMP) VALUES (2, 16002, 1, 6)",
          "UPDATE Z_PRIMARYKEY SET Z_MAX = 2 WHERE Z_ENT = 16002",
          "UPDATE Z_PRIMARYKEY SET Z_MAX = 3 WHERE Z_ENT = 16001")
NO_HISTORY = ["DROP TABLE ACHANGE", "DROP TABLE ATRANSACTION", "DROP TABLE ATRANSACTIONSTRING",
              "DELETE FROM Z_PRIMARYKEY WHERE Z_ENT > 16000"]
RTREE = "CREATE VIRTUAL TABLE Z_RT_Tag_place USING RTREE (Z_PK, ZX_MIN FLOAT, ZX_MAX FLOAT)"
LOW_MAX = ["UPDATE Z_PRIMARYKEY SET Z_MAX = 0 WHERE Z_ENT = 6"]

WRITES = [
    passes(""),
    # Whole writes
    Write([ADD_TAG, MAX_TAG, *RECORD, "INSERT INTO ACHANGE VALUES (3, 16001, NULL, 0, 6, 3, 2, NULL)"],
          "insert Tag 3", set()),
    passes("update Album 1", OPT_ALBUM, "UPDATE ZALBUM SET ZTITLE = 'x' WHERE Z_PK = 1"),
    passes("delete person 3, update person 1", "DELETE FROM ZPERSON WHERE Z_PK = 3",
           "UPDATE ZPERSON SET Z_OPT = 2 WHERE Z_PK = 1", "DELETE FROM Z_5FRIENDS WHERE REFLEXIVE = 3"),
    passes("update Album 1", OPT_ALBUM, "UPDATE ZMEDIA SET Z_FOK_ALBUM = 1024 WHERE Z_PK = 2"),
    passes("update Album 1", OPT_ALBUM, "UPDATE Z_1TAGS SET Z_FOK_6TAGS = 1024 WHERE Z_6TAGS = 2"),
    passes("update Album 1", OPT_ALBUM, "UPDATE ZTAG SET Z1EXTRAS = 1 WHERE Z_PK = 2"),
    passes("update Tag 1", "UPDATE ZTAG SET Z_OPT = 2, ZX = NULL WHERE Z_PK = 1"),
    passes("update Photo 2", "UPDATE ZMEDIA SET Z_OPT = 2, ZALBUM = NULL, Z_FOK_ALBUM = NULL WHERE Z_PK = 2",
           "UPDATE ZALBUM SET ZPHOTOSCOUNT = 1 WHERE Z_PK = 1", notes={"derived"}),
    # Touched objects
    fails("insert", "Tag 3: there is no row", "insert Tag 3"),
    fails("insert", "Tag 2: it was there before", "insert Tag 2", "UPDATE ZTAG SET Z_OPT = 2 WHERE Z_PK = 2"),
    fails("insert", "Z_OPT is 2, not 1", "insert Tag 3", ADD_TAG, MAX_TAG,
          "UPDATE ZTAG SET Z_OPT = 2 WHERE Z_PK = 3"),
    fails("insert", "Z_ENT is 3, not 4", "insert Photo 4", "INSERT INTO ZMEDIA (Z_PK, Z_ENT, Z_OPT) VALUES (4, 3, 1)",
          "UPDATE Z_PRIMARYKEY SET Z_MAX = 4 WHERE Z_ENT = 2"),
    fails("insert-key", "person 4: keys up to 5", "insert person 4", "INSERT INTO ZPERSON VALUES (4, 5, 1)"),
    fails("key-max", "Z_MAX of Tag is 2", "insert Tag 3", ADD_TAG),
    Write(["INSERT INTO ZMEDIA (Z_PK, Z_ENT, Z_OPT, ZSIZE) VALUES (4, 4, 1, 5)",
           "UPDATE Z_PRIMARYKEY SET Z_MAX = 4 WHERE Z_ENT = 2"],
          "insert Photo 4", {"insert-column"}, "ZSIZE", {"sibling-column"}),
    fails("update", "Z_OPT is 1, not 2", "update Tag 2", "UPDATE ZTAG SET ZNAME = 'x' WHERE Z_PK = 2"),
    Write(["UPDATE ZMEDIA SET Z_ENT = 3, Z_OPT = 2, ZALBUM = NULL, Z_FOK_ALBUM = NULL, ZSIZE1 = NULL WHERE Z_PK = 2"],
          "update Photo 2", {"update", "external-orphan"}, "Z_ENT is 3, not 4", {"sibling-column"}),
    fails("update", "there was no row", "update Tag 3", ADD_TAG, MAX_TAG),
    Write(["UPDATE ZMEDIA SET Z_OPT = 2, ZSIZE1 = 5 WHERE Z_PK = 3"], "update Clip 3", {"update-column"}, "ZSIZE1",
          {"sibling-column"}),
    fails("delete", "Tag 2: it is still there", "delete Tag 2"),
    fails("delete", "Tag 3: there was no row", "delete Tag 3"),
    # Untouched objects
    fails("untouched", "ZTITLE was 'é' and is 'e'", "", "UPDATE ZALBUM SET ZTITLE = 'e' WHERE Z_PK = 1"),
    fails("untouched", "ZMADEAT was 5 and is 5.5", "", "UPDATE ZALBUM SET ZMADEAT = 5.5 WHERE Z_PK = 1"),
    fails("untouched", "ZNAME was 'red' and is NULL", "", "UPDATE ZTAG SET ZNAME = NULL WHERE Z_PK = 1"),
    fails("untouched", "ZX was 1.5 and is 2.5", "", "UPDATE ZTAG SET ZX = 2.5 WHERE Z_PK = 1"),
    fails("untouched", "ZTAG 3 was added", "", ADD_TAG, MAX_TAG),
    fails("untouched", "ZMEDIA 3 was removed", "", "DELETE FROM ZMEDIA WHERE Z_PK = 3"),
    fails("untouched", "Z_FOK_ALBUM was 3072 and is 1024", "update Tag 1", "UPDATE ZTAG SET Z_OPT = 2 WHERE Z_PK = 1",
          "UPDATE ZMEDIA SET Z_FOK_ALBUM = 1024 WHERE Z_PK = 2"),
    fails("untouched", "Z1EXTRAS was NULL and is 1", "", "UPDATE ZTAG SET Z1EXTRAS = 1 WHERE Z_PK = 2"),
    fails("untouched", "ZPHOTOSCOUNT was 2 and is 1", "", "UPDATE ZALBUM SET ZPHOTOSCOUNT = 1 WHERE Z_PK = 1"),
    # Links, history, other tables
    fails("join-untouched", "Z_1TAGS (1, 2) was removed", "", "DELETE FROM Z_1TAGS WHERE Z_6TAGS = 2"),
    fails("join-untouched", "Z_5FRIENDS (2, 3) was added", "", "INSERT INTO Z_5FRIENDS VALUES (2, 3)"),
    fails("history-changed", "the old row 1 of ACHANGE", "", "UPDATE ACHANGE SET ZCHANGETYPE = 2 WHERE Z_PK = 1"),
    fails("history-changed", "the old row 1 of ATRANSACTIONSTRING", "",
          "UPDATE ATRANSACTIONSTRING SET ZNAME = 'other'"),
    fails("history-changed", "the new row -1 of ATRANSACTION", "",
          "INSERT INTO ATRANSACTION (Z_PK, Z_ENT, ZTIMESTAMP) VALUES (-1, 16002, 6)"),
    Write([*RECORD, "INSERT INTO ACHANGE VALUES (3, 16001, NULL, 1, 1, 1, 2, x'8000')"], "", set(),
          notes={"history-untouched"}),
    fails("history-change", "the insert of Tag 3 is not recorded", "insert Tag 3, update Album 1", ADD_TAG, MAX_TAG,
          OPT_ALBUM, *RECORD, "INSERT INTO ACHANGE VALUES (3, 16001, NULL, 1, 1, 1, 2, x'8000')"),
    fails("other-table", "a row of FOREIGN_TABLE was added", "", "UPDATE FOREIGN_TABLE SET A = 1.0"),
    Write(["DROP TABLE FOREIGN_TABLE"], "", {"other-table", "catalogue"}, "a row of FOREIGN_TABLE was removed"),
    # The file and the system tables
    fails("header", "journal mode was rollback and is wal", "", "PRAGMA journal_mode = WAL"),
    Write(["PRAGMA user_version = 1"], "", {"header", "file"}, "user_version was 0 and is 1"),
    fails("primary-key-changed", "Z_MAX of Media was 3 and is 2", "delete Clip 3", "DELETE FROM ZMEDIA WHERE Z_PK = 3",
          "UPDATE Z_PRIMARYKEY SET Z_MAX = 2 WHERE Z_ENT = 2"),
    Write(["UPDATE Z_PRIMARYKEY SET Z_SUPER = 1 WHERE Z_ENT = 6"], "", {"primary-key-changed", "primary-key"}, "row 6"),
    Write(["INSERT INTO Z_PRIMARYKEY VALUES (9, 'More', 0, 0)"], "", {"primary-key-changed", "primary-key"}, "row 9"),
    fails("model-cache", "Z_MODELCACHE", "", "UPDATE Z_MODELCACHE SET Z_CONTENT = x'00'"),
    fails("metadata-changed", "Z_UUID", "", f"UPDATE Z_METADATA SET Z_UUID = '{FILE.replace('1', '9')}'"),
    Write(lambda connection, _: set_metadata(connection, own={"answer": 42.0}), "", {"metadata-changed"}, "own was"),
    Write(lambda connection, _: set_metadata(connection, own=None), "", {"metadata-changed"}, "is 'missing'"),
    Write(lambda connection, _: set_metadata(connection, own=None), "", set(), metadata_keys={"own"}),
    Write(rewrite_metadata, "", set(), notes={"metadata-changed"}),
    Write(change_file, "", {"external-changed"}, FILE),
    # The catalogue
    Write(["CREATE TABLE EXTRA (A)"], "", {"catalogue"}, "EXTRA was added", {"schema"}),
    Write(["ALTER TABLE ZALBUM ADD EXTRA"], "", {"catalogue"}, "ZALBUM was changed", {"schema"}),
    fails("catalogue", "Z_Album_other was added", "", "CREATE INDEX Z_Album_other ON ZALBUM (ZLINK)"),
    fails("catalogue", "Z_Album_byTitle was added", "", "CREATE INDEX Z_Album_byTitle ON ZALBUM (ZLINK)"),
    Write(["DROP INDEX ZALBUM_ZLEADING_INDEX"], "", {"catalogue", "schema"}, "ZALBUM_ZLEADING_INDEX was dropped"),
    passes("", "CREATE INDEX Z_Album_byTitle ON ZALBUM (ZTITLE COLLATE BINARY ASC)", notes={"catalogue"}),
    passes("", "DROP INDEX Z_Album_gone", notes={"catalogue"}),
    Write(list(HISTORY_STATEMENTS), "", set(), notes={"catalogue"}, before=NO_HISTORY),
    Write(list(HISTORY_STATEMENTS[:-1]) + [HISTORY_STATEMENTS[-1].replace("UNIQUE ", "")], "", {"catalogue"},
          "TRANSACTIONSTRING_UNIQUE_NAME was added", {"catalogue"}, before=NO_HISTORY),
    # R-trees
    passes("", "CREATE VIRTUAL TABLE Z_RT_Album_byRatio USING RTREE (Z_PK, ZX_MIN FLOAT, ZX_MAX FLOAT)",
           notes={"catalogue"}),
    Write(["INSERT INTO Z_RT_Tag_place VALUES (1, 3, 4)", "UPDATE ZTAG SET Z_OPT = 2 WHERE Z_PK = 1"], "update Tag 1",
          set(), before=[RTREE]),
    Write(["INSERT INTO Z_RT_Tag_place VALUES (1, 3, 4)"], "", {"other-table"}, "row 1 of Z_RT_Tag_place",
          before=[RTREE]),
    # What was so before
    Write([], "", set(), notes={"one-to-one"}, before=["UPDATE ZMEDIA SET ZLEADS = NULL WHERE Z_PK = 1"]),
    Write([], "", set(), notes={"key-max"}, before=LOW_MAX),
    Write([ADD_TAG], "insert Tag 3", {"key-max"}, "the highest Z_PK is 3", before=LOW_MAX),
    Write([], "", set(), notes={"row-entity"}, before=["UPDATE ZMEDIA SET Z_ENT = 6 WHERE Z_PK = 3"]),
    fails("untouched", "ZNAME was 'three'", "", "UPDATE ZMEDIA SET ZNAME = 'x' WHERE Z_PK = 3"),
    Write([], "", {"unreadable"}, "the history", before=["ALTER TABLE ACHANGE DROP ZCOLUMNS"]),
]
