"""Stores whose system tables, metadata or embedded model are not as they should be."""

from __future__ import annotations

import plistlib
import sqlite3
import struct
import zlib
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from plistlib import UID

from .base import Base, write_schema
from .case import CHANGE, INSERT, Case, Target
from .plists import ARCHIVES, MOST, PLISTS, archive, bomb, classes, deflated

ENDLESS = "WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r) SELECT"
SYSTEM_TABLES = {
    "Z_PRIMARYKEY": "i AS Z_ENT, 'Person' AS Z_NAME, 0 AS Z_SUPER, 1 AS Z_MAX",
    "Z_METADATA": "i AS Z_VERSION, 'x' AS Z_UUID, x'00' AS Z_PLIST",
    "Z_MODELCACHE": "zeroblob(1000) AS Z_CONTENT",
}
ODD_VALUES = {
    "null": "NULL",
    "text": "'text'",
    "empty": "''",
    "number": "7",
    "negative": "-1",
    "zero": "0",
    "most": str(MOST),
    "least": "-9223372036854775808",
    "real": "1e300",
    "infinity": "9e999",
    "blob": "x'ff00fe'",
    "empty-blob": "x''",
    "huge-blob": "zeroblob(20000000)",
    "huge-text": "replace(hex(zeroblob(2000000)), '0', 'x')",
    "bad-utf8": "CAST(x'fffe41' AS TEXT)",
    "nul": "CAST(x'410042' AS TEXT)",
    "fraction": "1.5",
}
UUIDS = {
    "slashes": "'../../etc/passwd'",
    "lower": "'4b9e5f5c-e448-4f7e-9b30-cec2fd15a279'",
    "short": "'4B9E'",
    "escape": "char(27) || '[31m'",
    "newline": "'a' || char(10) || 'b'",
    "quote": "'a\"b'",
    "question": "'a?b#c d'",
    "not-hex": "'GGGGGGGG-GGGG-GGGG-GGGG-GGGGGGGGGGGG'",
}
NAMES = {
    "quote": "'a\"b'",
    "semicolon": "'x; DROP TABLE ZPERSON; --'",
    "nul": "'a' || char(0) || 'b'",
    "bad-utf8": "CAST(x'fffe' AS TEXT)",
    "blob": "x'506572736f6e'",
    "number": "7",
    "null": "NULL",
    "empty": "''",
    "slash": "'../x'",
    "huge": "replace(hex(zeroblob(100000)), '0', 'N')",
    "escape": "char(27) || ']0;x' || char(7)",
    "system": "'_METADATA'",
    "other": "'Company'",
    "lower": "'person'",
}
Z_MAXIMA = {
    "most": str(MOST),
    "almost": str(MOST - 1),
    "least": "-9223372036854775808",
    "null": "NULL",
    "text": "'x'",
    "text-number": "'12'",
    "real": "1e18",
    "huge-real": "1e300",
    "blob": "x'01'",
    "zero": "0",
    "negative": "-5",
    "infinity": "9e999",
}


def cases(base: Base) -> Iterator[Case]:
    for name, script in _scripts().items():
        yield _case(base, name, script)
    for name, value in Z_MAXIMA.items():
        yield _case(
            base, f"zmax-{name}", f"UPDATE Z_PRIMARYKEY SET Z_MAX = {value} WHERE Z_SUPER = 0", ops=(INSERT, CHANGE)
        )
        # A key that was handed out once would take over what still refers to it.
        yield _case(
            base,
            f"zmax-without-rows-{name}",
            f"DELETE FROM ZTAG; {'DELETE FROM Z_3TAGS;' if value == '0' else ''} UPDATE Z_PRIMARYKEY SET Z_MAX ="
            f" {value} WHERE Z_NAME = 'Tag'",
            ops=('{"op":"insert","entity":"Tag","as":"t","values":{"name":"t"}}\n',),
        )
    for name, change in _metadata_changes(base).items():
        yield _metadata_case(base, f"plist-{name}", change)
    for name in (
        "deep-arrays",
        "cycle",
        "shared-12-of-10",
        "shared-400",
        "huge-array",
        "xml-plist",
        "xml-plist-deep",
        "trailer-wraps",
        "null",
        "many-empty-arrays",
        "magic-only",
    ):
        yield _blob_case(base, f"plist-is-{name}", "Z_METADATA", "Z_PLIST", lambda name=name: PLISTS[name])
    for name, make in _caches(base).items():
        yield _blob_case(base, f"cache-{name}", "Z_MODELCACHE", "Z_CONTENT", make)
    for name in ARCHIVES:
        if "-" not in name or name.split("-")[0] in (
            "class",
            "root",
            "self",
            "shared",
            "deep",
            "NSArray",
            "NSDictionary",
        ):
            yield _blob_case(
                base, f"cache-archive-{name}", "Z_MODELCACHE", "Z_CONTENT", lambda name=name: deflated(ARCHIVES[name])
            )
    for name, change in _archive_changes(base).items():
        yield _blob_case(
            base,
            f"cached-{name}",
            "Z_MODELCACHE",
            "Z_CONTENT",
            lambda change=change: deflated(changed_archive(base.archive, change)),
            hashes=False,
        )
        yield Case("system", f"mom-{name}", _mom(base, change), wide=name.startswith(("NS", "_NS")))


