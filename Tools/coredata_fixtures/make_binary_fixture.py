#!/usr/bin/env python3
"""Writes a binary store, from what is known of the format alone and with no Swift.

Usage: Tools/coredata_fixtures/make_binary_fixture.py FILE

Two entities, `Band` with a name and members, and `Player` with a value of each type and a band. What the file holds is printed as
JSON, an object a line, sorted by key: {"key":1,"entity":"Band","values":{...},"related":{...}}.
"""
import json
import plistlib
import struct
import sys
from plistlib import UID

VERSION = 134481920


class Archive:
    """A keyed archive, as NSKeyedArchiver writes one."""

    def __init__(self):
        self.objects, self.classes = ["$null"], {}

    def add(self, value) -> UID:
        self.objects.append(value)
        return UID(len(self.objects) - 1)

    def object(self, classes: list[str], **values) -> UID:
        if classes[0] not in self.classes:
            self.classes[classes[0]] = self.add({"$classname": classes[0], "$classes": classes})
        return self.add({"$class": self.classes[classes[0]], **values})

    def array(self, items: list[UID], mutable: bool = False) -> UID:
        return self.object(["NSMutableArray"] * mutable + ["NSArray", "NSObject"], **{"NS.objects": items})

    def dictionary(self, items: list[tuple[UID, UID]], mutable: bool = False) -> UID:
        return self.object(["NSMutableDictionary"] * mutable + ["NSDictionary", "NSObject"],
                           **{"NS.keys": [key for key, _ in items], "NS.objects": [value for _, value in items]})

    def data(self, name: str, top: UID) -> bytes:
        return plistlib.dumps({"$version": 100000, "$archiver": "NSKeyedArchiver", "$top": {name: top},
                               "$objects": self.objects}, fmt=plistlib.FMT_BINARY)


def value(archive: Archive, kind: str, content) -> UID:
    if content is None:
        return archive.object(["NSNull", "NSObject"])
    if kind == "date":
        return archive.object(["NSDate", "NSObject"], **{"NS.time": content})
    if kind == "uuid":
        return archive.object(["NSUUID", "NSObject"], **{"NS.uuidbytes": bytes.fromhex(content.replace("-", ""))})
    if kind == "uri":
        return archive.object(["NSURL", "NSObject"], **{"NS.base": UID(0), "NS.relative": archive.add(content)})
    if kind == "data":
        return archive.add(bytes.fromhex(content))
    return archive.add(content)


# Attributes are in the order of their names.
BAND = [("name", "string")]
PLAYER = [("age", "int"), ("born", "date"), ("home", "uri"), ("isIn", "bool"), ("mark", "uuid"), ("photo", "data"),
          ("score", "double"), ("title", "string")]
OBJECTS = [
    (1, "Band", ["The A & B <C>"], {"players": [2, 4]}),
    (2, "Player", [-32768, -1.5, "http://x/?a=1", True, "00112233-4455-6677-8899-AABBCCDDEEFF", "00ff", 0.1, "é 😀"],
     {"band": [1]}),
    (3, "Band", [None], {}),
    (4, "Player", [None] * 8, {"band": [1]}),
    (9, "Player", [2**62, 259257205.15052399, "file:///", False, "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF", "",
                   1.7976931348623157e308, ""], {}),
]


def node(archive: Archive, key: int, entity: str, values: list, related: dict[str, list[int]]) -> UID:
    kinds = BAND if entity == "Band" else PLAYER
    content = {
        "NSPrimaryKey64": key,
        "NSEntityName": archive.add(entity),
        "NSAttributeValues": archive.array([value(archive, kind, item) for (_, kind), item in zip(kinds, values)]),
    }
    if related:
        content["NSRelatedNodes"] = archive.dictionary(
            [(archive.add(name), archive.array([archive.add(key) for key in keys], name == "players"))
             for name, keys in related.items()], mutable=True)
    return archive.object(["NSDictionaryMapNode", "NSStoreMapNode", "NSObject"], **content)


def objects() -> bytes:
    archive = Archive()
    return archive.data("mapData", archive.dictionary(
        [(archive.add(item[0]), node(archive, *item)) for item in OBJECTS], mutable=True))


def metadata() -> bytes:
    archive = Archive()
    hashes = archive.dictionary([(archive.add(name), archive.add(bytes(32))) for name in ("Band", "Player")])
    entries = {"NSStoreType": archive.add("Binary"), "NSStoreUUID": archive.add("01234567-89AB-CDEF-0123-456789ABCDEF"),
               "NSStoreModelVersionHashes": hashes, "NSStoreModelVersionHashesVersion": archive.add(3),
               "NSStoreModelVersionIdentifiers": archive.array([archive.add("one")]),
               "NSPersistenceFrameworkVersion": archive.add(358), "mine": archive.add("kept")}
    return archive.data("metadata", archive.dictionary([(archive.add(key), item) for key, item in entries.items()]))


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    data, last = objects(), metadata()
    header = b"CoreData" + struct.pack(">7Q", 1 << 32 | VERSION, 64 + len(data), len(last), 64, len(data), 9, 0)
    with open(sys.argv[1], "wb") as file:
        file.write(header + data + last)
    for key, entity, values, related in OBJECTS:
        names = [name for name, _ in (BAND if entity == "Band" else PLAYER)]
        print(json.dumps({"key": key, "entity": entity, "values": dict(zip(names, values)), "related": related},
                         sort_keys=True))
    return 0


if __name__ == "__main__":
    sys.exit(main())
