"""A small model with everything that the checks look at, and a store of it made by hand."""

import base64
import hashlib
import json
import plistlib
import sqlite3
from pathlib import Path

from ..contents import HISTORY_STATEMENTS
from ..model import Model, model_from_json

FILE = "11111111-2222-3333-4444-555555555555"


def _attribute(name: str, type: int, **more) -> dict:
    return {"name": name, "kind": "attribute", "typeCode": type} | more


def _relationship(name: str, destination: str, inverse: str | None, maximum: int = 1, ordered: bool = False) -> dict:
    return {"name": name, "kind": "relationship", "destination": destination, "inverse": inverse, "max": maximum,
            "ordered": ordered}


def _entity(name: str, properties: list[dict], **more) -> dict:
    return {"name": name, "super": None, "properties": properties} | more


def _index(name: str, type: int, *properties: str) -> dict:
    return {"name": name, "elements": [{"property": item, "asc": True, "type": type} for item in properties]}


ENTITIES = [
    _entity("Album", [
        _attribute("identifier", 1100), _attribute("isOpen", 800), _attribute("link", 1200), _attribute("madeAt", 900),
        _attribute("photosCount", 300, kind="derived"), _attribute("price", 400), _attribute("rating", 600),
        _attribute("ratio", 500), _attribute("shape", 1800), _attribute("small", 100), _attribute("title", 700),
        _relationship("extras", "Tag", None, 0), _relationship("leading", "Media", "leads"),
        _relationship("photos", "Photo", "album", 0, True), _relationship("tags", "Tag", "albums", 0, True)],
        fetchIndexes=[_index("byTitle", 0, "title"), _index("byRatio", 1, "ratio")]),
    _entity("Media", [_attribute("name", 700), _relationship("leads", "Album", "leading")], abstract=True),
    _entity("Clip", [_attribute("size", 200)], super="Media"),
    _entity("Photo", [_attribute("picture", 1000, flags=4), _attribute("size", 200),
                      _relationship("album", "Album", "photos")], super="Media"),
    _entity("person", [_relationship("friends", "person", "friends", 0)]),
    _entity("Tag", [
        _attribute("name", 700), _relationship("albums", "Album", "tags", 0),
        _attribute("place", 2100, kind="composite", elements=[_attribute("x", 500), _attribute("y", 500)])],
        renamingIdentifier="Label")]

SCHEMA = [
    "CREATE TABLE ZALBUM ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZISOPEN INTEGER, "
    "ZPHOTOSCOUNT INTEGER, ZSMALL INTEGER, ZLEADING INTEGER, Z2_LEADING INTEGER, ZMADEAT TIMESTAMP, ZRATING FLOAT, "
    "ZRATIO FLOAT, ZPRICE DECIMAL, ZTITLE VARCHAR, ZLINK VARCHAR, ZIDENTIFIER BLOB, ZSHAPE BLOB )",
    "CREATE TABLE Z_1TAGS ( Z_1ALBUMS INTEGER, Z_6TAGS INTEGER, Z_FOK_6TAGS INTEGER, "
    "PRIMARY KEY (Z_1ALBUMS, Z_6TAGS) )",
    "CREATE TABLE ZMEDIA ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZLEADS INTEGER, ZSIZE INTEGER, "
    "ZSIZE1 INTEGER, ZALBUM INTEGER, Z_FOK_ALBUM INTEGER, ZNAME VARCHAR, ZPICTURE BLOB )",
    "CREATE TABLE ZPERSON ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER )",
    "CREATE TABLE Z_5FRIENDS ( Z_5FRIENDS INTEGER, REFLEXIVE INTEGER, PRIMARY KEY (Z_5FRIENDS, REFLEXIVE) )",
    "CREATE TABLE ZTAG ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, Z1EXTRAS INTEGER, ZX FLOAT, "
    "ZY FLOAT, ZNAME VARCHAR )",
    "CREATE INDEX ZALBUM_ZLEADING_INDEX ON ZALBUM (ZLEADING)",
    "CREATE INDEX Z_1TAGS_Z_6TAGS_INDEX ON Z_1TAGS (Z_6TAGS, Z_1ALBUMS)",
    "CREATE INDEX ZMEDIA_ZLEADS_INDEX ON ZMEDIA (ZLEADS)", "CREATE INDEX ZMEDIA_ZALBUM_INDEX ON ZMEDIA (ZALBUM)",
    "CREATE INDEX ZMEDIA_Z_ENT_INDEX ON ZMEDIA (Z_ENT)",
    "CREATE INDEX Z_5FRIENDS_REFLEXIVE_INDEX ON Z_5FRIENDS (REFLEXIVE, Z_5FRIENDS)",
    "CREATE INDEX ZTAG_Z1EXTRAS_INDEX ON ZTAG (Z1EXTRAS)",
    "CREATE INDEX Z_Album_gone ON ZALBUM (ZLINK COLLATE BINARY ASC)",
    "CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)",
    "CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)",
    "CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)",
    *HISTORY_STATEMENTS]