def _case(base: Base, name: str, change: Callable | str, **target) -> Case:
    wide = name.startswith(("Z_NAME-", "Z_SUPER-", "Z_UUID-", "Z_PLIST-", "Z_CONTENT-"))
    return Case("system", name, lambda folder: base.changed(folder, change, **target), wide)


def _blob_case(base: Base, name: str, table: str, column: str, make: Callable[[], bytes], hashes: bool = True) -> Case:
    """A store with other bytes in a system table. Without hashes in the metadata the embedded model is believed."""

    def change(db: sqlite3.Connection) -> None:
        db.execute(f"UPDATE {table} SET {column} = ?", (make(),))
        if not hashes:
            change_metadata(db, lambda content: content.pop("NSStoreModelVersionHashes"))

    commands = ("dump", "verify", "describe") if table == "Z_MODELCACHE" else ("info", "dump", "verify")
    wide = name.startswith(("cache-archive-", "cached-NS", "cached-_NS"))
    return Case(
        "system", name, lambda folder: base.changed(folder, change, commands=commands, with_model=("info",)), wide
    )


def _mom(base: Base, change: Callable):
    def build(folder: Path) -> Target:
        (folder / "model.mom").write_bytes(changed_archive(base.archive, change))
        return Target(folder / "model.mom", commands=("describe",))

    return build


