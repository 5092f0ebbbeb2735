"""What is done to the store made by hand, and what the judge of a single store must say of it."""

import plistlib
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .fixture import FILE, external_folder, set_metadata


@dataclass
class Case:
    """A change of the store (SQL, or a function of connection and path), the checks it fails, words of a finding."""
    change: list[str] | Callable[[sqlite3.Connection, Path], None]
    checks: set[str]
    words: str = ""


def sql(statement: str, check: str | None, words: str = "") -> Case:
    return Case([statement], {check} if check else set(), words)


def metadata(words: str, **changes) -> Case:
    return Case(lambda connection, _: set_metadata(connection, **changes), {"metadata"}, words)


def album(assignment: str, words: str, check: str = "value") -> Case:
    return sql(f"UPDATE ZALBUM SET {assignment} WHERE Z_PK = 1", check, words)


def media(key: int, assignment: str, check: str | None, words: str = "") -> Case:
    return sql(f"UPDATE ZMEDIA SET {assignment} WHERE Z_PK = {key}", check, words)


def catalogue(change: str, check: str, words: str) -> Case:
    return Case(["PRAGMA writable_schema = ON", change], {check}, words)


def damage_index(connection: sqlite3.Connection, _: Path) -> None:
    """Points an index at another column behind SQLite's back."""
    connection.execute("PRAGMA writable_schema = ON")
    connection.execute("UPDATE sqlite_master SET sql = replace(sql, '(ZLINK', '(ZTITLE') WHERE name = 'Z_Album_gone'")