ROWS = [
    "INSERT INTO Z_PRIMARYKEY VALUES (1, 'Album', 0, 2), (2, 'Media', 0, 3), (3, 'Clip', 2, 0), (4, 'Photo', 2, 0), "
    "(5, 'person', 0, 5), (6, 'Tag', 0, 2), (16001, 'CHANGE', 0, 2), (16002, 'TRANSACTION', 0, 1), "
    "(16003, 'TRANSACTIONSTRING', 0, 1)",
    "INSERT INTO Z_MODELCACHE VALUES (NULL)",
    "INSERT INTO ZALBUM VALUES (1, 1, 1, 1, 2, 7, 1, 4, 5, 0.5, 5, 1.25, 'é', 'http://example.org', "
    "zeroblob(16), x'01')",
    "INSERT INTO ZALBUM (Z_PK, Z_ENT, Z_OPT) VALUES (2, 1, 1)",
    "INSERT INTO ZMEDIA VALUES (1, 4, 1, 1, NULL, 5, 1, 2048, 'one', x'0161')",
    f"INSERT INTO ZMEDIA VALUES (2, 4, 1, NULL, NULL, 5, 1, 3072, 'two', x'02{FILE.encode().hex()}00')",
    "INSERT INTO ZMEDIA VALUES (3, 3, 1, NULL, 5, NULL, NULL, NULL, 'three', NULL)",
    "INSERT INTO ZPERSON VALUES (1, 5, 1), (2, 5, 1), (3, 5, 1)",
    "INSERT INTO Z_5FRIENDS VALUES (1, 2), (1, 3)",
    "INSERT INTO ZTAG VALUES (1, 6, 1, 1, 1.5, NULL, 'red'), (2, 6, 1, NULL, NULL, NULL, 'blue')",
    "INSERT INTO Z_1TAGS VALUES (1, 1, 2048), (1, 2, 3072)",
    "INSERT INTO ATRANSACTIONSTRING VALUES (1, 16003, NULL, 'app')",
    "INSERT INTO ATRANSACTION (Z_PK, Z_ENT, ZBUNDLEIDTS, ZTIMESTAMP) VALUES (1, 16002, 1, 5)",
    "INSERT INTO ACHANGE VALUES (1, 16001, NULL, 0, 1, 1, 1, NULL), (2, 16001, NULL, 1, 1, 1, 1, x'8000')",
    "CREATE TABLE FOREIGN_TABLE (A, B)", "INSERT INTO FOREIGN_TABLE VALUES (1, 'x')"]


def model() -> Model:
    return model_from_json(json.dumps({"entities": ENTITIES}).encode())


def external_folder(store: Path) -> Path:
    return store.with_name(f".{store.stem}_SUPPORT") / "_EXTERNAL_DATA"


def metadata() -> dict:
    hashes = {entity["name"]: hashlib.sha256(entity["name"].encode()).digest() for entity in ENTITIES}
    ordered = sorted(hashes)
    named = b"".join(name.encode() + hashes[name] for name in ordered)
    plain = b"".join(hashes[name] for name in ordered)
    return {"NSPersistenceFrameworkVersion": 1344, "NSStoreModelVersionHashes": hashes,
            "NSStoreModelVersionHashesVersion": 3, "NSStoreModelVersionIdentifiers": [""], "NSStoreType": "SQLite",
            "_NSAutoVacuumLevel": "2", "own": {"answer": 42},
            "NSStoreModelVersionHashesDigest": base64.b64encode(hashlib.sha512(named).digest()).decode(),
            "NSStoreModelVersionChecksumKey": base64.b64encode(hashlib.sha256(plain).digest()).decode()}


def make_store(path: Path) -> None:
    """Writes the store and its folder of external data."""
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
    for statement in SCHEMA + ROWS:
        connection.execute(statement)
    connection.execute("INSERT INTO Z_METADATA VALUES (1, ?, ?)",
                       (FILE, plistlib.dumps(metadata(), fmt=plistlib.FMT_BINARY)))
    connection.commit()
    connection.close()
    external_folder(path).mkdir(parents=True)
    (external_folder(path) / FILE).write_bytes(b"large")


def set_metadata(connection: sqlite3.Connection, **changes) -> None:
    """Changes keys of the metadata; None takes a key out."""
    changed = {key: value for key, value in (metadata() | changes).items() if value is not None}
    connection.execute("UPDATE Z_METADATA SET Z_PLIST = ?", (plistlib.dumps(changed, fmt=plistlib.FMT_BINARY),))