def _scripts() -> dict[str, str]:
    found = {}
    for table, columns in SYSTEM_TABLES.items():
        found.update(
            {
                f"{table}-is-endless-view": f"DROP TABLE {table}; CREATE VIEW {table} AS {ENDLESS} {columns} FROM r",
                f"{table}-is-view": f"ALTER TABLE {table} RENAME TO OTHER; CREATE VIEW {table} AS SELECT * FROM OTHER",
                f"{table}-is-fts": (
                    f"DROP TABLE {table}; CREATE VIRTUAL TABLE {table} USING fts3(Z_ENT, Z_NAME, Z_SUPER, Z_MAX,"
                    " tokenize=porter)"
                ),
                f"{table}-is-rtree": (
                    f"DROP TABLE {table}; CREATE VIRTUAL TABLE {table} USING rtree(Z_ENT, Z_MIN, Z_MAX)"
                ),
                f"{table}-missing": f"DROP TABLE {table}",
                f"{table}-without-rows": f"DELETE FROM {table}",
                f"{table}-one-column": f"DROP TABLE {table}; CREATE TABLE {table} (X)",
                f"{table}-other-columns": (
                    f"DROP TABLE {table}; CREATE TABLE {table} (Z_ENT, Z_VERSION, Z_X); INSERT INTO {table} VALUES (1,"
                    " 1, 1)"
                ),
                f"{table}-lower-case": f"ALTER TABLE {table} RENAME TO x; ALTER TABLE x RENAME TO {table.lower()}",
                f"{table}-is-text-in-schema": f"UPDATE sqlite_schema SET sql = 'hello' WHERE name = '{table}'",
                f"{table}-sql-null": f"UPDATE sqlite_schema SET sql = NULL WHERE name = '{table}'",
                f"{table}-sql-blob": f"UPDATE sqlite_schema SET sql = x'00ff' WHERE name = '{table}'",
                f"{table}-root-elsewhere": (
                    "UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'ZPERSON')"
                    f" WHERE name = '{table}'"
                ),
                f"{table}-root-0": f"UPDATE sqlite_schema SET rootpage = 0 WHERE name = '{table}'",
                f"{table}-root-1": f"UPDATE sqlite_schema SET rootpage = 1 WHERE name = '{table}'",
                f"{table}-root-far": f"UPDATE sqlite_schema SET rootpage = 2147483647 WHERE name = '{table}'",
                f"{table}-root-negative": f"UPDATE sqlite_schema SET rootpage = -5 WHERE name = '{table}'",
                f"{table}-many-rows": (
                    f"INSERT INTO {table}"
                    f" ({'Z_CONTENT' if 'CACHE' in table else 'Z_UUID' if 'META' in table else 'Z_NAME'}) WITH"
                    " RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r LIMIT 100000) SELECT 'name ' || i"
                    " FROM r"
                ),
            }
        )
    found["Z_PRIMARYKEY-fake-module"] = (
        "DROP TABLE Z_PRIMARYKEY; INSERT INTO sqlite_schema VALUES ('table', 'Z_PRIMARYKEY', 'Z_PRIMARYKEY', 0, "
        "'CREATE VIRTUAL TABLE Z_PRIMARYKEY USING no_such_module(a)')"
    )
    found["no-tables"] = "".join(f"DROP TABLE {name};" for name in SYSTEM_TABLES)
    for name, value in ODD_VALUES.items():
        for column in ("Z_NAME", "Z_SUPER"):
            found[f"{column}-{name}"] = f"UPDATE Z_PRIMARYKEY SET {column} = {value} WHERE Z_ENT = 3"
        found[f"Z_UUID-{name}"] = f"UPDATE Z_METADATA SET Z_UUID = {value}"
        found[f"Z_PLIST-{name}"] = f"UPDATE Z_METADATA SET Z_PLIST = {value}"
        found[f"Z_CONTENT-{name}"] = f"UPDATE Z_MODELCACHE SET Z_CONTENT = {value}"
    for name, value in UUIDS.items():
        found[f"Z_UUID-{name}"] = f"UPDATE Z_METADATA SET Z_UUID = {value}"
    for name, value in NAMES.items():
        found[f"entity-named-{name}"] = (
            f"UPDATE Z_PRIMARYKEY SET Z_NAME = {value} WHERE Z_NAME = 'Person'; DELETE FROM Z_MODELCACHE"
        )
    for value in (0, -1, 16001, 16003, 65536, 1 << 31, 1 << 32, MOST, -MOST - 1):
        found[f"Z_ENT-{value}"] = f"UPDATE Z_PRIMARYKEY SET Z_ENT = {value} WHERE Z_NAME = 'Person'"
    return {
        **found,
        **{
            "names-twice": "UPDATE Z_PRIMARYKEY SET Z_NAME = 'Person'",
            "names-swapped": (
                "UPDATE Z_PRIMARYKEY SET Z_NAME = CASE Z_NAME WHEN 'Person' THEN 'Tag' WHEN 'Tag' THEN 'Person' ELSE"
                " Z_NAME END"
            ),
            "super-of-itself": "UPDATE Z_PRIMARYKEY SET Z_SUPER = Z_ENT",
            "super-ring": "UPDATE Z_PRIMARYKEY SET Z_SUPER = Z_ENT % 5 + 1",
            "super-ring-inferred": "UPDATE Z_PRIMARYKEY SET Z_SUPER = Z_ENT % 5 + 1; DELETE FROM Z_MODELCACHE",
            "super-of-itself-inferred": "UPDATE Z_PRIMARYKEY SET Z_SUPER = Z_ENT; DELETE FROM Z_MODELCACHE",
            "super-missing-inferred": "UPDATE Z_PRIMARYKEY SET Z_SUPER = 99; DELETE FROM Z_MODELCACHE",
            "super-line-of-5000": (
                "DELETE FROM Z_MODELCACHE; INSERT INTO Z_PRIMARYKEY WITH RECURSIVE r(i) AS (SELECT 100 UNION ALL SELECT"
                " i + 1 FROM r LIMIT 5000) SELECT i, 'N' || i, CASE WHEN i = 100 THEN 4 ELSE i - 1 END, 0 FROM r"
            ),
            "names-100000-inferred": (
                "DELETE FROM Z_MODELCACHE; INSERT INTO Z_PRIMARYKEY WITH RECURSIVE r(i) AS (SELECT 100 UNION ALL SELECT"
                " i + 1 FROM r LIMIT 100000) SELECT i, 'N' || i, 0, 0 FROM r"
            ),
            "cache-missing": "DROP TABLE Z_MODELCACHE",
            "metadata-two-rows": "INSERT INTO Z_METADATA SELECT 2, 'x', Z_PLIST FROM Z_METADATA",
            "metadata-two-rows-first": "INSERT INTO Z_METADATA SELECT -5, 'x', x'00' FROM Z_METADATA",
            "metadata-version-7": "UPDATE Z_METADATA SET Z_VERSION = 7",
            "cache-two-rows": "INSERT INTO Z_MODELCACHE VALUES (x'00')",
            "primary-key-extra-column": "ALTER TABLE Z_PRIMARYKEY ADD COLUMN Z_X",
            "metadata-generated": "ALTER TABLE Z_METADATA ADD COLUMN Z_G AS (randomblob(1000000000))",
        },
    }