def cut_header(_: sqlite3.Connection, path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(18)
        file.write(b"\x01\x02")


def no_dictionary(connection: sqlite3.Connection, _: Path) -> None:
    connection.execute("UPDATE Z_METADATA SET Z_PLIST = ?", (plistlib.dumps([1], fmt=plistlib.FMT_BINARY),))


def drop_file(_: sqlite3.Connection, path: Path) -> None:
    (external_folder(path) / FILE).unlink()


def add_file(_: sqlite3.Connection, path: Path) -> None:
    (external_folder(path) / "another").write_bytes(b"")


REFERENCE = f"x'02{FILE.encode().hex()}00'"

SINGLE = [
    Case([], set()),
    Case(damage_index, {"integrity"}, "Z_Album_gone"),
    Case(cut_header, {"file"}, "[1, 2]"),
    sql("PRAGMA user_version = 3", "file", "user_version is 3"),
    sql("PRAGMA application_id = 3", "file", "application_id is 3"),
    Case(["DROP TABLE Z_METADATA"], {"file", "unreadable"}, "there is no table Z_METADATA"),
    # Z_PRIMARYKEY
    Case(["DELETE FROM Z_PRIMARYKEY WHERE Z_ENT = 6"], {"primary-key", "layout"}, "Tag has no row 6"),
    Case(["UPDATE Z_PRIMARYKEY SET Z_NAME = 'Other' WHERE Z_ENT = 6"], {"primary-key", "layout"}, "row 6 is Other"),
    sql("UPDATE Z_PRIMARYKEY SET Z_NAME = 'Label' WHERE Z_ENT = 6", None),
    sql("INSERT INTO Z_PRIMARYKEY VALUES (9, 'More', 0, 0)", "primary-key", "row 9 More"),
    sql("UPDATE Z_PRIMARYKEY SET Z_SUPER = 1 WHERE Z_ENT = 4", "primary-key", "Z_SUPER of Photo is 1, not 2"),
    sql("UPDATE Z_PRIMARYKEY SET Z_MAX = 3 WHERE Z_ENT = 4", "primary-key", "Z_MAX of Photo"),
    sql("UPDATE Z_PRIMARYKEY SET Z_MAX = 2 WHERE Z_ENT = 2", "key-max", "Z_MAX of Media is 2"),
    sql("UPDATE Z_PRIMARYKEY SET Z_MAX = NULL WHERE Z_ENT = 2", "key-max", "Z_MAX of Media is NULL"),
    sql("UPDATE Z_PRIMARYKEY SET Z_MAX = 1 WHERE Z_ENT = 16001", "key-max", "Z_MAX of CHANGE is 1"),
    sql("DELETE FROM Z_PRIMARYKEY WHERE Z_ENT = 16003", "primary-key", "no row 16003"),
    sql("UPDATE Z_PRIMARYKEY SET Z_NAME = 'CHANGES' WHERE Z_ENT = 16001", "primary-key", "row 16001 CHANGES"),
    # Metadata
    Case(["INSERT INTO Z_METADATA SELECT 2, Z_UUID, Z_PLIST FROM Z_METADATA"], {"metadata", "unreadable"},
         "has 2 rows"),
    Case(["UPDATE Z_METADATA SET Z_PLIST = CAST('<plist/>' AS BLOB)"], {"metadata", "unreadable"}, "no binary"),
    Case(no_dictionary, {"metadata", "unreadable"}, "Z_PLIST is no dictionary"),
    sql("UPDATE Z_METADATA SET Z_VERSION = 2", "metadata", "Z_VERSION is 2"),
    sql("UPDATE Z_METADATA SET Z_UUID = lower(Z_UUID) || 'a'", "metadata", "Z_UUID"),
    metadata("NSStoreType is missing", NSStoreType=None),
    metadata("VersionHashesDigest is missing", NSStoreModelVersionHashesDigest=None),
    metadata("VersionChecksumKey is missing", NSStoreModelVersionChecksumKey=None),
    metadata("_NSAutoVacuumLevel is a int", _NSAutoVacuumLevel=2),
    metadata("NSStoreType is 'XML'", NSStoreType="XML"),
    metadata("VersionHashesVersion is 2", NSStoreModelVersionHashesVersion=2),
    metadata("members that are no strings", NSStoreModelVersionIdentifiers=[1]),
    metadata("VersionHashesDigest is 'x'", NSStoreModelVersionHashesDigest="x"),
    metadata("VersionChecksumKey is 'x'", NSStoreModelVersionChecksumKey="x"),
    metadata("MaximumFrameworkVersion is 9", NSPersistenceMaximumFrameworkVersion=9),
    metadata("without a version hash", NSStoreModelVersionHashes={"Album": bytes(32)}),
    metadata("does not have 32 bytes", NSStoreModelVersionHashes=dict.fromkeys(
        ("Album", "Media", "Clip", "Photo", "person", "Tag"), b"short")),
    sql("PRAGMA auto_vacuum = FULL", "metadata", "auto_vacuum is 1"),
    # The schema
    sql("DROP INDEX ZALBUM_ZLEADING_INDEX", "schema", "ZALBUM has no index on ZLEADING"),
    sql("DROP INDEX ZTAG_Z1EXTRAS_INDEX", "schema", "ZTAG has no index on Z1EXTRAS"),
    sql("DROP INDEX ZMEDIA_Z_ENT_INDEX", "schema", "ZMEDIA has no index on Z_ENT"),
    sql("DROP INDEX Z_1TAGS_Z_6TAGS_INDEX", "schema", "Z_1TAGS has no index on (Z_6TAGS, Z_1ALBUMS)"),
    catalogue("UPDATE sqlite_master SET sql = replace(sql, 'ZMADEAT TIMESTAMP', 'ZMADEAT FLOAT')", "schema", "ZMADEAT"),
    sql("ALTER TABLE ZTAG DROP COLUMN ZNAME", "layout", "ZTAG has no column ZNAME"),
    sql("DROP TABLE Z_5FRIENDS", "layout", "no join table for person.friends"),
    # Rows
    media(3, "Z_ENT = 6", "row-entity", "ZMEDIA 3: Z_ENT 6"),
    media(3, "Z_ENT = 2", "row-entity", "Media is abstract"),
    media(3, "Z_OPT = 0", "row-version", "Z_OPT is 0"),
    media(3, "Z_OPT = NULL", "row-version", "Z_OPT is NULL"),
    media(3, "Z_PK = 0", "row-entity", "a key is positive"),
    media(3, "ZSIZE1 = 9", None),
    # Values
    album("ZISOPEN = 2", "2 in a Boolean"),
    album("ZISOPEN = 'x'", "'x' is not what type 800"),
    album("ZSMALL = 40000", "40000 in an integer of 16 bits"),
    album("ZSMALL = 1.5", "1.5 is not what type 100"),
    album("ZRATING = 1e300", "beyond a Float"),
    album("ZRATIO = 'x'", "not what type 500"),
    album("ZMADEAT = 'x'", "not what type 900"),
    album("ZPRICE = 'x'", "not what type 400"),
    album("ZPRICE = 9e999", "no decimal number"),
    album("ZTITLE = x'61'", "not what type 700"),
    album("ZTITLE = CAST(x'ff' AS TEXT)", "not what type 700"),
    album("ZLINK = x'61'", "not what type 1200"),
    album("ZIDENTIFIER = x'61'", "1 bytes in a UUID"),
    sql("UPDATE ZTAG SET ZX = 'x' WHERE Z_PK = 1", "value", "Tag 1, place.x: 'x' is not what type 500"),
    album("ZSHAPE = 'x'", "not what type 1800"),
    sql("UPDATE ZALBUM SET ZPRICE = '1.23d' WHERE Z_PK = 1", None),
    # External data
    media(1, "ZPICTURE = x'61'", "external", "prefix 61"),
    media(1, "ZPICTURE = x''", "external", "of no byte"),
    media(1, "ZPICTURE = x'0261'", "external", "not a UUID"),
    media(1, f"ZPICTURE = {REFERENCE}", "external", "belongs to"),
    Case(drop_file, {"external"}, "there is no file"),
    Case(add_file, {"external-orphan"}, "another"),
    media(2, "ZPICTURE = NULL", "external-orphan", FILE),
    # References
    media(1, "ZALBUM = 9", "to-one", "there is no Album 9"),
    Case(["UPDATE ZALBUM SET ZLEADING = 9 WHERE Z_PK = 1"], {"to-one", "one-to-one"}, "there is no Media 9"),
    media(1, "ZALBUM = -1", "to-one", "there is no Album -1"),
    album("Z2_LEADING = 3", "Z2_LEADING is 3, not 4", "to-one-entity"),
    album("Z2_LEADING = NULL", "Z2_LEADING is NULL, not 4", "to-one-entity"),
    sql("UPDATE ZALBUM SET Z2_LEADING = 3 WHERE Z_PK = 2", "to-one-entity", "Z2_LEADING is 3, not NULL"),
    media(1, "ZLEADS = NULL", "one-to-one", "whose leads is NULL"),
    media(3, "ZLEADS = 1", "one-to-one", "whose leading is 1"),
    sql("UPDATE ZTAG SET Z1EXTRAS = 9 WHERE Z_PK = 2", "one-way", "there is no Album 9"),
    # Links
    sql("INSERT INTO Z_1TAGS VALUES (2, 9, 2048)", "join", "there is no Tag 9"),
    sql("INSERT INTO Z_1TAGS VALUES (9, 1, 2048)", "join", "there is no Album 9"),
    sql("INSERT INTO Z_5FRIENDS VALUES (3, 2)", "join-reflexive", "(3, 2)"),
    media(2, "Z_FOK_ALBUM = NULL", "order-key", "the order key is NULL"),
    media(2, "Z_FOK_ALBUM = 'x'", "order-key", "the order key is 'x'"),
    media(2, "Z_FOK_ALBUM = 2048", "order-tie", "2 members have the order key 2048"),
    media(2, "ZALBUM = NULL", "order-null", "without an owner"),
    sql("UPDATE Z_1TAGS SET Z_FOK_6TAGS = NULL WHERE Z_6TAGS = 1", "order-key", "Album.tags of 1, Tag 1"),
    sql("UPDATE Z_1TAGS SET Z_FOK_6TAGS = 2048", "order-tie", "Album.tags of 1"),
    # History
    sql("UPDATE ACHANGE SET Z_OPT = 1 WHERE Z_PK = 1", "history", "Z_OPT 1"),
    sql("UPDATE ACHANGE SET Z_ENT = 1 WHERE Z_PK = 1", "history", "Z_ENT 1"),
    sql("UPDATE ACHANGE SET ZTRANSACTIONID = 7 WHERE Z_PK = 1", "history", "no ATRANSACTION 7"),
    sql("UPDATE ACHANGE SET ZCHANGETYPE = 3 WHERE Z_PK = 1", "history", "ZCHANGETYPE is 3"),
    sql("UPDATE ACHANGE SET ZENTITY = 2 WHERE Z_PK = 1", "history", "ZENTITY is 2"),
    sql("UPDATE ACHANGE SET ZENTITYPK = 9 WHERE Z_PK = 1", "history", "ZENTITYPK is 9"),
    sql("UPDATE ACHANGE SET ZCOLUMNS = x'8000' WHERE Z_PK = 1", "history", "the change is no update"),
    sql("UPDATE ACHANGE SET ZCOLUMNS = NULL WHERE Z_PK = 2", "history", "2 byte(s) for 15 properties"),
    sql("UPDATE ACHANGE SET ZCOLUMNS = x'800000' WHERE Z_PK = 2", "history", "2 byte(s) for 15 properties"),
    sql("UPDATE ACHANGE SET ZCOLUMNS = x'8001' WHERE Z_PK = 2", "history", "names more than the 15"),
    Case(["ALTER TABLE ACHANGE ADD ZTOMBSTONE0 BLOB", "UPDATE ACHANGE SET ZTOMBSTONE0 = x'01' WHERE Z_PK = 1"],
         {"history"}, "the change is no deletion"),
    sql("UPDATE ATRANSACTION SET ZBUNDLEIDTS = 7", "history", "ZBUNDLEIDTS is 7"),
    sql("UPDATE ATRANSACTION SET ZAUTHOR = 'me'", "history", "ZAUTHOR is 'me'"),
    sql("UPDATE ATRANSACTION SET ZTIMESTAMP = NULL", "history", "ZTIMESTAMP is NULL"),
]
