"""What is in an XML or a binary store, read without the library."""

from __future__ import annotations

import plistlib
import struct
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field
from pathlib import Path
from plistlib import UID

# All attributes of an entity, in the order in which a binary store has them.
ATTRIBUTES = {
    "Box": ["mark", "name"],
    "Desk": ["mark", "number"],
    "Item": ["active", "born", "bytes", "double", "ident", "large", "mark", "medium", "name", "note", "photo",
             "place.street", "place.latitude", "price", "ratio", "site", "small"],
    "Tag": ["mark", "name"],
}
ATTRIBUTES["SubItem"] = ["active", "bonus", *ATTRIBUTES["Item"][1:]]


@dataclass
class Thing:
    """An object: its entity, its values by name, and the keys of its relationships by name."""

    entity: str
    values: dict[str, object] = field(default_factory=dict)
    links: dict[str, list[int]] = field(default_factory=dict)


@dataclass
class State:
    things: dict[int, Thing]
    head: dict[str, object]
    content: bytes


def read(path: Path, _driver: object = None) -> State:
    """The state of a store; without a head where this reader cannot read the file."""
    content = path.read_bytes()
    try:
        return (_binary if content[:8] == b"CoreData" else _xml)(content)
    except Exception:  # noqa: BLE001, because the file may be anything, and so may what goes wrong.
        return State({}, {}, content)


def _xml(content: bytes) -> State:
    root = ElementTree.fromstring(content)
    info = root.find("databaseInfo")
    metadata = info.find("metadata/plist")
    head = {
        # Space around it is none of it.
        "UUID": info.findtext("UUID", "").strip(),
        # The number is a hint: what is none counts as none.
        "highest": int(text) if (text := info.findtext("nextObjectID", "").strip()).isdecimal() else 0,
        "metadata": plistlib.loads(ElementTree.tostring(metadata)) if metadata is not None else {},
    }
    names = {name.upper(): name for name in ATTRIBUTES}
    things = {}
    for element in root.findall("object"):
        thing = Thing(names[element.get("type").upper()])
        for child in element:
            if child.tag == "attribute":
                thing.values[child.get("name").lower()] = "".join(child.itertext())
            else:
                thing.links[child.get("name").lower()] = [int(word[1:]) for word in child.get("idrefs", "").split()]
        things[int(element.get("id")[1:])] = thing
    head["metadata"].pop("OpenCoreDataChecksum", None)
    return State(things, head, content)


def _binary(content: bytes) -> State:
    metadata_at, metadata_size, data_at, data_size, highest = struct.unpack(">5q", content[16:56])
    archive = Archive(content[data_at : data_at + data_size])
    metadata = Archive(content[metadata_at : metadata_at + metadata_size])
    root = archive.get(archive.top["mapData"])
    things = {}
    for node in (archive.get(item) for item in root["NS.objects"]):
        thing = Thing(archive.get(node["NSEntityName"]))
        values = archive.get(node["NSAttributeValues"])["NS.objects"]
        for name, value in zip(ATTRIBUTES[thing.entity], values, strict=True):
            if (plain := archive.plain(value)) is not None:
                thing.values[name] = plain
        related = archive.get(node.get("NSRelatedNodes", "$null"))
        if related != "$null":
            for name, keys in zip(related["NS.keys"], related["NS.objects"]):
                numbers = thing.links[archive.get(name).lower()] = archive.plain(keys)
                if not all(isinstance(number, int) for number in numbers):
                    raise ValueError("a link to no key")
        things[archive.get(node["NSPrimaryKey64"])] = thing
    head = {"UUID": None, "highest": highest, "metadata": metadata.plain(metadata.top["metadata"])}
    head["metadata"].pop("OpenCoreDataChecksum", None)
    return State(things, head, content)


class Archive:
    """A keyed archive."""

    def __init__(self, data: bytes):
        content = plistlib.loads(data)
        self.objects, self.top = content["$objects"], content["$top"]

    def get(self, item: object) -> object:
        return self.objects[item.data] if isinstance(item, UID) else item

    def plain(self, item: object, depth: int = 0) -> object:
        """A value without the archive's references; None for null. Objects may hold themselves."""
        item = self.get(item)
        if depth > 20:
            return "and so on"
        if not isinstance(item, dict) or "$class" not in item:
            return None if item == "$null" else item
        kind = self.get(item["$class"])
        if isinstance(kind, dict) and kind.get("$classname") == "NSNull":
            return None
        if "NS.keys" in item:
            keys = [self.plain(key, depth + 1) for key in item["NS.keys"]]
            return dict(zip(keys, (self.plain(value, depth + 1) for value in item["NS.objects"])))
        if "NS.objects" in item:
            return [self.plain(value, depth + 1) for value in item["NS.objects"]]
        if "NS.time" in item:
            return item["NS.time"]
        if "NS.uuidbytes" in item:
            return item["NS.uuidbytes"]
        if "NS.relative" in item:
            return self.plain(item["NS.relative"], depth + 1)
        if "NS.mantissa" in item:
            digits = int.from_bytes(item["NS.mantissa"][: 2 * item["NS.length"]], "little")
            return digits * 10.0 ** item["NS.exponent"] * (-1 if item["NS.negative"] else 1)
        return {key: self.plain(value, depth + 1) for key, value in item.items() if key != "$class"}