def change_metadata(db: sqlite3.Connection, change: Callable[[dict], object]) -> None:
    content = plistlib.loads(db.execute("SELECT Z_PLIST FROM Z_METADATA").fetchone()[0])
    change(content)
    db.execute("UPDATE Z_METADATA SET Z_PLIST = ?", (plistlib.dumps(content, fmt=plistlib.FMT_BINARY),))


def _metadata_case(base: Base, name: str, change: Callable[[dict], object]) -> Case:
    return Case(
        "system",
        name,
        lambda folder: base.changed(
            folder,
            lambda db: change_metadata(db, change),
            commands=("info", "dump", "describe"),
            with_model=("verify",),
        ),
        "NS" in name,
    )


def _metadata_changes(base: Base) -> dict[str, Callable[[dict], object]]:
    keys = (
        "NSPersistenceFrameworkVersion",
        "NSStoreModelVersionHashes",
        "NSStoreModelVersionHashesVersion",
        "NSStoreModelVersionIdentifiers",
        "NSStoreType",
        "_NSAutoVacuumLevel",
        "NSStoreModelVersionHashesDigest",
        "NSStoreModelVersionChecksumKey",
        "NSPersistenceMaximumFrameworkVersion",
        "NSStoreUUID",
        "migrationManagerClass",
        "_NSStoreAncillaryModelVersionHashesMetadataKey",
    )
    values = {
        "text": "x",
        "number": 7,
        "negative": -1,
        "huge": (1 << 64) - 1,
        "real": 1e308,
        "data": b"\0" * 33,
        "array": [1, [2]],
        "dictionary": {"Person": 1, "": b""},
        "true": True,
        "uid": UID(1),
    }
    found: dict[str, Callable[[dict], object]] = {}
    for key in keys:
        found[f"{key}-missing"] = lambda content, key=key: content.pop(key, None)
        for what, value in values.items():
            found[f"{key}-{what}"] = lambda content, key=key, value=value: content.update({key: value})
    hashes = "NSStoreModelVersionHashes"
    for what, data in {
        "short": b"x" * 31,
        "long": b"x" * 33,
        "empty": b"",
        "other": b"x" * 32,
        "huge": b"x" * 1_000_000,
    }.items():
        found[f"hash-{what}"] = lambda content, data=data: content[hashes].update(Person=data)
    return {
        **found,
        "hashes-of-unknown": lambda content: content[hashes].update({"Unknown": b"x" * 32, 'a\0\x1b"': b"x" * 32}),
        "hashes-of-100000": (
            lambda content: content[hashes].update({f"E{number}": b"x" * 32 for number in range(100_000)})
        ),
        "huge": lambda content: content.update(own=b"x" * 20_000_000),
        "nested-500": lambda content: content.update(own=_nest(400)),
        "many-keys": lambda content: content.update({f"k{number}": number for number in range(100_000)}),
        "odd-keys": lambda content: content.update({"\0": 1, "\x1b[31m": 2, "": 3, "\u202e": 4}),
        "empty": lambda content: content.clear(),
    }


def _nest(depth: int):
    value: object = []
    for _ in range(depth):
        value = [value]
    return value


def _caches(base: Base) -> dict[str, Callable[[], bytes]]:
    whole = deflated(base.archive)
    return {
        "bomb-10-gb": lru_cache(lambda: bomb(10)),
        "bomb-1-gb": lru_cache(lambda: bomb(1)),
        "truncated": lambda: whole[: len(whole) // 2],
        "one-byte-short": lambda: whole[:-1],
        "garbage": lambda: bytes(range(256)) * 40,
        "zlib-header": lambda: zlib.compress(base.archive),
        "not-compressed": lambda: base.archive,
        "trailing-bytes": lambda: whole + b"x" * 1000,
        "empty-stream": lambda: deflated(b""),
        "endless-stored-blocks": lambda: b"\0\0\0\xff\xff" * 200_000,
        "twice": lambda: deflated(whole),
        "text": lambda: deflated(b"hello"),
        "reserved-block": lambda: b"\x07" + whole,
        **{
            f"plist-{name}": lambda name=name: deflated(PLISTS[name])
            for name in (
                "deep-arrays",
                "cycle",
                "shared-30",
                "shared-12-of-10",
                "huge-array",
                "many-empty-arrays",
                "xml-plist",
            )
        },
        "large-archive": lambda: deflated(archive(["$null", *[{"$class": UID(2)}] * 200_000], UID(1))),
    }


def changed_archive(data: bytes, change: Callable[[dict, dict], object]) -> bytes:
    """The archive after a change of its property list; the change gets an index of its objects by class name too."""
    content = plistlib.loads(data)
    objects = content["$objects"]
    index: dict[str, list[dict]] = {}
    for item in objects:
        if isinstance(item, dict) and "$class" in item:
            index.setdefault(objects[item["$class"].data]["$classname"], []).append(item)
    change(content, index)
    return plistlib.dumps(content, fmt=plistlib.FMT_BINARY)


def _add(content: dict, value) -> UID:
    content["$objects"].append(value)
    return UID(len(content["$objects"]) - 1)


def _archive_changes(base: Base) -> dict[str, Callable[[dict, dict], object]]:
    values = {
        "text": "x",
        "number": 7,
        "least": -MOST - 1,
        "most": (1 << 64) - 1,
        "real": 1e308,
        "data": b"\0",
        "array": [UID(1), UID(999)],
        "nil": UID(0),
        "root": UID(1),
        "bad": UID(999_999),
        "itself": None,
    }
    content = plistlib.loads(base.archive)
    keys: dict[str, set[str]] = {}
    changed_archive(
        base.archive,
        lambda _, index: keys.update({name: {key for item in items for key in item} for name, items in index.items()}),
    )
    found: dict[str, Callable[[dict, dict], object]] = {}
    for name in (
        "NSManagedObjectModel",
        "NSEntityDescription",
        "NSAttributeDescription",
        "NSRelationshipDescription",
        "NSFetchIndexDescription",
        "NSFetchIndexElementDescription",
        "_NSPropertyDescriptionProxy",
        "NSCompositeAttributeDescription",
        "NSKnownKeysDictionary1",
        "NSKnownKeysMappingStrategy1",
        "NSMutableDictionary",
    ):
        for key in sorted(keys.get(name, ())):
            for what, value in values.items():

                def change(content, index, name=name, key=key, value=value):
                    item = index[name][0]
                    own = next(number for number, other in enumerate(content["$objects"]) if other is item)
                    item[key] = UID(own) if value is None else value

                found[f"{name}-{key.strip('$')}-{what}"] = change
            found[f"{name}-{key.strip('$')}-missing"] = lambda content, index, name=name, key=key: index[name][0].pop(
                key
            )
    del content
    return {**found, **_archive_shapes()}


def predicate(content: dict, depth: int) -> UID:
    """NOT of NOT of ... a comparison."""
    cls = _add(content, classes("NSCompoundPredicate", "NSPredicate"))
    start = len(content["$objects"])
    array = _add(content, classes("NSArray"))
    for number in range(depth):
        place = start + 1 + 2 * number
        content["$objects"].append({"$class": cls, "NSCompoundPredicateType": 0, "NSSubpredicates": UID(place + 1)})
        content["$objects"].append({"$class": array, "NS.objects": [UID(place + 2)]})
    _add(content, {"$class": _add(content, classes("NSTruePredicate", "NSPredicate"))})
    content["$objects"][start + 1 + 2 * depth] = {"$class": UID(start + 2 + 2 * depth)}
    content["$objects"][start + 2 + 2 * depth] = classes("NSTruePredicate", "NSPredicate")
    return UID(start + 1)


def _archive_shapes() -> dict[str, Callable[[dict, dict], object]]:
    def validation(depth):
        def change(content, index):
            top = predicate(content, depth)
            array = _add(content, {"$class": _add(content, classes("NSArray")), "NS.objects": [top]})
            reason = _add(content, {"$class": _add(content, classes("NSArray")), "NS.objects": ["w"]})
            for item in index["NSAttributeDescription"][:2]:
                item.update(NSValidationPredicates=array, NSValidationWarnings=reason)

        return change

    def shared_predicate(content, index):
        cls, array = _add(content, classes("NSCompoundPredicate")), _add(content, classes("NSArray"))
        last = _add(content, {"$class": _add(content, classes("NSTruePredicate"))})
        for _ in range(40):
            both = _add(content, {"$class": array, "NS.objects": [last, last]})
            last = _add(content, {"$class": cls, "NSCompoundPredicateType": 1, "NSSubpredicates": both})
        whole = _add(content, {"$class": array, "NS.objects": [last]})
        index["NSAttributeDescription"][0]["NSValidationPredicates"] = whole

    def cyclic_predicate(content, index):
        cls, array = _add(content, classes("NSCompoundPredicate")), _add(content, classes("NSArray"))
        number = len(content["$objects"])
        content["$objects"] += [
            {"$class": cls, "NSCompoundPredicateType": 1, "NSSubpredicates": UID(number + 1)},
            {"$class": array, "NS.objects": [UID(number)]},
        ]
        index["NSAttributeDescription"][0]["NSValidationPredicates"] = UID(number + 1)

    def rename(names):
        def change(content, index):
            for item, name in zip(index["NSEntityDescription"], names):
                item["NSEntityName"] = name

        return change

    def everywhere(cls, key, value):
        return lambda content, index: [item.update({key: value}) for item in index[cls]]

    def many_entities(content, index):
        index["NSMutableDictionary"][0].update(
            {"NS.keys": [f"k{number}" for number in range(50_000)], "NS.objects": [UID(2)] * 50_000}
        )

    def swap_classes(content, index):
        for item in content["$objects"]:
            if isinstance(item, dict) and item.get("$classname") == "NSAttributeDescription":
                item.update({"$classname": "NSTask", "$classes": ["NSTask", "NSObject"]})

    def deep_composite(content, index):
        cls, array = (
            _add(
                content, classes("NSCompositeAttributeDescription", "NSAttributeDescription", "NSPropertyDescription")
            ),
            None,
        )
        array = _add(content, classes("NSArray"))
        last = UID(next(n for n, item in enumerate(content["$objects"]) if item is index["NSAttributeDescription"][0]))
        for number in range(5000):
            members = _add(content, {"$class": array, "NS.objects": [last]})
            last = _add(
                content,
                {
                    "$class": cls,
                    "NSPropertyName": f"c{number}",
                    "NSAttributeType": 2100,
                    "NSCompositeElements": members,
                },
            )
        index["NSCompositeAttributeDescription"][0]["NSCompositeElements"] = _add(
            content, {"$class": array, "NS.objects": [last]}
        )

    return {
        "predicate-100000-deep": validation(100_000),
        "predicate-1000-deep": validation(1000),
        "predicate-shared": shared_predicate,
        "predicate-cyclic": cyclic_predicate,
        "entities-same-name": rename(["Person"] * 5),
        "entities-no-name": rename([""] * 5),
        "entities-odd-names": rename(["a\0b", 'x"; --', "\x1b[31m", "N" * 100_000, "../x"]),
        "every-entity-is-its-own-parent": lambda content, index: [
            item.update(NSSuperentity=UID(content["$objects"].index(item))) for item in index["NSEntityDescription"]
        ],
        "all-attributes-composite": everywhere("NSAttributeDescription", "NSAttributeType", 2100),
        "all-attributes-typeless": everywhere("NSAttributeDescription", "NSAttributeType", 0),
        "all-attributes-type-huge": everywhere("NSAttributeDescription", "NSAttributeType", MOST),
        "all-attributes-same-name": everywhere("NSAttributeDescription", "NSPropertyName", "name"),
        "all-transient": everywhere("NSAttributeDescription", "NSIsTransient", True),
        "all-external": everywhere("NSAttributeDescription", "NSFlagsKey", MOST),
        "counts-huge": everywhere("NSRelationshipDescription", "NSMaxCount", MOST),
        "counts-negative": everywhere("NSRelationshipDescription", "NSMaxCount", -MOST - 1),
        "rules-unknown": everywhere("NSRelationshipDescription", "NSDeleteRule", 99),
        "destinations-missing": everywhere("NSRelationshipDescription", "_NSDestinationEntityName", "Nothing"),
        "inverses-missing": everywhere("NSRelationshipDescription", "_NSInverseRelationshipName", "nothing"),
        "many-entities": many_entities,
        "class-substitution": swap_classes,
        "deep-composite": deep_composite,
        "no-objects-left": lambda content, index: content["$objects"].__delitem__(slice(3, None)),
    }
